//! Runs of records that are in order, merged into one.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::error::Error;
use crate::order::{Entry, Prefix, by_values};
use crate::record::{Value, Values};

/// Bytes of a temporary file that are read or written at once, if there is memory for them.
pub const BLOCK: usize = 256 << 10;

/// Records in their order.
pub struct Sorted {
    /// The runs that have a record left, the one with the smallest first.
    heap: BinaryHeap<Reverse<Box<Run>>>,
    has_begun: bool,
}

impl Sorted {
    /// The records of several runs.
    pub(crate) fn new(sources: Vec<Source>, keys: usize) -> Result<Sorted, Error> {
        let mut heap = BinaryHeap::new();
        for source in sources {
            let order = heap.len();
            let mut run = Box::new(Run { source, current: Entry::default(), second: None, keys, order });
            if run.advance()? {
                heap.push(Reverse(run));
            }
        }
        Ok(Sorted { heap, has_begun: false })
    }

    /// The next record; none at the end.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    #[expect(clippy::should_implement_trait, reason = "the record is lent")]
    pub fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        // The record that was lent before is done with.
        if std::mem::replace(&mut self.has_begun, true)
            && let Some(mut first) = self.heap.peek_mut()
            && !first.0.advance()?
        {
            PeekMut::pop(first);
        }
        Ok(self.heap.peek().map(|Reverse(run)| run.record()))
    }
}

/// Records that are in order, and the first of those that are left.
struct Run {
    source: Source,
    current: Entry,
    /// The second value, where the order is by two.
    second: Option<i64>,
    keys: usize,
    /// Which of the runs: of equal records the earlier run's comes first.
    order: usize,
}

/// Where the records of a run are, which are in order.
pub enum Source {
    /// In memory.
    Memory {
        /// All of them.
        records: Vec<u8>,
        /// Where each of those lies that are left.
        entries: std::vec::IntoIter<Entry>,
    },
    /// In a file.
    File {
        /// What is left of it.
        file: BufReader<Part>,
        /// The record that was read last.
        record: Vec<u8>,
    },
}

impl Source {
    /// A part of a file, of which so many bytes are read at once.
    pub fn of_file(file: Arc<File>, at: u64, end: u64, block: usize) -> Source {
        let file = BufReader::with_capacity(block, Part { file, at, end });
        Source::File { file, record: Vec::new() }
    }
}

/// A run in a temporary file.
pub struct Part {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for Part {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = buffer.len().min((self.end - self.at) as usize);
        let count = self.file.read_at(&mut buffer[..most], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Run {
    fn record(&self) -> &[u8] {
        match &self.source {
            Source::Memory { records, .. } => {
                &records[self.current.start..self.current.start + self.current.length as usize]
            }
            Source::File { record, .. } => record,
        }
    }

    /// Goes to the next record; says whether there is one.
    fn advance(&mut self) -> Result<bool, Error> {
        match &mut self.source {
            Source::Memory { entries, .. } => {
                let Some(next) = entries.next() else { return Ok(false) };
                self.current = next;
            }
            Source::File { file, record } => {
                let Some(length) = read_length(file)? else { return Ok(false) };
                record.resize(length, 0);
                file.read_exact(record)?;
                self.current.set(Prefix::of(Values::of(record).next()));
            }
        }
        self.second = match Values::of(self.record()).nth(1) {
            Some(Value::Integer(number)) if self.keys == 2 => Some(number),
            _ => None,
        };
        Ok(true)
    }
}

/// The length before a record; none at the end of the file.
fn read_length(file: &mut impl Read) -> Result<Option<usize>, Error> {
    let mut length = 0u64;
    for place in 0.. {
        let mut byte = [0];
        match file.read_exact(&mut byte) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof && place == 0 => return Ok(None),
            outcome => outcome?,
        }
        length = length << 7 | u64::from(byte[0] & 0x7f);
        if byte[0] < 0x80 {
            break;
        }
    }
    Ok(Some(length as usize))
}

impl Ord for Run {
    fn cmp(&self, other: &Run) -> Ordering {
        let order = match self.current.bits.cmp(&other.current.bits) {
            Ordering::Equal => match (self.second, other.second) {
                (Some(one), Some(two)) if self.current.is_whole => one.cmp(&two),
                _ => by_values(self.record(), other.record(), self.keys),
            },
            order => order,
        };
        order.then(self.order.cmp(&other.order))
    }
}

impl PartialOrd for Run {
    fn partial_cmp(&self, other: &Run) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Run {}

impl PartialEq for Run {
    fn eq(&self, other: &Run) -> bool {
        self.cmp(other).is_eq()
    }
}
