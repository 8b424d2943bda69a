//! The loops over rows that are inserted by statements, n to a statement and m to a transaction.

use std::ops::Range;

use anyhow::Result;

use crate::{Failure, Import, Load, Slices};

/// Most rows of one statement into a server: what drivers and their manuals suggest, far from every limit of a server.
const ROWS: u64 = 1000;
/// Most parameters of one statement into a server: both protocols count them in 16 bits.
const PARAMETERS: u64 = 65_535;

/// [`Extent::each`] of a statement that takes any number of rows, such as COPY.
pub const ANY_ROWS: u64 = u64::MAX;

/// The number of rows, and their transactions.
#[derive(Debug, Clone, Copy)]
pub struct Extent<'a> {
    /// The number of rows.
    pub count: u64,
    /// The number of rows in a transaction; none: all.
    pub per_commit: Option<u64>,
    /// The most rows that one statement loads: 1 unless a driver says otherwise, and 0 if a transaction takes several
    /// statements in any case. A transaction of one statement commits on its own, because BEGIN and COMMIT would cost an
    /// exchange with a server each.
    pub each: u64,
    /// The turns in which they are inserted.
    pub turns: Slices<'a>,
}

impl Extent<'_> {
    /// The number of rows of every transaction but the last.
    pub fn transaction(&self) -> u64 {
        self.per_commit.map_or(self.count, |rows| rows.max(1).min(self.count))
    }

    /// Returns true if transactions are begun and committed by statements.
    fn begins(&self) -> bool {
        self.transaction() > self.each
    }
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
        Extent { count: rows.len(), per_commit, each: 1, turns }
    }
}

impl<'a> From<&Import<'a>> for Extent<'a> {
    /// An import is one slice: reading the file is a part of it.
    fn from(import: &Import<'a>) -> Extent<'a> {
        let turns = Slices::default();
        Extent { count: import.records, per_commit: import.per_commit, each: 1, turns }
    }
}

/// Hands the places of the rows to `way`, those of one transaction at a time, and begins and commits around
/// each, unless each is one statement that commits on its own. What `way` returns is how many rows it has loaded. A
/// transaction that fails is left open: the connection ends with the trial, and the engine rolls it back.
#[inline]
pub fn in_transactions(
    mut around: impl TransactionControl,
    extent: Extent,
    mut way: impl FnMut(Range<u64>) -> Result<u64, Failure>,
) -> Result<u64, Failure> {
    let (count, transaction, begins) = (extent.count, extent.transaction(), extent.begins());
    let mut start = 0;
    let mut done = 0;
    while start < count {
        let end = start + transaction.min(count - start);
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

/// Inserts rows by a prepared statement, `group` of them in one call, which executes it once or several times: the extent
/// says how many rows a statement takes. `prepare` makes it for a number of rows: that one, and what is left over at the
/// end of a transaction. `call` executes it for the rows at these places; where it fails, it says at which if it knows.
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
    ROWS.min(PARAMETERS / columns.max(1) as u64).min(extent.transaction()).max(1)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;

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

    /// Writes down what is begun and committed.
    struct Log<'l>(&'l RefCell<Vec<String>>);

    impl TransactionControl for Log<'_> {
        fn begin(&mut self) -> Result<()> {
            self.0.borrow_mut().push("BEGIN".into());
            Ok(())
        }

        fn commit(&mut self) -> Result<()> {
            self.0.borrow_mut().push("COMMIT".into());
            Ok(())
        }
    }

    /// All that is done for rows of which a call takes up to `group`.
    fn done(extent: Extent, group: u64) -> String {
        let lines = RefCell::new(Vec::new());
        let inserted = insert(
            Log(&lines),
            extent,
            group,
            |_| Ok(()),
            |(), rows| {
                lines.borrow_mut().push(format!("{rows:?}"));
                Ok(())
            },
        );
        assert_eq!(inserted.unwrap(), extent.count);
        lines.into_inner().join(" ")
    }

    #[test]
    fn a_transaction_of_one_statement_commits_on_its_own() {
        let all = |per_commit, each: u64| {
            with_load(per_commit, |load| done(Extent { each, ..load.into() }, each.clamp(1, 2)))
        };
        assert_eq!(all(Some(1), 1), "0..1 1..2 2..3");
        assert_eq!(all(Some(2), 2), "0..2 2..3");
        assert_eq!(all(Some(1), ANY_ROWS), "0..1 1..2 2..3");
        assert_eq!(all(None, 2), "BEGIN 0..2 2..3 COMMIT");
        assert_eq!(all(Some(1), 0), "BEGIN 0..1 COMMIT BEGIN 1..2 COMMIT BEGIN 2..3 COMMIT");
    }

    #[test]
    fn statements_that_commit_together_have_a_transaction_around_them() {
        let all = |per_commit, group| with_load(per_commit, |load| done(load.into(), group));
        assert_eq!(all(Some(1), 2), "0..1 1..2 2..3");
        assert_eq!(all(Some(2), 1), "BEGIN 0..1 1..2 COMMIT BEGIN 2..3 COMMIT");
        // A call may execute several statements.
        assert_eq!(all(Some(2), 2), "BEGIN 0..2 COMMIT BEGIN 2..3 COMMIT");
        assert_eq!(all(None, 1), "BEGIN 0..1 1..2 2..3 COMMIT");
        assert_eq!(all(Some(u64::MAX), 1), "BEGIN 0..1 1..2 2..3 COMMIT");
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
