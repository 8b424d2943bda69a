//! What threads do that fill a table side by side: each takes a chunk, reads its rows, waits for its turn and writes
//! their pages.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use anyhow::{Error, Result};
use sqlite_pages::{Leaves, Pages, Placed, Sorter, TableTree, Values};

use super::rows::Rows;
use super::{Fill, Filled};
use crate::chunks::Chunk;

/// Bytes of memory in which indexes are sorted.
const SORTED: usize = 256 << 20;

/// Whose turn it is, and what the next row's number is.
struct Turns {
    chunk: u64,
    row: i64,
    /// The first error, after which there are no more turns.
    error: Option<Error>,
}

/// What the threads share while they work.
pub struct Work<'a, 'f> {
    fill: &'a Fill,
    pages: &'a Pages<'f>,
    turns: Mutex<Turns>,
    turned: Condvar,
    placed: Mutex<Vec<(u64, Placed)>>,
    indexes: Mutex<Vec<Vec<Sorter>>>,
    /// How many rows are written.
    pub rows: AtomicU64,
    /// How many threads work.
    pub threads: AtomicU64,
}

impl<'a, 'f> Work<'a, 'f> {
    /// None done yet.
    pub fn new(fill: &'a Fill, pages: &'a Pages<'f>) -> Work<'a, 'f> {
        Work {
            fill,
            pages,
            turns: Mutex::new(Turns { chunk: 0, row: 1, error: None }),
            turned: Condvar::new(),
            placed: Mutex::new(Vec::new()),
            indexes: Mutex::new(fill.indexes.iter().map(|_| Vec::new()).collect()),
            rows: AtomicU64::new(0),
            threads: AtomicU64::new(fill.threads as u64),
        }
    }

    /// What all threads together have written, or their first error.
    pub fn filled(self) -> Result<Filled> {
        if let Some(error) = self.turns.into_inner().unwrap_or_else(PoisonError::into_inner).error {
            return Err(error);
        }
        let mut placed = self.placed.into_inner().unwrap_or_else(PoisonError::into_inner);
        placed.sort_unstable_by_key(|(chunk, _)| *chunk);
        let (mut tree, mut rows) = (TableTree::default(), 0);
        for (_, placed) in placed {
            rows += placed.rows;
            tree.append(placed)?;
        }
        let indexes = self.indexes.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Filled { tree, rows, indexes })
    }

    /// One thread's work, to the end of the text or the first error.
    pub fn thread(&self) -> Result<()> {
        let (mut chunk, mut rows, mut leaves) = (Chunk::default(), Rows::default(), Leaves::new(self.pages));
        let memory = SORTED / (self.fill.threads * self.fill.indexes.len()).max(1);
        let sorter = |columns: &Vec<usize>| Sorter::new(&self.fill.folder, memory, columns.len() + 1);
        let mut sorters: Vec<Sorter> = self.fill.indexes.iter().map(sorter).collect();
        while !self.has_ended() {
            let next = self.fill.chunks.lock().unwrap_or_else(PoisonError::into_inner).next(&mut chunk);
            let outcome = match next {
                Ok(false) => return self.keep(sorters),
                Ok(true) => rows.read(&mut chunk, self.fill),
                Err(error) => Err(error),
            };
            // An error is told in the chunk's turn, so that the first one of the file is what the user sees.
            let Some(first) = self.turn(chunk.index, &mut rows, outcome)? else { return Ok(()) };
            let mut values = Vec::new();
            for (number, record) in (first..).zip(rows.records.iter()) {
                leaves.push_record(number, record)?;
                for (sorter, columns) in sorters.iter_mut().zip(&self.fill.indexes) {
                    key(record, columns, number, &mut values);
                    sorter.push(&values)?;
                }
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

    /// Waits until all chunks before this one have had their turn, judges its bad rows and numbers its rows: gives the
    /// number of the first. None where there are no more turns.
    fn turn(&self, chunk: u64, rows: &mut Rows, outcome: Result<()>) -> Result<Option<i64>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        while turns.chunk != chunk && turns.error.is_none() {
            turns = self.turned.wait(turns).unwrap_or_else(PoisonError::into_inner);
        }
        if turns.error.is_some() {
            return Ok(None);
        }
        let mut rejects = self.fill.rejects.lock().unwrap_or_else(PoisonError::into_inner);
        for (bad, fields) in rows.bad.drain(..) {
            rejects.take(bad, &fields)?;
        }
        outcome?;
        let first = turns.row;
        turns.row += rows.records.count() as i64;
        turns.chunk += 1;
        self.turned.notify_all();
        Ok(Some(first))
    }

    /// Ends all threads' work with the first error. None of them waits any longer for whoever writes the text, which
    /// is itself an error, though not the first.
    pub fn end(&self, error: Error) {
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
