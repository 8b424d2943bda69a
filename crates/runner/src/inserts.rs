//! The loops over rows that are inserted by statements, n to a statement and m to a transaction.

use std::ops::Range;

use anyhow::Result;

use crate::{Failure, Import, Load, Slices};

/// Most rows of one statement into a server: what drivers and their manuals suggest, far from every limit of a server.
const ROWS: u64 = 1000;
/// Most parameters of one statement into a server: both protocols count them in 16 bits.
const PARAMETERS: u64 = 65_535;

/// The number of rows, and their transactions.
#[derive(Debug, Clone, Copy)]
pub struct Extent<'a> {
    /// The number of rows.
    pub count: u64,
    /// The number of rows in a transaction; none: all.
    pub per_commit: Option<u64>,
    /// True if a transaction of one row is a statement that commits on its own, without BEGIN and COMMIT, which cost an
    /// exchange with a server each.
    pub alone: bool,
    /// The turns in which they are inserted.
    pub turns: Slices<'a>,
}

/// Begins transactions and commits them.
pub trait TransactionControl {
    /// Begins one.
    fn begin(&mut self) -> Result<()>;

    /// Commits it.
    fn commit(&mut self) -> Result<()>;
}

impl<'a> From<&Load<'a>> for Extent<'a> {
    fn from(load: &Load<'a>) -> Extent<'a> {
        let Load { rows, per_commit, turns, .. } = *load;
        Extent { count: rows.len(), per_commit, alone: false, turns }
    }
}

impl<'a> From<&Import<'a>> for Extent<'a> {
    /// An import is one slice: reading the file is a part of it.
    fn from(import: &Import<'a>) -> Extent<'a> {
        let turns = Slices::default();
        Extent { count: import.records, per_commit: import.per_commit, alone: true, turns }
    }
}

/// Hands the places of the rows to `way`, those of one transaction at a time, and begins and commits around
/// each. What `way` returns is how many rows it has loaded. A transaction that fails is left open: the
/// connection ends with the trial, and the engine rolls it back.
#[inline]
pub fn in_transactions(
    mut around: impl TransactionControl,
    extent: Extent,
    mut way: impl FnMut(Range<u64>) -> Result<u64, Failure>,
) -> Result<u64, Failure> {
    let Extent { count, per_commit, alone, .. } = extent;
    let begins = !(alone && per_commit == Some(1));
    let mut start = 0;
    let mut done = 0;
    while start < count {
        let end = per_commit.map_or(count, |rows| count.min(start + rows.max(1)));
        if begins {
            around.begin()?;
        }
        done += way(start..end)?;
        if begins {
            around.commit()?;
        }
        start = end;
    }
    Ok(done)
}

/// Inserts rows by a prepared statement that takes `group` of them in one call. `prepare` makes it for a
/// number of rows: that one, and what is left over at the end of a transaction. `call` executes it for the rows
/// at these places; where it fails, it says at which if it knows.
#[inline]
pub fn insert<S>(
    around: impl TransactionControl,
    extent: Extent,
    group: u64,
    prepare: impl Fn(u64) -> Result<S>,
    mut call: impl FnMut(&mut S, Range<u64>) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let mut whole = prepare(group)?;
    let mut part: Option<(u64, S)> = None;
    in_transactions(around, extent, |rows| {
        let mut start = rows.start;
        while start < rows.end {
            let stop = start + extent.turns.take_calls(rows.end - start, group)?;
            while start < stop {
                let end = stop.min(start + group);
                let statement = match &mut part {
                    _ if end - start == group => &mut whole,
                    Some((count, statement)) if *count == end - start => statement,
                    part => &mut part.insert((end - start, prepare(end - start)?)).1,
                };
                call(statement, start..end).map_err(|failure| Failure {
                    // If one call inserts several rows, no engine reports which it refused.
                    index: failure.index.or((group == 1).then_some(start)),
                    ..failure
                })?;
                start = end;
            }
        }
        Ok(rows.end - rows.start)
    })
}

/// `INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)`, for a number of rows and with parameters spelled as the server
/// wants them, each by its number from 1.
pub fn insert_text<'a>(
    table: &str,
    names: impl ExactSizeIterator<Item = &'a str>,
    rows: u64,
    parameter: impl Fn(usize) -> String,
) -> String {
    let columns = names.len();
    let row = |row: usize| {
        let parameters: Vec<String> = (1..=columns).map(|column| parameter(row * columns + column)).collect();
        format!("({})", parameters.join(", "))
    };
    let rows: Vec<String> = (0..rows as usize).map(row).collect();
    format!("INSERT INTO {table} ({}) VALUES {}", column_list(names), rows.join(", "))
}

/// `a, b`: names as the job spells them, because the statements that made the table did so too.
pub fn column_list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// The number of rows that one multi-row statement takes.
pub fn rows_per_statement(extent: Extent, columns: usize) -> u64 {
    let transaction = extent.per_commit.unwrap_or(extent.count);
    ROWS.min(PARAMETERS / columns.max(1) as u64).min(transaction).max(1)
}

#[cfg(test)]
pub(crate) mod tests {
    use dyno_inputs::MappedRows;
    use dyno_protocol::{Column, RowFile};

    use super::*;

    /// Hands three rows of two columns to `look`.
    pub(crate) fn with_load<T>(per_commit: Option<u64>, look: impl Fn(&Load) -> T) -> T {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows");
        std::fs::write(&file, "aabbbccdddeefff").unwrap();
        let columns = [("x", 2), ("y", 3)].map(|(name, bytes)| Column { name: name.into(), bytes });
        let rows = RowFile { file, count: 3, columns: columns.to_vec() };
        look(&Load::of(&MappedRows::load(&rows).unwrap(), 0..3, "t", per_commit))
    }

    #[test]
    fn a_statement_has_parameters_for_every_cell() {
        let text =
            with_load(None, |load| insert_text(load.table, load.names(), 2, |number| format!("${number}")));
        assert_eq!(text, "INSERT INTO t (x, y) VALUES ($1, $2), ($3, $4)");
        let together = |load: &Load| rows_per_statement(load.into(), 2);
        assert_eq!((with_load(None, together), with_load(Some(2), together)), (3, 2));
    }
}
