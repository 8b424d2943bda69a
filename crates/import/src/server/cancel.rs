//! Ends what a server does when the user asks to stop: it may wait for a lock of another program for hours.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Error, Result};

use crate::error::{Interrupted, Lost};
use crate::pipeline::ImportObserver;

/// The interval between checks whether to stop.
const LOOK: Duration = Duration::from_millis(50);
/// The interval after which a request is repeated: the next statement may wait, too.
const AGAIN: Duration = Duration::from_secs(1);

/// Does the work of a connection. While the user wants to stop, `end` asks the server over another connection to end that
/// one's statement.
pub(super) fn cancellable<T>(
    watch: &dyn ImportObserver,
    end: impl Fn() -> Result<()> + Sync,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let stops = watch.stops();
                if stops {
                    // A statement that the server does not end, the user ends by a second signal.
                    let _ = end();
                }
                thread::park_timeout(if stops { AGAIN } else { LOOK });
            }
        });
        let is_done = Done(&done);
        let outcome = work();
        drop(is_done);
        watcher.thread().unpark();
        outcome
    })
}

/// The error of an import that ended: that the user asked to stop, unless it is not known what became of the rows.
pub(super) fn said_end(error: Error, watch: &dyn ImportObserver) -> Error {
    if watch.stops() && !error.is::<Lost>() { Interrupted.into() } else { error }
}

/// Says that it is done when it is dropped, also where the work panics.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
