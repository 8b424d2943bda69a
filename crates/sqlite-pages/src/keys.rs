//! The entries of an index on one column of whole numbers. They stay pairs of numbers until their leaves are written:
//! the key, and the number of its row.
//!
//! Pairs are sorted by radix, within a bound of memory: what is more goes sorted to a temporary file. All pairs have
//! the same length there, so that a part of a run is found by halving.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::merge_keys::{KeyParts, Runs};
use crate::pairs::{BYTES, Pair, PairRun, unsigned};
use crate::radix::sort_pairs;

/// Bytes of the file that are written at once.
const BLOCK: usize = 256 << 10;

/// Pairs that came, and the runs that were made of those before.
#[derive(Default)]
struct Pairs {
    came: Vec<Pair>,
    /// False if the rows ascend: then a stable sort by the key alone is enough.
    is_unordered: bool,
    runs: Vec<PairRun>,
}

impl Pairs {
    #[inline(always)]
    fn push(&mut self, pair: Pair) {
        self.is_unordered |= self.came.last().is_some_and(|last| last.1 > pair.1);
        self.came.push(pair);
    }

    /// Puts those that came in order.
    fn sort(&mut self, room: &mut Vec<Pair>) {
        match std::mem::take(&mut self.is_unordered) {
            true => self.came.sort_unstable(),
            false => sort_pairs(&mut self.came, room),
        }
    }

    /// Writes those that came to a file behind `at`, and says where the next ones begin.
    fn spill(&mut self, file: &Arc<File>, at: u64, room: &mut Vec<Pair>) -> Result<u64, Error> {
        if self.came.is_empty() {
            return Ok(at);
        }
        self.sort(room);
        let mut out = BufWriter::with_capacity(BLOCK, &**file);
        for &(key, row) in &self.came {
            out.write_all(&(u128::from(row) << 64 | u128::from(key)).to_le_bytes())?;
        }
        out.flush()?;
        let count = self.came.len() as u64;
        self.runs.push(PairRun::Spilled(file.clone(), at, count));
        self.came.clear();
        Ok(at + count * BYTES as u64)
    }
}

/// Takes the entries of an index in any order.
pub struct KeySorter {
    /// The most pairs in memory.
    most: usize,
    /// The folder of the temporary file.
    folder: PathBuf,
    /// Entries whose key is NULL, all of which come first.
    nulls: Pairs,
    keys: Pairs,
    /// Room for a sort.
    room: Vec<Pair>,
    file: Option<Arc<File>>,
    /// The offset of the next run in the file.
    end: u64,
}

impl KeySorter {
    /// An empty sorter that uses `memory` bytes.
    pub fn new(folder: &Path, memory: usize) -> KeySorter {
        // A sort needs room for as many pairs again.
        let most = (memory / (2 * BYTES)).max(1);
        let (nulls, keys) = (Pairs::default(), Pairs::default());
        KeySorter { most, folder: folder.to_owned(), nulls, keys, room: Vec::new(), file: None, end: 0 }
    }

    /// Takes the entry of a row.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    #[inline(always)]
    pub fn push(&mut self, key: Option<i64>, row: i64) -> Result<(), Error> {
        match key {
            Some(key) => self.keys.push((unsigned(key), unsigned(row))),
            None => self.nulls.push((0, unsigned(row))),
        }
        if self.nulls.came.len() + self.keys.came.len() >= self.most { self.spill() } else { Ok(()) }
    }

    /// Sorts the entries that came last. With several sorters, each may do so on a separate thread before they are
    /// merged.
    pub fn order(&mut self) {
        for pairs in [&mut self.nulls, &mut self.keys] {
            pairs.sort(&mut self.room);
            if !pairs.came.is_empty() {
                pairs.runs.push(PairRun::Held(Arc::new(std::mem::take(&mut pairs.came))));
            }
        }
        self.room = Vec::new();
    }

    #[cold]
    #[inline(never)]
    fn spill(&mut self) -> Result<(), Error> {
        let file = match &self.file {
            Some(file) => file.clone(),
            None => self.file.insert(Arc::new(tempfile::tempfile_in(&self.folder)?)).clone(),
        };
        for pairs in [&mut self.nulls, &mut self.keys] {
            self.end = pairs.spill(&file, self.end, &mut self.room)?;
        }
        Ok(())
    }

    /// The entries of all sorters in their order, in parts that `threads` threads may read concurrently.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn merge(mut sorters: Vec<KeySorter>, threads: usize) -> Result<KeyParts, Error> {
        sorters.iter_mut().for_each(KeySorter::order);
        let memory = sorters.iter().map(|sorter| sorter.most * 2 * BYTES).sum();
        let mut runs = Runs::default();
        for sorter in sorters {
            runs.nulls.extend(sorter.nulls.runs);
            runs.keys.extend(sorter.keys.runs);
        }
        KeyParts::new(runs, threads, memory)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pairs::signed;

    fn merged(sorters: Vec<KeySorter>, threads: usize) -> Vec<Vec<(Option<i64>, i64)>> {
        let parts = KeySorter::merge(sorters, threads).unwrap();
        let all = |mut part: crate::SortedKeys| {
            std::iter::from_fn(move || part.next().unwrap()).collect::<Vec<_>>()
        };
        parts.map(all).collect()
    }

    #[test]
    fn a_sorter_without_entries_has_one_empty_part() {
        let sorters =
            || vec![KeySorter::new(Path::new("."), 1 << 10), KeySorter::new(Path::new("."), 1 << 10)];
        assert_eq!(merged(sorters(), 3), [[]]);
        let mut one = sorters();
        one[1].push(None, 7).unwrap();
        assert_eq!(merged(one, 3), [[(None, 7)]]);
    }

    #[test]
    fn numbers_without_a_sign_are_in_the_order_of_those_with_one() {
        let ascending = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX];
        assert!(ascending.map(unsigned).is_sorted());
        assert_eq!(ascending.map(unsigned).map(signed), ascending);
    }

    proptest! {
        #[test]
        fn entries_come_out_in_order_whether_they_fit_the_memory_or_not(
            keys in prop::collection::vec(prop_oneof![
                Just(None), (-3..3i64).prop_map(Some), any::<i64>().prop_map(Some),
                Just(Some(i64::MIN)), Just(Some(i64::MAX)),
            ], 0..3000),
            memory in prop_oneof![Just(0usize), 100..20_000usize, Just(1 << 20)],
            count in 1..4usize, threads in 1..4usize, descends in any::<bool>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorters: Vec<KeySorter> = (0..count).map(|_| KeySorter::new(folder.path(), memory)).collect();
            let mut expected = Vec::new();
            for (place, &key) in (0..).zip(&keys) {
                let row = if descends { -place } else { place };
                // Pieces of a file come to its threads in turn.
                sorters[(place / 7) as usize % count].push(key, row).unwrap();
                expected.push((key, row));
            }
            expected.sort_unstable();
            let parts = merged(sorters, threads);
            prop_assert!(parts.len() == 1 || parts.iter().all(|part| part.len() >= 2));
            for (part, next) in parts.iter().zip(&parts[1..]) {
                prop_assert!(part[part.len() - 1].0 != next[0].0, "equal keys are in two parts");
            }
            prop_assert_eq!(parts.concat(), expected);
        }
    }
}
