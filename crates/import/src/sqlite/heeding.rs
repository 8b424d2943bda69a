//! An import heeds the user while SQLite is at work, and while it waits for other programs that have the database locked.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use dyno_client::sqlite::Interrupter;

use super::connection::Connection;
use super::locks;
use super::place::Done;
use crate::error::{Interrupted, Locked};
use crate::names::escaped;
use crate::pipeline::ImportObserver;

/// The interval between checks whether to stop while SQLite is at work.
const LOOK: Duration = Duration::from_millis(50);
/// The interval between reports of a lock for which the import waits.
const REPORT: Duration = Duration::from_secs(1);
/// Pauses between attempts to get a lock grow to two to the power of this, in milliseconds.
const LONGEST: c_int = 5;

/// Does the work; a request to stop interrupts it wherever SQLite is.
pub(super) fn interruptible(
    connection: &Connection,
    watch: &dyn ImportObserver,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let (interrupter, done): (Interrupter, _) = (connection.interrupter(), AtomicBool::new(false));
    let outcome = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                if watch.stops() {
                    // SAFETY: the connection is open until the scope has ended.
                    unsafe { interrupter.interrupt() };
                }
                thread::park_timeout(LOOK);
            }
        });
        let is_done = Done(&done);
        let outcome = work();
        drop(is_done);
        watcher.thread().unpark();
        outcome
    });
    match outcome {
        Err(_) if watch.stops() => Err(Interrupted.into()),
        outcome => outcome,
    }
}

/// Does the work; meanwhile a request to stop ends each wait for a lock, which SQLite itself does not interrupt, and the
/// lock is reported.
pub(super) fn patiently<T>(
    connection: &Connection,
    watch: &dyn ImportObserver,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let now = Cell::new(Instant::now());
    let waiting = Waiting { connection, watch, began: now.clone(), reported: now };
    let client = connection.client();
    let handler = ptr::from_ref(&waiting).cast_mut().cast::<c_void>();
    // SAFETY: the connection is open, and has the handler no longer than there is what it gets.
    unsafe { (client.api().busy_handler)(client.raw(), Some(wait), handler) };
    let is_over = Over(connection);
    let outcome = work();
    drop(is_over);
    match outcome {
        Err(error) if error.is::<Locked>() && watch.stops() => Err(Interrupted.into()),
        outcome => outcome,
    }
}

/// Has a connection wait without its handler when this is dropped, also where the work panics.
struct Over<'a>(&'a Connection);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.client().wait_for_locks(self.0.wait());
    }
}

/// The wait of a connection for a lock.
struct Waiting<'a> {
    connection: &'a Connection,
    watch: &'a dyn ImportObserver,
    /// When it began.
    began: Cell<Instant>,
    /// When the lock was last reported.
    reported: Cell<Instant>,
}

impl Waiting<'_> {
    /// Waits a little, and says whether to try again; before that it did so this many times.
    fn goes_on(&self, times: c_int) -> bool {
        let now = Instant::now();
        if times == 0 {
            self.began.set(now);
            self.reported.set(now);
        }
        let waited = now.duration_since(self.began.get());
        let left = self.connection.wait().saturating_sub(waited);
        if left.is_zero() || self.watch.stops() {
            return false;
        }
        if now.duration_since(self.reported.get()) >= REPORT {
            self.reported.set(now);
            let path = self.connection.path();
            let locked = Locked { what: escaped(path), by: locks::holders(path), waited };
            self.watch.waits(&locked.said());
        }
        thread::sleep(Duration::from_millis(1 << times.clamp(0, LONGEST)).min(left));
        true
    }
}

/// Waits as SQLite asks.
unsafe extern "C" fn wait(waiting: *mut c_void, times: c_int) -> c_int {
    // SAFETY: `patiently` gave it to SQLite, and keeps it until the connection has another handler.
    let waiting = unsafe { &*waiting.cast::<Waiting>() };
    waiting.goes_on(times).into()
}
