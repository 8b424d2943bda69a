//! Waiting with an end: for processes and for work that may be stuck in the kernel.

use std::process::{Child, ExitStatus};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

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
    fn nothing_is_waited_for_without_end() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(wait_at_most(&mut child, Duration::from_millis(20)), None);
        child.kill().unwrap();
        assert!(wait_at_most(&mut child, Duration::from_secs(60)).is_some());
        assert_eq!(within(Duration::from_secs(60), || 7), Some(7));
        assert_eq!(within(Duration::from_millis(20), || thread::sleep(Duration::from_secs(60))), None);
    }
}
