//! The smallest difference that a comparison could have shown, from its own scatter.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::apart::STUDENT;
use super::bootstrap::MIN_BLOCKS;
use super::summary::standard_deviation;

/// How often a difference of the size told is found.
pub const POWER: f64 = 0.8;

/// The smallest factor above one that a comparison with these logarithms would have shown in [`POWER`] of runs like this
/// one, with so much chance of error. None where the blocks are too few to show anything.
pub fn detectable(logs: &[f64], chance: f64) -> Option<f64> {
    if logs.len() < MIN_BLOCKS {
        return None;
    }
    let n = logs.len() as f64;
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    let critical = student.inverse_cdf(1.0 - chance * STUDENT / 2.0);
    // How far Student's statistic scatters where there is a difference, which is more than where there is none.
    let scatter = (1.0 + critical * critical / (2.0 * (n - 1.0))).sqrt();
    let away = critical + scatter * student.inverse_cdf(POWER);
    let factor = (away * standard_deviation(logs)? / n.sqrt()).exp();
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
        assert_eq!(detectable(&logs(5, 0.02), 0.05), None);
    }
}
