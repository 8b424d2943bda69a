//! Kills the process that was looked at, and no other that has its number by then.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Kills a process if `is_wanted` holds of it. Returns whether it got the signal.
///
/// The kernel gives a handle of the process before dyno looks at it: where the number belongs to another process
/// afterwards, that one gets no signal. Systems without such handles (Linux before 5.3, some containers) get the signal by
/// the number.
pub(crate) fn kill_if(process: Pid, is_wanted: impl FnOnce() -> bool) -> bool {
    let handle = handle_of(process);
    if matches!(handle, Err(Errno::ESRCH)) || !is_wanted() {
        return false;
    }
    let killed = match handle {
        Ok(handle) => kill_by(&handle),
        Err(_) => kill(process, Signal::SIGKILL),
    };
    killed.is_ok()
}

fn handle_of(process: Pid) -> Result<OwnedFd, Errno> {
    // SAFETY: the kernel takes two numbers.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, process.as_raw(), 0) };
    let number = Errno::result(opened)?;
    // SAFETY: the kernel has just opened this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(number as i32) })
}

fn kill_by(handle: &OwnedFd) -> Result<(), Errno> {
    let (signal, about) = (libc::SIGKILL, ptr::null::<libc::siginfo_t>());
    // SAFETY: the kernel takes numbers and a null pointer: the kernel then fills in the usual details of the signal.
    let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, handle.as_raw_fd(), signal, about, 0) };
    Errno::result(sent).map(drop)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_killed_only_if_it_is_wanted() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = Pid::from_raw(child.id().cast_signed());
        assert!(!kill_if(process, || false));
        assert_eq!(child.try_wait().unwrap(), None);
        assert!(kill_if(process, || true));
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    }
}
