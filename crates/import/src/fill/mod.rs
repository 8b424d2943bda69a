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
mod order;
mod parts;
mod rows;
mod work;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::{Error, Result, anyhow};
use sqlite_pages::{Pages, TableTree};

use crate::chunks::Chunks;
use crate::convert::Converter;
use crate::error::Interrupted;
#[cfg(feature = "parquet")]
use crate::parquet::{File, Parts};
use crate::pipeline::ImportObserver;
use crate::records::Dialect;
use crate::rejects::Rejects;
pub use index::{Entries, write_index};
use work::Work;

/// The interval between checks whether to stop.
const LOOK: Duration = Duration::from_millis(20);

/// The rows of a text, and where they go.
pub struct Fill {
    /// The file's pieces.
    pub pieces: Pieces,
    /// The source's name in messages.
    pub name: String,
    /// The rules by which the rows are checked and converted.
    pub converter: Converter,
    /// Takes the bad rows.
    pub rejects: Arc<Mutex<Rejects>>,
    /// Bytes read of the file as it lies there.
    pub read: Arc<AtomicU64>,
    /// Set once the rest of the text is not needed any more.
    pub is_unwanted: Arc<AtomicBool>,
    /// The number of threads that work.
    pub threads: usize,
    /// The source of the rows' numbers.
    pub numbers: Numbers,
    /// The indexes: the columns of each, by their place in the file's order.
    pub indexes: Vec<Vec<usize>>,
    /// Bytes of memory in which rows and indexes are sorted.
    pub memory: usize,
    /// The folder for temporary files of data that exceed the memory.
    pub folder: PathBuf,
}

/// The source from which threads take pieces.
pub enum Pieces {
    /// A text, and how it is written.
    Text(Mutex<Chunks>, Dialect),
    /// A Parquet file.
    #[cfg(feature = "parquet")]
    Parquet(Mutex<Parts>, Arc<File>),
}

/// The source of the rows' numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// The rows are counted.
    Counted,
    /// From a column whose numbers ascend.
    Ascending(usize),
    /// From a column whose numbers are put in order first.
    Sorted(usize),
}

impl Numbers {
    /// The column that they come from.
    pub fn column(self) -> Option<usize> {
        match self {
            Numbers::Counted => None,
            Numbers::Ascending(column) | Numbers::Sorted(column) => Some(column),
        }
    }
}

/// The rows' keys are not what they were taken for, so that the import must begin anew in another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Restart {
    /// Row numbers do not ascend.
    #[error("the keys are not in order")]
    Unordered,
    /// A key comes twice or is missing: the database says which, and on which line, or gives it a number.
    #[error("a key comes twice or is missing")]
    Violated,
}

/// A table that is written but for the levels above its leaves.
pub struct Filled {
    /// The leaves.
    pub tree: TableTree,
    /// The number of their rows.
    pub rows: u64,
    /// For each index what each thread has kept of it, in order.
    pub indexes: Vec<Vec<Entries>>,
}

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

    use sqlite_pages::{Database, PageSize};

    use super::*;
    use crate::parse::Wanted;
    use crate::records::LONGEST;
    use crate::rejects::OnError;
    use crate::value::Kind;

    /// A pipe whose writer writes nothing any more.
    struct IdlePipe(Arc<AtomicBool>);

    impl Read for IdlePipe {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            while !self.0.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            Err(io::Error::other("nobody wants the rest of it"))
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
            converter: Converter { columns: vec![column], nulls: Vec::new() },
            rejects: Arc::new(Mutex::new(Rejects::new(&OnError::Stop, vec!["t".into()]))),
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
    fn an_interrupt_is_told_as_one_where_a_thread_waits_for_a_pipe() {
        for _ in 0..20 {
            let patience = StopCheck(AtomicU64::new(1));
            assert_eq!(error_before_silence(b"1\n2\n".to_vec(), 4, &patience), Interrupted.to_string());
        }
    }
}
