//! A table parsed on all cores: each thread takes a piece of the file, makes records of its rows, waits for its turn to
//! number them, and writes their pages.
//!
//! Taking a turn is what keeps the order of the file: rows are numbered, and bad rows are judged, piece after
//! piece. Everything else threads do side by side. Memory is bounded by the pieces that are in work.

mod chunk_reader;
#[cfg(feature = "parquet")]
mod columns;
mod encode;
mod index;
mod job;
mod order;
mod parts;
mod restart;
mod rows;
mod work;

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use anyhow::{Error, Result, anyhow};
use sqlite_pages::Pages;

use crate::error::Interrupted;
use crate::pipeline::ImportObserver;
pub use index::write_index;
pub use job::{Fill, Filled, Numbers, Pieces};
pub use restart::Restart;
use work::Work;

/// The interval between checks whether to stop.
const LOOK: Duration = Duration::from_millis(20);

impl Fill {
    /// Writes all rows.
    ///
    /// # Errors
    /// The first bad row, an error of the file or of the database, or [`Interrupted`]: the pages are worth nothing.
    pub fn run(&self, pages: &Pages, watch: &dyn ImportObserver) -> Result<Filled> {
        let work = Work::new(self, pages);
        thread::scope(|scope| {
            for number in 0..self.threads {
                let parser = thread::Builder::new().name(format!("parser {number}"));
                let main = thread::current();
                let work = &work;
                let spawned = parser.spawn_scoped(scope, move || {
                    // A thread that panics must not leave the others waiting for its turn.
                    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work.thread()));
                    let crash = |_| Err(anyhow!("a parser crashed, which is a fault of dyno"));
                    if let Err(error) = outcome.unwrap_or_else(crash) {
                        work.end(error);
                    }
                    work.threads.fetch_sub(1, Ordering::Release);
                    main.unpark();
                });
                if let Err(error) = spawned {
                    work.threads.fetch_sub(1, Ordering::Release);
                    work.end(Error::from(error).context("cannot start a thread"));
                }
            }
            while work.threads.load(Ordering::Acquire) > 0 {
                if watch.stops() {
                    work.end(Interrupted.into());
                }
                watch.reached(work.rows.load(Ordering::Relaxed), self.read.load(Ordering::Relaxed));
                thread::park_timeout(LOOK);
            }
        });
        work.filled(watch)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read};
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, AtomicU64};
    use std::sync::{Arc, Mutex};

    use sqlite_pages::{Database, PageSize};

    use super::*;
    use crate::chunks::Chunks;
    use crate::convert::{Converter, Wanted};
    use crate::rejects::{OnError, Rejects};
    use crate::syntax::{Dialect, LONGEST};
    use crate::value::Kind;

    /// A pipe whose writer writes nothing any more.
    struct IdlePipe(Arc<AtomicBool>);

    impl Read for IdlePipe {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            while !self.0.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            Err(io::Error::other("the import has ended and reads no further"))
        }
    }

    /// Asks to stop at the last of a number of looks.
    struct StopCheck(AtomicU64);

    impl ImportObserver for StopCheck {
        fn stops(&self) -> bool {
            self.0.fetch_sub(1, Ordering::Relaxed) == 0
        }
        fn reached(&self, _: u64, _: u64) {}
        fn doing(&self, _: &str) {}
    }

    /// The error that ends an import of a text from a pipe whose writer then falls silent. The first chunk has `first`
    /// bytes.
    fn error_before_silence(text: Vec<u8>, first: usize, patience: &StopCheck) -> String {
        let dialect = Dialect { delimiter: b',', quotes: true };
        let is_unwanted = Arc::<AtomicBool>::default();
        let text = BufReader::new(io::Cursor::new(text).chain(IdlePipe(is_unwanted.clone())));
        let column = Wanted {
            name: "a".into(),
            kind: Kind::INTEGER,
            inferred: false,
            required: false,
            nulls: Vec::new(),
        };
        let fill = Fill {
            pieces: Pieces::Text(
                Mutex::new(Chunks::new(Box::new(text), dialect, "t".into(), 1, first, LONGEST)),
                dialect,
            ),
            name: "t".into(),
            converter: Converter { columns: vec![column], nulls: Vec::new(), is_text: true },
            rejects: Arc::new(Mutex::new(Rejects::new(&OnError::Stop, vec!["t".into()], 0o600))),
            read: Arc::default(),
            is_unwanted,
            threads: 2,
            numbers: Numbers::Counted,
            indexes: Vec::new(),
            memory: 1 << 20,
            folder: PathBuf::from("."),
        };
        let file = tempfile::tempfile().unwrap();
        let database = Database::new(&file, PageSize::new(4096).unwrap());
        fill.run(database.pages(), patience).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn an_import_that_has_failed_does_not_wait_for_the_rest_of_a_pipe() {
        // While one thread parses so much, the other comes to wait.
        let text = [b"1\n".repeat(4 << 20), b"x\n".to_vec()].concat();
        let patience = StopCheck(AtomicU64::new(250));
        let first = text.len();
        let error = error_before_silence(text, first, &patience);
        assert!(error.starts_with("t:4194305: column"), "{error}");
        assert!((1..=250).contains(&patience.0.into_inner()));
    }

    #[test]
    fn an_interrupt_is_reported_as_one_where_a_thread_waits_for_a_pipe() {
        for _ in 0..20 {
            let patience = StopCheck(AtomicU64::new(1));
            assert_eq!(error_before_silence(b"1\n2\n".to_vec(), 4, &patience), Interrupted.to_string());
        }
    }
}
