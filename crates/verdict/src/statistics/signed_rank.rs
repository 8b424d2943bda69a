//! The centre of a few values that scatter alike on both sides of it, and how sure that centre is, by ranks.
//!
//! The centre is the median of the *Walsh averages*, which are the means of any two values and the values themselves
//! (J. L. Hodges and E. L. Lehmann, "Estimates of Location Based on Rank Tests", The Annals of Mathematical Statistics
//! 34, 1963). Its interval lies between the k-th smallest and the k-th largest of them, where k follows from the exact
//! distribution of F. Wilcoxon's signed-rank statistic ("Individual Comparisons by Ranking Methods", Biometrics
//! Bulletin 1, 1945). It assumes nothing of the values but that they are independent and scatter alike on both sides:
//! outliers move it little, and with equal values it errs outwards.

use std::sync::OnceLock;

use statrs::distribution::{ContinuousCDF, Normal};

use super::bootstrap::Interval;

/// The most values for which the distribution of the statistic is computed exactly. Above, the normal one is near
/// enough, and errs outwards.
const MOST_EXACT: usize = 60;

/// The Walsh averages of some values, in order.
pub(super) struct Walsh {
    values: usize,
    sorted: Vec<f64>,
}

impl Walsh {
    /// The averages of `values`, whose order is of no account. None when there are none.
    pub(super) fn new(values: &[f64]) -> Option<Walsh> {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        let pairs = values.iter().enumerate();
        let mut sorted: Vec<f64> =
            pairs.flat_map(|(place, a)| values[place..].iter().map(move |b| a + (b - a) / 2.0)).collect();
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then_some(Walsh { values: values.len(), sorted })
    }

    /// The centre of the values.
    pub(super) fn centre(&self) -> f64 {
        let last = self.sorted.len() - 1;
        let (below, above) = (self.sorted[last / 2], self.sorted[last.div_ceil(2)]);
        below + (above - below) / 2.0
    }

    /// The narrowest interval of the centre whose confidence is `confidence` or more. None where even the whole range
    /// has less, as that of five values at 95 %.
    pub(super) fn interval(&self, confidence: f64) -> Option<Interval> {
        let tail = (1.0 - confidence) / 2.0;
        let left_out = Distribution::new(self.values).most_below(tail)?;
        Some(Interval { low: self.sorted[left_out], high: self.sorted[self.sorted.len() - 1 - left_out] })
    }
}

/// The probability that values around zero would give a centre so far from it, on either side. It agrees with
/// [`Walsh::interval`]: the interval excludes zero exactly where this is at most one less the confidence. One where there
/// are no values.
pub(super) fn p_value(values: &[f64]) -> f64 {
    let below = averages_up_to_zero(values.iter().copied());
    let above = averages_up_to_zero(values.iter().map(|value| -value));
    (2.0 * Distribution::new(values.len()).at_most(below.min(above))).min(1.0)
}

/// The number of Walsh averages that are at most zero: the partners of a value are those up to its opposite, which in
/// order of size grow fewer from one value to the next.
fn averages_up_to_zero(values: impl Iterator<Item = f64>) -> usize {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let mut partners = sorted.len();
    let count = |(place, value): (usize, &f64)| {
        while partners > 0 && sorted[partners - 1] > -value {
            partners -= 1;
        }
        partners.saturating_sub(place)
    };
    sorted.iter().enumerate().map(count).sum()
}

/// The probability of each value of the statistic, from zero on, for this number of values around zero.
fn chances(values: usize) -> Vec<f64> {
    let mut chances = vec![0.0; values * (values + 1) / 2 + 1];
    chances[0] = 1.0;
    // Each rank is counted or not, with the same chance.
    for rank in 1..=values {
        for sum in (0..chances.len()).rev() {
            let with = if sum >= rank { chances[sum - rank] } else { 0.0 };
            chances[sum] = (chances[sum] + with) / 2.0;
        }
    }
    chances
}

/// The distribution of the signed-rank statistic of n values around zero.
enum Distribution {
    /// The probability of each value from zero on.
    Exact(&'static [f64]),
    /// Its mean and standard deviation, for many values.
    Nearly { mean: f64, sd: f64 },
}

impl Distribution {
    fn new(values: usize) -> Distribution {
        let n = values as f64;
        if values > MOST_EXACT {
            let (mean, variance) = (n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0);
            return Distribution::Nearly { mean, sd: variance.sqrt() };
        }
        // A table asks for the same few of them thousands of times.
        static EXACT: [OnceLock<Vec<f64>>; MOST_EXACT + 1] = [const { OnceLock::new() }; MOST_EXACT + 1];
        Distribution::Exact(EXACT[values].get_or_init(|| chances(values)))
    }

    /// The probability of `sum` or less.
    fn at_most(&self, sum: usize) -> f64 {
        match self {
            Distribution::Exact(chances) => chances.iter().take(sum + 1).sum(),
            Distribution::Nearly { mean, sd } => Normal::standard().cdf((sum as f64 + 0.5 - mean) / sd),
        }
    }

    /// The largest sum whose probability, with all below it, is at most `tail`.
    fn most_below(&self, tail: f64) -> Option<usize> {
        match self {
            Distribution::Exact(chances) => {
                let sums = chances.iter().scan(0.0, |sum, chance| {
                    *sum += chance;
                    Some(*sum)
                });
                sums.take_while(|sum| *sum <= tail).count().checked_sub(1)
            }
            Distribution::Nearly { mean, sd } => {
                let sum = mean - 0.5 + sd * Normal::standard().inverse_cdf(tail);
                (sum >= 0.0).then_some(sum as usize)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_centre_is_the_median_of_all_means_of_two() {
        // 1, 2, 6 and the means 1.5, 3.5, 4: in order 1, 1.5, 2, 3.5, 4, 6.
        let walsh = Walsh::new(&[6.0, 1.0, 2.0]).unwrap();
        assert_eq!(walsh.centre(), 2.75);
        assert_eq!(walsh.interval(0.95), None);
        assert_eq!(walsh.interval(0.75).unwrap(), Interval { low: 1.0, high: 6.0 });
        assert!(Walsh::new(&[]).is_none());
    }

    #[test]
    fn tails_are_those_of_the_tables() {
        // Wilcoxon's critical values for 5 % on two sides: none for 5 values, 0 for 6, 3 for 8, 8 for 10, 52 for 20.
        let most = |n| Distribution::new(n).most_below(0.025);
        assert_eq!([5, 6, 8, 10, 20].map(most), [None, Some(0), Some(3), Some(8), Some(52)]);
        assert!((Distribution::new(6).at_most(0) - 1.0 / 64.0).abs() < 1e-15);
    }

    #[test]
    fn many_values_go_on_where_exact_ones_end() {
        let exact = Distribution::new(MOST_EXACT);
        let n = MOST_EXACT as f64;
        let nearly = Distribution::Nearly {
            mean: n * (n + 1.0) / 4.0,
            sd: (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt(),
        };
        for (tail, near) in [(0.025, 3), (0.001, 8)] {
            let (exact, nearly) = (exact.most_below(tail).unwrap(), nearly.most_below(tail).unwrap());
            // It errs outwards.
            assert!(nearly <= exact && exact - nearly <= near, "{tail}: {exact} and {nearly}");
        }
    }

    #[test]
    fn the_interval_excludes_zero_where_the_probability_says_so() {
        for shift in [-2.0, -0.9, -0.4, 0.0, 0.3, 0.7, 1.1, 3.0] {
            let values: Vec<f64> = (0..9).map(|i| shift + f64::from(i * i % 7 - 3) / 4.0).collect();
            let walsh = Walsh::new(&values).unwrap();
            let excludes = !walsh.interval(0.95).unwrap().includes(0.0);
            let below = walsh.sorted.iter().filter(|average| **average <= 0.0).count();
            assert_eq!(averages_up_to_zero(values.iter().copied()), below);
            assert_eq!(excludes, p_value(&values) <= 0.05, "{values:?}");
        }
    }
}
