//! The records of delimited text (RFC 4180), written straight into the buffer that the caller gives.

use std::io::BufRead;

use anyhow::{Context, Result, bail};
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use crate::error::Input;

/// Longest record, bytes: more is what an unclosed quote swallows. Less memory holds only shorter ones.
pub const LONGEST: usize = 128 << 20;

/// The longest record that so many bytes of memory hold: its text is there, what is behind it, its values and its pages.
pub fn longest(memory: usize) -> usize {
    (memory / 4).clamp(1 << 20, LONGEST)
}

/// Most fields of a record: more than any database has columns.
pub const MOST_FIELDS: usize = 1 << 20;

/// How the text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// Between fields.
    pub delimiter: u8,
    /// Whether a field may be quoted.
    pub quotes: bool,
}

/// Reads one record after another.
pub struct Records {
    text: Box<dyn BufRead + Send>,
    core: Reader,
    name: String,
    ended: bool,
}

/// A record that was read: its fields' ends are in the caller's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Bytes of its fields together.
    pub length: usize,
    /// How many fields.
    pub fields: usize,
    /// The line on which it begins.
    pub line: u64,
}

impl Records {
    /// Records from here on; `name` is what messages call the file.
    pub fn new(text: Box<dyn BufRead + Send>, dialect: Dialect, name: String) -> Records {
        Records::from_line(text, dialect, name, 1)
    }

    /// The same where the text begins on a later line of the file.
    pub fn from_line(text: Box<dyn BufRead + Send>, dialect: Dialect, name: String, line: u64) -> Records {
        let mut core = ReaderBuilder::new().delimiter(dialect.delimiter).quoting(dialect.quotes).build();
        // csv-core drops a byte order mark from the first text that it is given. A file's own is gone by now, and at
        // the beginning of any other piece of text it is a letter: so the first text is an empty line.
        core.read_record(b"\n", &mut [0], &mut [0]);
        core.set_line(line);
        Records { text, core, name, ended: false }
    }

    /// What is left of the text, and the line on which it begins.
    pub fn into_rest(self) -> (Box<dyn BufRead + Send>, u64) {
        (self.text, self.core.line())
    }

    /// Reads a record into `buffer` from `start` on; `ends` are relative to `start`. `None` at the end.
    /// Empty lines are no records.
    pub fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        start: usize,
        ends: &mut Vec<usize>,
    ) -> Result<Option<Record>> {
        if self.ended {
            return Ok(None);
        }
        let (mut length, mut fields, mut began) = (0, 0, None);
        loop {
            let input = self.text.fill_buf().with_context(|| format!("cannot read {}", self.name));
            let input = input.map_err(|error| at_line(error, self.core.line())).input()?;
            if began.is_none() && !input.is_empty() {
                let empty = input.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
                let skipped = input[..empty].iter().filter(|byte| **byte == b'\n').count() as u64;
                began = (empty < input.len()).then(|| self.core.line() + skipped);
            }
            // An end of line ends the last record, unless a quote is open: csv-core itself would take
            // the rest of the file for a field and say nothing.
            let is_cut = input.is_empty() && began.is_some();
            let input = if is_cut { b"\n" } else { input };
            let (result, read, written, ended) =
                self.core.read_record(input, &mut buffer[start + length..], &mut ends[fields..]);
            self.text.consume(if is_cut { 0 } else { read });
            (length, fields) = (length + written, fields + ended);
            match result {
                ReadRecordResult::InputEmpty if is_cut => {
                    return unclosed(began.unwrap_or(1), &self.name).input();
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if length >= LONGEST => {
                    let line = began.unwrap_or(1);
                    return too_long(line, &self.name, LONGEST).input();
                }
                ReadRecordResult::OutputFull => {
                    buffer.resize((buffer.len() * 2).min(start + LONGEST + LONGEST / 8), 0);
                }
                ReadRecordResult::OutputEndsFull | ReadRecordResult::Record if fields > MOST_FIELDS => {
                    return too_many_fields(began.unwrap_or(1), &self.name).input();
                }
                ReadRecordResult::OutputEndsFull => ends.resize(ends.len() * 2 + 16, 0),
                ReadRecordResult::Record => {
                    let line = began.unwrap_or_else(|| self.core.line());
                    return Ok(Some(Record { length, fields, line }));
                }
                ReadRecordResult::End => {
                    self.ended = true;
                    return Ok(None);
                }
            }
        }
    }
}

/// An error of reading, with how far it came.
pub fn at_line(error: anyhow::Error, line: u64) -> anyhow::Error {
    if line > 1 { error.context(format!("after line {}", line - 1)) } else { error }
}

/// A quote that nothing closes.
pub fn unclosed<T>(line: u64, name: &str) -> Result<T> {
    bail!(
        "{name}:{line}: a quote in the record that begins here is never closed. Where quotes are ordinary letters, say --no-quotes"
    )
}

/// A record that is longer than `longest` bytes.
pub fn too_long<T>(line: u64, name: &str, longest: usize) -> Result<T> {
    let more = if longest < LONGEST { "; more --memory holds longer ones" } else { "" };
    bail!(
        "{name}:{line}: the record that begins here is longer than {} MiB{more}; perhaps a quote is never closed. Where quotes are ordinary letters, say --no-quotes",
        longest >> 20
    )
}

/// Memory for so many fields is not there, whatever the file.
#[cold]
pub fn too_many_fields<T>(line: u64, name: &str) -> Result<T> {
    bail!("{name}:{line}: the record that begins here has more than {MOST_FIELDS} fields")
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use super::*;

    fn all(text: &str, block: usize) -> Result<Vec<(u64, Vec<String>)>> {
        let text = Box::new(BufReader::with_capacity(block, Cursor::new(text.to_owned())));
        let dialect = Dialect { delimiter: b',', quotes: true };
        let mut records = Records::new(text, dialect, "t".into());
        let (mut buffer, mut ends, mut found) = (vec![0; 4], vec![0; 1], Vec::new());
        while let Some(record) = records.read(&mut buffer, 0, &mut ends)? {
            let mut from = 0;
            let fields = ends[..record.fields].iter().map(|end| {
                let text = String::from_utf8_lossy(&buffer[from..*end]).into_owned();
                from = *end;
                text
            });
            found.push((record.line, fields.collect()));
        }
        Ok(found)
    }

    #[test]
    fn records_have_their_fields_and_lines() {
        let text = "a,b\r\n\n\"x\ny\",\"\"\"\"\n,\"\"\n\nlast,1";
        for block in [1, 2, 3, 7, 100] {
            let found = all(text, block).unwrap();
            let fields: Vec<Vec<&str>> =
                found.iter().map(|(_, fields)| fields.iter().map(String::as_str).collect()).collect();
            assert_eq!(fields, [vec!["a", "b"], vec!["x\ny", "\""], vec!["", ""], vec!["last", "1"]]);
            let lines: Vec<u64> = found.iter().map(|(line, _)| *line).collect();
            assert_eq!(lines, [1, 3, 5, 7], "blocks of {block}");
        }
    }

    #[test]
    fn an_unclosed_quote_is_told_with_its_line() {
        for text in ["a\nb,\"c\nd\n", "a\nb,\"", "a\nb,\"c\"\""] {
            let error = format!("{:#}", all(text, 100).unwrap_err());
            assert!(error.contains("t:2: a quote"), "{text:?}: {error}");
        }
        assert_eq!(all("a\nb,\"c\"", 100).unwrap().len(), 2);
    }
}
