//! What was done second by second, and when it stood still: of tests whose operations were counted by second.

use dyno_protocol::{Response, Sample, Tick};
use dyno_record::{Run, TrialRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::median;

/// So many seconds a trial must have for one of them to be called slow.
const FEW: usize = 5;
/// A second in which less than this share of the usual was done is part of a stall.
const STALLED: f64 = 0.1;
/// What lasts less than this share of a second at the end of a trial is left out: chance alone would decide.
const WHOLE: f64 = 0.5;

/// The seconds of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// The test's id.
    pub test: String,
    /// The contenders shown that have any, in order.
    pub lines: Vec<TimelineLine>,
}

/// The seconds of a contender in a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineLine {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The measured trials, in order.
    pub trials: Vec<Vec<Second>>,
    /// What was usually done in a second: the median of all trials.
    pub usual: f64,
    /// How often it stood still: seconds on end in each of which less than a tenth of the usual was done.
    pub stalls: usize,
    /// How long the longest of these lasted, in nanoseconds.
    pub longest_ns: u64,
}

/// A second, or what was left of the time at the end of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Second {
    /// When it ended, in nanoseconds since the section began.
    pub ended_ns: u64,
    /// How many operations succeeded, for a whole second.
    pub per_second: f64,
    /// How many never succeeded.
    pub failed: u64,
    /// How many tries were repeated.
    pub retried: u64,
    /// How long the slowest of them took, in nanoseconds; 0 where none succeeded.
    pub slowest_ns: u64,
}

/// The seconds of every test whose trials have enough of them.
pub(super) fn timelines(run: &Run) -> Vec<Timeline> {
    // Where a rate is sought each trial has another, and there is no usual second.
    let tests = run.shown_tests().filter(|test| run.target_of(&test.id).is_none());
    let tests = tests.map(|test| Timeline {
        test: test.id.clone(),
        lines: run.shown_contenders().filter_map(|(contender, _)| line(run, contender, &test.id)).collect(),
    });
    tests.filter(|timeline| !timeline.lines.is_empty()).collect()
}

fn line(run: &Run, contender: usize, test: &str) -> Option<TimelineLine> {
    let is_its = |trial: &&TrialRecord| trial.contender == contender && trial.is_measured();
    let samples = run.trials.iter().filter(is_its).flat_map(|trial| &trial.samples);
    let samples = samples.map(|sample| &sample.sample).filter(|sample| sample.test == test);
    let trials: Vec<Vec<Second>> = samples.map(seconds).filter(|seconds| seconds.len() >= FEW).collect();
    let rates: Vec<f64> = trials.iter().flatten().map(|second| second.per_second).collect();
    let usual = median(&rates)?;
    let stalls: Vec<u64> = trials.iter().flat_map(|trial| stalls(trial, usual)).collect();
    Some(TimelineLine {
        contender,
        trials,
        usual,
        stalls: stalls.len(),
        longest_ns: stalls.into_iter().max().unwrap_or(0),
    })
}

fn seconds(sample: &Sample) -> Vec<Second> {
    let starts = std::iter::once(0).chain(sample.ticks.iter().map(|tick| tick.ended_ns));
    let lasting =
        sample.ticks.iter().zip(starts).map(|(tick, start)| (tick, tick.ended_ns.saturating_sub(start)));
    let whole = lasting.filter(|(_, lasted)| *lasted as f64 >= WHOLE * 1e9);
    whole.map(|(tick, lasted)| second(tick, lasted)).collect()
}

fn second(tick: &Tick, lasted: u64) -> Second {
    let sum = |count: fn(&dyno_protocol::Class) -> u64| tick.classes.iter().map(count).sum::<u64>();
    let all = Response::merged(tick.classes.iter().map(|class| &class.response));
    Second {
        ended_ns: tick.ended_ns,
        per_second: sum(|class| class.done) as f64 / (lasted as f64 / 1e9),
        failed: sum(|class| class.failed),
        retried: sum(|class| class.retried),
        slowest_ns: all.map_or(0, |all| all.max()),
    }
}

/// How long each stall of a trial lasted, in nanoseconds.
fn stalls(trial: &[Second], usual: f64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut began = None;
    let mut before = 0;
    for second in trial {
        let is_slow = second.per_second < STALLED * usual;
        if is_slow && began.is_none() {
            began = Some(before);
        }
        if !is_slow && let Some(began) = began.take() {
            found.push(before - began);
        }
        before = second.ended_ns;
    }
    found.extend(began.map(|began| before - began));
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_protocol::Class;

    use super::*;

    /// The seconds of the first contender in the first test, with so many operations in each of them.
    fn judged(done: &[u64], last_ns: u64) -> Option<TimelineLine> {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
        let mut run = dyno_record::load(&golden).unwrap();
        let ends = (1..).map(|second| second * 1_000_000_000);
        let tick = |(&done, ended_ns): (&u64, u64)| Tick {
            ended_ns,
            classes: vec![Class { class: "read".into(), done, ..Class::default() }],
        };
        let mut ticks: Vec<Tick> = done.iter().zip(ends).map(tick).collect();
        ticks.last_mut().unwrap().ended_ns -= 1_000_000_000 - last_ns;
        for trial in run.trials.iter_mut().filter(|trial| trial.block == 1 && trial.contender == 0) {
            trial.samples[0].sample.ticks.clone_from(&ticks);
        }
        timelines(&run).pop().map(|mut timeline| timeline.lines.remove(0))
    }

    #[test]
    fn seconds_on_end_without_work_are_one_stall() {
        let line = judged(&[100, 100, 3, 0, 9, 100, 0, 100, 100, 100], 1_000_000_000).unwrap();
        assert_eq!((line.usual, line.stalls, line.longest_ns), (100.0, 2, 3_000_000_000));
        let calm = judged(&[100, 90, 80, 100, 50, 11], 1_000_000_000).unwrap();
        assert_eq!((calm.stalls, calm.longest_ns), (0, 0));
        let end = judged(&[100, 100, 100, 100, 100, 0], 1_000_000_000).unwrap();
        assert_eq!((end.stalls, end.longest_ns), (1, 1_000_000_000));
    }

    #[test]
    fn what_is_left_of_a_second_counts_as_a_rate_or_not_at_all() {
        let line = judged(&[100, 100, 100, 100, 100, 60], 600_000_000).unwrap();
        assert_eq!(line.trials[0][5].per_second, 100.0);
        let line = judged(&[100, 100, 100, 100, 100, 0], 100_000_000).unwrap();
        assert_eq!((line.trials[0].len(), line.stalls), (5, 0));
        assert_eq!(judged(&[100, 0, 100], 1_000_000_000), None, "too few to call one slow");
    }
}
