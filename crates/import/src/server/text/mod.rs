//! The parser's thread for a server that gets delimited text: rows that are right already go as they are.

mod row;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use memchr::memchr;

use self::row::{Check, Known, copy, fits, known};
use super::common::escape;
use crate::batch::Batch;
use crate::chunks::{Chunk, Chunks};
use crate::convert::{BadField, Converter};
use crate::pipeline::Sender;
use crate::rejects::Rejects;
use crate::split::{Fields, Lines, Quoted, Split};
use crate::syntax::{Dialect, Flaw};
use crate::value::{Kind, Value};

/// Writes the rows of a text as servers read them by default: fields between tabs, a line each.
pub struct TextParser {
    /// The text.
    pub chunks: Chunks,
    /// Its delimiter and quotes.
    pub dialect: Dialect,
    /// Its name in messages.
    pub name: String,
    /// The rules by which rows are checked.
    pub converter: Converter,
    /// Rows that the server refused in an attempt before: the numbers of their records, and the reasons.
    pub refused: HashMap<u64, String>,
    /// Takes the bad rows.
    pub rejects: Arc<Mutex<Rejects>>,
}

impl TextParser {
    /// Parses to the end of the file, or until the receiver is gone.
    ///
    /// # Errors
    /// The file cannot be read, or a row ends the import.
    pub fn run(mut self, sender: &Sender) -> Result<()> {
        let checks = self.checks();
        let mut writer = Writer { sender, batch: None, record: 0 };
        let mut chunk = Chunk::default();
        while self.chunks.next(&mut chunk)? {
            let (known, line) = (known(&chunk, self.dialect), chunk.line);
            let is_open = match chunk.has_quotes {
                true => {
                    let split = Quoted::new(chunk.text_mut(), line, self.dialect.delimiter, &self.name);
                    self.rows(split, known, &checks, &mut writer)?
                }
                false => {
                    let split = Lines::new(chunk.text(), line, self.dialect.delimiter, &self.name);
                    self.rows(split, known, &checks, &mut writer)?
                }
            };
            if !is_open {
                return Ok(());
            }
        }
        writer.finish();
        Ok(())
    }

    /// The checks of the columns.
    fn checks(&self) -> Vec<Check> {
        let columns = self.converter.columns.iter();
        let check = |kind| match kind {
            Kind::TEXT => Check::Text,
            Kind::Integer { min, max } => Check::Integer { min, max },
            Kind::Real => Check::Real,
            _ => Check::Other,
        };
        let has_nulls =
            !self.converter.nulls.is_empty() || columns.clone().any(|wanted| !wanted.nulls.is_empty());
        columns.map(|wanted| if has_nulls { Check::Other } else { check(wanted.kind) }).collect()
    }

    /// Writes the rows of a chunk; false once the receiver is gone.
    fn rows(
        &self,
        mut split: impl Split,
        known: Known,
        checks: &[Check],
        writer: &mut Writer,
    ) -> Result<bool> {
        let may_copy = known.is_utf8 && !known.has_zero && known.is_plain && self.refused.is_empty();
        while let Some((line, text, fields, flaw)) = split.next()? {
            let record = writer.record;
            writer.record += 1;
            let Some(batch) = writer.batch() else { return Ok(false) };
            if may_copy && flaw == Flaw::None && fits(text, fields.clone(), checks) {
                copy(text, fields, batch);
                batch.lines.push(line);
                batch.records.push(record);
                continue;
            }
            let fields: Vec<(u32, u32)> = fields.collect();
            self.convert((line, record), text, &fields, flaw, known, batch)?;
        }
        Ok(true)
    }

    /// Converts a row field by field, or rejects it.
    fn convert(
        &self,
        (line, record): (u64, u64),
        text: &[u8],
        fields: &Fields,
        flaw: Flaw,
        known: Known,
        batch: &mut Batch,
    ) -> Result<()> {
        let start = batch.used;
        let outcome = match self.refused.get(&record) {
            Some(reason) => Err((None, reason.clone())),
            None => self.put(text, fields, flaw, known, batch),
        };
        if let Err(wrong) = outcome {
            batch.used = start;
            let fields: Vec<&[u8]> =
                fields.iter().map(|&(from, to)| &text[from as usize..to as usize]).collect();
            let bad = self.converter.bad(line, &fields, wrong)?;
            return self.rejects.lock().unwrap_or_else(PoisonError::into_inner).take(bad, &fields);
        }
        batch.lines.push(line);
        batch.records.push(record);
        Ok(())
    }

    fn put(
        &self,
        text: &[u8],
        fields: &Fields,
        flaw: Flaw,
        known: Known,
        batch: &mut Batch,
    ) -> Result<(), BadField> {
        if flaw != Flaw::None {
            return Err((None, flaw.reason()));
        }
        let mut field_end = b"".as_slice();
        self.converter.convert(text, fields, known.is_utf8, &[], |value, (from, to)| {
            batch.put(std::mem::replace(&mut field_end, b"\t"));
            let field = &text[from as usize..to as usize];
            match value {
                Value::Null => batch.put(b"\\N"),
                _ if known.is_plain => batch.put(field),
                _ => escape(field, |part| batch.put(part)),
            }
        })?;
        let has_zero = |&(from, to): &(u32, u32)| memchr(0, &text[from as usize..to as usize]).is_some();
        if known.has_zero && fields.iter().any(has_zero) {
            return Err((None, "holds a zero byte, which the server does not store".into()));
        }
        batch.put(b"\n");
        Ok(())
    }
}

/// The batch that is being written.
struct Writer<'s> {
    sender: &'s Sender,
    batch: Option<Batch>,
    /// The number of the next record.
    record: u64,
}

impl Writer<'_> {
    /// A batch with room; None once the receiver of the rows is gone.
    #[inline]
    fn batch(&mut self) -> Option<&mut Batch> {
        if let Some(full) = self.batch.take_if(|batch| batch.is_full()) {
            self.sender.send(full);
        }
        if self.batch.is_none() {
            self.batch = self.sender.empty(0);
            self.batch.as_mut()?.is_written = true;
        }
        self.batch.as_mut()
    }

    /// Sends what is left.
    fn finish(self) {
        if let Some(batch) = self.batch.filter(|batch| batch.rows() > 0) {
            self.sender.send(batch);
        }
    }
}
