//! When a run has enough trials.

use std::time::Duration;

use dyno_record::{Ended, Run};

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

    /// Tells how long a block took.
    pub fn block_took(&mut self, duration: Duration) {
        self.last_block = duration;
        self.elapsed += duration;
    }

    /// Why the run ends after this block; none if it goes on. At least one measured block is run.
    /// `is_precise` tells whether the samples so far are enough.
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
