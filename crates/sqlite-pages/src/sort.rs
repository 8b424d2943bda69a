//! Records put in the order of an index, within a bound of memory: what is more goes sorted to temporary files,
//! which are merged at the end.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::record::{Encoder, Value, Values, compare};
use crate::varint;

/// Bytes of a temporary file that are read or written at once.
const BLOCK: usize = 256 << 10;

/// Takes records in any order.
pub struct Sorter {
    /// Bytes of memory to use for records.
    memory: usize,
    /// Where temporary files are made.
    folder: PathBuf,
    /// Values of a record that its order is by.
    keys: usize,
    records: Vec<u8>,
    entries: Vec<Entry>,
    spilled: Vec<File>,
    encoder: Encoder,
}

/// A record in memory.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Of two records the smaller never has the larger one.
    prefix: u64,
    start: usize,
    length: u32,
}

impl Sorter {
    /// An empty one that uses so many bytes of memory. Records are ordered by their first `keys` values.
    pub fn new(folder: &Path, memory: usize, keys: usize) -> Sorter {
        Sorter {
            memory,
            folder: folder.to_owned(),
            keys,
            records: Vec::new(),
            entries: Vec::new(),
            spilled: Vec::new(),
            encoder: Encoder::default(),
        }
    }

    /// Takes a record.
    ///
    /// # Errors
    /// It is longer than SQLite takes, or a temporary file cannot be written.
    pub fn push(&mut self, values: &[Value]) -> Result<(), Error> {
        let start = self.records.len();
        let length = self.encoder.append(values.iter().copied(), &mut self.records)?;
        if self.records.len() + (self.entries.len() + 1) * size_of::<Entry>() > self.memory && start > 0 {
            let record = self.records.split_off(start);
            self.spill()?;
            self.records = record;
        }
        let start = self.records.len() - length;
        self.entries.push(Entry { prefix: prefix(values.first()), start, length: length as u32 });
        Ok(())
    }

    /// The records in their order.
    ///
    /// # Errors
    /// A temporary file cannot be written or read.
    pub fn sort(mut self) -> Result<Sorted, Error> {
        if self.spilled.is_empty() {
            self.order();
            let at = 0;
            return Ok(Sorted(Source::Memory { records: self.records, entries: self.entries, at }));
        }
        self.spill()?;
        self.records = Vec::new();
        let mut heap = BinaryHeap::new();
        for mut file in self.spilled {
            file.rewind()?;
            let mut run = Run {
                file: BufReader::with_capacity(BLOCK, file),
                record: Vec::new(),
                keys: self.keys,
                order: heap.len(),
            };
            if run.advance()? {
                heap.push(Reverse(run));
            }
        }
        Ok(Sorted(Source::Files { heap, record: Vec::new() }))
    }

    fn order(&mut self) {
        let (records, keys) = (&self.records, self.keys);
        let record = |entry: &Entry| &records[entry.start..entry.start + entry.length as usize];
        self.entries.sort_unstable_by(|one, other| {
            let by_prefix = one.prefix.cmp(&other.prefix);
            by_prefix.then_with(|| by_values(record(one), record(other), keys))
        });
    }

    fn spill(&mut self) -> Result<(), Error> {
        self.order();
        let mut file = BufWriter::with_capacity(BLOCK, tempfile::tempfile_in(&self.folder)?);
        for entry in &self.entries {
            let mut length = [0; varint::LONGEST];
            let count = varint::put(&mut length, entry.length.into());
            file.write_all(&length[..count])?;
            file.write_all(&self.records[entry.start..entry.start + entry.length as usize])?;
        }
        self.spilled.push(file.into_inner().map_err(|error| error.into_error())?);
        self.records.clear();
        self.entries.clear();
        Ok(())
    }
}

/// Records in their order.
pub struct Sorted(Source);

enum Source {
    Memory { records: Vec<u8>, entries: Vec<Entry>, at: usize },
    Files { heap: BinaryHeap<Reverse<Run>>, record: Vec<u8> },
}

impl Sorted {
    /// The next record; none at the end.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    #[expect(clippy::should_implement_trait, reason = "the record is lent")]
    pub fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        match &mut self.0 {
            Source::Memory { records, entries, at } => {
                let entry = entries.get(*at);
                *at += 1;
                Ok(entry.map(|entry| &records[entry.start..entry.start + entry.length as usize]))
            }
            Source::Files { heap, record } => {
                let Some(mut first) = heap.peek_mut() else { return Ok(None) };
                std::mem::swap(record, &mut first.0.record);
                if !first.0.advance()? {
                    PeekMut::pop(first);
                }
                Ok(Some(record))
            }
        }
    }
}

/// A temporary file and its next record.
struct Run {
    file: BufReader<File>,
    record: Vec<u8>,
    keys: usize,
    /// Which of the files: of equal records the earlier file's comes first.
    order: usize,
}

impl Run {
    /// Reads the next record; says whether there is one.
    fn advance(&mut self) -> Result<bool, Error> {
        let mut length = 0u64;
        loop {
            let mut byte = [0];
            match self.file.read_exact(&mut byte) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof && length == 0 => return Ok(false),
                outcome => outcome?,
            }
            length = length << 7 | u64::from(byte[0] & 0x7f);
            if byte[0] < 0x80 {
                break;
            }
        }
        self.record.resize(length as usize, 0);
        self.file.read_exact(&mut self.record)?;
        Ok(true)
    }
}

impl Ord for Run {
    fn cmp(&self, other: &Run) -> Ordering {
        by_values(&self.record, &other.record, self.keys).then(self.order.cmp(&other.order))
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

/// The order of two records by their first values.
pub(crate) fn by_values(one: &[u8], other: &[u8], keys: usize) -> Ordering {
    let pairs = Values::of(one).zip(Values::of(other)).take(keys);
    pairs.map(|(one, other)| compare(&one, &other)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// The beginning of a value as a number that never turns the order round: two bits for what it is, the rest of what
/// it says.
fn prefix(value: Option<&Value>) -> u64 {
    let start = |bytes: &[u8]| {
        let mut first = [0; 8];
        let count = bytes.len().min(8);
        first[..count].copy_from_slice(&bytes[..count]);
        u64::from_be_bytes(first) >> 2
    };
    let number = |number: f64| {
        let bits = number.to_bits();
        // The bits of a double are ordered but for the sign; -0 and 0 are equal.
        let bits = if number == 0.0 { 0 } else { bits };
        (if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }) >> 2
    };
    match value {
        None | Some(Value::Null) => 0,
        // Rounding to a double keeps the order of integers, if not their difference.
        Some(Value::Integer(whole)) => 1 << 62 | number(*whole as f64),
        Some(Value::Real(real)) => 1 << 62 | number(*real),
        Some(Value::Text(text)) => 2 << 62 | start(text),
        Some(Value::Blob(bytes)) => 3 << 62 | start(bytes),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value() -> impl Strategy<Value = (u8, i64, Vec<u8>)> {
        (0..5u8, prop_oneof![-3..3i64, any::<i64>()], prop::collection::vec(0..3u8, 0..12))
    }

    fn as_value((kind, number, bytes): &(u8, i64, Vec<u8>)) -> Value<'_> {
        match kind {
            0 => Value::Null,
            1 => Value::Integer(*number),
            2 => Value::Real(*number as f64 / 2.0),
            3 => Value::Text(bytes),
            _ => Value::Blob(bytes),
        }
    }

    proptest! {
        #[test]
        fn records_come_out_in_order_whether_they_fit_the_memory_or_not(
            rows in prop::collection::vec((value(), value()), 0..200), memory in 1..6000usize,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorter = Sorter::new(folder.path(), memory, 3);
            let mut expected: Vec<Vec<Value>> = Vec::new();
            for (number, (one, other)) in (0..).zip(&rows) {
                let values = vec![as_value(one), as_value(other), Value::Integer(number)];
                sorter.push(&values).unwrap();
                expected.push(values);
            }
            expected.sort_by(|one, other| {
                let orders = one.iter().zip(other).map(|(one, other)| compare(one, other));
                orders.fold(Ordering::Equal, Ordering::then)
            });
            let mut sorted = sorter.sort().unwrap();
            for row in expected {
                let record = sorted.next().unwrap().unwrap();
                prop_assert!(Values::of(record).eq(row.iter().copied()), "{row:?}");
            }
            prop_assert!(sorted.next().unwrap().is_none());
        }
    }
}
