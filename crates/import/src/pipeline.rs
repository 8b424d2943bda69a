//! Parser and database side by side: a few batches go round between their threads, so that memory is
//! bounded and neither waits for the other longer than it must.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Error, Result, anyhow};

use crate::batch::{Batch, FULL};
use crate::error::{BadRow, Interrupted};
use crate::rejects::Rejects;

/// Batches in all.
const BATCHES: usize = 8;
/// A batch whose text takes more bytes has a record that is much longer than others.
const HUGE: usize = 64 * FULL;
/// The interval between checks whether to stop while there are no rows.
const LOOK: Duration = Duration::from_millis(50);

/// Receives an import's progress, and may stop it.
pub trait ImportObserver: Sync {
    /// True to stop the import.
    fn stops(&self) -> bool;
    /// Reports the number of rows in the database, and the bytes of the file that were read.
    fn reached(&self, rows: u64, bytes: u64);
    /// Reports the current activity, such as "syncing".
    fn doing(&self, what: &str);
    /// Reports, once a second, the lock of another program for which the import waits.
    fn waits(&self, _for_what: &str) {}
}

/// An import that no one observes and no one stops.
impl ImportObserver for () {
    fn stops(&self) -> bool {
        false
    }
    fn reached(&self, _: u64, _: u64) {}
    fn doing(&self, _: &str) {}
}

/// The parser's end.
pub struct Sender {
    full: SyncSender<Batch>,
    empty: Receiver<Batch>,
    /// Empty ones that were waited for.
    spare: RefCell<Vec<Batch>>,
}

impl Sender {
    /// Hands a batch on. After one with a huge record it waits until all are back: there is memory for one.
    pub fn send(&self, batch: Batch) {
        let is_huge = batch.text.len() > HUGE;
        // If the import has failed, the channel is closed; then no empty batch comes back either.
        let _ = self.full.send(batch);
        let mut spare = self.spare.borrow_mut();
        while is_huge && spare.len() < BATCHES {
            let Ok(mut batch) = self.empty.recv() else { return };
            batch.clear(0);
            spare.push(batch);
        }
    }

    /// An empty batch, once one is free; None once the import has ended.
    pub fn empty(&self, columns: usize) -> Option<Batch> {
        let spare = self.spare.borrow_mut().pop();
        let mut batch = spare.or_else(|| self.empty.recv().ok())?;
        batch.clear(columns);
        Some(batch)
    }
}

/// The database's end.
pub struct Rows<'a> {
    full: Receiver<Batch>,
    empty: SyncSender<Batch>,
    read: Arc<AtomicU64>,
    rejects: Arc<Mutex<Rejects>>,
    watch: &'a dyn ImportObserver,
    /// Rows given out and not refused.
    loaded: Arc<AtomicU64>,
    /// Bytes of memory that the import may take.
    pub memory: usize,
    /// The time that the database waited for the parser.
    pub waited: Duration,
}

impl<'a> Rows<'a> {
    /// The next batch; None at the end.
    ///
    /// # Errors
    /// The user asked to stop.
    pub fn batch(&mut self) -> Result<Option<Batch>> {
        if self.watch.stops() {
            return Err(Interrupted.into());
        }
        self.watch.reached(self.loaded(), self.read.load(Ordering::Relaxed));
        let began = Instant::now();
        let batch = loop {
            match self.full.recv_timeout(LOOK) {
                // The program at the other end of a pipe may write nothing for a long time.
                Err(RecvTimeoutError::Timeout) if self.watch.stops() => return Err(Interrupted.into()),
                Err(RecvTimeoutError::Timeout) => {}
                outcome => break outcome.ok(),
            }
        };
        self.waited += began.elapsed();
        let given = batch.as_ref().map_or(0, |batch| batch.rows() as u64);
        self.loaded.fetch_add(given, Ordering::Relaxed);
        Ok(batch)
    }

    /// Gives a batch back.
    pub fn recycle(&self, batch: Batch) {
        // The parser may have ended.
        let _ = self.empty.try_send(batch);
    }

    /// Takes a row that the database refused.
    ///
    /// # Errors
    /// The row itself, where one is enough.
    pub fn refuse(&mut self, batch: &Batch, row: usize, reason: String) -> Result<()> {
        self.loaded.fetch_sub(1, Ordering::Relaxed);
        let fields: Vec<&[u8]> = batch.record(row).collect();
        let text = fields.join(&b", "[..]);
        let bad = BadRow { line: batch.lines[row], column: None, reason, text };
        let mut rejects = self.rejects.lock().unwrap_or_else(PoisonError::into_inner);
        rejects.take(bad, &fields)
    }

    /// Counts rows that a trigger of the table left out, and says so in a sentence; None if it left out none.
    pub fn leave_out(&self, rows: u64) -> Option<String> {
        self.loaded.fetch_sub(rows, Ordering::Relaxed);
        match rows {
            0 => None,
            1 => Some("1 row of the file is not in the table: a trigger of the table left it out.".into()),
            rows => Some(format!(
                "{rows} rows of the file are not in the table: a trigger of the table left them out."
            )),
        }
    }

    /// Makes the file of rejected rows durable, and gives it its name. A database that takes the rows calls it right
    /// before it commits.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn seal(&self) -> Result<()> {
        self.rejects.lock().unwrap_or_else(PoisonError::into_inner).seal()
    }

    /// Rows given out and not refused.
    pub fn loaded(&self) -> u64 {
        self.loaded.load(Ordering::Relaxed)
    }

    /// The same, to be asked while the database takes the rows.
    pub fn counter(&self) -> Arc<AtomicU64> {
        self.loaded.clone()
    }

    /// The receiver of the progress.
    pub fn watch(&self) -> &'a dyn ImportObserver {
        self.watch
    }
}

/// The times of an import's two threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waits {
    /// The parser, in all.
    pub parsing: Duration,
    /// The database waited for the parser.
    pub for_parser: Duration,
}

/// Runs `parse` on a separate thread while `load` runs on this one. An error of the parser is the import's. `memory` is what
/// the import may take, in bytes.
pub fn run<T>(
    read: Arc<AtomicU64>,
    rejects: Arc<Mutex<Rejects>>,
    watch: &dyn ImportObserver,
    memory: usize,
    parse: impl FnOnce(&Sender) -> Result<()> + Send,
    load: impl FnOnce(&mut Rows, &dyn Fn() -> Result<()>) -> Result<T>,
) -> Result<(T, Waits)> {
    let (full_sender, full) = mpsc::sync_channel(BATCHES);
    let (empty, empty_receiver) = mpsc::sync_channel(BATCHES);
    (0..BATCHES).for_each(|_| drop(empty.try_send(Batch::default())));
    let sender = Sender { full: full_sender, empty: empty_receiver, spare: RefCell::default() };
    thread::scope(|scope| {
        // A parser that panics reports nothing, so it counts as crashed until it has ended.
        let failure = Arc::new(Mutex::new(Some(crashed())));
        let reported = failure.clone();
        let parser = thread::Builder::new().name("parser".into()).spawn_scoped(scope, move || {
            let began = Instant::now();
            let outcome = parse(&sender);
            *reported.lock().unwrap_or_else(PoisonError::into_inner) = outcome.err();
            // The rows end when the sender is dropped, after the error is there.
            drop(sender);
            began.elapsed()
        })?;
        let (loaded, waited) = (Arc::default(), Duration::ZERO);
        let mut rows = Rows { full, empty, read, rejects, watch, loaded, memory, waited };
        // The database asks this before it commits: rows that end early must not look like the end.
        let check = || match failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(()),
        };
        let outcome = load(&mut rows, &check);
        let for_parser = rows.waited;
        drop(rows);
        let parsing = parser.join().map_err(|_| crashed())?;
        let outcome = outcome?;
        Ok((outcome, Waits { parsing, for_parser }))
    })
}

/// The error of an import whose parser panicked.
fn crashed() -> Error {
    anyhow!("the parser crashed, which is a fault of dyno")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rejects::OnError;

    #[test]
    fn rows_before_a_crash_of_the_parser_are_not_committed() {
        let rejects = Arc::new(Mutex::new(Rejects::new(&OnError::Stop, vec!["t".into()], 0o600)));
        let (mut taken, mut is_committed) = (0, false);
        let parse = |sender: &Sender| -> Result<()> {
            let mut batch = sender.empty(0).unwrap();
            batch.lines.push(1);
            sender.send(batch);
            panic!("a fault")
        };
        let ran = run(Arc::default(), rejects, &(), 1 << 20, parse, |rows, check| {
            while let Some(batch) = rows.batch()? {
                taken += batch.rows();
                rows.recycle(batch);
            }
            check()?;
            is_committed = true;
            Ok(())
        });
        assert_eq!(ran.unwrap_err().to_string(), crashed().to_string());
        assert_eq!((taken, is_committed), (1, false));
    }
}
