//! The storage of a run's sorted records: memory, or a temporary file.

use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::error::Error;
use crate::order::Held;
use crate::prefix::Prefix;
use crate::record::{Value, Values};
use crate::varint;

/// Records that are looked at together.
const AHEAD: usize = 32;

/// The part of a record that decides its order.
#[derive(Debug, Clone, Copy)]
pub struct SortPrefix {
    /// Of its first value.
    pub prefix: Prefix,
    /// Its second value, if that is a whole number.
    pub second: Option<i64>,
    /// The record's start.
    start: usize,
    end: usize,
}

impl SortPrefix {
    #[inline]
    fn new(prefix: Prefix, record: &[u8], start: usize) -> SortPrefix {
        let second = match Values::of(record).nth(1) {
            Some(Value::Integer(number)) => Some(number),
            _ => None,
        };
        SortPrefix { prefix, second, start, end: start + record.len() }
    }
}

/// The records that are left of a run.
pub enum Source {
    /// In memory.
    Memory {
        /// All of the run.
        held: Arc<Held>,
        /// The remaining records.
        left: Range<usize>,
    },
    /// In a file.
    File(Part),
}

impl Source {
    /// Looks at the next records; adds none at the end.
    pub fn look(&mut self, heads: &mut Vec<SortPrefix>) -> Result<(), Error> {
        heads.clear();
        match self {
            Source::Memory { held, left } => {
                let next = left.start..left.end.min(left.start + AHEAD);
                heads.extend(next.clone().map(|place| {
                    let (start, end) = held.records.bounds(place);
                    SortPrefix::new(held.prefixes[place], &held.records.all()[start..end], start)
                }));
                left.start = next.end;
                Ok(())
            }
            Source::File(part) => part.look(heads),
        }
    }

    /// A record that was looked at last.
    #[inline]
    pub fn record(&self, head: &SortPrefix) -> &[u8] {
        let bytes = match self {
            Source::Memory { held, .. } => held.records.all(),
            Source::File(part) => &part.bytes,
        };
        &bytes[head.start..head.end]
    }
}

/// A run in a temporary file: its records, each behind its length.
pub struct Part {
    file: Arc<File>,
    /// The offset of the part that is not read yet, and its end.
    at: u64,
    end: u64,
    /// Bytes that are read at once.
    block: usize,
    /// The first prefix that is wanted, and the first that is not any more.
    from: Prefix,
    to: Option<Prefix>,
    bytes: Vec<u8>,
    /// The offset in these bytes of the first record that has not been looked at yet.
    next: usize,
}

impl Part {
    /// A part of a file, read `block` bytes at a time: the records with prefixes in a range.
    pub fn new(
        file: Arc<File>,
        (at, end): (u64, u64),
        block: usize,
        from: Prefix,
        to: Option<Prefix>,
    ) -> Part {
        Part { file, at, end, block, from, to, bytes: Vec::new(), next: 0 }
    }

    fn look(&mut self, heads: &mut Vec<SortPrefix>) -> Result<(), Error> {
        while heads.is_empty() {
            while heads.len() < AHEAD
                && let Some((start, end)) = self.next()
            {
                let record = &self.bytes[start..end];
                let prefix = Prefix::of(Values::of(record).next());
                if self.to.is_some_and(|to| prefix >= to) {
                    (self.at, self.next) = (self.end, self.bytes.len());
                    return Ok(());
                }
                if prefix >= self.from {
                    heads.push(SortPrefix::new(prefix, record, start));
                }
                self.next = end;
            }
            if heads.is_empty() && !self.read()? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The next record's start and end, if all of it was read.
    fn next(&self) -> Option<(usize, usize)> {
        let (length, read) = varint::read(&self.bytes[self.next..])?;
        let start = self.next + read;
        let end = start + length as usize;
        (end <= self.bytes.len()).then_some((start, end))
    }

    /// Reads on; says whether there was anything.
    fn read(&mut self) -> Result<bool, Error> {
        self.bytes.drain(..std::mem::take(&mut self.next));
        let (left, known) = (self.end - self.at, self.bytes.len());
        if left == 0 && known == 0 {
            return Ok(false);
        }
        // All of a record that is longer than a block.
        let needed = varint::read(&self.bytes).map_or(0, |(length, read)| length as usize + read);
        let count = self.block.max(needed.saturating_sub(known)).min(left as usize);
        if count == 0 {
            return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        self.bytes.resize(known + count, 0);
        self.file.read_exact_at(&mut self.bytes[known..], self.at)?;
        self.at += count as u64;
        Ok(true)
    }
}
