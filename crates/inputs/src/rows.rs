//! Rows in a file: cells of one width for each column, one row after another.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use dyno_protocol::{Column, RowFile};

use crate::{Cells, Slice};

/// A mapped row file.
#[derive(Debug)]
pub struct MappedRows<'a> {
    cells: Cells,
    columns: &'a [Column],
}

impl<'a> MappedRows<'a> {
    /// Maps a row file.
    pub fn load(rows: &'a RowFile) -> Result<MappedRows<'a>> {
        let width = rows.columns.iter().map(|column| column.bytes).sum();
        let cells = Cells::load(Path::new(&rows.file), rows.count, width)?;
        Ok(MappedRows { cells, columns: &rows.columns })
    }

    /// The number of rows.
    pub fn len(&self) -> u64 {
        self.cells.len()
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Some of the rows.
    pub fn slice(&self, range: Range<u64>) -> Slice<'_> {
        self.cells.slice(range)
    }

    /// The columns.
    pub fn columns(&self) -> &'a [Column] {
        self.columns
    }

    /// The cells of one row.
    pub fn row(&self, index: u64) -> impl Iterator<Item = &[u8]> {
        cells_of(self.cells.all().get(index), self.columns)
    }
}

/// The cells of a row with these columns.
#[inline]
pub fn cells_of<'a>(row: &'a [u8], columns: &'a [Column]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = row;
    columns.iter().map(move |column| {
        let (cell, after) = rest.split_at(column.bytes as usize);
        rest = after;
        cell
    })
}
