//! The bootstrap: how far a median, or the ratio of the medians of two runs, might lie from where the samples put it.
//!
//! A draw of n samples with replacement is a list of counts: how often each sample was drawn.
//!
//! The interval is the *expanded percentile interval* of T. C. Hesterberg, "What Teachers Should Know
//! About the Bootstrap", The American Statistician 69 (2015): the plain percentile interval is too
//! narrow for few samples, by the factor sqrt((n-1)/n) of the bootstrap's spread and by using the
//! normal distribution where Student's t belongs, so its tails are moved out until both are made good.
//!
//! Nothing here knows about tests or contenders, and nothing is random but for the seed: the same
//! values and seed give the same interval to the last bit. Values keep the unit they came in.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The least number of blocks that can carry a 95 % interval of a median.
///
/// The widest interval that n samples support is their range, which includes the true median unless
/// all of them fall on one side of it: with probability 1 - 2^(1-n). That is 93.75 % for five samples
/// and 96.9 % for six. Below this number no interval is given rather than one that promises too much.
pub const MIN_BLOCKS: usize = 6;

/// The confidence of every interval but those whose caller asks for another.
pub const CONFIDENCE: f64 = 0.95;

/// Resamples of a 95 % interval. For six blocks the tail is 0.24 %, which leaves nine beyond each end.
const RESAMPLES: usize = 4_000;

/// The most resamples drawn for confidences so high that their tails are thin.
const MOST_RESAMPLES: usize = 40_000;

/// A confidence interval, both ends included, in the unit of what it bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Returns true if `x` is between the ends or on one of them.
    pub fn includes(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// The interval of something that grows with what this one bounds.
    pub(super) fn map(self, of: impl Fn(f64) -> f64) -> Interval {
        Interval { low: of(self.low), high: of(self.high) }
    }

    /// Half the width as a fraction of `centre`: 0.01 reads as plus or minus one percent.
    pub fn relative_half_width(&self, centre: f64) -> f64 {
        (self.high - self.low) / 2.0 / centre
    }
}

/// The fraction of resamples beyond each end of an expanded percentile interval over `n` blocks:
/// Phi(-sqrt(n / (n - 1)) * t), where t is the (1 - alpha/2) quantile of Student's distribution with
/// `freedom` degrees of freedom, n - 1 for one series, and alpha is 1 - `confidence` (Hesterberg 2015).
///
/// None below [`MIN_BLOCKS`] and for a confidence that is not strictly between 0 and 1.
pub fn expanded_tail(n: usize, freedom: f64, confidence: f64) -> Option<f64> {
    if n < MIN_BLOCKS || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let n = n as f64;
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    Some(Normal::standard().cdf(-(n / (n - 1.0)).sqrt() * t))
}

/// The tail of a 95 % interval over `n` blocks; None where they are too few for one.
pub(super) fn tail(n: usize) -> Option<f64> {
    expanded_tail(n, n as f64 - 1.0, CONFIDENCE)
}

/// The interval between the `tail` quantiles of a statistic over many resamples.
///
/// `statistic` draws one resample and computes its value; None asks for another draw, as when a
/// resample holds no sample of some test. The ends are the k-th smallest and k-th largest of R values,
/// k = floor((R + 1) * tail), the convention of Efron and Tibshirani, "An Introduction to the
/// Bootstrap" (1993); it errs outwards. None when the tail is too thin for the most
/// resamples this module draws, or when nine draws in ten have no value.
pub(super) fn percentile_interval(
    tail: f64,
    seed: u64,
    mut statistic: impl FnMut(&mut Draw) -> Option<f64>,
) -> Option<Interval> {
    let wanted = ((10.0 / tail).ceil() as usize).clamp(RESAMPLES, MOST_RESAMPLES);
    let k = ((wanted + 1) as f64 * tail).floor() as usize;
    if k == 0 {
        return None;
    }
    let mut draw = Draw { rng: ChaCha8Rng::seed_from_u64(seed) };
    let mut values: Vec<f64> = Vec::with_capacity(wanted);
    values.extend((0..10 * wanted).filter_map(|_| statistic(&mut draw)).take(wanted));
    if values.len() < wanted {
        return None;
    }
    let (_, &mut low, above) = values.select_nth_unstable_by(k - 1, f64::total_cmp);
    let from_low = wanted - k - k;
    let (_, &mut high, _) = above.select_nth_unstable_by(from_low, f64::total_cmp);
    Some(Interval { low, high })
}

/// The source of resamples.
pub(super) struct Draw {
    rng: ChaCha8Rng,
}

impl Draw {
    /// Draws with replacement as many blocks as `counts` has places, and writes to each place how often its block was
    /// drawn.
    pub(super) fn blocks(&mut self, counts: &mut [u32]) {
        counts.fill(0);
        let n = counts.len() as u64;
        // Half of a 64-bit number scaled to 0..n; the bias is below n / 2^32.
        let place = |bits: u64| (((bits & 0xffff_ffff) * n) >> 32) as usize;
        for pair in 0..counts.len().div_ceil(2) {
            let bits = self.rng.next_u64();
            counts[place(bits)] += 1;
            if 2 * pair + 1 < counts.len() {
                counts[place(bits >> 32)] += 1;
            }
        }
    }
}

/// The values of one series, sorted, each with the block it belongs to; blocks may be missing.
pub(super) struct Series {
    sorted: Vec<(usize, f64)>,
}

impl Series {
    /// A series of `(block, value)`; the order they come in is of no account.
    pub(super) fn new(values: impl IntoIterator<Item = (usize, f64)>) -> Series {
        let mut sorted: Vec<_> = values.into_iter().collect();
        sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
        Series { sorted }
    }

    /// The median of the series in which each block stands as often as `counts` says: the middle
    /// value, or the mean of the two middle values. None when no value is left.
    pub(super) fn median(&self, counts: &[u32]) -> Option<f64> {
        let total: u32 = self.sorted.iter().map(|&(block, _)| counts[block]).sum();
        let (lower, upper) = (total.checked_sub(1)? / 2, total / 2);
        let mut seen = 0;
        let mut below = None;
        for &(block, value) in &self.sorted {
            seen += counts[block];
            if seen > upper {
                return Some(below.map_or(value, |below: f64| below + (value - below) / 2.0));
            }
            if seen > lower {
                below = below.or(Some(value));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_of_six_blocks_is_that_of_the_formula() {
        // t(0.975, 5 degrees) = 2.570582; sqrt(6/5) * t = 2.815932; Phi of minus that = 0.002432.
        assert!((tail(6).unwrap() - 0.002_432).abs() < 1e-6);
        // Many blocks need no expansion.
        assert!((tail(100_000).unwrap() - 0.025).abs() < 1e-5);
        assert_eq!(tail(5), None);
        assert_eq!(expanded_tail(6, 5.0, 1.0), None);
    }

    #[test]
    fn a_median_counts_each_block_as_often_as_drawn() {
        let series = Series::new([(0, 30.0), (1, 10.0), (2, 20.0)]);
        assert_eq!(series.median(&[1, 1, 1]), Some(20.0));
        assert_eq!(series.median(&[1, 1, 0]), Some(20.0));
        assert_eq!(series.median(&[2, 2, 0]), Some(20.0));
        assert_eq!(series.median(&[0, 3, 1]), Some(10.0));
        assert_eq!(series.median(&[2, 0, 1]), Some(30.0));
        assert_eq!(series.median(&[0, 1, 3]), Some(20.0));
        assert_eq!(series.median(&[0, 0, 0]), None);
    }

    #[test]
    fn a_draw_has_as_many_blocks_as_there_are() {
        let mut draw = Draw { rng: ChaCha8Rng::seed_from_u64(1) };
        let mut totals = [0_u32; 7];
        for _ in 0..10_000 {
            let mut counts = [9; 7];
            draw.blocks(&mut counts);
            assert_eq!(counts.iter().sum::<u32>(), 7);
            totals.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
        }
        // Each block is drawn once a draw on average; the standard error is 93.
        assert!(totals.iter().all(|total| total.abs_diff(10_000) < 400), "{totals:?}");
    }

    #[test]
    fn the_ends_are_the_kth_from_each_side() {
        let mut next = 0.0;
        let interval = percentile_interval(0.025, 1, |_| {
            next += 1.0;
            Some(next)
        });
        // k = floor(4001 * 0.025) = 100.
        assert_eq!(interval, Some(Interval { low: 100.0, high: 3_901.0 }));
    }
}
