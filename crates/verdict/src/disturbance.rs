//! Blocks in which others took time from the measured CPUs: other processes, and the host.
//!
//! The rule looks at a block as a whole and leaves it out for all contenders and tests alike, or for none. It never looks
//! at what a contender did: that its process waited for its own server, or for its own threads, is its own affair.

use std::collections::{BTreeMap, BTreeSet};

use dyno_record::{Others, Run};

use crate::statistics::MIN_BLOCKS;

/// The share of the measured CPUs' time that others may take in a block.
pub const MOST_FOREIGN: f64 = 0.03;

/// The time that other processes may take whatever the share, in nanoseconds: the kernel counts in ticks of 10 ms, and
/// each trial's reading may be off by one or two.
pub(crate) const UNCERTAIN_NS: f64 = 50e6;

/// The disturbances of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Disturbances {
    /// The number of measured blocks.
    pub blocks: usize,
    /// Those in which others took too much.
    pub disturbed: BTreeSet<u32>,
    /// True if these are left out: only where enough others remain.
    pub left_out: bool,
    /// True if the run file records the time that others took.
    pub reported: bool,
    /// The share of the measured CPUs' time that other processes took in all measured blocks.
    pub foreign: f64,
    /// The share that the host gave to others (steal).
    pub stolen: f64,
}

impl Disturbances {
    /// Those of a run; warm-up and trials of latency are no measured blocks.
    pub fn new(run: &Run) -> Disturbances {
        let trials = || run.trials.iter().filter(|trial| trial.is_measured());
        // By block, the time that there was and what others took of it.
        let mut blocks: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for trial in trials() {
            let Others { over_ns, foreign_ns, stolen_ns } = trial.others.unwrap_or_default();
            let (over, taken) = blocks.entry(trial.block).or_default();
            *over += over_ns as f64;
            *taken += foreign_ns as f64 + stolen_ns as f64;
        }
        let took_too_much =
            |(_, (over, taken)): &(&u32, &(f64, f64))| *taken > UNCERTAIN_NS && *taken > MOST_FOREIGN * *over;
        let disturbed: BTreeSet<u32> = blocks.iter().filter(took_too_much).map(|(block, _)| *block).collect();
        let others = || trials().filter_map(|trial| trial.others);
        let over: f64 = others().map(|others| others.over_ns as f64).sum();
        // Errors of ticks may make less than nothing of it.
        let share = |taken: f64| if over > 0.0 { (taken / over).max(0.0) } else { 0.0 };
        Disturbances {
            foreign: share(others().map(|others| others.foreign_ns as f64).sum()),
            stolen: share(others().map(|others| others.stolen_ns as f64).sum()),
            blocks: blocks.len(),
            left_out: !disturbed.is_empty() && blocks.len() - disturbed.len() >= MIN_BLOCKS,
            disturbed,
            reported: trials().any(|trial| trial.others.is_some()),
        }
    }

    /// Returns true if figures rest on a block.
    pub(crate) fn counts(&self, block: u32) -> bool {
        !self.left_out || !self.disturbed.contains(&block)
    }

    /// Returns true if figures rest on blocks that were disturbed.
    pub fn rests_on_disturbed(&self) -> bool {
        !self.left_out && !self.disturbed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::judge;

    fn run(foreign_ns: impl Fn(u32, usize) -> i64) -> Run {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
        let mut run = dyno_record::load(&golden).unwrap();
        for trial in &mut run.trials {
            let foreign_ns = foreign_ns(trial.block, trial.contender);
            trial.others = Some(Others { over_ns: 1_000_000_000, foreign_ns, stolen_ns: 0 });
        }
        run
    }

    #[test]
    fn a_block_is_left_out_for_all_contenders_alike() {
        // In blocks 2 and 5 a neighbour was there during one contender's trial; small errors of ticks cancel.
        let run = run(|block, contender| match (block, contender) {
            (2 | 5, 1) => 600_000_000,
            (_, 0) => -30_000_000,
            _ => 20_000_000,
        });
        let verdict = judge(&run);
        assert_eq!(verdict.disturbances.disturbed, BTreeSet::from([2, 5]));
        assert!(verdict.disturbances.left_out && !verdict.disturbances.rests_on_disturbed());
        assert!(verdict.disturbances.foreign > 0.02 && verdict.disturbances.stolen == 0.0);
        for cell in verdict.tests.iter().flat_map(|test| &test.cells) {
            let left_out: Vec<u32> = cell.points.left_out.iter().map(|(block, _)| *block).collect();
            assert_eq!(left_out, [2, 5]);
            assert_eq!((cell.figures.samples, cell.figures.undisturbed), (12, 10));
        }
    }

    #[test]
    fn nothing_is_left_out_where_too_few_blocks_would_remain_or_nothing_is_known() {
        let run = run(|block, _| if block < 8 { 600_000_000 } else { 0 });
        let verdict = judge(&run);
        assert!(verdict.disturbances.rests_on_disturbed());
        assert!(
            verdict.tests.iter().flat_map(|test| &test.cells).all(|cell| cell.points.left_out.is_empty())
        );
        let mut old = run.clone();
        old.trials.iter_mut().for_each(|trial| trial.others = None);
        // A wait of the contender itself is not a disturbance.
        old.trials.iter_mut().flat_map(|trial| &mut trial.samples).for_each(|sample| {
            sample.sample.section.client.wait_ns = sample.sample.section.nanoseconds;
        });
        let verdict = judge(&old);
        assert!(verdict.disturbances.disturbed.is_empty() && !verdict.disturbances.reported);
        assert!(verdict.tests.iter().flat_map(|test| &test.cells).all(|cell| cell.figures.undisturbed == 12));
    }
}
