//! Percentiles of the durations of operations.

use dyno_protocol::quantile;
use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figures::has_enough;

/// The durations below which these shares of the operations stayed, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Percentiles {
    /// The number of operations that succeeded and were timed; if 0, the other fields mean nothing.
    pub count: u64,
    /// Half of them.
    pub p50: u64,
    /// 90 %; absent, as are those below, if fewer than ten operations took longer: the figure would show chance alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90: Option<u64>,
    /// 99 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<u64>,
    /// 99.9 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p999: Option<u64>,
    /// All of them.
    pub max: u64,
}

/// The percentiles that may be longer than they seem: those that take in operations that failed or were not done, unless all
/// of these had waited longer than that; and the maximum where it is the wait of one that was not done.
pub(super) fn at_least(found: &Percentiles, unfinished: Option<&Histogram<u64>>, failed: u64) -> Vec<String> {
    let left = unfinished.map_or(0, Histogram::len);
    let all = (found.count + left + failed) as f64;
    let is_least = |share: f64, value: u64| {
        let is_known = failed == 0 && unfinished.is_none_or(|ages| ages.min() > value);
        share * all > found.count as f64 && !is_known
    };
    let shares = [
        ("p50", 0.5, Some(found.p50)),
        ("p90", 0.9, found.p90),
        ("p99", 0.99, found.p99),
        ("p999", 0.999, found.p999),
    ];
    let shares =
        shares.into_iter().filter(|(_, share, value)| value.is_some_and(|value| is_least(*share, value)));
    let is_wait = unfinished.is_some_and(|ages| ages.max() >= found.max);
    shares.map(|(name, ..)| name).chain(is_wait.then_some("max")).map(str::to_owned).collect()
}

/// The percentiles of the operations that succeeded, with `failed` more that did not; none if none succeeded.
pub(super) fn percentiles(succeeded: &Histogram<u64>, failed: u64) -> Option<Percentiles> {
    let count = succeeded.len();
    let below = |share: f64| quantile(succeeded, share, failed);
    let reported = |share: f64| below(share).filter(|_| has_enough(count + failed, share));
    let (p50, max) = below(0.5).zip(below(1.0))?;
    Some(Percentiles { count, p50, p90: reported(0.9), p99: reported(0.99), p999: reported(0.999), max })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: impl Iterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = dyno_protocol::empty_histogram(3);
        values.for_each(|value| histogram.record(value).unwrap());
        histogram
    }

    #[test]
    fn percentiles_are_ranks() {
        let found = percentiles(&histogram(1..=1000), 0).unwrap();
        assert_eq!((found.p50, found.p90, found.p99, found.max), (500, Some(900), Some(990), 1000));
        assert_eq!(found.p999, None, "one operation is beyond it");
        let one = percentiles(&histogram([7; 3].into_iter()), 0).unwrap();
        assert_eq!((one.count, one.p50, one.p90, one.max), (3, 7, None, 7));
        assert_eq!(percentiles(&histogram([].into_iter()), 3), None);
        let failed = percentiles(&histogram(1..=900), 100).unwrap();
        assert_eq!((failed.count, failed.p50, failed.p90, failed.p99), (900, 500, Some(900), Some(900)));
    }

    #[test]
    fn what_was_not_done_makes_percentiles_the_least() {
        let of = |count: usize, ages: std::ops::RangeInclusive<u64>| {
            let (done, ages) = (histogram(vec![5; count].into_iter()), histogram(ages));
            let mut all = done.clone();
            all.add(&ages).unwrap();
            let reported = percentiles(&all, 0).unwrap();
            let found = Percentiles { count: done.len(), ..reported };
            (found.p99, at_least(&found, Some(&ages), 0))
        };
        // A tenth waits at the end, as those do that are due while a server hangs.
        assert_eq!(of(1000, 901..=1000), (Some(989), vec!["p99".to_owned(), "max".to_owned()]));
        // Few of a closed load are under way, and for a moment.
        assert_eq!(of(2000, 1..=4), (Some(5), vec![]));
    }
}
