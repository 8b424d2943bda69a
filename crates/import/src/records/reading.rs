//! A record while it is read, byte by byte where its syntax demands it.

use memchr::{memchr_iter, memchr2, memchr3};

use super::Record;
use crate::syntax::{Flaw, LONGEST, MOST_FIELDS, Syntax};

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
pub(super) struct Reading<'b> {
    syntax: Syntax,
    buffer: &'b mut Vec<u8>,
    start: usize,
    ends: &'b mut Vec<usize>,
    /// The record, as far as it has been read.
    pub record: Record,
    at: ParserState,
    /// True if the field was opened by a quote.
    is_quoted: bool,
    /// True if a field before ended in a backslash and a quote.
    has_backslash: bool,
    /// The line that is read.
    pub line: u64,
}

impl<'b> Reading<'b> {
    /// A record that begins on a line at the earliest, and is written to the buffer from `start` on.
    #[inline]
    pub fn new(
        syntax: Syntax,
        line: u64,
        (buffer, start): (&'b mut Vec<u8>, usize),
        ends: &'b mut Vec<usize>,
    ) -> Reading<'b> {
        let record = Record { length: 0, fields: 0, line, flaw: Flaw::None };
        let (at, is_quoted, has_backslash) = (ParserState::Before, false, false);
        Reading { syntax, buffer, start, ends, record, at, is_quoted, has_backslash, line }
    }

    /// Takes text until the record ends: how much of it, and whether the record is whole.
    pub fn take(&mut self, text: &[u8]) -> (usize, bool) {
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

    pub fn end_of_text(mut self) -> Option<Record> {
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
