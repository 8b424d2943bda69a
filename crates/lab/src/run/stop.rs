//! Decides when a run has enough trials.

use std::time::Duration;

use dyno_record::{Ended, Run};

/// Trials of each contender that a run needs before most of its comparisons can show anything.
pub const USEFUL_TRIALS: u32 = 7;
/// Blocks differ in length: a budget that is extended has this much more room than the first block asks for.
const SLACK: f64 = 1.15;

/// Decides after each block whether another one is wanted.
#[derive(Debug)]
pub struct Stop {
    trials: Option<u32>,
    budget: Option<Duration>,
    elapsed: Duration,
    last_block: Duration,
}

impl Stop {
    /// The rule that a run's schedule states.
    pub fn new(run: &Run) -> Stop {
        Stop {
            trials: run.schedule.trials,
            budget: run.schedule.budget_ns.map(Duration::from_nanos),
            elapsed: Duration::ZERO,
            last_block: Duration::ZERO,
        }
    }

    /// Records the duration of a block.
    pub fn block_took(&mut self, duration: Duration) {
        self.last_block = duration;
        self.elapsed += duration;
    }

    /// Extends the budget, as far as the schedule allows, so that [`USEFUL_TRIALS`] fit, by the time of the first block.
    /// Returns how long these take where the budget that was asked for is shorter.
    pub fn extend(&mut self, run: &mut Run, first: u32) -> Option<Duration> {
        let budget = self.budget.filter(|_| self.trials.is_none() && run.schedule.sustain.is_none())?;
        let needed = self.elapsed + self.last_block * USEFUL_TRIALS.saturating_sub(first);
        if needed <= budget {
            return None;
        }
        if let Some(most) = run.schedule.most_ns.map(Duration::from_nanos) {
            let extended = needed.mul_f64(SLACK).min(most).max(budget);
            self.budget = Some(extended);
            run.schedule.budget_ns = Some(u64::try_from(extended.as_nanos()).unwrap_or(u64::MAX));
        }
        Some(needed)
    }

    /// The reason why the run ends after this block; none if it goes on. At least one measured block is run.
    /// `is_precise` returns whether the samples so far are enough.
    pub fn decide(&self, block: u32, is_precise: impl FnOnce() -> bool) -> Option<Ended> {
        if self.trials.is_some_and(|trials| block >= trials) {
            return Some(Ended::Trials);
        }
        if block == 0 {
            return None;
        }
        if self.trials.is_none() && is_precise() {
            return Some(Ended::Converged);
        }
        // A block that would end after the budget is not begun.
        let ends = self.elapsed + self.last_block;
        self.budget.is_some_and(|budget| ends > budget).then_some(Ended::Budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schedule after a first block of this many seconds.
    fn after(seconds: u64, most_ns: Option<u64>) -> (Option<Duration>, Option<u64>) {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../dyno/tests/golden/run.json");
        let mut run = dyno_record::load(golden.as_ref()).unwrap();
        run.schedule.trials = None;
        run.schedule.budget_ns = Some(60_000_000_000);
        run.schedule.most_ns = most_ns;
        let mut stop = Stop::new(&run);
        stop.block_took(Duration::from_secs(seconds));
        (stop.extend(&mut run, 0), run.schedule.budget_ns)
    }

    #[test]
    fn a_budget_that_nobody_named_has_room_for_seven_trials() {
        let minute = Some(60_000_000_000);
        assert_eq!(after(7, Some(300_000_000_000)), (None, minute), "they fit");
        let (needed, budget) = after(20, Some(300_000_000_000));
        assert_eq!(needed, Some(Duration::from_secs(160)));
        assert_eq!(budget, Some(184_000_000_000), "and a little for blocks that take longer");
        assert_eq!(after(100, Some(300_000_000_000)).1, Some(300_000_000_000), "no longer than the most");
        assert_eq!(
            after(20, None),
            (Some(Duration::from_secs(160)), minute),
            "a budget that was named is kept"
        );
    }
}
