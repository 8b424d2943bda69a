//! Bytes of a pipe or a terminal, waited for only as long as the import needs them: an import that has ended does not
//! wait for the program that writes them.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The interval, in milliseconds, between checks whether they are still needed.
const LOOK: u8 = 50;

/// A reader that another thread can ask to give up.
pub struct CancellableReader {
    /// The pipe or terminal.
    pub file: File,
    /// Set once the rest is not needed any more.
    pub is_unwanted: Arc<AtomicBool>,
}

impl Read for CancellableReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.is_unwanted.load(Ordering::Relaxed) {
            let mut file = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
            match poll(&mut file, PollTimeout::from(LOOK)) {
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) => return self.file.read(buffer),
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::other("nobody wants the rest of it"))
    }
}
