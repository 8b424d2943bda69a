//! The rows one after another as records of text, for databases whose pages dyno does not write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;

use super::column::ParquetValue;
use super::{File, Reader, RowParts};
use crate::records::Record;
use crate::syntax::Flaw;

/// Decoded bytes of a part.
const PART: usize = 4 << 20;

/// The rows of a file.
pub struct Rows {
    parts: RowParts,
    reader: Reader,
    /// Rows that are decoded and not yet given, and the number of the next.
    left: usize,
    row: u64,
    /// True for each field of the last record that is NULL.
    nulls: Vec<bool>,
    /// True for each field that is a text, whatever it holds.
    strings: Vec<bool>,
    file: Arc<File>,
    read: Arc<AtomicU64>,
    text: Vec<u8>,
    printed: Vec<u8>,
}

impl Rows {
    /// The rows from the first one.
    pub fn new(file: Arc<File>, read: Arc<AtomicU64>) -> Rows {
        Rows {
            parts: RowParts::new(file.clone(), PART),
            reader: Reader::new(file.clone()),
            left: 0,
            row: 1,
            nulls: Vec::new(),
            strings: Vec::new(),
            file,
            read,
            text: Vec::new(),
            printed: Vec::new(),
        }
    }

    /// True for each field of the last record that is NULL.
    pub fn nulls(&self) -> &[bool] {
        &self.nulls
    }

    /// True for each field of the last record that is a text, whatever it holds.
    pub fn strings(&self) -> &[bool] {
        &self.strings
    }

    /// As for text; the line is the row.
    pub fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        start: usize,
        ends: &mut Vec<usize>,
    ) -> Result<Option<Record>> {
        while self.left == 0 {
            if let Some((rows, row)) = self.reader.read()? {
                (self.left, self.row) = (rows, row);
                self.read.store(self.file.bytes_before(row), Ordering::Relaxed);
            } else if let Some(part) = self.parts.next() {
                self.reader.go_to(&part)?;
            } else {
                self.read.store(self.file.bytes_before(u64::MAX), Ordering::Relaxed);
                return Ok(None);
            }
        }
        self.nulls.clear();
        self.strings.clear();
        self.text.clear();
        ends.clear();
        for column in &mut self.reader.columns {
            let given = column.next(&mut self.printed)?;
            self.nulls.push(given == ParquetValue::Null);
            self.strings.push(matches!(given, ParquetValue::Text(_)));
            given.put(&mut self.text)?;
            // The ends of fields are numbers of 32 bits.
            self.file.check_length(self.row, self.text.len())?;
            ends.push(self.text.len());
        }
        let length = self.text.len();
        if buffer.len() < start + length {
            buffer.resize((start + length).next_power_of_two(), 0);
        }
        buffer[start..start + length].copy_from_slice(&self.text);
        let line = self.row;
        (self.left, self.row) = (self.left - 1, self.row + 1);
        Ok(Some(Record { length, fields: ends.len(), line, flaw: Flaw::None }))
    }
}
