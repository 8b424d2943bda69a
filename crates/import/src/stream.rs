//! Reads a pipe or a terminal, and stops waiting for input when the import ends: the program that writes the pipe may
//! still run.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The time, in milliseconds, after which a waiting reader checks whether the import has ended.
const CHECK_INTERVAL_MS: u8 = 50;

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
            match poll(&mut file, PollTimeout::from(CHECK_INTERVAL_MS)) {
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) => match self.file.read(buffer) {
                    // Another program may have read it first.
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    outcome => return outcome,
                },
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::other("the import has ended and reads no further"))
    }
}
