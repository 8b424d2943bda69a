//! A table parsed on all cores: each thread takes a chunk of the text, makes records of its rows, waits for its turn to
//! number them, and writes their pages.
//!
//! Taking a turn is what keeps the order of the file: rows are numbered, and bad rows are judged, chunk after
//! chunk. Everything else threads do side by side. Memory is bounded by the chunks that are in work.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Error, Result, anyhow};
use sqlite_pages::{Encoder, Leaves, Pages, Placed, Sorter, TableTree, Values};

use crate::chunks::{Chunk, Chunks};
use crate::convert::Converter;
use crate::error::{BadRow, Interrupted};
use crate::fields::records;
use crate::pipeline::Watch;
use crate::records::Dialect;
use crate::rejects::Rejects;
use crate::value::{Kind, Value};

/// How often somebody is asked whether to stop.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes of memory in which indexes are sorted.
const SORTED: usize = 256 << 20;

/// The rows of a text, and where they go.
pub struct Fill {
    /// The text.
    pub chunks: Mutex<Chunks>,
    /// How it is written.
    pub dialect: Dialect,
    /// What messages call the source.
    pub name: String,
    /// What the rows are held against.
    pub converter: Converter,
    /// Takes the bad rows.
    pub rejects: Arc<Mutex<Rejects>>,
    /// Bytes read of the file as it lies there.
    pub read: Arc<AtomicU64>,
    /// To be set when nobody wants the rest of the text.
    pub is_unwanted: Arc<AtomicBool>,
    /// How many threads work.
    pub threads: usize,
    /// The indexes: the columns of each, by their place in the file's order.
    pub indexes: Vec<Vec<usize>>,
    /// Where what does not fit the memory goes while indexes are sorted.
    pub folder: PathBuf,
}

/// A table that is written but for the levels above its leaves.
pub struct Filled {
    /// The leaves.
    pub tree: TableTree,
    /// How many rows they hold.
    pub rows: u64,
    /// For each index the records of its rows, sorted by each thread.
    pub indexes: Vec<Vec<Sorter>>,
}

/// Whose turn it is, and what the next row's number is.
struct Turns {
    chunk: u64,
    row: i64,
    /// The first error, after which there are no more turns.
    error: Option<Error>,
}

/// A chunk's outcome, before its turn.
#[derive(Default)]
struct Parsed {
    /// The rows' records, one behind the other, and how long each is.
    records: Vec<u8>,
    lengths: Vec<u32>,
    bad: Vec<(BadRow, Vec<Vec<u8>>)>,
}

/// What the threads share while they work.
struct Work<'a, 'f> {
    fill: &'a Fill,
    pages: &'a Pages<'f>,
    turns: Mutex<Turns>,
    turned: Condvar,
    placed: Mutex<Vec<(u64, Placed)>>,
    indexes: Mutex<Vec<Vec<Sorter>>>,
    rows: AtomicU64,
    working: AtomicU64,
}

impl Fill {
    /// Writes all rows.
    ///
    /// # Errors
    /// The first bad row, an error of the file or of the database, or [`Interrupted`]: the pages are worth nothing.
    pub fn run(&self, pages: &Pages, watch: &dyn Watch) -> Result<Filled> {
        let work = Work {
            fill: self,
            pages,
            turns: Mutex::new(Turns { chunk: 0, row: 1, error: None }),
            turned: Condvar::new(),
            placed: Mutex::new(Vec::new()),
            indexes: Mutex::new(self.indexes.iter().map(|_| Vec::new()).collect()),
            rows: AtomicU64::new(0),
            working: AtomicU64::new(self.threads as u64),
        };
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
                    work.working.fetch_sub(1, Ordering::Release);
                    main.unpark();
                });
                if let Err(error) = spawned {
                    work.working.fetch_sub(1, Ordering::Release);
                    work.end(Error::from(error).context("cannot start a thread"));
                }
            }
            while work.working.load(Ordering::Acquire) > 0 {
                if watch.stops() {
                    work.end(Interrupted.into());
                }
                watch.reached(work.rows.load(Ordering::Relaxed), self.read.load(Ordering::Relaxed));
                thread::park_timeout(LOOK);
            }
        });
        if let Some(error) = work.turns.into_inner().unwrap_or_else(PoisonError::into_inner).error {
            return Err(error);
        }
        let mut placed = work.placed.into_inner().unwrap_or_else(PoisonError::into_inner);
        placed.sort_unstable_by_key(|(chunk, _)| *chunk);
        let mut tree = TableTree::default();
        let mut rows = 0;
        for (_, placed) in placed {
            rows += placed.rows;
            tree.append(placed)?;
        }
        let indexes = work.indexes.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Filled { tree, rows, indexes })
    }
}

impl Work<'_, '_> {
    /// One thread's work, to the end of the text or the first error.
    fn thread(&self) -> Result<()> {
        let (mut chunk, mut parsed, mut unquoted) = (Chunk::default(), Parsed::default(), Vec::new());
        let (mut encoder, mut leaves) = (Encoder::default(), Leaves::new(self.pages));
        let memory = SORTED / (self.fill.threads * self.fill.indexes.len()).max(1);
        let sorter = |columns: &Vec<usize>| Sorter::new(&self.fill.folder, memory, columns.len() + 1);
        let mut sorters: Vec<Sorter> = self.fill.indexes.iter().map(sorter).collect();
        while !self.has_ended() {
            let next = self.fill.chunks.lock().unwrap_or_else(PoisonError::into_inner).next(&mut chunk);
            let outcome = match next {
                Ok(false) => return self.keep(sorters),
                Ok(true) => self.parse(&mut chunk, &mut encoder, &mut unquoted, &mut parsed),
                Err(error) => Err(error),
            };
            // An error is told in the chunk's turn, so that the first one of the file is what the user sees.
            let Some(first) = self.turn(chunk.index, &mut parsed, outcome)? else { return Ok(()) };
            let (mut rest, mut values) = (&parsed.records[..], Vec::new());
            for (number, length) in (first..).zip(&parsed.lengths) {
                let (record, after) = rest.split_at(*length as usize);
                leaves.push_record(number, record)?;
                for (sorter, columns) in sorters.iter_mut().zip(&self.fill.indexes) {
                    key(record, columns, number, &mut values);
                    sorter.push(&values)?;
                }
                rest = after;
            }
            let placed = leaves.place(self.pages)?;
            self.rows.fetch_add(placed.rows, Ordering::Relaxed);
            self.placed.lock().unwrap_or_else(PoisonError::into_inner).push((chunk.index, placed));
        }
        Ok(())
    }

    /// Sorts what this thread has for each index.
    fn keep(&self, sorters: Vec<Sorter>) -> Result<()> {
        for (index, mut sorter) in sorters.into_iter().enumerate() {
            sorter.order()?;
            self.indexes.lock().unwrap_or_else(PoisonError::into_inner)[index].push(sorter);
        }
        Ok(())
    }

    /// Makes records of a chunk's rows.
    fn parse(
        &self,
        chunk: &mut Chunk,
        encoder: &mut Encoder,
        unquoted: &mut Vec<u8>,
        parsed: &mut Parsed,
    ) -> Result<()> {
        let (converter, is_utf8) = (&self.fill.converter, std::str::from_utf8(&chunk.text).is_ok());
        parsed.records.clear();
        parsed.lengths.clear();
        parsed.bad.clear();
        let mut found: Vec<(Value, (u32, u32))> = Vec::with_capacity(converter.columns.len());
        records(chunk, self.fill.dialect, &self.fill.name, unquoted, |line, text, fields| {
            found.clear();
            match converter.convert(text, fields, is_utf8, &[], |value, place| found.push((value, place))) {
                Ok(()) => {
                    let values = found.iter().zip(&converter.columns);
                    let values =
                        values.map(|((value, place), column)| stored(*value, column.kind, text, *place));
                    let length = encoder.append(values, &mut parsed.records)?;
                    parsed.lengths.push(length as u32);
                }
                Err(wrong) => {
                    let fields: Vec<&[u8]> =
                        fields.iter().map(|&(from, to)| &text[from as usize..to as usize]).collect();
                    let bad = converter.bad(line, &fields, wrong)?;
                    parsed.bad.push((bad, fields.into_iter().map(<[u8]>::to_vec).collect()));
                }
            }
            Ok(())
        })
    }

    /// Waits until all chunks before this one have had their turn, judges its bad rows and numbers its rows: gives the
    /// number of the first. None where there are no more turns.
    fn turn(&self, chunk: u64, parsed: &mut Parsed, outcome: Result<()>) -> Result<Option<i64>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        while turns.chunk != chunk && turns.error.is_none() {
            turns = self.turned.wait(turns).unwrap_or_else(PoisonError::into_inner);
        }
        if turns.error.is_some() {
            return Ok(None);
        }
        let mut rejects = self.fill.rejects.lock().unwrap_or_else(PoisonError::into_inner);
        for (bad, fields) in parsed.bad.drain(..) {
            rejects.take(bad, &fields)?;
        }
        outcome?;
        let first = turns.row;
        turns.row += parsed.lengths.len() as i64;
        turns.chunk += 1;
        self.turned.notify_all();
        Ok(Some(first))
    }

    /// Ends all threads' work with the first error. None of them waits any longer for whoever writes the text, which
    /// is itself an error, though not the first.
    fn end(&self, error: Error) {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).error.get_or_insert(error);
        self.fill.is_unwanted.store(true, Ordering::Relaxed);
        self.turned.notify_all();
    }

    fn has_ended(&self) -> bool {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).error.is_some()
    }
}

/// What an index holds of a row: the values of its columns, and the row's number.
fn key<'r>(record: &'r [u8], columns: &[usize], number: i64, values: &mut Vec<sqlite_pages::Value<'r>>) {
    let value = |column: &usize| Values::of(record).nth(*column).unwrap_or(sqlite_pages::Value::Null);
    values.clear();
    values.extend(columns.iter().map(value));
    values.push(sqlite_pages::Value::Integer(number));
}

/// A value as SQLite stores it in a column of such a kind.
#[inline]
fn stored(value: Value, kind: Kind, text: &[u8], (from, to): (u32, u32)) -> sqlite_pages::Value<'_> {
    match value {
        Value::Null => sqlite_pages::Value::Null,
        Value::Integer(number) => sqlite_pages::Value::Integer(number),
        Value::Real(number) if kind == Kind::Real => sqlite_pages::Value::in_real(number),
        Value::Real(number) => sqlite_pages::Value::in_numeric(number),
        Value::Text => sqlite_pages::Value::Text(&text[from as usize..to as usize]),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read};

    use sqlite_pages::{Database, PageSize};

    use super::*;
    use crate::parse::Wanted;
    use crate::rejects::OnError;

    /// A pipe whose writer writes nothing any more.
    struct Silent(Arc<AtomicBool>);

    impl Read for Silent {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            while !self.0.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            Err(io::Error::other("nobody wants the rest of it"))
        }
    }

    /// Asks to stop at the last of so many looks.
    struct Patience(AtomicU64);

    impl Watch for Patience {
        fn stops(&self) -> bool {
            self.0.fetch_sub(1, Ordering::Relaxed) == 0
        }
        fn reached(&self, _: u64, _: u64) {}
        fn doing(&self, _: &str) {}
    }

    /// The error that ends an import of a text from a pipe whose writer then falls silent. The first chunk has so many
    /// bytes.
    fn error_before_silence(text: Vec<u8>, first: usize, patience: &Patience) -> String {
        let dialect = Dialect { delimiter: b',', quotes: true };
        let is_unwanted = Arc::<AtomicBool>::default();
        let text = BufReader::new(io::Cursor::new(text).chain(Silent(is_unwanted.clone())));
        let column = Wanted { name: "a".into(), kind: Kind::INTEGER, inferred: false };
        let fill = Fill {
            chunks: Mutex::new(Chunks::new(Box::new(text), dialect, "t".into(), 1, first)),
            dialect,
            name: "t".into(),
            converter: Converter { columns: vec![column], nulls: Vec::new() },
            rejects: Arc::new(Mutex::new(Rejects::new(&OnError::Stop, "t".into()))),
            read: Arc::default(),
            is_unwanted,
            threads: 2,
            indexes: Vec::new(),
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
        let patience = Patience(AtomicU64::new(250));
        let first = text.len();
        let error = error_before_silence(text, first, &patience);
        assert!(error.starts_with("t:4194305: column"), "{error}");
        assert!((1..=250).contains(&patience.0.into_inner()));
    }

    #[test]
    fn an_interrupt_is_told_as_one_where_a_thread_waits_for_a_pipe() {
        for _ in 0..20 {
            let patience = Patience(AtomicU64::new(1));
            assert_eq!(error_before_silence(b"1\n2\n".to_vec(), 4, &patience), Interrupted.to_string());
        }
    }
}
