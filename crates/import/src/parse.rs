//! The parser's thread: records become batches of typed cells.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, anyhow};

use crate::batch::{Batch, Cell};
use crate::error::BadRow;
use crate::pipeline::Sender;
use crate::records::{Record, Records};
use crate::rejects::Rejects;
use crate::value::{Kind, Value, read};

/// What the parser needs to know of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Its name, for messages.
    pub name: String,
    /// What it takes.
    pub kind: Kind,
    /// Whether a value that does not fit only shows that its type was inferred from too little.
    pub inferred: bool,
}

/// A value contradicts an inferred type.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Contradiction(pub BadRow);

/// Where records come from.
pub enum Input {
    /// Delimited text; a header has been read.
    Text(Box<Records>),
    /// A Parquet file.
    #[cfg(feature = "parquet")]
    Parquet(crate::parquet::Rows),
}

impl Input {
    fn read(&mut self, buffer: &mut Vec<u8>, start: usize, ends: &mut Vec<usize>) -> Result<Option<Record>> {
        match self {
            Input::Text(records) => records.read(buffer, start, ends),
            #[cfg(feature = "parquet")]
            Input::Parquet(rows) => rows.read(buffer, start, ends),
        }
    }

    /// Which fields of the last record are NULL, where that is not told by their text.
    fn nulls(&self) -> &[bool] {
        match self {
            Input::Text(_) => &[],
            #[cfg(feature = "parquet")]
            Input::Parquet(rows) => rows.nulls(),
        }
    }
}

/// Turns records into batches.
pub struct Parser {
    /// Where they come from.
    pub input: Input,
    /// The columns, in the file's order.
    pub columns: Vec<Wanted>,
    /// Spellings of NULL.
    pub nulls: Vec<Vec<u8>>,
    /// Whether numbers are wanted as numbers, or as the text that they have.
    pub typed: bool,
    /// Whether a text may hold a zero byte.
    pub zeros: bool,
    /// Takes the bad rows.
    pub rejects: Arc<Mutex<Rejects>>,
}

impl Parser {
    /// Parses to the end of the file, or until nobody takes the batches any more.
    pub fn run(mut self, sender: &Sender) -> Result<()> {
        let mut ends = vec![0; self.columns.len() + 1];
        let Some(mut batch) = sender.empty(self.columns.len()) else { return Ok(()) };
        loop {
            let used = batch.used;
            let Some(record) = self.input.read(&mut batch.text, used, &mut ends)? else { break };
            self.add(&mut batch, record, &ends)?;
            if batch.is_full() {
                sender.send(batch);
                let Some(next) = sender.empty(self.columns.len()) else { return Ok(()) };
                batch = next;
            }
        }
        if batch.rows() > 0 {
            sender.send(batch);
        }
        Ok(())
    }

    /// Adds a record to a batch, or takes it back and rejects it.
    fn add(&self, batch: &mut Batch, record: Record, ends: &[usize]) -> Result<()> {
        let cells = batch.cells.len();
        match self.convert(batch, record, ends) {
            Ok(()) => {
                batch.used += record.length;
                batch.lines.push(record.line);
                Ok(())
            }
            Err((column, reason)) => {
                batch.cells.truncate(cells);
                self.reject(batch, record, &ends[..record.fields], column, reason)
            }
        }
    }

    /// The error is the column and what is wrong with it.
    #[inline]
    fn convert(
        &self,
        batch: &mut Batch,
        record: Record,
        ends: &[usize],
    ) -> Result<(), (Option<usize>, String)> {
        if record.fields != self.columns.len() {
            return Err((None, format!("has {} fields, not {}", record.fields, self.columns.len())));
        }
        let start = batch.used;
        let text = &batch.text[start..start + record.length];
        let (is_ascii, is_null) = (text.is_ascii(), self.input.nulls());
        let mut from = 0;
        for (column, (wanted, &end)) in self.columns.iter().zip(ends).enumerate() {
            let field = &text[from..end];
            let is_null = is_null.get(column) == Some(&true)
                || !self.nulls.is_empty() && self.nulls.iter().any(|null| null == field);
            let value = if is_null {
                Value::Null
            } else {
                read(wanted.kind, field).map_err(|reason| (Some(column), reason))?
            };
            if !is_ascii && std::str::from_utf8(field).is_err() {
                return Err((Some(column), "is not UTF-8; --encoding names another encoding".into()));
            }
            batch.cells.push(match value {
                Value::Null => Cell::Null,
                Value::Integer(number) if self.typed => Cell::Integer(number),
                Value::Real(number) if self.typed => Cell::Real(number),
                _ => Cell::Text((start + from) as u32, (end - from) as u32),
            });
            from = end;
        }
        if !self.zeros && text.contains(&0) {
            return Err((None, "holds a zero byte, which the server does not store".into()));
        }
        Ok(())
    }

    #[cold]
    fn reject(
        &self,
        batch: &Batch,
        record: Record,
        ends: &[usize],
        column: Option<usize>,
        reason: String,
    ) -> Result<()> {
        let text = &batch.text[batch.used..][..record.length];
        let mut from = 0;
        let fields: Vec<&[u8]> =
            ends.iter().map(|&end| &text[std::mem::replace(&mut from, end)..end]).collect();
        let shown = match column {
            Some(column) => fields[column].to_vec(),
            None => fields.join(&b", "[..]),
        };
        let name = column.map(|column| self.columns[column].name.clone());
        let is_type = column.is_some_and(|column| read(self.columns[column].kind, fields[column]).is_err());
        let bad = BadRow { line: record.line, column: name, reason, text: shown };
        if is_type && column.is_some_and(|column| self.columns[column].inferred) {
            return Err(Contradiction(bad).into());
        }
        self.rejects.lock().unwrap_or_else(PoisonError::into_inner).take(bad, &fields)
    }
}

/// What a contradiction means where the source cannot be read again.
pub fn unrepeatable(contradiction: &Contradiction, name: &str) -> anyhow::Error {
    let bad = &contradiction.0;
    let column = bad.column.as_deref().unwrap_or_default();
    anyhow!(
        "{name}:{}: {bad}. The type was inferred from the beginning, and {name} cannot be read again: say --types '{column}:TEXT', or import a file",
        bad.line
    )
}
