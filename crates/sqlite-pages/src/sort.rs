//! Records put in the order of an index, within a bound of memory: what is more goes sorted to a temporary file,
//! and all is merged at the end.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::merge::{Parts, Sorted};
use crate::order::{BESIDE, Held};
use crate::prefix::Prefix;
use crate::record::{Value, Values};
use crate::row::most;
use crate::runs::{Run, Spilled, borders};
use crate::varint;

/// Bytes of a temporary file that are read or written at once, if there is memory for them.
const BLOCK: usize = 256 << 10;
/// The fewest.
const LEAST_BLOCK: usize = 4 << 10;

/// Bytes of records, including their prefixes and ends, that are sorted at once.
const NEAR: usize = 1 << 20;

/// Bytes of records of which one shows where runs can be cut, if there is memory for that.
const SAMPLED: usize = 16 << 10;
/// The most samples that a sorter's memory would hold records for.
const SAMPLES: usize = 1 << 10;
/// The part of a sorter's memory that samples may take.
const OF_SAMPLES: usize = 8;

/// Parts for each of several threads, so that no thread waits long for the others.
const PARTS: usize = 4;

/// Takes records in any order.
pub struct Sorter {
    /// Bytes of memory to use for records.
    memory: usize,
    /// The folder of temporary files.
    folder: PathBuf,
    /// Values of a record that its order is by.
    keys: usize,
    /// Records in the order in which they came.
    came: Held,
    /// Sorted runs in memory, each as long as the processor's nearer memory holds, and what they take: sorting goes to
    /// and fro in memory, and merging does not.
    held: Vec<Run>,
    taken: usize,
    /// The one temporary file, and the sorted runs in it: a file for each run would be more than a process may open.
    file: Option<Arc<File>>,
    spilled: Vec<Spilled>,
    /// Bytes of records of which one is a sample.
    step: usize,
    /// The last value of the record that came last, as long as those are whole numbers that ascend.
    last: Option<i64>,
    ascends: bool,
}

impl Sorter {
    /// An empty sorter that uses `memory` bytes. It sorts records by their first `keys` values.
    pub fn new(folder: &Path, memory: usize, keys: usize) -> Sorter {
        Sorter {
            memory,
            folder: folder.to_owned(),
            keys,
            came: Held::default(),
            held: Vec::new(),
            taken: 0,
            file: None,
            spilled: Vec::new(),
            step: (memory / SAMPLES).clamp(1, SAMPLED),
            last: None,
            ascends: true,
        }
    }

    /// Takes a record.
    ///
    /// # Errors
    /// It is longer than SQLite takes, or a temporary file cannot be written.
    pub fn push(&mut self, values: &[Value]) -> Result<(), Error> {
        let bytes = values.iter().map(Value::bytes).sum();
        let next = most(values.len(), bytes) + BESIDE;
        // While they are sorted, the new records exist twice.
        let came = self.came.bytes() + next;
        if came > NEAR || self.taken + 2 * came > self.memory {
            self.arrange();
        }
        if self.taken + 2 * next > self.memory {
            self.spill()?;
        }
        let mut record = self.came.records.begin(values.len(), bytes);
        values.iter().for_each(|value| record.value(value));
        let made = record.end()?;
        self.came.records.add(made);
        self.came.prefixes.push(Prefix::of(values.first().copied()));
        let last = match values.last() {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        };
        self.ascends &= last > self.last;
        self.last = last;
        Ok(())
    }

    /// Sorts the records that came last. With several sorters, each may do so on a separate thread before they are
    /// merged.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn order(&mut self) -> Result<(), Error> {
        self.arrange();
        // Memory is then for reading the file.
        if self.spilled.is_empty() { Ok(()) } else { self.spill() }
    }

    fn arrange(&mut self) {
        if self.came.prefixes.is_empty() {
            return;
        }
        // The last value then adds nothing to the order in which the records came.
        let keys = if self.ascends && self.keys > 1 { self.keys - 1 } else { self.keys };
        let run = self.came.arranged(keys);
        self.came.clear();
        self.taken += run.bytes();
        self.held.push(Run::Held(Arc::new(run)));
    }

    /// The records of all sorters in their order, in parts that `threads` threads may read concurrently. Of equal
    /// records those of an earlier sorter come first.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn merge(mut sorters: Vec<Sorter>, threads: usize) -> Result<Parts, Error> {
        sorters.iter_mut().try_for_each(Sorter::order)?;
        let keys = sorters.first().map_or(0, |sorter| sorter.keys);
        let step = sorters.iter().map(|sorter| sorter.step).max().unwrap_or_default();
        let memory: usize = sorters.iter().map(|sorter| sorter.memory).sum();
        let files: usize = sorters.iter().map(|sorter| sorter.spilled.len()).sum();
        let runs: Vec<Run> = sorters.into_iter().flat_map(Sorter::runs).collect();
        // Each thread reads all runs at the same time.
        let block = (memory / (files * threads).max(1)).clamp(LEAST_BLOCK, BLOCK);
        // The output of a part, kept until those before it are done, then takes no more memory than sorting did.
        let bytes = runs.iter().map(Run::bytes).sum::<u64>() as usize;
        let least = bytes / memory.max(1);
        // Each part reads a block of each run: more parts would read the file more than once.
        let most = bytes / (block * files).max(1);
        let parts = least.min(most).max(if threads > 1 { PARTS * threads } else { 1 });
        let borders = borders(&runs, parts, step);
        Ok(Parts::new(runs, borders, keys, block))
    }

    /// The sorted runs, in the order in which their records came.
    fn runs(self) -> impl Iterator<Item = Run> {
        let Sorter { file, spilled, held, .. } = self;
        let in_file = spilled.into_iter().filter_map(move |run| Some(Run::Spilled(file.clone()?, run)));
        in_file.chain(held)
    }

    /// Merges the runs in memory to one in the temporary file.
    fn spill(&mut self) -> Result<(), Error> {
        if self.held.is_empty() {
            return Ok(());
        }
        let file = match &self.file {
            Some(file) => file.clone(),
            None => self.file.insert(Arc::new(tempfile::tempfile_in(&self.folder)?)).clone(),
        };
        let start = self.spilled.last().map_or(0, |run| run.end);
        let step = self.step as u64;
        let sources = self.held.drain(..).map(|run| run.between(Prefix::default(), None, 0));
        let mut sorted = Sorted::new(sources, self.keys);
        let (mut file, mut end) = (BufWriter::with_capacity(BLOCK, &*file), start);
        let (mut samples, mut next) = (Vec::new(), start);
        while let Some(record) = sorted.next()? {
            if end >= next {
                samples.push((Prefix::of(Values::of(record).next()), end));
                next = end + step;
            }
            let mut length = [0; varint::LONGEST];
            let count = varint::put(&mut length, record.len() as u64);
            file.write_all(&length[..count])?;
            file.write_all(record)?;
            end += (count + record.len()) as u64;
        }
        file.flush()?;
        self.spilled.push(Spilled { start, end, samples });
        self.taken = 0;
        self.thin();
        Ok(())
    }

    /// Forgets every other sample of each run while all of them take too much memory. The first ones stay.
    fn thin(&mut self) {
        let count = |spilled: &[Spilled]| spilled.iter().map(|run| run.samples.len()).sum::<usize>();
        let most = (self.memory / OF_SAMPLES / size_of::<(Prefix, u64)>()).max(self.spilled.len());
        while count(&self.spilled) > most {
            self.step *= 2;
            for run in &mut self.spilled {
                let mut stays = false;
                run.samples.retain(|_| {
                    stays = !stays;
                    stays
                });
                run.samples.shrink_to_fit();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use std::cmp::Ordering;

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

    #[test]
    fn samples_take_a_part_of_the_memory_however_many_records_there_are() {
        let folder = tempfile::tempdir().unwrap();
        let memory = 64 << 10;
        let mut sorter = Sorter::new(folder.path(), memory, 2);
        for number in 0..200_000 {
            sorter.push(&[Value::Integer(number * 7_919 % 200_003), Value::Integer(number)]).unwrap();
        }
        sorter.order().unwrap();
        let samples: usize = sorter.spilled.iter().map(|run| run.samples.len()).sum();
        assert!(sorter.spilled.len() > 20 && sorter.spilled.iter().all(|run| !run.samples.is_empty()));
        assert!(samples * size_of::<(Prefix, u64)>() <= memory / OF_SAMPLES, "{samples}");
    }

    proptest! {
        #[test]
        fn records_come_out_in_order_whether_they_fit_the_memory_or_not(
            rows in prop::collection::vec((value(), value()), 0..800), memory in 1..60_000usize, count in 1..4usize,
            threads in 1..4usize,
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
            let parts = Sorter::merge(sorters, threads).unwrap();
            let (mut expected, count) = (expected.iter(), parts.len());
            for mut part in parts {
                let mut records = 0;
                while let Some(record) = part.next().unwrap() {
                    let row = expected.next().unwrap();
                    prop_assert!(Values::of(record).eq(row.iter().copied()), "{row:?}");
                    records += 1;
                }
                prop_assert!(count == 1 || records > 1);
            }
            prop_assert!(expected.next().is_none());
        }
    }
}
