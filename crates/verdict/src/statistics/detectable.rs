//! The smallest difference that a comparison could have shown, from its own scatter.

use statrs::distribution::StudentsT;

use super::bootstrap::MIN_BLOCKS;
use super::significance::{STUDENT, TRIMMED};
use super::summary::standard_deviation;
use super::trimmed::{Trimmed, away};

/// The probability with which a difference of the stated size is found.
pub const POWER: f64 = 0.8;

/// The smallest factor above one that a comparison with these logarithms would have shown in [`POWER`] of runs like this
/// one, with so much chance of error. None where the blocks are too few to show anything.
pub fn detectable(logs: &[f64], chance: f64) -> Option<f64> {
    if logs.len() < MIN_BLOCKS {
        return None;
    }
    let n = logs.len() as f64;
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    let by_mean = away(&student, chance * STUDENT, POWER) * standard_deviation(logs)? / n.sqrt();
    // Outliers do not count for the trimmed mean.
    let trimmed = Trimmed::new(logs).map(|trimmed| trimmed.detectable(chance * TRIMMED, POWER));
    let factor = trimmed.map_or(by_mean, |trimmed| trimmed.min(by_mean)).exp();
    factor.is_finite().then_some(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_blocks_and_less_scatter_show_less() {
        let logs = |n: usize, scatter: f64| -> Vec<f64> {
            (0..n).map(|i| scatter * if i % 2 == 0 { 1.0 } else { -1.0 }).collect()
        };
        let found = |n, scatter| detectable(&logs(n, scatter), 0.05).unwrap();
        assert!(found(12, 0.02) < found(12, 0.04) && found(24, 0.04) < found(12, 0.04));
        // Twelve blocks of 2 %: 2.72, and 1.16 times 0.88, of 2.09 % / 3.46.
        assert!((found(12, 0.02) - 1.0227).abs() < 0.0005, "{}", found(12, 0.02));
        // One outlier hides little.
        let mut outlier = logs(12, 0.02);
        outlier[3] = 2.0;
        assert!(detectable(&outlier, 0.05).unwrap() < 1.05);
        assert_eq!(detectable(&logs(5, 0.02), 0.05), None);
    }
}
