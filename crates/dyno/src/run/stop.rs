//! When a run has enough trials.

use std::time::Duration;

use crate::record::{Ended, Run};
use crate::statistics::MIN_BLOCKS;
use crate::verdict::figures;

/// Decides after each block whether another one is wanted.
#[derive(Debug)]
pub struct Stop {
    trials: Option<u32>,
    budget: Option<Duration>,
    target: f64,
    elapsed: Duration,
    last_block: Duration,
}

impl Stop {
    /// The rule that a run's schedule states.
    pub fn new(run: &Run) -> Stop {
        Stop {
            trials: run.schedule.trials,
            budget: run.schedule.budget_ns.map(Duration::from_nanos),
            target: run.schedule.target,
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
    pub fn decide(&self, run: &Run, block: u32, failures: &[u32]) -> Option<Ended> {
        if self.trials.is_some_and(|trials| block >= trials) {
            return Some(Ended::Trials);
        }
        if block == 0 {
            return None;
        }
        if self.trials.is_none() && block as usize >= MIN_BLOCKS && self.is_precise(run, failures) {
            return Some(Ended::Converged);
        }
        // A block that would end after the budget is not begun.
        let ends = self.elapsed + self.last_block;
        self.budget.is_some_and(|budget| ends > budget).then_some(Ended::Budget)
    }

    /// Whether every figure that is shown rests on enough undisturbed samples and has an interval that
    /// is narrow enough.
    fn is_precise(&self, run: &Run, failures: &[u32]) -> bool {
        run.shown_contenders().filter(|(index, _)| failures[*index] == 0).all(|(index, contender)| {
            run.shown_tests().filter(|test| !contender.lacks.contains(&test.id)).all(|test| {
                let figures = figures(run, index, &test.id);
                figures.undisturbed >= MIN_BLOCKS
                    && figures
                        .summary
                        .and_then(|summary| summary.relative_half_width())
                        .is_some_and(|width| width <= self.target)
            })
        })
    }
}
