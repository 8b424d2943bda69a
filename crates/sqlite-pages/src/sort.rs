//! Records put in the order of an index, within a bound of memory: what is more goes sorted to temporary files,
//! which are merged at the end.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::order::{Order, by_values};
use crate::record::{Encoder, Value, Values};
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
    /// The one temporary file, and where in it each sorted run begins and ends: a file for each run would be more
    /// than a process may open.
    file: Option<Arc<File>>,
    spilled: Vec<(u64, u64)>,
    is_ordered: bool,
    encoder: Encoder,
}

/// A record in memory.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    order: Order,
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
            file: None,
            spilled: Vec::new(),
            is_ordered: false,
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
        self.is_ordered = false;
        let order = Order::of(values.iter().copied(), self.keys);
        self.entries.push(Entry { order, start, length: length as u32 });
        Ok(())
    }

    /// Puts the records that are in memory in order. Of several sorters each may do so on a thread of its own before
    /// they are merged.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn order(&mut self) -> Result<(), Error> {
        if self.spilled.is_empty() {
            self.arrange();
            return Ok(());
        }
        self.spill()?;
        self.records = Vec::new();
        self.entries = Vec::new();
        Ok(())
    }

    /// The records of all sorters in their order. Of equal ones those of an earlier sorter come first.
    ///
    /// # Errors
    /// A temporary file cannot be written or read.
    pub fn merge(sorters: Vec<Sorter>) -> Result<Sorted, Error> {
        let mut heap = BinaryHeap::new();
        for mut sorter in sorters {
            if !sorter.is_ordered {
                sorter.order()?;
            }
            let keys = sorter.keys;
            let memory = Source::Memory { records: sorter.records, entries: sorter.entries.into_iter() };
            let file = sorter.file;
            let parts = sorter.spilled.into_iter().filter_map(|(at, end)| {
                let part = Part { file: file.clone()?, at, end };
                let file = BufReader::with_capacity(BLOCK, part);
                Some(Source::File { file, record: Vec::new() })
            });
            for source in parts.chain([memory]) {
                let mut run = Run { source, current: Entry::default(), keys, order: heap.len() };
                if run.advance()? {
                    heap.push(Reverse(run));
                }
            }
        }
        Ok(Sorted { heap, has_begun: false })
    }

    fn arrange(&mut self) {
        self.is_ordered = true;
        let (records, keys) = (&self.records, self.keys);
        let record = |entry: &Entry| &records[entry.start..entry.start + entry.length as usize];
        self.entries.sort_unstable_by(|one, other| {
            let told = one.order.compare(&other.order);
            told.unwrap_or_else(|| by_values(record(one), record(other), keys))
        });
    }

    fn spill(&mut self) -> Result<(), Error> {
        self.arrange();
        let file = match &self.file {
            Some(file) => file.clone(),
            None => self.file.insert(Arc::new(tempfile::tempfile_in(&self.folder)?)).clone(),
        };
        let start = self.spilled.last().map_or(0, |(_, end)| *end);
        let mut file = BufWriter::with_capacity(BLOCK, &*file);
        let mut end = start;
        for entry in &self.entries {
            let mut length = [0; varint::LONGEST];
            let count = varint::put(&mut length, entry.length.into());
            file.write_all(&length[..count])?;
            file.write_all(&self.records[entry.start..entry.start + entry.length as usize])?;
            end += count as u64 + u64::from(entry.length);
        }
        file.flush()?;
        self.spilled.push((start, end));
        self.records.clear();
        self.entries.clear();
        self.is_ordered = false;
        Ok(())
    }
}

/// Records in their order.
pub struct Sorted {
    /// The runs that have a record left, the one with the smallest first.
    heap: BinaryHeap<Reverse<Run>>,
    has_begun: bool,
}

impl Sorted {
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
    keys: usize,
    /// Which of the runs: of equal records the earlier run's comes first.
    order: usize,
}

/// Where a run's records are.
enum Source {
    Memory { records: Vec<u8>, entries: std::vec::IntoIter<Entry> },
    File { file: BufReader<Part>, record: Vec<u8> },
}

/// A run in a temporary file.
struct Part {
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
                let next = entries.next();
                self.current = next.unwrap_or_default();
                Ok(next.is_some())
            }
            Source::File { file, record } => {
                let Some(length) = read_length(file)? else { return Ok(false) };
                record.resize(length, 0);
                file.read_exact(record)?;
                self.current.order = Order::of(Values::of(record), self.keys);
                Ok(true)
            }
        }
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
        let told = self.current.order.compare(&other.current.order);
        told.unwrap_or_else(|| by_values(self.record(), other.record(), self.keys))
            .then(self.order.cmp(&other.order))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::compare;

    fn value() -> impl Strategy<Value = (u8, i64, Vec<u8>)> {
        let edges = prop::sample::select(vec![1i64 << 53, (1 << 53) + 1, 1 << 54, (1 << 54) + 2, i64::MAX]);
        let number = prop_oneof![-3..3i64, any::<i64>(), edges];
        (0..5u8, number, prop::collection::vec(0..2u8, 0..20))
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

    #[test]
    fn a_sorter_opens_one_file_whatever_its_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(folder.path(), 1, 1);
        for number in 0..100 {
            sorter.push(&[Value::Integer(number)]).unwrap();
        }
        let files = std::fs::read_dir("/proc/self/fd").unwrap();
        let targets = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        assert_eq!(targets.filter(|target| target.starts_with(folder.path())).count(), 1);
    }

    proptest! {
        #[test]
        fn records_come_out_in_order_whether_they_fit_the_memory_or_not(
            rows in prop::collection::vec((value(), value()), 0..200), memory in 1..6000usize, count in 1..4usize,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorters: Vec<Sorter> = (0..count).map(|_| Sorter::new(folder.path(), memory, 3)).collect();
            let mut expected: Vec<Vec<Value>> = Vec::new();
            for (number, (one, other)) in (0..).zip(&rows) {
                let values = vec![as_value(one), as_value(other), Value::Integer(number)];
                sorters[number as usize % count].push(&values).unwrap();
                expected.push(values);
            }
            expected.sort_by(|one, other| {
                let orders = one.iter().zip(other).map(|(one, other)| compare(one, other));
                orders.fold(Ordering::Equal, Ordering::then)
            });
            sorters[0].order().unwrap();
            let mut sorted = Sorter::merge(sorters).unwrap();
            for row in expected {
                let record = sorted.next().unwrap().unwrap();
                prop_assert!(Values::of(record).eq(row.iter().copied()), "{row:?}");
            }
            prop_assert!(sorted.next().unwrap().is_none());
        }
    }
}
