//! The events that both of two runs counted.

use dyno_record::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::counts::compare_counts;
use crate::judge::Verdict;
use crate::statistics::{Difference, Ratio, median};
use crate::test_verdict::{QuantityVerdict, TestVerdict};

/// An event in a test of two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CountComparison {
    /// The event, such as `instructions`.
    pub event: String,
    /// One for each contender in both runs.
    pub cells: Vec<CountedCell>,
}

/// A contender's count of an event in a test of two runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CountedCell {
    /// The old median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<f64>,
    /// The new median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<f64>,
    /// The new one over the old one, with an interval if both repeat to the digit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// The judgement on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// The counts of a test in two runs, by event, for the contenders with these labels: of the events that the new run counted
/// in some test.
pub(super) fn counted(
    (old, before): (&Verdict, &TestVerdict),
    (new, now): (&Verdict, &TestVerdict),
    contenders: &[String],
) -> Vec<CountComparison> {
    let both = before.counts.iter().filter_map(|was| {
        let of = |test: &TestVerdict| test.counts.iter().any(|is| is.quantity == was.quantity);
        if !new.tests.iter().any(of) {
            return None;
        }
        let is = now.counts.iter().find(|is| is.quantity == was.quantity);
        let numbers_now = |label: &str| is.map(|is| numbers(new, is, label)).unwrap_or_default();
        let cells = contenders
            .iter()
            .map(|label| cell(&was.quantity, &numbers(old, was, label), &numbers_now(label)));
        Some(CountComparison { event: was.quantity.unit().to_owned(), cells: cells.collect() })
    });
    both.collect()
}

/// The counts of a contender (by label); empty where they do not count.
fn numbers(run: &Verdict, counted: &QuantityVerdict, label: &str) -> Vec<f64> {
    let cell = counted.cells.iter().find(|cell| run.contenders[cell.contender].label == label);
    cell.filter(|cell| Cell::is_comparable(cell)).map(|cell| cell.points.numbers()).unwrap_or_default()
}

fn cell(quantity: &Quantity, old: &[f64], new: &[f64]) -> CountedCell {
    let (ratio, difference) = compare_counts(quantity, new, old);
    CountedCell { old: median(old), new: median(new), ratio, difference }
}
