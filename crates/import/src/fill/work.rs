//! The work of the threads that fill a table: each takes a piece, reads its rows, waits for its turn and writes their
//! pages.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use anyhow::{Error, Result, ensure};
use sqlite_pages::{Leaves, Pages, Placed, Sorter, TableTree};

use super::chunk_reader::ChunkReader;
use super::index::{Entries, key_column};
use super::job::{Fill, Filled, Numbers};
use super::order::{self, Sorters};
use super::parts::Reorder;
use super::restart::Restart;
use super::rows::Rows;
use crate::pipeline::ImportObserver;

/// The piece whose turn it is, and the next row's number.
struct Turns {
    piece: u64,
    /// The piece whose rows are counted next.
    numbered: u64,
    /// The number of turns so far.
    count: u64,
    /// The number of the next row if rows are counted; the least that it may be if a column has the numbers.
    row: i64,
    /// The first error, after which there are no more turns.
    error: Option<Error>,
}

/// The leaves that have been written; turn after turn they are put into the tree.
#[derive(Default)]
struct Tree {
    tree: TableTree,
    rows: u64,
    leaves: Reorder<Placed>,
}

impl Tree {
    fn add(&mut self, turn: u64, placed: Placed, pages: &Pages) -> Result<()> {
        self.leaves.add(turn, placed);
        while let Some(placed) = self.leaves.next() {
            self.rows += placed.rows;
            self.tree.append(placed, pages)?;
        }
        Ok(())
    }
}

/// The state that the threads share while they work.
pub struct Work<'a, 'f> {
    fill: &'a Fill,
    /// True if a thread may write rows straight to the leaves: a bad row ends the import, rows need not be sorted, and
    /// their indexes hold whole numbers.
    is_direct: bool,
    pages: &'a Pages<'f>,
    turns: Mutex<Turns>,
    turned: Condvar,
    tree: Mutex<Tree>,
    /// The rows, if they must be sorted, and the entries of each index.
    unordered: Mutex<Vec<Sorter>>,
    indexes: Mutex<Vec<Vec<Entries>>>,
    /// The number of rows written.
    pub rows: AtomicU64,
    /// The number of threads that work.
    pub threads: AtomicU64,
}

impl<'a, 'f> Work<'a, 'f> {
    /// No piece is done yet.
    pub fn new(fill: &'a Fill, pages: &'a Pages<'f>) -> Work<'a, 'f> {
        let rejects = fill.rejects.lock().unwrap_or_else(PoisonError::into_inner);
        let is_keyed = fill.indexes.iter().all(|columns| key_column(columns, &fill.converter).is_some());
        let is_sorted = matches!(fill.numbers, Numbers::Sorted(_));
        Work {
            fill,
            is_direct: rejects.ends_at_first() && !is_sorted && is_keyed,
            pages,
            turns: Mutex::new(Turns {
                piece: 0,
                numbered: 0,
                count: 0,
                row: if fill.numbers == Numbers::Counted { 1 } else { i64::MIN },
                error: None,
            }),
            turned: Condvar::new(),
            tree: Mutex::default(),
            unordered: Mutex::new(Vec::new()),
            indexes: Mutex::new(fill.indexes.iter().map(|_| Vec::new()).collect()),
            rows: AtomicU64::new(0),
            threads: AtomicU64::new(fill.threads as u64),
        }
    }

    /// The output of all threads together, or their first error.
    pub fn filled(self, watch: &dyn ImportObserver) -> Result<Filled> {
        if let Some(error) = self.turns.into_inner().unwrap_or_else(PoisonError::into_inner).error {
            return Err(error);
        }
        let indexes = self.indexes.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unordered = self.unordered.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !unordered.is_empty() {
            let (tree, rows) = order::table(unordered, self.pages, watch)?;
            return Ok(Filled { tree, rows, indexes });
        }
        let Tree { tree, rows, .. } = self.tree.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Filled { tree, rows, indexes })
    }

    /// One thread's work, to the end of the text or the first error.
    pub fn thread(&self) -> Result<()> {
        let (mut hand, mut rows, mut leaves) =
            (ChunkReader::new(self.fill), Rows::default(), Leaves::new(self.pages));
        let mut sorters = Sorters::new(self.fill);
        while !self.has_ended() {
            let taken = match hand.take() {
                Ok(false) => return self.keep(sorters),
                taken => taken,
            };
            let (mut outcome, mut count) = (taken, None);
            if outcome.is_ok() {
                count = self.is_direct.then(|| hand.rows()).flatten();
                outcome = match count {
                    Some(count) => {
                        let Some(first) = self.number(hand.piece(), count) else { return Ok(()) };
                        hand.write(&mut rows, (&mut leaves, &mut sorters), first).map(|()| false)
                    }
                    None => hand.read(&mut rows),
                };
            }
            // An error is reported in the piece's turn, so that the user sees the first one of the file.
            let Some(turn) = self.turn(hand.piece(), &mut rows, outcome, count)? else { return Ok(()) };
            hand.forget();
            if count.is_none() {
                sorters.take(self.fill, &rows.numbers, &rows.records)?;
            }
            if sorters.rows.is_none() {
                leaves.push_records(rows.numbers.iter().copied().zip(rows.records.iter()))?;
                let placed = leaves.place(self.pages)?;
                self.tree.lock().unwrap_or_else(PoisonError::into_inner).add(turn, placed, self.pages)?;
            }
            self.rows.fetch_add(rows.written.max(rows.records.count() as u64), Ordering::Relaxed);
            rows.clear();
            hand.put_down();
        }
        Ok(())
    }

    /// Waits until the rows before are numbered, numbers the rows of a piece that go straight to the leaves, and
    /// returns the first row's number. None if an error has ended the work.
    fn number(&self, piece: u64, count: u64) -> Option<i64> {
        if self.fill.numbers != Numbers::Counted {
            return Some(i64::MIN);
        }
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        while turns.numbered != piece && turns.error.is_none() {
            turns = self.turned.wait(turns).unwrap_or_else(PoisonError::into_inner);
        }
        if turns.error.is_some() {
            return None;
        }
        let first = turns.row;
        turns.row += count as i64;
        turns.numbered += 1;
        self.turned.notify_all();
        Some(first)
    }

    /// Sorts the entries that this thread has for each index.
    fn keep(&self, sorters: Sorters) -> Result<()> {
        if let Some(mut sorter) = sorters.rows {
            sorter.order()?;
            self.unordered.lock().unwrap_or_else(PoisonError::into_inner).push(sorter);
        }
        for (index, mut sorter) in sorters.indexes.into_iter().enumerate() {
            sorter.order()?;
            self.indexes.lock().unwrap_or_else(PoisonError::into_inner)[index].push(sorter);
        }
        Ok(())
    }

    /// Waits until all pieces before this one have had their turn, judges its bad rows and numbers its rows. Returns
    /// the number of this turn among all turns, or None if an error has ended the work. The outcome says whether the
    /// piece has more rows: then the next turn is its turn again.
    fn turn(
        &self,
        piece: u64,
        rows: &mut Rows,
        outcome: Result<bool>,
        count: Option<u64>,
    ) -> Result<Option<u64>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        while turns.piece != piece && turns.error.is_none() {
            turns = self.turned.wait(turns).unwrap_or_else(PoisonError::into_inner);
        }
        if turns.error.is_some() {
            return Ok(None);
        }
        let mut rejects = self.fill.rejects.lock().unwrap_or_else(PoisonError::into_inner);
        for (bad, fields) in rows.bad.drain(..) {
            rejects.take(bad, &fields)?;
        }
        let has_more = outcome?;
        match self.fill.numbers {
            Numbers::Counted if count.is_some() => {
                ensure!(count == Some(rows.written), "rows were counted wrongly, which is a fault of dyno");
            }
            Numbers::Counted => {
                turns.numbered = piece + u64::from(!has_more);
                let first = turns.row;
                turns.row += rows.records.count() as i64;
                rows.numbers.extend(first..turns.row);
            }
            Numbers::Ascending(_) => {
                let least = std::mem::replace(&mut turns.row, i64::MIN);
                turns.row = rows.numbers.iter().try_fold(least, |least, &number| {
                    // No number may follow the greatest that there is.
                    (number >= least && number < i64::MAX).then(|| number + 1).ok_or(Restart::Unordered)
                })?;
            }
            Numbers::Sorted(_) => {}
        }
        let turn = turns.count;
        turns.count += 1;
        if !has_more {
            turns.piece += 1;
            self.turned.notify_all();
        }
        Ok(Some(turn))
    }

    /// Ends the work of all threads with the first error. A thread that waits for the program that writes the text
    /// stops waiting; that is an error too, but not the first.
    pub fn end(&self, error: Error) {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).error.get_or_insert(error);
        self.fill.is_unwanted.store(true, Ordering::Relaxed);
        self.turned.notify_all();
    }

    fn has_ended(&self) -> bool {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).error.is_some()
    }
}
