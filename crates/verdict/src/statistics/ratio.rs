//! One contender against another: the ratio of their times, how sure it is, and whether it may be called a difference
//! at all. Here is also the ratio of two runs that share no blocks; that of samples taken side by side is in
//! [`super::paired`].
//!
//! A ratio is the contender's time over the baseline's: below one is faster. Samples are nanoseconds
//! and must be greater than zero. Nothing here ranks, and no function drops a sample.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bootstrap::{Interval, Series, expanded_tail, percentile_interval};
use super::summary::{median, standard_deviation};

/// A ratio of times, or the geometric mean of several, with its interval. Without unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The contender's time over the baseline's.
    pub ratio: f64,
    /// The interval of the ratio; absent where the samples are too few for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// The difference between a contender and the baseline.
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

/// The reason that no difference is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum NoDifference {
    /// There are fewer samples than an interval needs.
    #[error("there are too few trials for an interval")]
    TooFewSamples,
    /// The interval of the ratio includes one, and differences beyond the margin.
    #[error("the 95% interval of the ratio includes 1.00")]
    WithinInterval,
    /// The interval excludes one, which among all comparisons of the table may be chance.
    #[error("among all comparisons of the table it may be chance")]
    WithinTable,
    /// No difference is shown, and the interval excludes those beyond the margin.
    #[error("the 95% interval of the ratio excludes differences beyond the margin")]
    Close,
    /// The medians are closer than what the harness itself costs for the same work.
    #[error("the difference is smaller than what measuring costs")]
    WithinHarnessCost,
}

impl Difference {
    /// The difference that remains: none if it does not hold with all other comparisons of its table; without a
    /// difference, `held` checks whether the two are at least close: within `margin`, a share, of each other.
    pub fn held(self, holds: bool, ratio: &Ratio, margin: f64) -> Difference {
        let left = match self {
            Difference::Faster | Difference::Slower if !holds => Difference::None(NoDifference::WithinTable),
            difference => difference,
        };
        match left {
            Difference::None(NoDifference::WithinTable | NoDifference::WithinInterval)
                if ratio.is_within(margin) =>
            {
                Difference::None(NoDifference::Close)
            }
            left => left,
        }
    }

    /// Returns true if no difference is claimed, nor that there is none: the samples do not say.
    pub fn is_open(self) -> bool {
        use NoDifference::{TooFewSamples, WithinInterval, WithinTable};
        matches!(self, Difference::None(TooFewSamples | WithinInterval | WithinTable))
    }
}

impl Ratio {
    /// The baseline's time over the contender's.
    pub fn inverse(&self) -> Ratio {
        let turned = |interval: Interval| Interval { low: 1.0 / interval.high, high: 1.0 / interval.low };
        Ratio { ratio: 1.0 / self.ratio, interval: self.interval.map(turned) }
    }

    /// Returns true if the interval excludes one. A ratio without interval is no difference.
    pub fn is_difference(&self) -> bool {
        self.interval.is_some_and(|interval| !interval.includes(1.0))
    }

    /// Returns true if the interval excludes factors beyond `margin`, a share, on both sides.
    pub fn is_within(&self, margin: f64) -> bool {
        let most = 1.0 + margin;
        self.interval.is_some_and(|interval| 1.0 / most <= interval.low && interval.high <= most)
    }

    /// The difference that the interval alone shows.
    pub fn difference(&self) -> Difference {
        match self.interval {
            None => Difference::None(NoDifference::TooFewSamples),
            Some(interval) if interval.low > 1.0 => Difference::Slower,
            Some(interval) if interval.high < 1.0 => Difference::Faster,
            Some(_) => Difference::None(NoDifference::WithinInterval),
        }
    }

    /// The difference that the interval shows, unless the two medians are closer than `floor`: the null runner's median
    /// for the same work. All three in nanoseconds.
    pub fn difference_above(&self, contender: f64, baseline: f64, floor: f64) -> Difference {
        match self.difference() {
            Difference::Faster | Difference::Slower if (contender - baseline).abs() < floor => {
                Difference::None(NoDifference::WithinHarnessCost)
            }
            difference => difference,
        }
    }
}

/// The ratio of the medians of two runs that share no blocks, `new` over `old`, with an interval of `confidence`; each
/// is resampled separately.
///
/// A caller that looks at m tests at once and wants at most 5 % false alarms over all of them asks for 1 - 0.05/m
/// (Bonferroni). The interval is expanded for the size of the smaller run and for the degrees of freedom that Welch's
/// test would have. Where the tail is too thin to resample, the interval is the widest that the samples can support,
/// from the smallest new over the largest old to the reverse. If the two differ in nothing but a factor, that one
/// misses the factor with probability 2 / C(n+m, n), where one run lies wholly below the other; a confidence beyond
/// this cannot be had and the interval is absent, as it is where a run has fewer than [`MIN_BLOCKS`](super::MIN_BLOCKS)
/// samples.
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

pub(super) fn is_duration(sample: &f64) -> bool {
    sample.is_finite() && *sample > 0.0
}

/// The degrees of freedom of the difference of two runs, by Welch and Satterthwaite (Welch 1947, Biometrika 34), from
/// the relative spread of each: between that of the smaller run and that of both.
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

/// The fewest samples that each of two runs needs for an interval of [`independent_ratio`] at a confidence.
pub fn fewest_for(confidence: f64) -> usize {
    let is_enough = |&n: &usize| 2.0 / arrangements(n, n) <= 1.0 - confidence;
    (super::MIN_BLOCKS..MOST_SAMPLES).find(is_enough).unwrap_or(MOST_SAMPLES)
}

/// The search for the fewest samples ends here; 30 of each run allow a hundred million billion comparisons.
const MOST_SAMPLES: usize = 30;

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
