//! Decides which of a table's many comparisons may be called differences.
//!
//! A table of sixty ratios has sixty chances to be wrong: each interval is right in 95 % of runs, and all of them
//! together in few. So what is called a difference has to show twice. The interval of its own ratio excludes one (see
//! [`super::paired`]), and it holds with all other comparisons of the table, which share one chance of error of 5 %: S.
//! Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6, 1979.
//!
//! Three tests ask it, and share the chance of a comparison. Ranks take no notice of how far an outlier lies, but those
//! of six blocks cannot show that anything is rarer than one in thirty-two, however large it is. Student's test of the
//! mean logarithm can: twice the time in six blocks that agree to a few percent is no chance. One block that
//! contradicts eleven others hides a factor of two from both, and not from the trimmed mean. Where logarithms scatter
//! alike on both sides, as those of equals do, heavy tails only make the three more careful.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::bootstrap::CONFIDENCE;
use super::paired::interval_of;
use super::signed_rank::p_value;
use super::trimmed::Trimmed;

/// The chance of error of a comparison is shared: ranks and Student's test have two parts of five each, the trimmed mean
/// has one.
const RANKS: f64 = 0.4;
pub(super) const STUDENT: f64 = 0.4;
pub(super) const TRIMMED: f64 = 0.2;

/// A comparison of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The logarithm of the ratio in each block.
    pub logs: Vec<f64>,
    /// Its weight in sharing the chance of error with the other comparisons; above zero.
    pub weight: f64,
}

/// For each comparison whether it may be called a difference.
pub fn significant(table: &[Compared]) -> Vec<bool> {
    let chances: Vec<f64> = table.iter().map(|compared| chance(&compared.logs)).collect();
    let weights: Vec<f64> = table.iter().map(|compared| compared.weight).collect();
    let together = holm(&chances, &weights);
    let alone = |compared: &Compared| excludes_zero(&compared.logs);
    table.iter().zip(together).map(|(compared, held)| held && alone(compared)).collect()
}

/// Returns which of several tests hold when all share one chance of error by their weights; `chances` are their
/// probabilities if no difference exists.
fn holm(chances: &[f64], weights: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|&a, &b| (chances[a] / weights[a]).total_cmp(&(chances[b] / weights[b])));
    let mut left: f64 = weights.iter().sum();
    let mut held = vec![false; chances.len()];
    for place in order {
        if chances[place] > (1.0 - CONFIDENCE) * weights[place] / left {
            break;
        }
        held[place] = true;
        left -= weights[place];
    }
    held
}

/// The probability that one of the tests finds so much in values around zero.
fn chance(values: &[f64]) -> f64 {
    let trimmed = Trimmed::new(values).map_or(1.0, |trimmed| trimmed.p_value() / TRIMMED);
    (p_value(values) / RANKS).min(student(values) / STUDENT).min(trimmed).min(1.0)
}

/// Returns true if the tests with which a difference is shown find one of `logs` at 95 %, when each is weighed as
/// [`super::paired`] weighs it.
fn excludes_zero(logs: &[f64]) -> bool {
    interval_of(logs).is_some_and(|interval| !interval.includes(0.0))
}

/// The probability that values around zero have a mean as far from it as this, on either side, given their scatter
/// (Student, "The Probable Error of a Mean", Biometrika 6, 1908). One where there are fewer than two.
fn student(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let t = mean.abs() / (variance / n).sqrt();
    match StudentsT::new(0.0, 1.0, n - 1.0) {
        // All are zero: no difference at all.
        _ if t.is_nan() => 1.0,
        Ok(student) => 2.0 * student.sf(t),
        Err(_) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_of_a_mean_is_that_of_tables() {
        // Values 1 to 6 less 2: mean 1.5, standard deviation 1.8708, t = 1.964 with five degrees of freedom.
        let p = student(&[-1.0, 0.0, 1.0, 2.0, 3.0, 4.0]);
        assert!((p - 0.1067).abs() < 0.001, "{p}");
        assert_eq!(student(&[0.0; 6]), 1.0);
        assert_eq!(student(&[0.5; 6]), 0.0);
        assert_eq!((student(&[]), student(&[1.0])), (1.0, 1.0));
    }

    #[test]
    fn holm_goes_on_until_one_does_not_hold() {
        // Against 0.05 / 4, / 3, / 2: the third does not hold, so the fourth is not asked.
        assert_eq!(holm(&[0.04, 0.01, 0.03, 0.015], &[1.0; 4]), [false, true, false, true]);
        // The first has half of the error to itself and leaves it to the others.
        assert_eq!(holm(&[0.025, 0.02, 0.025], &[2.0, 1.0, 1.0]), [true, true, true]);
        assert_eq!(holm(&[0.03, 0.02, 0.025], &[2.0, 1.0, 1.0]), [false; 3]);
        assert_eq!(holm(&[], &[]), [false; 0]);
    }

    #[test]
    fn a_large_difference_in_few_blocks_is_reported_and_a_small_one_is_not() {
        let scatter = [-0.03, -0.02, -0.01, 0.01, 0.02, 0.03];
        let compared =
            |centre: f64| Compared { logs: scatter.iter().map(|log| centre + log).collect(), weight: 1.0 };
        let mut table = vec![compared(0.0); 60];
        table[7] = compared(2.0_f64.ln());
        table[9] = compared(0.031);
        // Blocks that agree but for two of them: ranks show what the mean hides.
        let steady = (0..12).map(|i| if i == 5 { 3.0 } else { 0.1 + 0.001 * f64::from(i) });
        table[20] = Compared { logs: steady.cycle().take(24).collect(), weight: 1.0 };
        let found: Vec<usize> = significant(&table)
            .iter()
            .enumerate()
            .filter(|(_, held)| **held)
            .map(|(place, _)| place)
            .collect();
        assert_eq!(found, [7, 20]);
        assert_eq!(significant(&[compared(0.06)]), [true]);
    }
}
