//! The parser's thread: records become batches of typed cells.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, anyhow};
use memchr::memchr;

use crate::batch::{Batch, BatchCell};
use crate::convert::{BadField, Converter, TypeMismatch};
use crate::error::BadRow;
use crate::input::Input;
use crate::pipeline::Sender;
use crate::records::Record;
use crate::rejects::Rejects;
use crate::split::Fields;
use crate::syntax::Flaw;
use crate::value::{Kind, Value, integer, real};

/// Turns records into batches.
pub struct Parser {
    /// The source of the records.
    pub input: Box<Input>,
    /// The rules by which they are checked and converted.
    pub converter: Converter,
    /// True if the target wants numbers as numbers, and not as their text.
    pub typed: bool,
    /// True if a text may hold a zero byte.
    pub zeros: bool,
    /// Rows that the database refused in an attempt before: the numbers of their records, and the reasons.
    pub refused: HashMap<u64, String>,
    /// Takes the bad rows.
    pub rejects: Arc<Mutex<Rejects>>,
}

impl Parser {
    /// Parses to the end of the file, or until the receiver is gone.
    pub fn run(mut self, sender: &Sender) -> Result<()> {
        let columns = self.converter.columns.len();
        let (mut ends, mut fields) = (vec![0; columns + 1], Vec::new());
        let Some(mut batch) = sender.empty(columns) else { return Ok(()) };
        for number in 0.. {
            let used = batch.used;
            let Some(record) = self.input.read(&mut batch.text, used, &mut ends, &mut fields)? else { break };
            self.check_strings(&batch, record, &fields)?;
            self.add(&mut batch, (number, record), &fields)?;
            if batch.is_full() {
                sender.send(batch);
                let Some(next) = sender.empty(columns) else { return Ok(()) };
                batch = next;
            }
        }
        if batch.rows() > 0 {
            sender.send(batch);
        }
        Ok(())
    }

    /// A string is a text, also one that looks like a number: a type that was inferred from numbers is then too narrow. One
    /// that stands for NULL says nothing of the type, and neither does one of a record that will be rejected.
    fn check_strings(&self, batch: &Batch, record: Record, fields: &Fields) -> Result<()> {
        let (columns, strings) = (&self.converter.columns, self.input.strings());
        if strings.is_empty() || record.flaw != Flaw::None || fields.len() != columns.len() {
            return Ok(());
        }
        let text = |column: usize| {
            let (from, to) = fields[column];
            &batch.text[batch.used + from as usize..batch.used + to as usize]
        };
        let is_late = |column: &usize| {
            let wanted = &columns[*column];
            let is_string = strings.get(*column) == Some(&true);
            let is_text = is_string && wanted.inferred && wanted.kind.empty_is_null();
            is_text && !self.is_null(*column, text(*column))
        };
        let Some(column) = (0..columns.len()).find(is_late) else { return Ok(()) };
        if (0..columns.len()).any(|column| std::str::from_utf8(text(column)).is_err()) {
            return Ok(());
        }
        let text = text(column).to_vec();
        let (line, name) = (record.line, columns[column].name.clone());
        let reason = "is a string in a column of numbers".to_owned();
        Err(TypeMismatch(BadRow { line, column: Some(name), reason, text }).into())
    }

    /// Adds a record to a batch, or takes it back and rejects it.
    fn add(&self, batch: &mut Batch, (number, record): (u64, Record), fields: &Fields) -> Result<()> {
        let cells = batch.cells.len();
        let outcome = match self.refused.get(&number) {
            Some(reason) => Err((None, reason.clone())),
            None => self.convert(batch, record, fields),
        };
        match outcome {
            Ok(()) => {
                let (start, all) = (batch.used as u32, self.input.as_found(fields));
                batch.width = all.len();
                batch.fields.extend(all.iter().map(|&(from, to)| (start + from, start + to)));
                batch.used += record.length;
                batch.lines.push(record.line);
                batch.records.push(number);
                Ok(())
            }
            Err(wrong) => {
                batch.cells.truncate(cells);
                self.reject(batch, record, fields, wrong)
            }
        }
    }

    #[inline]
    fn convert(&self, batch: &mut Batch, record: Record, fields: &Fields) -> Result<(), BadField> {
        let start = batch.used as u32;
        match (record.flaw, self.input.shape()) {
            (Flaw::None, _) => {}
            (Flaw::Form { column }, Some(shape)) => {
                return Err((Some(column as usize), shape.wants(column as usize)));
            }
            (flaw, _) => return Err((None, flaw.reason())),
        }
        let text = &batch.text[batch.used..batch.used + record.length];
        let strings = self.input.strings();
        self.check_empty_strings(strings, fields)?;
        let cells = &mut batch.cells;
        let columns = &self.converter.columns;
        let first = cells.len();
        self.converter.convert(text, fields, text.is_ascii(), self.input.nulls(), |value, (from, to)| {
            let column = cells.len() - first;
            let is_string = strings.get(column).copied();
            let takes_all = columns[column].kind == Kind::AsIs;
            cells.push(match value {
                // In a column that takes anything, a string stays one, and a number too.
                Value::Null
                    if takes_all && is_string == Some(true) && from == to && !self.is_null(column, b"") =>
                {
                    BatchCell::Text(start + from, 0)
                }
                Value::Text if takes_all && self.typed && is_string == Some(false) => {
                    let field = &text[from as usize..to as usize];
                    let number =
                        integer(field).map(BatchCell::Integer).or_else(|| real(field).map(BatchCell::Real));
                    number.unwrap_or(BatchCell::Text(start + from, to - from))
                }
                Value::Null => BatchCell::Null,
                Value::Integer(number) if self.typed => BatchCell::Integer(number),
                Value::Real(number) if self.typed => BatchCell::Real(number),
                _ => BatchCell::Text(start + from, to - from),
            });
        })?;
        // Behind the fields of the columns that are loaded lie those of others, and of JSON the line as it is.
        let has_zero = |&(from, to): &(u32, u32)| memchr(0, &text[from as usize..to as usize]).is_some();
        if !self.zeros && memchr(0, text).is_some() && fields.iter().any(has_zero) {
            return Err((None, "holds a zero byte, which the server does not store".into()));
        }
        Ok(())
    }

    /// An empty string of JSON or of a Parquet file is no number, and not NULL either: both can say that a value is missing.
    fn check_empty_strings(&self, strings: &[bool], fields: &Fields) -> Result<(), BadField> {
        let columns = self.converter.columns.iter().zip(strings).zip(fields).enumerate();
        for (column, ((wanted, is_string), (from, to))) in columns {
            let is_other = *is_string && from == to && !takes_empty_string(wanted.kind);
            if is_other && !self.is_null(column, b"") {
                return Err((Some(column), NO_EMPTY_STRING.to_owned()));
            }
        }
        Ok(())
    }

    /// True if a text stands for NULL in a column.
    fn is_null(&self, column: usize, text: &[u8]) -> bool {
        let nulls = self.converter.nulls.iter().chain(&self.converter.columns[column].nulls);
        nulls.into_iter().any(|null| null == text)
    }

    #[cold]
    fn reject(&self, batch: &Batch, record: Record, fields: &Fields, wrong: BadField) -> Result<()> {
        let text = &batch.text[batch.used..][..record.length];
        let texts = |fields: &Fields| -> Vec<&[u8]> {
            fields.iter().map(|&(from, to)| &text[from as usize..to as usize]).collect()
        };
        let bad = self.converter.bad(record.line, &texts(fields), wrong)?;
        let record = texts(self.input.as_found(fields));
        self.rejects.lock().unwrap_or_else(PoisonError::into_inner).take(bad, &record)
    }
}

/// True if an empty string is a value of a column of this kind, or may be one for all that dyno knows.
pub fn takes_empty_string(kind: Kind) -> bool {
    !kind.empty_is_null() || kind == Kind::AsIs
}

/// The reason that a row with an empty string in another column is bad.
pub const NO_EMPTY_STRING: &str = "is an empty string, which the column's type does not take";

/// The error for a contradiction in a source that cannot be read again.
pub fn unrepeatable(contradiction: &TypeMismatch, name: &str, place: &str) -> anyhow::Error {
    let bad = &contradiction.0;
    let column = bad.column.as_deref().unwrap_or_default();
    anyhow!(
        "{place}: {bad}. The type was inferred from the beginning, and {name} cannot be read again: say --types '{column}:TEXT', or import a file"
    )
}
