//! Waiting with an end: for processes and for work that may be stuck in the kernel.

use std::process::{Child, ExitStatus};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

/// The interval between two checks.
const STEP: Duration = Duration::from_millis(1);

/// Waits for a process to end; how it did, if it did.
pub fn wait_at_most(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + patience;
    loop {
        let status = child.try_wait();
        if !matches!(status, Ok(None)) || Instant::now() > deadline {
            return status.ok().flatten();
        }
        thread::sleep(STEP);
    }
}

/// Waits for a process to end, and leaves it to be waited for, so that its number stays its own: a signal to it or to the
/// group that it leads reaches no other process. Returns true if it ended.
pub fn ends_within(child: &Child, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        if has_ended(child) {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(STEP);
    }
}

/// True if a process has ended. It is left to be waited for.
pub fn has_ended(child: &Child) -> bool {
    let how = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    let status = waitid(Id::Pid(Pid::from_raw(child.id().cast_signed())), how);
    // One that was waited for is no child any more.
    !matches!(status, Ok(WaitStatus::StillAlive) | Err(Errno::EINTR))
}

/// Does something that may hang, as calls to a file system do whose program is stuck; its result, if it came in time.
/// Otherwise a thread is left that hangs.
pub fn within<T: Send + 'static>(patience: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, result) = channel();
    thread::spawn(move || sender.send(work()));
    result.recv_timeout(patience).ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_number_of_a_process_that_ended_stays_its_own_until_it_is_waited_for() {
        let mut child = Command::new("true").spawn().unwrap();
        assert!(ends_within(&child, Duration::from_secs(60)));
        let number = Pid::from_raw(child.id().cast_signed());
        assert!(nix::sys::signal::kill(number, None).is_ok(), "its number is free");
        assert!(child.wait().unwrap().success());
        assert!(has_ended(&child));
    }

    #[test]
    fn nothing_is_waited_for_without_end() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(wait_at_most(&mut child, Duration::from_millis(20)), None);
        assert!(!ends_within(&child, Duration::from_millis(20)));
        child.kill().unwrap();
        assert!(ends_within(&child, Duration::from_secs(60)));
        assert!(wait_at_most(&mut child, Duration::from_secs(60)).is_some());
        assert_eq!(within(Duration::from_secs(60), || 7), Some(7));
        assert_eq!(within(Duration::from_millis(20), || thread::sleep(Duration::from_secs(60))), None);
    }
}
