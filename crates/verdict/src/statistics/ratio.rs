//! One contender against another: the ratio of their medians, how sure it is, and whether it may be
//! called a difference at all.
//!
//! A ratio is the contender's time over the baseline's: below one is faster. Samples are nanoseconds
//! and must be greater than zero. Nothing here ranks, and no function drops a sample.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bootstrap::{Interval, Series, expanded_tail, percentile_interval, tail};
use super::summary::{median, standard_deviation};

/// A ratio of medians, or the geometric mean of several, with its interval. Without unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The contender's median over the baseline's.
    pub ratio: f64,
    /// The interval of the ratio; absent where the samples are too few for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// Whether a contender differs from the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "difference", content = "reason", rename_all = "kebab-case")]
pub enum Difference {
    /// No difference may be claimed, and why. It does not say that the two are equal.
    None(NoDifference),
    /// The contender takes less time.
    Faster,
    /// The contender takes more time.
    Slower,
}

/// Why no difference is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum NoDifference {
    /// There are fewer samples than an interval needs.
    #[error("there are too few samples for an interval")]
    TooFewSamples,
    /// The interval of the ratio includes one.
    #[error("the 95 % interval of the ratio includes 1.00")]
    WithinInterval,
    /// The medians are closer than what the harness itself costs for the same work.
    #[error("the difference is smaller than what measuring costs")]
    WithinHarnessCost,
}

impl Ratio {
    /// Whether the interval excludes one. A ratio without interval is no difference.
    pub fn is_difference(&self) -> bool {
        self.interval.is_some_and(|interval| !interval.includes(1.0))
    }

    /// What the interval alone says.
    pub fn difference(&self) -> Difference {
        match self.interval {
            None => Difference::None(NoDifference::TooFewSamples),
            Some(interval) if interval.low > 1.0 => Difference::Slower,
            Some(interval) if interval.high < 1.0 => Difference::Faster,
            Some(_) => Difference::None(NoDifference::WithinInterval),
        }
    }

    /// What the interval says, unless the two medians are closer than `floor`: the null runner's
    /// median for the same work. All three in nanoseconds.
    pub fn difference_above(&self, contender: f64, baseline: f64, floor: f64) -> Difference {
        match self.difference() {
            Difference::Faster | Difference::Slower if (contender - baseline).abs() < floor => {
                Difference::None(NoDifference::WithinHarnessCost)
            }
            difference => difference,
        }
    }
}

/// The ratio of medians of `pairs`, one (contender, baseline) per block, with its 95 % interval.
///
/// Blocks are resampled whole (expanded percentile bootstrap, see [`super::bootstrap`]), so what the
/// two samples of a block share, such as drift, cancels. The order of the blocks is of no account.
/// None when there is no pair or a sample is not a finite number above zero; the interval is absent
/// below [`MIN_BLOCKS`](super::MIN_BLOCKS) pairs.
pub fn paired_ratio(pairs: &[(f64, f64)], seed: u64) -> Option<Ratio> {
    let mut pairs = pairs.to_vec();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let test = Paired::new(pairs.iter().copied().enumerate())?;
    let mut counts = vec![1; pairs.len()];
    let ratio = test.ratio(&counts)?;
    let interval = tail(pairs.len()).and_then(|tail| {
        percentile_interval(tail, seed, |draw| {
            draw.blocks(&mut counts);
            test.ratio(&counts)
        })
    });
    Some(Ratio { ratio, interval })
}

/// The ratio of the medians of two runs that share no blocks, `new` over `old`, with an interval of
/// `confidence`; each is resampled by itself.
///
/// A caller that looks at m tests at once and wants at most 5 % false alarms over all of them asks for
/// 1 - 0.05/m (Bonferroni). The interval is expanded for the size of the smaller run and for the degrees of freedom
/// that Welch's test would have.
/// Where the tail is too thin to resample, the interval is the widest that the samples can support,
/// from the smallest new over the largest old to the reverse. If the two differ in nothing but a
/// factor, that one misses the factor with probability 2 / C(n+m, n), where one run lies wholly below
/// the other; a confidence beyond this cannot be had and the interval is absent, as it is where a run
/// has fewer than [`MIN_BLOCKS`](super::MIN_BLOCKS) samples.
///
/// None when a run has no samples or one is not a finite number above zero.
pub fn independent_ratio(new: &[f64], old: &[f64], seed: u64, confidence: f64) -> Option<Ratio> {
    if !new.iter().chain(old).all(is_duration) {
        return None;
    }
    let ratio = median(new)? / median(old)?;
    let [new, old] = [new, old].map(|samples| {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted
    });
    Some(Ratio { ratio, interval: independent_interval(&new, &old, seed, confidence) })
}

/// The interval of [`independent_ratio`] over sorted samples.
fn independent_interval(new: &[f64], old: &[f64], seed: u64, confidence: f64) -> Option<Interval> {
    let fewest = new.len().min(old.len());
    let tail = expanded_tail(fewest, degrees_of_freedom(new, old), confidence)?;
    if 2.0 / arrangements(new.len(), old.len()) > 1.0 - confidence {
        return None;
    }
    let series = [new, old].map(|sorted| Series::new(sorted.iter().copied().enumerate()));
    let mut counts = [vec![0; new.len()], vec![0; old.len()]];
    let resampled = percentile_interval(tail, seed, |draw| {
        counts.iter_mut().for_each(|counts| draw.blocks(counts));
        Some(series[0].median(&counts[0])? / series[1].median(&counts[1])?)
    });
    let range = Interval { low: new[0] / old[old.len() - 1], high: new[new.len() - 1] / old[0] };
    Some(resampled.unwrap_or(range))
}

/// The geometric mean over tests of the ratio of medians, with its 95 % interval.
///
/// `tests` holds per test one place per block: the (contender, baseline) pair of that block, or none
/// where the block has no pair of this test. Blocks are resampled jointly over all tests, because what
/// disturbs a block disturbs all its tests; a resample that leaves some test without a pair is drawn
/// again. The test with the fewest pairs decides how far the interval is expanded.
///
/// None when there is no test, a test has no pair, or a sample is not a finite number above zero; the
/// interval is absent where a test has fewer than [`MIN_BLOCKS`](super::MIN_BLOCKS) pairs.
pub fn geometric_mean_ratio(tests: &[Vec<Option<(f64, f64)>>], seed: u64) -> Option<Ratio> {
    let blocks = tests.iter().map(Vec::len).max()?;
    let fewest = tests.iter().map(|test| test.iter().flatten().count()).min()?;
    let tests = tests
        .iter()
        .map(|test| Paired::new(test.iter().enumerate().filter_map(|(block, pair)| Some((block, (*pair)?)))))
        .collect::<Option<Vec<Paired>>>()?;
    let geometric_mean = |counts: &[u32]| {
        let logs = tests.iter().map(|test| test.ratio(counts).map(f64::ln));
        let sum = logs.sum::<Option<f64>>()?;
        Some((sum / tests.len() as f64).exp())
    };
    let mut counts = vec![1; blocks];
    let ratio = geometric_mean(&counts)?;
    let interval = tail(fewest).and_then(|tail| {
        percentile_interval(tail, seed, |draw| {
            draw.blocks(&mut counts);
            geometric_mean(&counts)
        })
    });
    Some(Ratio { ratio, interval })
}

/// The samples of one test, contender and baseline, by block.
struct Paired {
    contender: Series,
    baseline: Series,
}

impl Paired {
    /// None when a sample is not a finite number above zero.
    fn new(pairs: impl Iterator<Item = (usize, (f64, f64))> + Clone) -> Option<Paired> {
        if !pairs.clone().all(|(_, (contender, baseline))| is_duration(&contender) && is_duration(&baseline))
        {
            return None;
        }
        Some(Paired {
            contender: Series::new(pairs.clone().map(|(block, pair)| (block, pair.0))),
            baseline: Series::new(pairs.map(|(block, pair)| (block, pair.1))),
        })
    }

    /// The ratio of medians over the blocks drawn; None when none of them has a pair.
    fn ratio(&self, counts: &[u32]) -> Option<f64> {
        Some(self.contender.median(counts)? / self.baseline.median(counts)?)
    }
}

fn is_duration(sample: &f64) -> bool {
    sample.is_finite() && *sample > 0.0
}

/// How many degrees of freedom the difference of two runs has, by Welch and Satterthwaite (Welch 1947,
/// Biometrika 34), from the relative spread of each: between that of the smaller run and that of both.
fn degrees_of_freedom(new: &[f64], old: &[f64]) -> f64 {
    let [new, old] = [new, old].map(|samples| {
        let n = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / n;
        let error = (standard_deviation(samples).unwrap_or(0.0) / mean).powi(2) / n;
        (error, error * error / (n - 1.0), n - 1.0)
    });
    let welch = (new.0 + old.0).powi(2) / (new.1 + old.1);
    if welch.is_finite() { welch } else { new.2.min(old.2) }
}

/// In how many ways n + m samples fall into two runs of n and m: the binomial coefficient.
fn arrangements(n: usize, m: usize) -> f64 {
    (1..=n).map(|i| (m + i) as f64 / i as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrangements_are_binomial_coefficients() {
        assert!((arrangements(6, 6) - 924.0).abs() < 1e-9);
        assert!((arrangements(3, 4) - 35.0).abs() < 1e-9);
    }
}
