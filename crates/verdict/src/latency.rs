//! How long single operations took: percentiles of the trials in which each was timed.

use dyno_record::Run;
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

/// The percentiles of a contender (by position) in a test (by id), over all its trials; none where
/// operations were not timed.
pub fn latency(run: &Run, contender: usize, test: &str) -> Option<Percentiles> {
    let trials = run.trials.iter().filter(|trial| trial.contender == contender && trial.latency);
    let samples = trials.flat_map(|trial| &trial.samples).filter(|sample| sample.sample.test == test);
    let mut counts: Vec<(u64, u64)> =
        samples.flat_map(|sample| sample.sample.latency.iter().copied()).collect();
    counts.sort_unstable();
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
