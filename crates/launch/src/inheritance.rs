//! Files that a process inherits.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::errno::Errno;
use nix::libc;

/// Lets the process of a command have a file open, under the number that it has here. The file must live until the command
/// is started.
pub fn inherit(command: &mut Command, file: &File) {
    let number = file.as_raw_fd();
    // SAFETY: between fork and exec only calls that are safe in a signal handler may be made. The closure makes one system
    // call, which takes numbers.
    unsafe {
        command.pre_exec(move || {
            Errno::result(libc::fcntl(number, libc::F_SETFD, 0))?;
            Ok(())
        });
    }
}
