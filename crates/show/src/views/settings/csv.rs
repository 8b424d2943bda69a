//! The costs and benefits of settings, as columns.

use dyno_verdict::Verdict;

use crate::csv_column::Column;
use crate::views::against::Names;

/// The columns of a contender in a test, by their places.
pub fn columns(verdict: &Verdict, contender: usize, test: usize) -> Vec<Column> {
    let names = Names {
        over: "settings_over",
        ratio: ["settings_ratio", "settings_low", "settings_high"],
        mean: ["settings_mean", "settings_mean_low", "settings_mean_high"],
    };
    names.columns(verdict, &verdict.views.settings, contender, test)
}
