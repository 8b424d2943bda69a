//! JSON Lines: an object on each line, whose keys are columns.
//!
//! A number is taken as it is written, a string without its quotes and escapes, and what is nested as JSON. `null` and
//! a key that is not there are NULL.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Read};

use anyhow::{Context, Result, anyhow};
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::error::Input;
use crate::records::Record;
use crate::source::Opened;
use crate::syntax::{Flaw, MOST_FIELDS, too_long};

/// Reads one line after another.
pub struct Lines {
    text: Box<dyn BufRead + Send>,
    name: String,
    keys: HashMap<String, usize>,
    line: u64,
    longest: usize,
    /// Of each key its value in the last line, and whether the line has it, whether it is NULL and whether it is a string.
    values: Vec<Vec<u8>>,
    seen: Vec<bool>,
    nulls: Vec<bool>,
    strings: Vec<bool>,
    raw: Vec<u8>,
    whole: (u32, u32),
}

/// The keys of several lines, each once, in the order in which they come.
#[derive(Debug, Default)]
pub struct JsonKeys {
    known: HashSet<String>,
    keys: Vec<String>,
    /// The memory that they take, in bytes.
    bytes: usize,
}

/// Bytes of memory that a key takes beside its letters.
const PER_KEY: usize = 128;

impl JsonKeys {
    /// Adds a key unless it is known. False if it would be one more than a record has fields, or if they would take more than
    /// `most` bytes.
    fn add(&mut self, key: String, most: usize) -> bool {
        if self.known.contains(&key) {
            return true;
        }
        // It is kept twice.
        self.bytes += 2 * key.len() + PER_KEY;
        if self.keys.len() >= MOST_FIELDS || self.bytes > most {
            return false;
        }
        self.known.insert(key.clone());
        self.keys.push(key);
        true
    }

    /// The keys as the fields of a record.
    pub fn into_fields(self) -> Vec<Vec<u8>> {
        self.keys.into_iter().map(String::into_bytes).collect()
    }
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
        Lines {
            text,
            name,
            keys,
            line: 0,
            longest,
            values: Vec::new(),
            seen: Vec::new(),
            nulls: Vec::new(),
            strings: Vec::new(),
            raw: Vec::new(),
            whole: (0, 0),
        }
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

    /// Adds the keys of all lines. Lines that are no objects show none.
    ///
    /// # Errors
    /// The text cannot be read, or has more keys than dyno keeps.
    pub fn add_keys(mut self, keys: &mut JsonKeys) -> Result<()> {
        while self.next_line()? {
            for member in members(&self.raw).unwrap_or_default() {
                if !keys.add(member.key, self.longest) {
                    return Err(anyhow!(
                        "{}:{}: up to here the objects have more than {} keys, each of which would be a column: no table has \
                         more columns, or --memory allows no more. Write such data as rows with a column for the key",
                        self.name,
                        self.line,
                        keys.keys.len()
                    ))
                    .input();
                }
            }
        }
        Ok(())
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
        let flaw = self.find_values();
        let mut record = Record { length: 0, fields: self.keys.len(), line: self.line, flaw };
        let mut values = self.values.as_slice();
        if flaw != Flaw::None {
            // The line as it is, for the message.
            values = &[];
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

    /// Finds the values of the last line, and what is wrong with it.
    fn find_values(&mut self) -> Flaw {
        let count = self.keys.len();
        // The memory of a long value is not kept.
        self.values.iter_mut().for_each(|value| *value = Vec::new());
        self.values.resize_with(count, Vec::new);
        for (flags, flag) in [(&mut self.seen, false), (&mut self.nulls, true), (&mut self.strings, false)] {
            flags.clear();
            flags.resize(count, flag);
        }
        let Some(members) = members(&self.raw) else { return Flaw::Json };
        let mut flaw = Flaw::None;
        for member in members {
            match self.keys.get(&member.key) {
                Some(&place) if std::mem::replace(&mut self.seen[place], true) => flaw = Flaw::KeyTwice,
                Some(&place) => {
                    self.nulls[place] = member.is_null;
                    self.strings[place] = member.is_string;
                    self.values[place] = member.value;
                }
                None => flaw = Flaw::Key,
            }
        }
        flaw
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
