//! Counts of events against each other.
//!
//! Counts that repeat to the digit have no scatter that could make a difference by chance: each difference is one. Of
//! the others the spread is shown, and no difference is claimed.

use dyno_record::Quantity;

use crate::statistics::{Difference, Interval, NoDifference, Ratio, median};

/// The counts of a contender, one for each trial that counted, against those of another: the ratio of their medians,
/// and what it shows. There is no ratio to a count of zero, but there is a difference.
pub(crate) fn compare_counts(
    quantity: &Quantity,
    counts: &[f64],
    of: &[f64],
) -> (Option<Ratio>, Option<Difference>) {
    let Some((count, base)) = median(counts).zip(median(of)) else { return (None, None) };
    let is_exact = !quantity.is_by_chance() && repeats(counts) && repeats(of);
    let ratio = match base > 0.0 {
        true => Some(count / base),
        false => (count == base).then_some(1.0),
    };
    let ratio = ratio
        .map(|ratio| Ratio { ratio, interval: is_exact.then_some(Interval { low: ratio, high: ratio }) });
    let difference = match is_exact {
        false => Difference::None(NoDifference::TooFewSamples),
        true if count > base => Difference::Slower,
        true if count < base => Difference::Faster,
        true => Difference::None(NoDifference::Close),
    };
    (ratio, Some(difference))
}

/// Returns true if several trials counted the same.
fn repeats(counts: &[f64]) -> bool {
    counts.len() > 1 && counts.iter().all(|count| *count == counts[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(counts: &[f64], of: &[f64]) -> (Option<Ratio>, Option<Difference>) {
        compare_counts(&Quantity::Count { event: "flushes".into() }, counts, of)
    }

    #[test]
    fn counts_that_repeat_differ_by_the_digit() {
        let (ratio, difference) = compare(&[1001.0, 1001.0], &[1000.0, 1000.0]);
        assert_eq!((ratio.unwrap().ratio, difference), (1.001, Some(Difference::Slower)));
        let (_, difference) = compare(&[1001.0, 1002.0], &[1000.0, 1000.0]);
        assert_eq!(difference, Some(Difference::None(NoDifference::TooFewSamples)));
        // One trial cannot show that it repeats.
        assert_eq!(compare(&[7.0], &[7.0]).0.unwrap().interval, None);
        assert_eq!(compare(&[], &[7.0]), (None, None));
    }

    #[test]
    fn more_than_nothing_is_a_difference_without_a_ratio() {
        assert_eq!(compare(&[3.0; 2], &[0.0; 2]), (None, Some(Difference::Slower)));
        let (ratio, difference) = compare(&[0.0; 2], &[0.0; 2]);
        assert_eq!((ratio.unwrap().ratio, difference), (1.0, Some(Difference::None(NoDifference::Close))));
        assert_eq!(compare(&[0.0; 2], &[3.0; 2]).1, Some(Difference::Faster));
    }

    #[test]
    fn what_the_kernel_counts_is_no_difference() {
        let faults = Quantity::Count { event: "page_faults".into() };
        let (ratio, difference) = compare_counts(&faults, &[9.0; 2], &[3.0; 2]);
        assert_eq!(
            (ratio.unwrap().interval, difference),
            (None, Some(Difference::None(NoDifference::TooFewSamples)))
        );
    }
}
