//! Bytes of a pipe or a terminal, waited for only as long as somebody wants them: an import that has ended
//! does not wait for whoever writes them.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Milliseconds until it is looked again whether somebody does.
const LOOK: u8 = 50;

/// A reader that can be told to give up.
pub struct Stream {
    /// The pipe or terminal.
    pub file: File,
    /// Nobody wants the rest.
    pub is_unwanted: Arc<AtomicBool>,
}

impl Read for Stream {
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
