//! A table parsed on all cores: each thread takes a chunk of the text, makes records of its rows, waits for its turn to
//! number them, and writes their pages.
//!
//! Taking a turn is what keeps the order of the file: rows are numbered, and bad rows are judged, chunk after
//! chunk. Everything else threads do side by side. Memory is bounded by the chunks that are in work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Error, Result, anyhow};
use sqlite_pages::{Encoder, Leaves, Pages, Placed, TableTree};

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
}

/// A table that is written but for the levels above its leaves.
pub struct Filled {
    /// The leaves.
    pub tree: TableTree,
    /// How many rows they hold.
    pub rows: u64,
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
            rows: AtomicU64::new(0),
            working: AtomicU64::new(self.threads as u64),
        };
        thread::scope(|scope| {
            for number in 0..self.threads {
                let parser = thread::Builder::new().name(format!("parser {number}"));
                let main = thread::current();
                let work = &work;
                parser.spawn_scoped(scope, move || {
                    // A thread that panics must not leave the others waiting for its turn.
                    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work.thread()));
                    let crash = |_| Err(anyhow!("a parser crashed, which is a fault of dyno"));
                    if let Err(error) = outcome.unwrap_or_else(crash) {
                        work.end(error);
                    }
                    work.working.fetch_sub(1, Ordering::Release);
                    main.unpark();
                })?;
            }
            while work.working.load(Ordering::Acquire) > 0 {
                if watch.stops() {
                    self.is_unwanted.store(true, Ordering::Relaxed);
                    work.end(Interrupted.into());
                }
                watch.reached(work.rows.load(Ordering::Relaxed), self.read.load(Ordering::Relaxed));
                thread::park_timeout(LOOK);
            }
            Ok::<(), Error>(())
        })?;
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
        Ok(Filled { tree, rows })
    }
}

impl Work<'_, '_> {
    /// One thread's work, to the end of the text or the first error.
    fn thread(&self) -> Result<()> {
        let (mut chunk, mut parsed, mut unquoted) = (Chunk::default(), Parsed::default(), Vec::new());
        let (mut encoder, mut leaves) = (Encoder::default(), Leaves::new(self.pages));
        loop {
            if self.has_ended() {
                return Ok(());
            }
            let next = self.fill.chunks.lock().unwrap_or_else(PoisonError::into_inner).next(&mut chunk);
            let outcome = match next {
                Ok(false) => return Ok(()),
                Ok(true) => self.parse(&mut chunk, &mut encoder, &mut unquoted, &mut parsed),
                Err(error) => Err(error),
            };
            // An error is told in the chunk's turn, so that the first one of the file is what the user sees.
            let Some(first) = self.turn(chunk.index, &mut parsed, outcome)? else { return Ok(()) };
            let mut rest = &parsed.records[..];
            for (number, length) in (first..).zip(&parsed.lengths) {
                let (record, after) = rest.split_at(*length as usize);
                leaves.push_record(number, record)?;
                rest = after;
            }
            let placed = leaves.place(self.pages)?;
            self.rows.fetch_add(placed.rows, Ordering::Relaxed);
            self.placed.lock().unwrap_or_else(PoisonError::into_inner).push((chunk.index, placed));
        }
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

    /// Ends all threads' work with the first error.
    fn end(&self, error: Error) {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).error.get_or_insert(error);
        self.turned.notify_all();
    }

    fn has_ended(&self) -> bool {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).error.is_some()
    }
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
