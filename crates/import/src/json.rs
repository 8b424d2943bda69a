//! JSON Lines: an object on each line, whose keys are columns.
//!
//! A number is taken as it is written, a string without its quotes and escapes, and what is nested as JSON. `null` and
//! a key that is not there are NULL.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Read};

use anyhow::{Context, Result};
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::error::Input;
use crate::records::Record;
use crate::source::Opened;
use crate::syntax::{Flaw, too_long};

/// Reads one line after another.
pub struct Lines {
    text: Box<dyn BufRead + Send>,
    name: String,
    keys: HashMap<String, usize>,
    line: u64,
    longest: usize,
    nulls: Vec<bool>,
    strings: Vec<bool>,
    raw: Vec<u8>,
    whole: (u32, u32),
}

/// A value as it is spelled in a line.
struct Member {
    key: String,
    value: Vec<u8>,
    is_null: bool,
    is_string: bool,
}

impl Lines {
    /// Lines from the first one, with these keys; none may be longer than `longest` bytes.
    pub fn new(text: Box<dyn BufRead + Send>, name: String, keys: &[String], longest: usize) -> Lines {
        let keys = keys.iter().enumerate().map(|(place, key)| (key.clone(), place)).collect();
        let (nulls, strings, raw) = (Vec::new(), Vec::new(), Vec::new());
        Lines { text, name, keys, line: 0, longest, nulls, strings, raw, whole: (0, 0) }
    }

    /// The place of the last line as the file has it, behind the values of its keys.
    pub fn whole(&self) -> (u32, u32) {
        self.whole
    }

    /// True for each field of the last line that is NULL.
    pub fn nulls(&self) -> &[bool] {
        &self.nulls
    }

    /// True for each field of the last line that is a string, which is a text whatever it holds.
    pub fn strings(&self) -> &[bool] {
        &self.strings
    }

    /// The keys of all lines, in the order in which they come. Lines that are no objects show none.
    pub fn all_keys(mut self) -> Result<Vec<String>> {
        let (mut known, mut keys) = (HashSet::new(), Vec::new());
        while self.next_line()? {
            for member in members(&self.raw).unwrap_or_default() {
                if known.insert(member.key.clone()) {
                    keys.push(member.key);
                }
            }
        }
        Ok(keys)
    }

    /// Reads a line into `buffer` from `start` on; `ends` are relative to `start`.
    pub fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        start: usize,
        ends: &mut Vec<usize>,
    ) -> Result<Option<Record>> {
        if !self.next_line()? {
            return Ok(None);
        }
        let count = self.keys.len();
        let mut record = Record { length: 0, fields: count, line: self.line, flaw: Flaw::None };
        self.nulls = vec![true; count];
        self.strings = vec![false; count];
        let (mut values, mut seen) = (vec![Vec::new(); count], vec![false; count]);
        match members(&self.raw) {
            Some(members) => {
                for member in members {
                    match self.keys.get(&member.key) {
                        Some(&place) if std::mem::replace(&mut seen[place], true) => {
                            record.flaw = Flaw::KeyTwice;
                        }
                        Some(&place) => {
                            self.nulls[place] = member.is_null;
                            self.strings[place] = member.is_string;
                            values[place] = member.value;
                        }
                        None => record.flaw = Flaw::Key,
                    }
                }
            }
            None => record.flaw = Flaw::Json,
        }
        if record.flaw != Flaw::None {
            // The line as it is, for the message.
            values.clear();
            record.fields = 1;
        }
        let texts = || values.iter().chain([&self.raw]);
        record.length = texts().map(Vec::len).sum();
        if buffer.len() < start + record.length {
            buffer.reserve_exact(start + record.length - buffer.len());
            buffer.resize(start + record.length, 0);
        }
        ends.clear();
        let mut end = 0;
        for text in texts() {
            buffer[start + end..][..text.len()].copy_from_slice(text);
            end += text.len();
            ends.push(end);
        }
        self.whole = ((record.length - self.raw.len()) as u32, record.length as u32);
        Ok(Some(record))
    }

    /// Reads the next line that is not empty. False at the end.
    fn next_line(&mut self) -> Result<bool> {
        loop {
            self.raw.clear();
            self.line += 1;
            let mut limited = (&mut self.text).take(self.longest as u64 + 1);
            let read = limited.read_until(b'\n', &mut self.raw);
            let read = read.with_context(|| format!("cannot read {}", self.name)).input()?;
            if read > self.longest {
                return too_long(self.line, &self.name, self.longest).input();
            }
            if read == 0 {
                return Ok(false);
            }
            self.raw.truncate(self.raw.trim_ascii_end().len());
            if !self.raw.is_empty() {
                return Ok(true);
            }
        }
    }
}

/// The members of an object; None if the line is no object.
fn members(line: &[u8]) -> Option<Vec<Member>> {
    let mut rest = line.trim_ascii().strip_prefix(b"{")?.trim_ascii_start();
    let mut found = Vec::new();
    if rest == b"}" {
        return Some(found);
    }
    loop {
        let (key, raw) = value::<String>(rest)?;
        rest = rest[raw.len()..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        let (_, raw) = value::<IgnoredAny>(rest)?;
        rest = rest[raw.len()..].trim_ascii_start();
        let is_string = raw.first() == Some(&b'"');
        let value = if is_string { value::<String>(raw)?.0.into_bytes() } else { raw.to_vec() };
        let is_null = raw == b"null";
        found.push(Member { key, value: if is_null { Vec::new() } else { value }, is_null, is_string });
        match rest {
            b"}" => return Some(found),
            _ => rest = rest.strip_prefix(b",")?.trim_ascii_start(),
        }
    }
}

/// The value at the beginning of a text, and the text that it takes.
fn value<T: DeserializeOwned>(text: &[u8]) -> Option<(T, &[u8])> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, &text[..values.byte_offset()]))
}

/// True if a text may begin with a line of JSON whose end is behind it.
pub fn is_cut(opened: &Opened) -> bool {
    let start = opened.sample.trim_ascii_start();
    let is_object = start.strip_prefix(b"{").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\""));
    is_object && !opened.whole && !start.contains(&b'\n')
}

/// True if a text begins with lines of JSON: the first is a whole object, or one that is wrong before one that is whole.
pub fn is_lines(sample: &[u8]) -> bool {
    let mut lines = sample.trim_ascii_start().split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let is_like_one = first.starts_with(b"{") && first.ends_with(b"}");
    members(first).is_some() || is_like_one && members(second).is_some()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::syntax::LONGEST;

    fn lines(text: &str, keys: &[&str]) -> Vec<(u64, Flaw, Vec<Option<String>>)> {
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let mut lines = Lines::new(Box::new(Cursor::new(text.to_owned())), "t".into(), &keys, LONGEST);
        let (mut buffer, mut ends, mut found) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(record) = lines.read(&mut buffer, 0, &mut ends).unwrap() {
            let mut from = 0;
            let values = ends[..record.fields].iter().enumerate().map(|(place, &end)| {
                let text =
                    String::from_utf8_lossy(&buffer[std::mem::replace(&mut from, end)..end]).into_owned();
                (lines.nulls().get(place) != Some(&true) || record.flaw != Flaw::None).then_some(text)
            });
            found.push((record.line, record.flaw, values.collect()));
        }
        found
    }

    #[test]
    fn objects_are_records() {
        let text = "{\"a\": 1, \"b\":\"x\\n\\u00e9\"}\n\n{ \"b\" : null }\r\n{\"a\":12345678901234567890.10,\"b\":[1, {\"c\":\"}\"}]}\n{}";
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            lines(text, &["a", "b"]),
            [
                (1, Flaw::None, vec![some("1"), some("x\n\u{e9}")]),
                (3, Flaw::None, vec![None, None]),
                (4, Flaw::None, vec![some("12345678901234567890.10"), some("[1, {\"c\":\"}\"}]")]),
                (5, Flaw::None, vec![None, None]),
            ]
        );
        for wrong in ["[1]", "{\"a\":1", "{\"a\" 1}", "{\"a\":1}x", "{\"a\":1,}", "{\"a\":tru}", "x"] {
            assert_eq!(lines(wrong, &["a"])[0].1, Flaw::Json, "{wrong}");
        }
        assert_eq!(lines("{\"z\":1}", &["a"])[0].1, Flaw::Key);
        assert_eq!(lines("{\"a\":1,\"b\":2,\"\\u0061\":1}", &["a", "b"])[0].1, Flaw::KeyTwice);
        assert!(is_lines(b"{\"a\":NaN}\n{\"a\":1}") && !is_lines(b"{a} x {b}\n1"));
        assert!(is_lines(b" {\"a\":1}\n{") && !is_lines(b"{\n\"a\":1}") && !is_lines(b"[{\"a\":1}]"));
        let keys = Lines::new(Box::new(Cursor::new(text)), "t".into(), &[], LONGEST).all_keys().unwrap();
        assert_eq!(keys, ["a", "b"]);
    }
}
