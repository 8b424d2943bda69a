//! Sorted pairs of keys and rows, merged in parts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::error::Error;
use crate::pairs::{BYTES, Pair, PairRun, pair, signed};

/// Parts for each of several threads, so that no thread waits long for the others.
const PARTS: usize = 4;

/// The most pairs of a file that are read at once, and the fewest.
const BLOCK: usize = 16 << 10;
const LEAST_BLOCK: usize = 256;

/// Keys of each run among which borders of parts are chosen.
const SAMPLES: u64 = 64;

/// Sorted pairs.
#[derive(Default)]
pub struct Runs {
    /// Of entries whose key is NULL.
    pub nulls: Vec<PairRun>,
    /// Of the others.
    pub keys: Vec<PairRun>,
}

/// The entries of an index in their order, cut into parts that come one after another. All entries with the same key
/// are in one part, and where there are several parts each has two entries at least.
pub struct KeyParts {
    runs: Runs,
    /// For each border of a part how many pairs of each run are before it.
    borders: Vec<Vec<u64>>,
    next: usize,
    /// Pairs of a file that are read at once.
    block: usize,
}

impl KeyParts {
    pub(crate) fn new(runs: Runs, threads: usize, memory: usize) -> Result<KeyParts, Error> {
        let is_spilled = |run: &&PairRun| matches!(run, PairRun::Spilled(..));
        let files = runs.nulls.iter().chain(&runs.keys).filter(is_spilled).count();
        let block = (memory / (BYTES * files * threads).max(1)).clamp(LEAST_BLOCK, BLOCK);
        let parts = if threads > 1 { PARTS * threads } else { 1 };
        let borders = borders(&runs.keys, parts)?;
        Ok(KeyParts { runs, borders, next: 0, block })
    }

    /// The pairs of a part.
    fn part(&self, part: usize) -> SortedKeys {
        let sources = self.runs.keys.iter().enumerate().map(|(number, run)| {
            let from = self.borders[part][number];
            Source::new(run.clone(), from, self.borders[part + 1][number], self.block)
        });
        // NULL comes before all keys.
        let nulls = if part == 0 { &self.runs.nulls[..] } else { &[] };
        let nulls = nulls.iter().map(|run| Source::new(run.clone(), 0, run.count(), self.block));
        SortedKeys { nulls: Merge::new(nulls.collect()), keys: Merge::new(sources.collect()) }
    }
}

impl Iterator for KeyParts {
    type Item = SortedKeys;

    fn next(&mut self) -> Option<SortedKeys> {
        (self.next + 1 < self.borders.len()).then(|| {
            self.next += 1;
            self.part(self.next - 1)
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.borders.len() - 1 - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for KeyParts {}

/// The keys at which runs are cut into about `parts` parts, including the beginning and the end.
fn borders(runs: &[PairRun], parts: usize) -> Result<Vec<Vec<u64>>, Error> {
    let mut samples = Vec::new();
    for run in runs {
        let wanted = SAMPLES.min(run.count());
        for sample in 0..wanted {
            samples.push(run.get(sample * run.count() / wanted)?.0);
        }
    }
    samples.sort_unstable();
    let end: Vec<u64> = runs.iter().map(PairRun::count).collect();
    let (total, mut before) = (end.iter().sum::<u64>(), 0);
    let mut borders = vec![vec![0; runs.len()]];
    for part in 1..parts {
        let Some(&key) = samples.get(samples.len() * part / parts) else { break };
        let border = runs.iter().map(|run| run.below(key)).collect::<Result<Vec<u64>, Error>>()?;
        let count = border.iter().sum::<u64>();
        if count >= before + 2 && count + 2 <= total {
            borders.push(border);
            before = count;
        }
    }
    borders.push(end);
    Ok(borders)
}

/// The entries of a part in their order.
pub struct SortedKeys {
    nulls: Merge,
    keys: Merge,
}

impl SortedKeys {
    /// The next entry: its key, if that is not NULL, and the number of its row. None at the end.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "it can fail")]
    pub fn next(&mut self) -> Result<Option<(Option<i64>, i64)>, Error> {
        if let Some((_, row)) = self.nulls.next()? {
            return Ok(Some((None, signed(row))));
        }
        Ok(self.keys.next()?.map(|(key, row)| (Some(signed(key)), signed(row))))
    }
}

/// Runs that are merged. Pairs come from one run as long as they are below those of all others, so that runs which
/// hardly overlap cost hardly a comparison.
struct Merge {
    sources: Vec<Source>,
    /// The next pair of the current run, and the run's index; None before the first pair and at the end.
    current: Option<(Pair, usize)>,
    /// The next pair of each other run that has one.
    fronts: BinaryHeap<Reverse<(Pair, usize)>>,
    /// The first of those.
    bound: Pair,
    has_begun: bool,
}

impl Merge {
    fn new(sources: Vec<Source>) -> Merge {
        Merge { sources, current: None, fronts: BinaryHeap::new(), bound: (0, 0), has_begun: false }
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Pair>, Error> {
        if !self.has_begun {
            self.begin()?;
        }
        let Some((pair, number)) = self.current else { return Ok(None) };
        match self.sources[number].next()? {
            Some(next) if next < self.bound => self.current = Some((next, number)),
            next => self.change(next.map(|next| (next, number))),
        }
        Ok(Some(pair))
    }

    #[cold]
    fn begin(&mut self) -> Result<(), Error> {
        self.has_begun = true;
        for (number, source) in self.sources.iter_mut().enumerate() {
            self.fronts.extend(source.next()?.map(|pair| Reverse((pair, number))));
        }
        self.change(None);
        Ok(())
    }

    /// Goes on with the run whose next pair is the first one; `left` is what is left of the one before.
    fn change(&mut self, left: Option<(Pair, usize)>) {
        self.current = match (self.fronts.peek_mut(), left) {
            (Some(mut front), Some(left)) => Some(std::mem::replace(&mut front.0, left)),
            (Some(front), None) => Some(PeekMut::pop(front).0),
            (None, left) => left,
        };
        // If no other run is left, no pair is above this one, and an equal one only changes from the run to itself.
        self.bound = self.fronts.peek().map_or((u64::MAX, u64::MAX), |Reverse((pair, _))| *pair);
    }
}

/// The pairs that are left of a run.
enum Source {
    Memory { pairs: Arc<Vec<Pair>>, at: usize, end: usize },
    File { file: Arc<File>, at: u64, left: u64, block: usize, read: Vec<u8>, next: usize },
}

impl Source {
    fn new(run: PairRun, from: u64, to: u64, block: usize) -> Source {
        match run {
            PairRun::Held(pairs) => Source::Memory { pairs, at: from as usize, end: to as usize },
            PairRun::Spilled(file, start, _) => {
                let at = start + from * BYTES as u64;
                Source::File { file, at, left: to - from, block, read: Vec::new(), next: 0 }
            }
        }
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Pair>, Error> {
        match self {
            Source::Memory { pairs, at, end } => {
                let next = pairs[..*end].get(*at).copied();
                *at += 1;
                Ok(next)
            }
            Source::File { file, at, left, block, read, next } => {
                if *next == read.len() {
                    let count = (*block as u64).min(*left) as usize;
                    read.resize(count * BYTES, 0);
                    file.read_exact_at(read, *at)?;
                    *at += read.len() as u64;
                    *left -= count as u64;
                    *next = 0;
                }
                let found = read[*next..].first_chunk().map(pair);
                *next += if found.is_some() { BYTES } else { 0 };
                Ok(found)
            }
        }
    }
}
