//! The driver tax, as columns.

use dyno_verdict::Verdict;

use crate::csv_column::Column;
use crate::views::against::Names;

/// The columns of a contender in a test, by their places.
pub fn columns(verdict: &Verdict, contender: usize, test: usize) -> Vec<Column> {
    let names = Names {
        over: "driver_over",
        ratio: ["driver_ratio", "driver_low", "driver_high"],
        mean: ["driver_mean", "driver_mean_low", "driver_mean_high"],
    };
    names.columns(verdict, &verdict.views.drivers, contender, test)
}
