//! The cost of encryption, as columns.

use dyno_verdict::Verdict;

use crate::csv_column::Column;
use crate::views::against::Names;

/// The columns of a contender in a test, by their places.
pub fn columns(verdict: &Verdict, contender: usize, test: usize) -> Vec<Column> {
    let names = Names {
        over: "encryption_over",
        ratio: ["encryption_ratio", "encryption_low", "encryption_high"],
        mean: ["encryption_mean", "encryption_mean_low", "encryption_mean_high"],
    };
    names.columns(verdict, &verdict.views.overheads, contender, test)
}
