//! The records of delimited text, one after another, written straight into the buffer that the caller gives.
//!
//! This reader takes every syntax, and needs the text as a stream; [`crate::split`] takes pieces of text in the usual
//! dialect.

mod reading;
#[cfg(test)]
mod tests;

use std::io::BufRead;

use anyhow::{Context, Result, anyhow};
use memchr::memchr2;

use crate::error::Input;
use crate::split::fields_of;
use crate::syntax::{Flaw, LONGEST, MOST_FIELDS, Syntax, too_long, too_many_fields};
use reading::Reading;

/// Reads one record after another.
pub struct Records {
    text: Box<dyn BufRead + Send>,
    syntax: Syntax,
    name: String,
    line: u64,
    longest: usize,
    has_ended: bool,
}

/// A record that was read: its fields' ends are in the caller's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Bytes of its fields together.
    pub length: usize,
    /// The number of fields.
    pub fields: usize,
    /// The line on which it begins.
    pub line: u64,
    /// The reason that it is a bad row.
    pub flaw: Flaw,
}

impl Records {
    /// Records from here on; `name` is what messages call the file.
    pub fn new(text: Box<dyn BufRead + Send>, syntax: impl Into<Syntax>, name: String) -> Records {
        Records::from_line(text, syntax, name, 1)
    }

    /// The same where the text begins on a later line of the file.
    pub fn from_line(
        text: Box<dyn BufRead + Send>,
        syntax: impl Into<Syntax>,
        name: String,
        line: u64,
    ) -> Records {
        Records { text, syntax: syntax.into(), name, line, longest: LONGEST, has_ended: false }
    }

    /// The same where no record may be longer than this, in bytes.
    #[must_use]
    pub fn limited_to(self, longest: usize) -> Records {
        Records { longest, ..self }
    }

    /// The rest of the text, and the line on which it begins.
    pub fn into_rest(self) -> (Box<dyn BufRead + Send>, u64) {
        (self.text, self.line)
    }

    /// Leaves out lines of the text, whatever they hold. There may be fewer.
    ///
    /// # Errors
    /// The text cannot be read.
    pub fn skip(&mut self, lines: u64) -> Result<()> {
        for _ in 0..lines {
            if !self.skip_line()? {
                break;
            }
        }
        Ok(())
    }

    /// Leaves out one line, and says whether it had an end: else the text has ended. A lone CR ends it as it ends a record;
    /// with an LF behind it both are one end.
    fn skip_line(&mut self) -> Result<bool> {
        let mut is_behind_cr = false;
        loop {
            let input = self.text.fill_buf().with_context(|| format!("cannot read {}", self.name)).input()?;
            let found = match is_behind_cr {
                true => (input.first() == Some(&b'\n')).then_some(0),
                false => memchr2(b'\r', b'\n', input),
            };
            let is_lf = found.is_some_and(|at| input[at] == b'\n');
            let is_done = is_lf || is_behind_cr || input.is_empty();
            let rest = if is_done { 0 } else { input.len() };
            let count = found.map_or(rest, |end| end + 1);
            self.line += u64::from(is_lf);
            self.text.consume(count);
            if is_done {
                return Ok(is_lf || is_behind_cr);
            }
            is_behind_cr = found.is_some();
        }
    }

    /// The fields of the next record, which names the columns; `None` where there is no record.
    ///
    /// # Errors
    /// The text cannot be read, or the record is doubtful: a stray quote in it may have swallowed rows.
    pub fn read_header(&mut self) -> Result<Option<Vec<Vec<u8>>>> {
        let (mut buffer, mut ends, mut fields) = (vec![0; 4096], vec![0; 64], Vec::new());
        let Some(record) = self.read(&mut buffer, 0, &mut ends)? else { return Ok(None) };
        if record.flaw != Flaw::None {
            let (name, line, reason) = (&self.name, record.line, record.flaw.reason());
            return Err(anyhow!("{name}:{line}: the header {reason}")).input();
        }
        fields_of(&ends[..record.fields], &mut fields);
        let field = |&(from, to): &(u32, u32)| buffer[from as usize..to as usize].to_vec();
        Ok(Some(fields.iter().map(field).collect()))
    }

    /// Reads a record into `buffer` from `start` on; `ends` are relative to `start`. `None` at the end.
    /// Empty lines are no records.
    pub fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        start: usize,
        ends: &mut Vec<usize>,
    ) -> Result<Option<Record>> {
        if self.has_ended {
            return Ok(None);
        }
        let mut reading = Reading::new(self.syntax, self.line, (buffer, start), ends);
        loop {
            let input = self.text.fill_buf().with_context(|| format!("cannot read {}", self.name));
            let input = input.map_err(|error| at_line(error, reading.line)).input()?;
            if input.is_empty() {
                self.has_ended = true;
                return Ok(reading.end_of_text());
            }
            let (read, is_whole) = reading.take(input);
            self.text.consume(read);
            self.line = reading.line;
            if reading.record.length > self.longest {
                return too_long(reading.record.line, &self.name, self.longest).input();
            }
            if reading.record.fields > MOST_FIELDS {
                return too_many_fields(reading.record.line, &self.name).input();
            }
            if is_whole {
                return Ok(Some(reading.record));
            }
        }
    }
}

/// An error of reading, with how far it came.
pub fn at_line(error: anyhow::Error, line: u64) -> anyhow::Error {
    if line > 1 { error.context(format!("after line {}", line - 1)) } else { error }
}
