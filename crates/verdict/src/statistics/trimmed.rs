//! The mean of what is left of some values when the smallest and the largest are cut off, and how sure it is
//! (J. W. Tukey and D. H. McLaughlin, "Less Vulnerable Confidence and Significance Procedures for Location Based on a
//! Single Sample", Sankhyā A 25, 1963).
//!
//! One block that a disturbance turned against all others moves neither ranks nor a mean far in twenty blocks. In eight
//! or twelve it hides a factor of two from both: its rank is the largest, and its distance is most of the scatter. Cut
//! off, it hides nothing.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::bootstrap::Interval;

/// One value in eight is cut off on each side. Fewer than eight values are not trimmed: where samples have two modes,
/// five of six equals lie together too often for a claim.
const ONE_IN: usize = 8;

/// A trimmed mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trimmed {
    mean: f64,
    /// Its standard error.
    error: f64,
    /// The distribution of values around the mean, in standard errors.
    student: StudentsT,
}

impl Trimmed {
    /// Of some values, in any order. None where they are too few, or all alike.
    pub(super) fn new(values: &[f64]) -> Option<Trimmed> {
        let n = values.len();
        let cut = n / ONE_IN;
        if cut == 0 {
            return None;
        }
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        let left = n - 2 * cut;
        let mean = values[cut..n - cut].iter().sum::<f64>() / left as f64;
        // Values that were cut off count for the scatter as the last that was not.
        let (least, most) = (values[cut], values[n - 1 - cut]);
        let kept: Vec<f64> = values.iter().map(|value| value.clamp(least, most)).collect();
        let centre = kept.iter().sum::<f64>() / n as f64;
        let variance = kept.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (n - 1) as f64;
        let error = (variance * n as f64).sqrt() / left as f64;
        let student = StudentsT::new(0.0, 1.0, (left - 1) as f64).ok()?;
        (error > 0.0 && error.is_finite()).then_some(Trimmed { mean, error, student })
    }

    /// The probability that values around zero would have a trimmed mean so far from it, on either side.
    pub(super) fn p_value(&self) -> f64 {
        2.0 * self.student.sf(self.mean.abs() / self.error)
    }

    /// The smallest distance of a centre from zero that is found, at this chance of error, in a share `power` of
    /// samples like this.
    pub(super) fn detectable(&self, chance: f64, power: f64) -> f64 {
        self.error * away(&self.student, chance, power)
    }

    /// The interval of the centre; it excludes zero where [`Trimmed::p_value`] is less than one less the confidence.
    pub(super) fn interval(&self, confidence: f64) -> Interval {
        let half = self.error * self.student.inverse_cdf((1.0 + confidence) / 2.0);
        Interval { low: self.mean - half, high: self.mean + half }
    }
}

/// The number of standard errors by which a difference must exceed zero to be found, at this chance of error, in a
/// share `power` of runs, by a statistic distributed as `student` where there is none; there is more scatter where
/// there is one.
pub(super) fn away(student: &StudentsT, chance: f64, power: f64) -> f64 {
    let critical = student.inverse_cdf(1.0 - chance / 2.0);
    let scatter = (1.0 + critical * critical / (2.0 * student.freedom())).sqrt();
    critical + scatter * student.inverse_cdf(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_does_not_count_for_where_it_lies() {
        // 1 and 1000 are cut off; they count for the scatter as 2 and 7.
        let trimmed = Trimmed::new(&[7.0, 2.0, 1000.0, 5.0, 4.0, 1.0, 3.0, 6.0]).unwrap();
        assert_eq!(trimmed.mean, 4.5);
        // 2, 2, 3, 4, 5, 6, 7, 7 have a variance of 30 / 7.
        assert!((trimmed.error - (30.0 / 7.0 * 8.0_f64).sqrt() / 6.0).abs() < 1e-12);
        let interval = trimmed.interval(0.95);
        // Student's 97.5 % for five degrees of freedom is 2.5706.
        assert!((interval.high - 4.5 - 2.5706 * trimmed.error).abs() < 1e-3, "{interval:?}");
        let at_the_end = Trimmed { mean: interval.high - 4.5, ..trimmed };
        assert!((at_the_end.p_value() - 0.05).abs() < 1e-6);
        assert!(Trimmed::new(&[1.0; 7]).is_none() && Trimmed::new(&[1.0; 8]).is_none());
    }
}
