//! The records of delimited text, one after another, written straight into the buffer that the caller gives.
//!
//! This reader takes every way to write such text; the page writer's own splitters (`lines`, `fields`) take only the
//! usual one and are tested against it.

use std::io::BufRead;

use anyhow::{Context, Result};
use memchr::{memchr_iter, memchr2, memchr3};

use crate::error::Input;
use crate::syntax::{Flaw, LONGEST, MOST_FIELDS, Syntax, too_long, too_many_fields};

/// Reads one record after another.
pub struct Records {
    text: Box<dyn BufRead + Send>,
    syntax: Syntax,
    name: String,
    line: u64,
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

/// The reader's state within a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParserState {
    /// Before it.
    Before,
    /// In a line that is no record.
    Comment,
    /// At a field's beginning.
    Field,
    /// In a field without quotes, or behind one's closing quote.
    Plain,
    /// Within quotes.
    Quoted,
    /// Behind the character that makes a quote a letter.
    Escaped,
    /// Behind a quote that may close the field.
    Closing,
}

/// A record while it is read.
struct Reading<'b> {
    syntax: Syntax,
    buffer: &'b mut Vec<u8>,
    start: usize,
    ends: &'b mut Vec<usize>,
    record: Record,
    at: ParserState,
    /// True if the field was opened by a quote.
    is_quoted: bool,
    /// True if a field before ended in a backslash and a quote.
    has_backslash: bool,
    /// The line that is read.
    line: u64,
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
        Records { text, syntax: syntax.into(), name, line, has_ended: false }
    }

    /// The rest of the text, and the line on which it begins.
    pub fn into_rest(self) -> (Box<dyn BufRead + Send>, u64) {
        (self.text, self.line)
    }

    /// Leaves out lines of the text, whatever they hold.
    ///
    /// # Errors
    /// The text cannot be read.
    pub fn skip(&mut self, lines: u64) -> Result<()> {
        (0..lines).try_for_each(|_| self.skip_line())
    }

    /// Leaves out one line. A lone CR ends it as it ends a record; with an LF behind it both are one end.
    fn skip_line(&mut self) -> Result<()> {
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
                return Ok(());
            }
            is_behind_cr = found.is_some();
        }
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
        let record = Record { length: 0, fields: 0, line: self.line, flaw: Flaw::None };
        let (syntax, line) = (self.syntax, self.line);
        let mut reading = Reading {
            syntax,
            buffer,
            start,
            ends,
            record,
            at: ParserState::Before,
            is_quoted: false,
            has_backslash: false,
            line,
        };
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
            if reading.record.length > LONGEST {
                return too_long(reading.record.line, &self.name, LONGEST).input();
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

impl Reading<'_> {
    /// Takes text until the record ends: how much of it, and whether the record is whole.
    fn take(&mut self, text: &[u8]) -> (usize, bool) {
        let mut from = 0;
        while from < text.len() && self.record.length <= LONGEST && self.record.fields <= MOST_FIELDS {
            let rest = &text[from..];
            from += match self.at {
                ParserState::Before => self.before(rest[0]),
                ParserState::Comment => self.comment(rest),
                ParserState::Field if self.syntax.quote == Some(rest[0]) => {
                    (self.at, self.is_quoted) = (ParserState::Quoted, true);
                    1
                }
                ParserState::Field | ParserState::Plain => match self.plain(rest) {
                    (read, true) => return (from + read, true),
                    (read, false) => read,
                },
                ParserState::Quoted => self.quoted(rest),
                ParserState::Escaped => self.escaped(rest[0]),
                ParserState::Closing => self.closing(rest[0]),
            };
        }
        (from, false)
    }

    fn before(&mut self, byte: u8) -> usize {
        match byte {
            b'\n' | b'\r' => self.line += u64::from(byte == b'\n'),
            byte if self.syntax.comment == Some(byte) => self.at = ParserState::Comment,
            _ => {
                (self.at, self.record.line) = (ParserState::Field, self.line);
                return 0;
            }
        }
        1
    }

    fn comment(&mut self, text: &[u8]) -> usize {
        let Some(end) = memchr2(b'\n', b'\r', text) else { return text.len() };
        self.at = ParserState::Before;
        end
    }

    /// A field up to the delimiter or the end of the line, and whether that ends the record.
    fn plain(&mut self, text: &[u8]) -> (usize, bool) {
        self.at = ParserState::Plain;
        let Some(end) = memchr3(self.syntax.delimiter, b'\n', b'\r', text) else {
            self.put(text);
            return (text.len(), false);
        };
        self.put(&text[..end]);
        self.end_field();
        self.at = ParserState::Field;
        self.line += u64::from(text[end] == b'\n' && text[end] != self.syntax.delimiter);
        (end + 1, text[end] != self.syntax.delimiter)
    }

    fn quoted(&mut self, text: &[u8]) -> usize {
        let quote = self.syntax.quote.unwrap_or_default();
        let escape = self.syntax.escape.unwrap_or(quote);
        let end = memchr2(quote, escape, text);
        let inside = &text[..end.unwrap_or(text.len())];
        self.line += memchr_iter(b'\n', inside).count() as u64;
        self.put(inside);
        let Some(end) = end else { return text.len() };
        self.at = if text[end] == quote { ParserState::Closing } else { ParserState::Escaped };
        end + 1
    }

    /// An escape character that precedes neither a quote nor another escape character stands for itself.
    fn escaped(&mut self, byte: u8) -> usize {
        self.at = ParserState::Quoted;
        let escape = self.syntax.escape.unwrap_or_default();
        if Some(byte) == self.syntax.quote || byte == escape {
            self.put(&[byte]);
            return 1;
        }
        self.put(&[escape]);
        0
    }

    fn closing(&mut self, byte: u8) -> usize {
        let is_doubled = self.syntax.escape.is_none_or(|escape| Some(escape) == self.syntax.quote);
        if is_doubled && Some(byte) == self.syntax.quote {
            self.put(&[byte]);
            self.at = ParserState::Quoted;
            return 1;
        }
        self.at = ParserState::Plain;
        if byte != self.syntax.delimiter && !matches!(byte, b'\n' | b'\r') {
            self.requote(true);
            self.record.flaw = self.record.flaw.or(Flaw::Behind);
        } else if self.field().last() == Some(&b'\\') {
            self.has_backslash = true;
        }
        0
    }

    fn end_of_text(mut self) -> Option<Record> {
        match self.at {
            ParserState::Before | ParserState::Comment => return None,
            ParserState::Quoted | ParserState::Escaped => {
                if self.at == ParserState::Escaped {
                    self.put(&[self.syntax.escape.unwrap_or_default()]);
                }
                self.requote(false);
                self.record.flaw = self.record.flaw.or(Flaw::Unclosed);
            }
            ParserState::Field | ParserState::Plain | ParserState::Closing => {}
        }
        self.end_field();
        Some(self.record)
    }

    fn end_field(&mut self) {
        let is_opened = std::mem::take(&mut self.is_quoted);
        let is_unsure = self.has_backslash && self.syntax.escape.is_none() && !is_opened;
        if is_unsure && self.field().last().copied() == self.syntax.quote {
            self.record.flaw = self.record.flaw.or(Flaw::Backslash);
        }
        if self.ends.len() <= self.record.fields {
            self.ends.resize(self.ends.len() * 2 + 16, 0);
        }
        self.ends[self.record.fields] = self.record.length;
        self.record.fields += 1;
    }

    /// The field that is read, as far as it goes.
    fn field(&self) -> &[u8] {
        let from = self.record.fields.checked_sub(1).map_or(0, |last| self.ends[last]);
        &self.buffer[self.start + from..self.start + self.record.length]
    }

    /// Puts a field back into the quotes in which it stood, so that a message shows what the file has.
    #[cold]
    fn requote(&mut self, is_closed: bool) {
        let quote = self.syntax.quote.unwrap_or_default();
        let field = self.field().to_vec();
        self.record.length -= field.len();
        self.put(&[quote]);
        for part in field.split_inclusive(|byte| *byte == quote) {
            self.put(part);
            if part.last() == Some(&quote) {
                self.put(&[self.syntax.escape.unwrap_or(quote)]);
            }
        }
        if is_closed {
            self.put(&[quote]);
        }
    }

    fn put(&mut self, text: &[u8]) {
        let from = self.start + self.record.length;
        let to = from + text.len();
        if self.buffer.len() < to {
            self.buffer.resize(to.max(self.buffer.len() * 2), 0);
        }
        self.buffer[from..to].copy_from_slice(text);
        self.record.length += text.len();
    }
}

/// An error of reading, with how far it came.
pub fn at_line(error: anyhow::Error, line: u64) -> anyhow::Error {
    if line > 1 { error.context(format!("after line {}", line - 1)) } else { error }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use proptest::prelude::*;

    use super::*;

    const USUAL: Syntax = Syntax { delimiter: b',', quote: Some(b'"'), escape: None, comment: None };

    fn reader(text: &str, block: usize, syntax: Syntax) -> Records {
        let text = Box::new(BufReader::with_capacity(block, Cursor::new(text.to_owned())));
        Records::new(text, syntax, "t".into())
    }

    fn all(text: &str, block: usize) -> Result<Vec<(u64, Vec<String>)>> {
        collect(reader(text, block, USUAL))
    }

    fn collect(mut records: Records) -> Result<Vec<(u64, Vec<String>)>> {
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
    fn lines_are_left_out_whatever_ends_them() {
        for (text, line) in [("x\r\ny\r\na,b\r\n", 3), ("x\ry\ra,b\r", 1), ("x\ny\na,b", 3), ("x\n\ra,b", 2)]
        {
            for block in [1, 2, 3, 100] {
                let mut records = reader(text, block, USUAL);
                records.skip(2).unwrap();
                assert_eq!(
                    collect(records).unwrap(),
                    [(line, vec!["a".to_owned(), "b".to_owned()])],
                    "{text:?}"
                );
            }
        }
        let mut records = reader("x\n", 9, USUAL);
        records.skip(5).unwrap();
        assert_eq!(collect(records).unwrap(), []);
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
    fn what_is_doubtful_is_marked_and_kept_as_it_stands() {
        for (text, flaw, last) in [
            ("a\nb,\"c\nd\n", Flaw::Unclosed, "\"c\nd\n"),
            ("a\nb,\"", Flaw::Unclosed, "\""),
            ("a\nb,\"c\"", Flaw::None, "c"),
            ("a\n\"5\" pipe", Flaw::Behind, "\"5\" pipe"),
            ("a\n\"5 \"\"x\"\"\" pipe\" y", Flaw::Behind, "\"5 \"\"x\"\"\" pipe\" y"),
            ("a\n5\" pipe", Flaw::None, "5\" pipe"),
            ("a\n\"a \\\", b\"", Flaw::Backslash, " b\""),
            ("a\n\"C:\\\",\"b\"", Flaw::None, "b"),
        ] {
            for block in [1, 3, 100] {
                let (mut records, mut buffer, mut ends) =
                    (reader(text, block, USUAL), vec![0; 4], vec![0; 1]);
                let mut read = || records.read(&mut buffer, 0, &mut ends).unwrap();
                assert_eq!(read().unwrap().flaw, Flaw::None);
                let record = read().unwrap();
                assert!(read().is_none());
                let from = record.fields.checked_sub(2).map_or(0, |before| ends[before]);
                let found = String::from_utf8_lossy(&buffer[from..record.length]);
                assert_eq!((record.flaw, record.line, &*found), (flaw, 2, last), "{text}");
            }
        }
    }

    #[test]
    fn quotes_escapes_and_comments_are_those_of_the_syntax() {
        let syntax = Syntax { delimiter: b';', quote: Some(b'\''), escape: Some(b'\\'), comment: Some(b'#') };
        let text = "# made by x\n1;'it\\'s; \\\\ \\n'\n#no,'record\n2;\"x\"";
        for block in [1, 2, 7, 100] {
            let found = collect(reader(text, block, syntax)).unwrap();
            let wanted = [(2, vec!["1", "it's; \\ \\n"]), (4, vec!["2", "\"x\""])];
            let found: Vec<(u64, Vec<&str>)> = found
                .iter()
                .map(|(line, fields)| (*line, fields.iter().map(String::as_str).collect()))
                .collect();
            assert_eq!(found, wanted);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn records_are_those_of_csv_core(
            text in prop::collection::vec(prop::sample::select(vec!["a", ",", "\n", "\r\n", "\"", "\"", "bcd"]), 0..60),
            block in 1..20usize,
        ) {
            let text = text.concat() + "\n";
            let mut reader = reader(&text, block, USUAL);
            let (mut buffer, mut ends, mut found) = (vec![0; 4], vec![0; 1], Vec::new());
            let mut has_flaw = false;
            while let Some(record) = reader.read(&mut buffer, 0, &mut ends).unwrap() {
                has_flaw |= record.flaw != Flaw::None;
                found.push((buffer[..record.length].to_vec(), ends[..record.fields].to_vec()));
            }
            if !has_flaw {
                let mut core = csv_core::Reader::new();
                let (mut output, mut places) = (vec![0; text.len()], vec![0; text.len()]);
                let (mut rest, mut wanted) = (text.as_bytes(), Vec::new());
                loop {
                    let (result, read, written, fields) = core.read_record(rest, &mut output, &mut places);
                    rest = &rest[read..];
                    match result {
                        csv_core::ReadRecordResult::Record => {
                            wanted.push((output[..written].to_vec(), places[..fields].to_vec()));
                        }
                        _ => break,
                    }
                }
                prop_assert_eq!(found, wanted);
            }
        }
    }
}
