//! The text cut into pieces at the ends of records, so that threads can parse them concurrently.
//!
//! If quotes are allowed, a line's end may lie within a field. A piece begins at a record's beginning, outside
//! quotes, so [`crate::split`] can follow its quotes from there to see which ends of lines are ends of records; it
//! guesses nothing.

use std::io::{BufRead, ErrorKind};
use std::sync::Arc;

use anyhow::{Context, Result};
use memchr::memchr_iter;

use crate::error::Input;
use crate::owned_mutex::{OwnedGuard, OwnedMutex};
use crate::records::at_line;
use crate::split::{Cut, cut};
use crate::syntax::{Dialect, too_long};

/// A chunk this many times as long as usual is long: only one such chunk exists at a time.
const LONG: usize = 8;

/// Some whole records.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Its index, from 0.
    pub index: u64,
    /// The line on which it begins, from 1.
    pub line: u64,
    /// True if a field may be quoted.
    pub has_quotes: bool,
    /// The text, and behind it what is left of an earlier one: filling it with zeros would cost as much as reading.
    bytes: Vec<u8>,
    length: usize,
    /// Held by a chunk that is much longer than others.
    pass: Option<OwnedGuard>,
}

impl Chunk {
    /// The text.
    pub fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The text, of which a field is no longer what it was once it has been read.
    pub fn text_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length]
    }

    /// Forgets the text. What one huge record needed is not kept for ever.
    pub fn forget(&mut self) {
        self.length = 0;
        if self.pass.is_some() {
            self.bytes = Vec::new();
        }
    }

    /// Forgets the text once nothing refers to it any more: now another huge record may come.
    pub fn clear(&mut self) {
        self.forget();
        self.pass = None;
    }

    /// Makes room for a text of `bytes` bytes.
    fn hold(&mut self, bytes: usize) {
        if self.bytes.len() < bytes {
            self.bytes.resize(bytes, 0);
        }
    }
}

/// Gives one chunk after another.
pub struct Chunks {
    text: Box<dyn BufRead + Send>,
    dialect: Dialect,
    name: String,
    /// The length of a chunk whose records are not longer, in bytes.
    size: usize,
    /// The longest permitted record, in bytes.
    longest: usize,
    /// Only one chunk at a time is much longer than others are.
    gate: Arc<OwnedMutex>,
    /// The beginning of a record whose end has not been seen.
    rest: Vec<u8>,
    line: u64,
    index: u64,
    /// True once the text has ended: a growing file, or a terminal, would give more bytes after its end.
    has_ended: bool,
}

impl Chunks {
    /// Chunks from here on, where a line begins; `name` is what messages call the file.
    pub fn new(
        text: Box<dyn BufRead + Send>,
        dialect: Dialect,
        name: String,
        line: u64,
        size: usize,
        longest: usize,
    ) -> Chunks {
        let (rest, gate) = (Vec::new(), Arc::default());
        Chunks { text, dialect, name, size, longest, gate, rest, line, index: 0, has_ended: false }
    }

    /// The next chunk, in the place of one that is done with; false at the end. Its index is right even if there is an
    /// error.
    pub fn next(&mut self, chunk: &mut Chunk) -> Result<bool> {
        chunk.index = self.index;
        self.index += 1;
        chunk.line = self.line;
        chunk.clear();
        chunk.hold(self.rest.len());
        chunk.bytes[..self.rest.len()].copy_from_slice(&self.rest);
        chunk.length = self.rest.len();
        self.rest.clear();
        if self.has_ended {
            chunk.length = 0;
            return Ok(false);
        }
        let mut wanted = self.size.max(chunk.length);
        loop {
            if wanted > LONG * self.size && chunk.pass.is_none() {
                // One that waits here is behind the one that it waits for, which needs nothing of it.
                chunk.pass = Some(OwnedMutex::pass(&self.gate));
            }
            self.read(chunk, wanted)?;
            let Cut { end, has_quotes } = cut(chunk.text(), self.dialect);
            chunk.has_quotes = has_quotes;
            // An open quote at the end of the file is the parser's to complain about.
            let end = if self.has_ended { Some(chunk.length) } else { end };
            if let Some(end) = end {
                self.rest.extend_from_slice(&chunk.text()[end..]);
                chunk.length = end;
                self.line += memchr_iter(b'\n', chunk.text()).count() as u64;
                return Ok(chunk.length > 0);
            }
            if chunk.length > self.longest {
                return too_long(chunk.line, &self.name, self.longest).input();
            }
            wanted = (chunk.length * 2).min(self.longest + 1);
        }
    }

    /// Reads until the chunk has `wanted` bytes, or the text has ended.
    fn read(&mut self, chunk: &mut Chunk, wanted: usize) -> Result<()> {
        chunk.hold(wanted);
        while chunk.length < wanted {
            match self.text.read(&mut chunk.bytes[chunk.length..wanted]) {
                Ok(0) => {
                    self.has_ended = true;
                    return Ok(());
                }
                Ok(count) => chunk.length += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let line = self.line + memchr_iter(b'\n', chunk.text()).count() as u64;
                    let error = Err(error).with_context(|| format!("cannot read {}", self.name));
                    return error.map_err(|error| at_line(error, line)).input();
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Cursor, Read};

    use proptest::prelude::*;

    use super::*;
    use crate::records::Records;
    use crate::syntax::LONGEST;

    fn chunks(text: &[u8], quotes: bool, size: usize) -> Vec<Chunk> {
        let reader = Box::new(BufReader::with_capacity(7, Cursor::new(text.to_vec())));
        let dialect = Dialect { delimiter: b',', quotes };
        let mut chunks = Chunks::new(reader, dialect, "t".into(), 1, size, LONGEST);
        let mut found = Vec::new();
        loop {
            let mut chunk = Chunk::default();
            if !chunks.next(&mut chunk).unwrap() {
                return found;
            }
            // All of them are kept, also more than one that is long.
            chunk.pass = None;
            found.push(chunk);
        }
    }

    /// The pieces of the texts; the last is a byte order mark, which is a letter except at the file's beginning.
    const LETTERS: [&str; 8] = ["a", ",", "\"", "\n", "\r", "\"", "x", "\u{feff}"];

    /// The line of a record, its text and where its fields end.
    type Found = (u64, Vec<u8>, Vec<usize>);

    fn records(text: &[u8], quotes: bool, line: u64) -> Option<Vec<Found>> {
        let dialect = Dialect { delimiter: b',', quotes };
        let mut records = Records::from_line(Box::new(Cursor::new(text.to_vec())), dialect, "t".into(), line);
        let (mut buffer, mut ends, mut found) = (vec![0; 4], vec![0; 1], Vec::new());
        while let Some(record) = records.read(&mut buffer, 0, &mut ends).ok()? {
            let fields = ends[..record.fields].to_vec();
            found.push((record.line, buffer[..record.length].to_vec(), fields));
        }
        Some(found)
    }

    /// Gives one text after another; between them it says that there is no more.
    struct Growing(Vec<&'static str>);

    impl Read for Growing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let text = if self.0.is_empty() { "" } else { self.0.remove(0) };
            if text == "fault" {
                return Err(io::Error::other("the device is gone"));
            }
            buffer[..text.len()].copy_from_slice(text.as_bytes());
            Ok(text.len())
        }
    }

    fn of_reader(reader: impl Read + Send + 'static, size: usize) -> Chunks {
        let dialect = Dialect { delimiter: b',', quotes: true };
        Chunks::new(Box::new(BufReader::new(reader)), dialect, "t".into(), 1, size, LONGEST)
    }

    #[test]
    fn what_is_written_behind_the_end_is_not_read() {
        let mut chunks = of_reader(Growing(vec!["1\n2", "", "3\n"]), 100);
        let mut chunk = Chunk::default();
        assert!(chunks.next(&mut chunk).unwrap());
        assert_eq!(chunk.text(), b"1\n2");
        assert!(!chunks.next(&mut chunk).unwrap());
    }

    #[test]
    fn an_error_of_reading_is_reported_with_the_line_that_it_came_to() {
        let mut chunks = of_reader(Growing(vec!["1\n2\n", "3\n4", "fault"]), 100);
        let error = format!("{:#}", chunks.next(&mut Chunk::default()).unwrap_err());
        assert_eq!(error, "after line 3: cannot read t: the device is gone");
    }

    #[test]
    fn a_record_is_too_long_whatever_comes_after_it() {
        let mut chunks = of_reader(io::repeat(b'x').take(LONGEST as u64 + 5).chain(&b"\n"[..]), 1 << 20);
        let error = chunks.next(&mut Chunk::default()).unwrap_err().to_string();
        assert!(error.contains("t:1: the record that begins here is longer than 128 MiB"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn chunks_hold_the_same_records_as_the_text(
            text in prop::collection::vec(prop::sample::select(LETTERS.to_vec()), 0..200),
            quotes in any::<bool>(),
            size in 1..60usize,
        ) {
            let text = text.concat().into_bytes();
            let chunks = chunks(&text, quotes, size);
            let joined: Vec<u8> = chunks.iter().flat_map(|chunk| chunk.text().to_vec()).collect();
            prop_assert_eq!(&joined, &text);
            let whole = records(&text, quotes, 1);
            let parts: Option<Vec<_>> =
                chunks.iter().map(|chunk| records(chunk.text(), quotes, chunk.line)).collect();
            prop_assert_eq!(parts.map(|parts| parts.concat()), whole);
        }
    }
}
