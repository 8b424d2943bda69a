//! The gate of a comparison: whether any test is slower than is allowed, and whether the samples can decide that.

use crate::compare::{CellComparison, Comparison, FALSE_ALARMS};
use crate::statistics::{Difference, Ratio, fewest_for};

/// The result of the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gate {
    /// The number of comparisons judged: a contender in a test each.
    pub judged: usize,
    /// The number of them that are shown to be slower by more than the share.
    pub slower: usize,
    /// The number with a figure in the old run only.
    pub broken: usize,
    /// The number for which the samples leave open whether they are slower by more than the share.
    pub undecided: usize,
    /// The fewest samples of a run in those that are undecided because they have no interval.
    pub fewest: Option<usize>,
    /// The number of samples of each run that an interval needs in a comparison as large as this one.
    pub enough: usize,
}

/// The gate's judgement on one comparison.
pub(crate) enum Side {
    Slower,
    Undecided,
    Passed,
}

impl Comparison {
    /// Judges every comparison by the most that it may be slower: `share` (0.05 is 5 %).
    ///
    /// A comparison passes only if its interval excludes a slowdown by more than the share.
    pub fn gate(&self, share: f64) -> Gate {
        let cells: Vec<&CellComparison> = self.tests.iter().flat_map(|test| &test.cells).collect();
        let compared: Vec<_> = cells.iter().filter(|cell| cell.ratio.is_some()).collect();
        let broken = self.broken().len();
        let sides = || compared.iter().map(|cell| (side(cell, share), cell));
        let blind = sides().filter(|(side, cell)| matches!(side, Side::Undecided) && !has_interval(cell));
        Gate {
            judged: compared.len() + broken,
            slower: sides().filter(|(side, _)| matches!(side, Side::Slower)).count(),
            broken,
            undecided: sides().filter(|(side, _)| matches!(side, Side::Undecided)).count(),
            fewest: blind.map(|(_, cell)| cell.old_samples.min(cell.new_samples)).min(),
            enough: fewest_for(1.0 - FALSE_ALARMS / cells.len().max(1) as f64),
        }
    }
}

fn has_interval(cell: &CellComparison) -> bool {
    cell.ratio.is_some_and(|ratio| ratio.interval.is_some())
}

fn side(cell: &CellComparison, share: f64) -> Side {
    Side::of(cell.ratio, cell.difference, share)
}

impl Side {
    /// The judgement on a ratio that may be above one by this share.
    pub(crate) fn of(ratio: Option<Ratio>, difference: Option<Difference>, share: f64) -> Side {
        let Some(ratio) = ratio else { return Side::Undecided };
        let limit = 1.0 + share;
        match (difference, ratio.interval) {
            (Some(Difference::Slower), _) if ratio.ratio > limit => Side::Slower,
            (_, Some(interval)) if interval.high <= limit => Side::Passed,
            _ => Side::Undecided,
        }
    }
}
