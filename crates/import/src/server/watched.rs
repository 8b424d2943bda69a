//! Watches a connection while the server executes its statements: ends the one that is executed when the user asks to
//! stop, and reports the lock of another program for which it waits, perhaps for hours.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Error, Result};

use crate::error::{Interrupted, Locked, Lost};
use crate::pipeline::ImportObserver;

/// The interval between checks whether to stop.
const LOOK: Duration = Duration::from_millis(50);
/// The interval between questions to the server, and after which a request is repeated: the next statement may wait, too.
const AGAIN: Duration = Duration::from_secs(1);

/// A connection whose statements the server executes, as seen over another connection.
pub(super) trait Watched: Sync {
    /// The other connection.
    type Other;

    /// Connects to the same server.
    ///
    /// # Errors
    /// The server takes no further connection.
    fn connect(&self) -> Result<Self::Other>;

    /// Has the server end the statement that it executes.
    ///
    /// # Errors
    /// The server refuses.
    fn end(&self, other: &Self::Other) -> Result<()>;

    /// The holders of the lock for which the statement waits, as far as the server names them; None if it waits for no
    /// lock.
    ///
    /// # Errors
    /// The server does not say.
    fn holders(&self, other: &Self::Other) -> Result<Option<Vec<String>>>;
}

/// The lock for which an import may wait.
pub(super) struct Patience<'a> {
    /// The table that others may have locked.
    pub(super) table: &'a str,
    /// The time for which to wait; None for as long as the server does.
    pub(super) wait: Option<Duration>,
}

/// Does the work of a connection while a thread watches it.
///
/// # Errors
/// Those of the work; where the thread ended it because of a lock, [`Locked`].
pub(super) fn watched<T, W: Watched>(
    observer: &dyn ImportObserver,
    patience: &Patience,
    connection: &W,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| Watcher { observer, patience, connection, other: None }.watch(&done));
        let is_done = Done(&done);
        let outcome = work();
        drop(is_done);
        watcher.thread().unpark();
        let locked = watcher.join().ok().flatten();
        match (outcome, locked) {
            (Err(error), Some(locked)) if !error.is::<Lost>() => Err(locked.into()),
            (outcome, _) => outcome,
        }
    })
}

/// The error of an import that ended: that the user asked to stop, unless it is not known what became of the rows.
pub(super) fn said_end(error: Error, observer: &dyn ImportObserver) -> Error {
    if observer.stops() && !error.is::<Lost>() { Interrupted.into() } else { error }
}

struct Watcher<'a, W: Watched> {
    observer: &'a dyn ImportObserver,
    patience: &'a Patience<'a>,
    connection: &'a W,
    other: Option<W::Other>,
}

impl<W: Watched> Watcher<'_, W> {
    /// Watches until the work is done. Returns the lock because of which it ended a statement.
    fn watch(mut self, done: &AtomicBool) -> Option<Locked> {
        let (mut asked, mut waits_since, mut locked) = (Instant::now(), None, None);
        while !done.load(Ordering::Relaxed) {
            let stops = self.observer.stops();
            if stops {
                // A statement that the server does not end, the user ends by a second signal.
                self.ask(W::end);
            } else if asked.elapsed() >= AGAIN {
                asked = Instant::now();
                match self.ask(W::holders).flatten() {
                    Some(by) => {
                        let since = *waits_since.get_or_insert(asked);
                        locked = self.wait(by, since.elapsed()).or(locked);
                    }
                    None => waits_since = None,
                }
            }
            thread::park_timeout(if stops { AGAIN } else { LOOK });
        }
        locked
    }

    /// Reports that the connection has waited for a lock for a time; ends its statement if that is too long.
    fn wait(&mut self, by: Vec<String>, waited: Duration) -> Option<Locked> {
        let locked = Locked { what: format!("the table {}", self.patience.table), by, waited };
        if self.patience.wait.is_some_and(|wait| waited >= wait) {
            self.ask(W::end)?;
            return Some(locked);
        }
        self.observer.waits(&locked.said());
        None
    }

    /// The server's answer. After an error the next question goes over a new connection.
    fn ask<T>(&mut self, question: impl FnOnce(&W, &W::Other) -> Result<T>) -> Option<T> {
        let other = match self.other.take() {
            Some(other) => other,
            None => self.connection.connect().ok()?,
        };
        let answer = question(self.connection, &other).ok()?;
        self.other = Some(other);
        Some(answer)
    }
}

/// Says that it is done when it is dropped, also where the work panics.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
