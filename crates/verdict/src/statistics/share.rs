//! The failure rate of independent tries, estimated from a count of failures.

use super::bootstrap::Interval;

/// The 95 % interval of the failure rate of tries of which `failed` failed: the exact one (C. J. Clopper and E. S. Pearson, *The
/// Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial*, Biometrika 26, 1934). Where none or
/// all failed there is one end to it, which has all of the error of 5 %: near 3 / `tried` (the rule of three). None
/// without tries.
pub fn share(tried: u64, failed: u64) -> Option<Interval> {
    if tried == 0 || failed > tried {
        return None;
    }
    let error = if failed == 0 || failed == tried { 0.05 } else { 0.025 };
    // The largest and the smallest share of failures at which the number seen is still likely.
    let high = if failed == tried { 1.0 } else { solve(|share| at_most(tried, failed, share) - error) };
    let low = match failed {
        0 => 0.0,
        _ => solve(|share| at_most(tried, failed - 1, share) - (1.0 - error)),
    };
    Some(Interval { low, high })
}

/// The place at which a monotonic function is zero.
fn solve(falling: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        match falling(middle) > 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// The probability that of `tried` at most `failed` fail, each with this probability between 0 and 1.
fn at_most(tried: u64, failed: u64, share: f64) -> f64 {
    // By logarithms: with many tries none failing is less than a float can hold.
    let mut term = tried as f64 * (-share).ln_1p();
    let mut sum = term.exp();
    for number in 1..=failed {
        term += ((tried - number + 1) as f64 / number as f64).ln() + (share / (1.0 - share)).ln();
        sum += term.exp();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_the_exact_one() {
        assert_eq!(share(0, 0), None);
        // No failure: 1 - 0.05^(1/n).
        let none = share(600, 0).unwrap();
        assert!(none.low == 0.0 && (none.high - 0.004_980_4).abs() < 1e-6, "{none:?}");
        let all = share(50, 50).unwrap();
        assert!(all.high == 1.0 && (all.low - 0.05_f64.powf(1.0 / 50.0)).abs() < 1e-9, "{all:?}");
        // Known: 5 of 20.
        let some = share(20, 5).unwrap();
        assert!((some.low - 0.0866).abs() < 1e-4 && (some.high - 0.4910).abs() < 1e-4, "{some:?}");
        let mirrored = share(20, 15).unwrap();
        assert!((mirrored.low - (1.0 - some.high)).abs() < 1e-9, "{mirrored:?}");
        let many = share(100_000, 1).unwrap();
        assert!((many.high - 5.5716e-5).abs() < 1e-8, "{many:?}");
    }
}
