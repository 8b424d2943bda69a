//! The rows cut into parts, so that threads can decode them side by side, also those of one row group: a thread leaves
//! the pages out that hold other parts.

use std::sync::Arc;

use anyhow::{Context, Result};
use parquet::column::reader::get_column_reader;
use parquet::file::serialized_reader::SerializedPageReader;

use super::column::Column;
use super::damage::guarded;
use super::{File, Form};
use crate::error::Input;

/// The most rows of a part. Where a part ends within a page, two threads decode that page.
const ROWS: u64 = 1 << 16;
/// Rows that are decoded at once: their columns stay within a processor's cache.
const BATCH: u64 = 2048;

/// Some rows of a row group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPart {
    /// Its index, from 0.
    pub index: u64,
    /// The first row's number in the file, from 1.
    pub row: u64,
    group: usize,
    /// Its start and end in the group.
    start: u64,
    end: u64,
}

/// Gives one part after another.
pub struct RowParts {
    file: Arc<File>,
    /// The wanted size of a part, in decoded bytes.
    size: u64,
    index: u64,
    row: u64,
    group: usize,
    start: u64,
}

impl RowParts {
    /// The parts of a file, of about `size` decoded bytes, as far as the file's metadata are right.
    pub fn new(file: Arc<File>, size: usize) -> RowParts {
        RowParts { file, size: size as u64, index: 0, row: 1, group: 0, start: 0 }
    }

    /// The next part; None at the end.
    pub fn next(&mut self) -> Option<RowPart> {
        while let Some(group) = self.file.metadata.row_groups().get(self.group) {
            let rows = group.num_rows().max(0) as u64;
            if self.start >= rows {
                (self.group, self.start) = (self.group + 1, 0);
                continue;
            }
            let bytes = group.total_byte_size().max(1) as u64;
            let fitting = (u128::from(rows) * u128::from(self.size) / u128::from(bytes)) as u64;
            let end = rows.min(self.start + fitting.clamp(1, ROWS));
            let part =
                RowPart { index: self.index, row: self.row, group: self.group, start: self.start, end };
            (self.index, self.row, self.start) = (self.index + 1, self.row + end - self.start, end);
            return Some(part);
        }
        None
    }
}

/// Decodes parts, of which each begins behind the one before.
pub struct Reader {
    file: Arc<File>,
    /// Of the row group that the last part lay in.
    pub columns: Vec<Column>,
    group: Option<usize>,
    /// Rows of the group that are decoded or left out.
    at: u64,
    /// The end of the part in the group.
    end: u64,
    /// The number of the next row.
    row: u64,
}

impl Reader {
    /// Before the first part.
    pub fn new(file: Arc<File>) -> Reader {
        Reader { file, columns: Vec::new(), group: None, at: 0, end: 0, row: 0 }
    }

    /// Goes to the beginning of a part.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn go_to(&mut self, part: &RowPart) -> Result<()> {
        self.row = part.row;
        guarded(|| self.try_to_go(part)).with_context(|| self.unreadable()).input()
    }

    fn try_to_go(&mut self, part: &RowPart) -> Result<()> {
        if self.group != Some(part.group) {
            (self.columns, self.group, self.at) = (self.open(part.group)?, Some(part.group), 0);
        }
        let skipped = (part.start - self.at) as usize;
        if skipped > 0 {
            self.columns.iter_mut().try_for_each(|column| column.skip(skipped))?;
        }
        (self.at, self.end) = (part.start, part.end);
        Ok(())
    }

    fn open(&self, group: usize) -> Result<Vec<Column>> {
        let group = self.file.metadata.row_group(group);
        let rows = group.num_rows() as usize;
        let columns = group.columns().iter().zip(&self.file.forms).map(|(column, &form): (_, &Form)| {
            let pages = SerializedPageReader::new(self.file.bytes.clone(), column, rows, None)?;
            let about = column.column_descr_ptr();
            let most = about.max_def_level();
            Ok(Column::new(get_column_reader(about, Box::new(pages)), form, most))
        });
        columns.collect()
    }

    /// Decodes the part's next rows and returns their count and the number of the first. None at the part's end.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&mut self) -> Result<Option<(usize, u64)>> {
        let (rows, row) = ((self.end - self.at).min(BATCH), self.row);
        if rows == 0 {
            return Ok(None);
        }
        let read = guarded(|| self.columns.iter_mut().try_for_each(|column| column.read(rows as usize)));
        read.with_context(|| self.unreadable()).input()?;
        (self.at, self.row) = (self.at + rows, self.row + rows);
        Ok(Some((rows as usize, row)))
    }

    /// True once all rows of the part are decoded.
    pub fn is_at_end(&self) -> bool {
        self.at == self.end
    }

    fn unreadable(&self) -> String {
        format!("cannot read {} after row {}", self.file.name, self.row - 1)
    }
}
