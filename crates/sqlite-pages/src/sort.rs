//! Records put in the order of an index, within a bound of memory: what is more goes sorted to a temporary file,
//! and all is merged at the end.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::merge::{BLOCK, Sorted, Source};
use crate::order::{Entry, Prefix, arrange};
use crate::record::{Encoder, Value};
use crate::varint;

/// The fewest bytes of a run that are read at once.
const LEAST_BLOCK: usize = 4 << 10;

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
    /// The last value of the record that came last, as long as those are whole numbers that ascend.
    last: Option<i64>,
    ascends: bool,
    encoder: Encoder,
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
            last: None,
            ascends: true,
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
        let (records, entries) = (self.records.len(), (self.entries.len() + 1) * size_of::<Entry>());
        // Sorting takes as much room again as the entries, and then as the records.
        if records + entries + records.max(entries) > self.memory && start > 0 {
            let record = self.records.split_off(start);
            self.spill()?;
            self.records = record;
        }
        let start = self.records.len() - length;
        self.is_ordered = false;
        let last = match values.last() {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        };
        self.ascends &= last > self.last;
        self.last = last;
        let Prefix { bits, is_whole } = Prefix::of(values.first().copied());
        self.entries.push(Entry { bits, start, length: length as u32, is_whole });
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
            self.gather();
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
        let keys = sorters.first().map_or(0, |sorter| sorter.keys);
        // All runs are read at the same time.
        let memory: usize = sorters.iter().map(|sorter| sorter.memory).sum();
        let runs: usize = sorters.iter().map(|sorter| sorter.spilled.len() + 1).sum();
        let block = (memory / runs.max(1)).clamp(LEAST_BLOCK, BLOCK);
        let mut sources = Vec::new();
        for mut sorter in sorters {
            if !sorter.is_ordered {
                sorter.order()?;
            }
            let file = sorter.file;
            let parts = sorter.spilled.into_iter();
            sources
                .extend(parts.filter_map(|(at, end)| Some(Source::of_file(file.clone()?, at, end, block))));
            sources.push(Source::Memory { records: sorter.records, entries: sorter.entries.into_iter() });
        }
        Sorted::new(sources, keys)
    }

    fn arrange(&mut self) {
        self.is_ordered = true;
        // The last value then tells nothing that the order in which the records came does not.
        let keys = if self.ascends && self.keys > 1 { self.keys - 1 } else { self.keys };
        arrange(&mut self.entries, &self.records, keys);
    }

    /// Moves the records themselves into their order: whoever reads them then goes through memory from one end to the
    /// other.
    fn gather(&mut self) {
        let mut gathered = Vec::with_capacity(self.records.len());
        for entry in &mut self.entries {
            let start = gathered.len();
            gathered.extend_from_slice(&self.records[entry.start..entry.start + entry.length as usize]);
            entry.start = start;
        }
        self.records = gathered;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use std::cmp::Ordering;

    use super::*;
    use crate::record::{Values, compare};

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
            rows in prop::collection::vec((value(), value()), 0..800), memory in 1..60_000usize, count in 1..4usize,
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
