//! How long single operations took: percentiles of the trials in which each was timed.

use dyno_record::Run;
use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The durations below which so many of the operations stayed, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Percentiles {
    /// How many operations were timed.
    pub count: u64,
    /// Half of them.
    pub p50: u64,
    /// 90 %.
    pub p90: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p999: u64,
    /// All of them.
    pub max: u64,
}

/// The latency of a run with trials in which every operation was timed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// What a reading of the clock costs, which every duration includes: the null runner's median, the largest of all
    /// tests. Nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_ns: Option<u64>,
    /// The tests shown whose operations were timed, in order.
    pub tests: Vec<LatencyTest>,
}

/// The latency of one test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyTest {
    /// The test's id.
    pub test: String,
    /// What a reading of the clock costs in it, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_ns: Option<u64>,
    /// The contenders shown that have any, in order.
    pub lines: Vec<LatencyLine>,
}

/// The latency of a contender in a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyLine {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// Its percentiles.
    pub percentiles: Percentiles,
}

/// The latency of a run; none where no operations were timed.
pub(super) fn latency(run: &Run) -> Option<Latency> {
    let harness = run.contenders.iter().position(|contender| contender.harness);
    let clock = |test: &str| Some(of(run, harness?, test)?.p50);
    let line =
        |test: &str, contender| Some(LatencyLine { contender, percentiles: of(run, contender, test)? });
    let tests = run.shown_tests().map(|test| LatencyTest {
        test: test.id.clone(),
        clock_ns: clock(&test.id),
        lines: run.shown_contenders().filter_map(|(contender, _)| line(&test.id, contender)).collect(),
    });
    let tests: Vec<LatencyTest> = tests.filter(|test| !test.lines.is_empty()).collect();
    let clock_ns = run.tests.iter().filter_map(|test| clock(&test.id)).max();
    (clock_ns.is_some() || !tests.is_empty()).then_some(Latency { clock_ns, tests })
}

/// The percentiles of a contender (by position) in a test (by id), over all its trials; none where
/// operations were not timed.
fn of(run: &Run, contender: usize, test: &str) -> Option<Percentiles> {
    let trials = run.trials.iter().filter(|trial| trial.contender == contender && trial.latency);
    let samples = trials.flat_map(|trial| &trial.samples).filter(|sample| sample.sample.test == test);
    let mut merged: Option<Histogram<u64>> = None;
    for class in samples.flat_map(|sample| &sample.sample.classes) {
        // The reader of run files refuses one that is none.
        let Ok(Some(histogram)) = class.response.histogram() else { continue };
        match &mut merged {
            // All are in nanoseconds and to as many digits, so they fit into one another.
            Some(merged) => drop(merged.add(histogram)),
            None => merged = Some(histogram),
        }
    }
    let merged = merged?;
    let counts: Vec<(u64, u64)> =
        merged.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
    percentiles(&counts)
}

/// The percentiles of durations in ascending order, each with how many there were.
fn percentiles(counts: &[(u64, u64)]) -> Option<Percentiles> {
    let count: u64 = counts.iter().map(|(_, count)| count).sum();
    let max = counts.last().filter(|_| count > 0)?.0;
    let below = |share: f64| {
        let rank = ((count as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let found = counts.iter().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        found.map_or(max, |&(duration, _)| duration)
    };
    Some(Percentiles { count, p50: below(0.5), p90: below(0.9), p99: below(0.99), p999: below(0.999), max })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_ranks() {
        let counts: Vec<(u64, u64)> = (1..=1000).map(|duration| (duration, 1)).collect();
        let found = percentiles(&counts).unwrap();
        assert_eq!((found.p50, found.p90, found.p99, found.p999, found.max), (500, 900, 990, 999, 1000));
        let one = percentiles(&[(7, 3)]).unwrap();
        assert_eq!((one.count, one.p50, one.max), (3, 7, 7));
        assert_eq!(percentiles(&[]), None);
    }
}
