//! The target of a run with `--sustain`, which searches for the highest rate at which it holds.
//!
//! It stands with the record because it is a fact about a trial, worked out once: the code that chooses the next rate
//! and the code that shows the result must mean the same by "held".

use dyno_protocol::{Class, Model, Response, Sample};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Run;

/// A target: the share of operations that must be done within a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// The share of all operations that were due, as 0.99.
    pub share: f64,
    /// The most time that they may take from when they were due, in nanoseconds.
    pub within_ns: u64,
}

/// The outcome of a trial at one rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateAttempt {
    /// The mean number of operations that arrived in a second.
    pub rate: f64,
    /// The number that were due while it was measured.
    pub due: u64,
    /// The number of them that were not done within the target's time, those that were never done among them.
    pub late: u64,
    /// The number of them that were still waiting, or being done, at the end.
    pub left: u64,
    /// True if the target held.
    pub held: bool,
}

impl Target {
    /// The outcome of a trial in which `due` operations were due, at a rate, for a number of clients.
    ///
    /// Operations that were due before the measured time and end within it take the place of those that are due within
    /// it and end later: as long as no backlog grows they are as many.
    pub fn judge(&self, rate: f64, due: u64, clients: u32, sample: &Sample) -> RateAttempt {
        let all = Response::merged(sample.classes.iter().map(|class| &class.response));
        let in_time = all.map_or(0, |all| all.count_between(0, self.within_ns));
        let ended: u64 = sample.classes.iter().map(|Class { done, failed, .. }| done + failed).sum();
        let (late, left) = (due.saturating_sub(in_time), due.saturating_sub(ended));
        // More than arrive within the target's time cannot be waiting where waits are as short as that (J. D. C.
        // Little, "A Proof for the Queuing Formula L = λW", Operations Research 9, 1961). Each client may be at work on
        // one.
        let backlog = rate * self.within_ns as f64 / 1e9 + f64::from(clients);
        // 1 - 0.99 is a little more than 0.01.
        let allowed = ((1.0 - self.share) * due as f64 + 1e-6).floor();
        let held = late as f64 <= allowed && left as f64 <= backlog;
        RateAttempt { rate, due, late, left, held }
    }

    /// The number of operations that must be due so that ten may be late: with fewer, chance decides.
    pub fn fewest_due(&self) -> u64 {
        (10.0 / (1.0 - self.share).max(1e-9)).round() as u64
    }
}

impl Run {
    /// The target of a test (by id) whose rate is sought.
    pub fn target_of(&self, test: &str) -> Option<Target> {
        let is_mix =
            |id: &str| self.tests.iter().any(|test| test.id == id && test.model == Model::Mix.name());
        self.schedule.sustain.filter(|_| is_mix(test))
    }
}

#[cfg(test)]
mod tests {
    use dyno_protocol::empty_histogram;

    use super::*;

    const TARGET: Target = Target { share: 0.99, within_ns: 10_000_000 };

    /// The outcome of a thousand that were due, at a thousand a second.
    fn judged(quick: u64, slow: u64, failed: u64) -> RateAttempt {
        let mut histogram = empty_histogram(3);
        histogram.record_n(1_000_000, quick).unwrap();
        histogram.record_n(20_000_000, slow).unwrap();
        let class =
            Class { done: quick + slow, failed, response: Response::of(&histogram), ..Class::default() };
        TARGET.judge(1000.0, 1000, 4, &Sample { classes: vec![class], ..Sample::default() })
    }

    #[test]
    fn what_was_never_done_is_late() {
        let held = |quick, slow, failed| judged(quick, slow, failed).held;
        assert!(held(1000, 0, 0) && held(990, 10, 0) && held(990, 0, 10) && held(990, 0, 0));
        assert!(!held(989, 11, 0) && !held(989, 0, 11) && !held(989, 0, 0));
        assert_eq!((judged(900, 50, 20).late, judged(900, 50, 20).left), (100, 30));
        // Operations that were due before and are done within the time make nothing negative.
        assert_eq!((judged(1003, 0, 0).late, judged(1003, 0, 0).left), (0, 0));
    }

    #[test]
    fn a_backlog_that_grows_is_no_half_held_target() {
        let half = Target { share: 0.5, ..TARGET };
        let with_left = |left: u64| {
            let mut histogram = empty_histogram(3);
            histogram.record_n(1_000_000, 1000 - left).unwrap();
            let class = Class { done: 1000 - left, response: Response::of(&histogram), ..Class::default() };
            half.judge(1000.0, 1000, 4, &Sample { classes: vec![class], ..Sample::default() }).held
        };
        // Ten arrive within ten milliseconds, and four are being done.
        assert!(with_left(14) && !with_left(15));
        assert_eq!((TARGET.fewest_due(), half.fewest_due()), (1000, 20));
    }
}
