//! Runs of records that are in order, merged into one.

use crate::error::Error;
use crate::order::by_values;
use crate::prefix::Prefix;
use crate::runs::Run;
use crate::source::{SortPrefix, Source};

/// Records in their order, cut into parts that come one after another. All records that have equal first values are in
/// one part, and where there are several parts each has two records at least.
pub struct Parts {
    runs: Vec<Run>,
    /// The first prefix of each part but the first.
    borders: Vec<Prefix>,
    next: usize,
    keys: usize,
    /// Bytes of a file that are read at once.
    block: usize,
}

impl Parts {
    pub(crate) fn new(runs: Vec<Run>, borders: Vec<Prefix>, keys: usize, block: usize) -> Parts {
        Parts { runs, borders, next: 0, keys, block }
    }
}

impl Iterator for Parts {
    type Item = Sorted;

    fn next(&mut self) -> Option<Sorted> {
        let part = self.next;
        let from = match part.checked_sub(1) {
            None => Prefix::default(),
            Some(before) => *self.borders.get(before)?,
        };
        self.next += 1;
        let to = self.borders.get(part).copied();
        let sources = self.runs.iter().map(|run| run.between(from, to, self.block));
        Some(Sorted::new(sources, self.keys))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.borders.len() + 1 - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Parts {}

/// Records in their order.
pub struct Sorted {
    runs: Vec<Reader>,
    /// The first remaining record of each run; None at the run's end. Nothing is read before the first record is asked
    /// for.
    fronts: Vec<Option<SortPrefix>>,
    /// A tournament of the runs: the loser of each match. When a run advances, only the matches on its way up are
    /// played again.
    losers: Vec<usize>,
    /// The run whose record comes next.
    winner: usize,
    has_begun: bool,
    keys: usize,
}

/// A match that waits for its second player.
const NO_RUN: usize = usize::MAX;

impl Sorted {
    /// The records of several runs. Of equal ones the earlier run's come first.
    pub(crate) fn new(sources: impl Iterator<Item = Source>, keys: usize) -> Sorted {
        let runs: Vec<Reader> = sources.map(Reader::new).collect();
        let losers = vec![NO_RUN; runs.len()];
        Sorted { runs, fronts: Vec::new(), losers, winner: 0, has_begun: false, keys }
    }

    /// The next record; None at the end.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    #[expect(clippy::should_implement_trait, reason = "the record is lent")]
    pub fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        if std::mem::replace(&mut self.has_begun, true) {
            // The record that was lent before is done with.
            if let Some(run) = self.runs.get_mut(self.winner) {
                self.fronts[self.winner] = run.next()?;
                self.play(self.winner);
            }
        } else {
            for run in &mut self.runs {
                self.fronts.push(run.next()?);
            }
            (0..self.runs.len()).for_each(|run| self.play(run));
        }
        let front = self.fronts.get(self.winner).copied().flatten();
        Ok(front.map(|head| self.runs[self.winner].source.record(&head)))
    }

    /// Plays a run's record against those on its way up.
    #[inline]
    fn play(&mut self, run: usize) {
        let mut winner = run;
        let mut place = (run + self.runs.len()) / 2;
        while place > 0 {
            let other = self.losers[place];
            if other == NO_RUN {
                self.losers[place] = winner;
                return;
            }
            if self.is_before(other, winner) {
                self.losers[place] = std::mem::replace(&mut winner, other);
            }
            place /= 2;
        }
        self.winner = winner;
    }

    #[inline]
    fn is_before(&self, one: usize, other: usize) -> bool {
        let order = match (&self.fronts[one], &self.fronts[other]) {
            (Some(first), Some(second)) => {
                first.prefix.cmp(&second.prefix).then_with(|| match (first.second, second.second) {
                    (Some(one), Some(two)) if self.keys == 2 && first.prefix.is_whole() => one.cmp(&two),
                    _ => {
                        let record = |run: usize, head| self.runs[run].source.record(head);
                        by_values(record(one, first), record(other, second), self.keys)
                    }
                })
            }
            (first, second) => second.is_some().cmp(&first.is_some()),
        };
        order.then(one.cmp(&other)).is_lt()
    }
}

/// A run that is read.
struct Reader {
    source: Source,
    /// Some records that were looked at, and which is the next of them.
    heads: Vec<SortPrefix>,
    at: usize,
}

impl Reader {
    fn new(source: Source) -> Reader {
        Reader { source, heads: Vec::new(), at: 0 }
    }

    /// The next record; None at the end.
    #[inline]
    fn next(&mut self) -> Result<Option<SortPrefix>, Error> {
        if self.at == self.heads.len() {
            self.at = 0;
            self.source.look(&mut self.heads)?;
        }
        let next = self.heads.get(self.at).copied();
        self.at += usize::from(next.is_some());
        Ok(next)
    }
}
