//! Rows for a table: the models `insert-rows`, `bulk-load`, `scan` and `import-file`.

use std::ffi::CStr;
use std::ops::Range;

use anyhow::{Result, bail};
use dyno_inputs::{MappedRows, Slice, cells_of};
use dyno_protocol::{Column, FieldKind};

use crate::{Answer, Failure, Import, Slices};

/// The interface of a driver to rows. A driver that implements one of the loads, or imports files, implements
/// [`Rows::read_rows`] too.
pub trait Rows {
    /// Inserts each row by a separate call of one prepared statement, and commits as the load says. This is a timed
    /// section. Returns how many rows were inserted.
    fn insert_rows(&mut self, _load: &Load) -> Result<u64, Failure> {
        Err(Failure::unsupported("insert-rows"))
    }

    /// Loads the rows by the way that the job's variant names, or by the best one the driver has, and
    /// commits as the load says. This is a timed section. Returns how many rows were loaded.
    fn bulk_load(&mut self, _load: &Load) -> Result<u64, Failure> {
        Err(Failure::unsupported("bulk-load"))
    }

    /// Counts the rows whose two columns differ: one row with the count. This is a timed section.
    fn scan(&mut self, _scan: &Scan, _answer: &mut Answer) -> Result<()> {
        bail!("this runner does not implement the model scan")
    }

    /// Prepares a way of importing before the clock starts, for example by writing a finished file that it then copies.
    /// The table exists. Most ways need nothing.
    fn prepare_import(&mut self, _import: &Import) -> Result<(), Failure> {
        Ok(())
    }

    /// Inserts every record of a file, which it splits as it goes, by the way that the job's variant names,
    /// and commits as the import says. This is a timed section. Returns how many records were inserted.
    fn import(&mut self, _import: &Import) -> Result<u64, Failure> {
        Err(Failure::unsupported("import-file"))
    }

    /// Reads some columns of a whole table back, outside the clock, and hands the values of each row to `visit`,
    /// in any order, as texts: a whole number in decimal. A value that is not stored as its column's kind is an
    /// error that names the column, where the engine knows the difference.
    fn read_rows(&mut self, _table: &str, _columns: &[(&str, FieldKind)], _visit: &mut Visit) -> Result<()> {
        bail!("this runner cannot read a table back")
    }
}

/// Takes the cells of one row.
pub type Visit<'a> = dyn FnMut(&[&[u8]]) -> Result<()> + 'a;

/// Rows to load.
#[derive(Debug, Clone, Copy)]
pub struct Load<'a> {
    /// The table, which is there.
    pub table: &'a str,
    /// Its columns.
    pub columns: &'a [Column],
    /// The rows: each is its cells one after another.
    pub rows: Slice<'a>,
    /// The number of rows in a transaction; none: all of them are one.
    pub per_commit: Option<u64>,
    /// The turns in which they are loaded.
    pub turns: Slices<'a>,
}

/// A scan.
#[derive(Debug, Clone, Copy)]
pub struct Scan<'a> {
    /// The table.
    pub table: &'a str,
    /// Its columns.
    pub columns: &'a [Column],
    /// The two columns that are compared, by position.
    pub differ: [usize; 2],
    /// The same as a query.
    pub sql: &'a CStr,
}

impl<'a> Load<'a> {
    /// Some of the rows of a file, into a table.
    pub fn of(
        rows: &'a MappedRows<'a>,
        range: Range<u64>,
        table: &'a str,
        per_commit: Option<u64>,
    ) -> Load<'a> {
        Load { table, columns: rows.columns(), rows: rows.slice(range), per_commit, turns: Slices::default() }
    }

    /// The names of the columns.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The cells of one row of [`Load::rows`], in order.
    #[inline]
    pub fn cells(&self, row: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        cells_of(row, self.columns)
    }
}
