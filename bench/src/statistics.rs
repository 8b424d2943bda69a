//! Medians and their intervals, without any assumption on how the values are spread.

/// A median with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Median {
    /// The median.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The median of some values, with the 95 % interval that their order gives: how many of `n` values
/// lie below the true median is binomial with one half. Fewer than six values give their whole range.
///
/// # Panics
/// Where there is no value.
pub fn median(values: impl IntoIterator<Item = f64>) -> Median {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let middle = (values[(n - 1) / 2] + values[n / 2]) / 2.0;
    let cut = cut(n);
    Median { value: middle, low: values[cut], high: values[n - 1 - cut] }
}

/// How many values to leave out at each end.
fn cut(n: usize) -> usize {
    // Probability that at most `k` of `n` fall below the median, added up term by term.
    let mut term = 0.5f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut sum = 0.0;
    for k in 0..n {
        sum += term;
        if 2.0 * sum > 0.05 {
            return k.saturating_sub(1).min((n - 1) / 2);
        }
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    0
}

/// The geometric mean.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0), |(sum, count), value| (sum + value.ln(), count + 1));
    (sum / f64::from(count)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_tables() {
        // Fifteen values: from the fourth to the twelfth, as any table of the sign test gives.
        let fifteen = median((1..=15).map(f64::from));
        assert_eq!(fifteen, Median { value: 8.0, low: 4.0, high: 12.0 });
        assert_eq!(median((1..=6).map(f64::from)), Median { value: 3.5, low: 1.0, high: 6.0 });
        assert_eq!(median([2.0]), Median { value: 2.0, low: 2.0, high: 2.0 });
    }

    #[test]
    fn a_geometric_mean_is_even_handed() {
        assert!((geometric_mean([2.0, 0.5, 1.0]) - 1.0).abs() < 1e-12);
    }
}
