//! The summary of one series of samples: median, spread and the interval of the median.
//!
//! It never drops or weighs a sample: which samples count is decided before they come here. Samples and everything
//! computed from them are nanoseconds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bootstrap::{Interval, Series, percentile_interval, tail};

/// The samples of one test and contender, in a few figures. All but `n` are nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The number of samples.
    pub n: usize,
    /// The middle sample, or the mean of the two in the middle.
    pub median: f64,
    /// The standard deviation of the samples (divisor n - 1); absent for a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
    /// The spread of samples around the median: 1.4826 times the median of their distances from it, which is the
    /// standard deviation where they are normal, and which half of them cannot blow up; absent for a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// The smallest sample.
    pub min: f64,
    /// The largest sample.
    pub max: f64,
    /// The 95 % interval of the median; absent below [`MIN_BLOCKS`](super::MIN_BLOCKS) samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

impl Summary {
    /// Half the width of the interval as a fraction of the median, as a target for when trials may
    /// stop. None without an interval or with a median of zero.
    pub fn relative_half_width(&self) -> Option<f64> {
        self.interval.filter(|_| self.median > 0.0).map(|interval| interval.relative_half_width(self.median))
    }
}

/// Sums up `samples` in nanoseconds; their order is of no account. None when there are none or one is
/// not finite.
///
/// The interval is the expanded percentile bootstrap of the median, see [`super::bootstrap`].
pub fn summarize(samples: &[f64], seed: u64) -> Option<Summary> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (&min, &max) = (sorted.first()?, sorted.last()?);
    if !sorted.iter().all(|sample| sample.is_finite()) {
        return None;
    }
    Some(Summary {
        n: sorted.len(),
        median: median_of_sorted(&sorted)?,
        sd: standard_deviation(&sorted),
        spread: spread(&sorted),
        min,
        max,
        interval: interval_of_median(&sorted, seed),
    })
}

/// The middle of `values`, or the mean of the two in the middle. None when there are none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

/// The median absolute deviation, scaled (P. J. Rousseeuw and C. Croux, "Alternatives to the Median Absolute Deviation",
/// Journal of the American Statistical Association 88, 1993). None below two values.
fn spread(sorted: &[f64]) -> Option<f64> {
    if sorted.len() < 2 {
        return None;
    }
    let middle = median_of_sorted(sorted)?;
    let distances: Vec<f64> = sorted.iter().map(|value| (value - middle).abs()).collect();
    Some(1.4826 * median(&distances)?)
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let (below, above) = (sorted[last / 2], sorted[last.div_ceil(2)]);
    Some(below + (above - below) / 2.0)
}

/// The corrected sample standard deviation, in two passes: the sum of squared distances from the mean
/// over n - 1. None below two values.
pub(super) fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (n - 1.0)).sqrt())
}

fn interval_of_median(sorted: &[f64], seed: u64) -> Option<Interval> {
    let tail = tail(sorted.len())?;
    let series = Series::new(sorted.iter().copied().enumerate());
    let mut counts = vec![0; sorted.len()];
    percentile_interval(tail, seed, |draw| {
        draw.blocks(&mut counts);
        series.median(&counts)
    })
}
