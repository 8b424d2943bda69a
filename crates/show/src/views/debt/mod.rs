//! Deferred work of stores: rows of text, a section of the page for each test that does it, and columns.

mod csv;
mod page;
mod table;

use dyno_verdict::Verdict;

use super::parts::Parts;

/// The parts of this view.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, columns: csv::columns, notes };

/// The caveat for readers of means.
pub const LEFT_OUT: &str = "The geometric means leave out deferred work: a store that writes to memory and settles later looks \
     faster in them than one that has done all of its work at once. Another table shows the deferred work.";

fn notes(verdict: &Verdict) -> Vec<String> {
    let has_means = verdict.summaries.iter().any(|summary| summary.geometric_mean.is_some());
    // If contenders are ranked, the sentences above the table say it.
    let is_said = verdict.rankings.iter().any(|ranking| ranking.ranks.len() > 1);
    let says = has_means && !is_said && !verdict.views.debts.is_empty();
    says.then(|| LEFT_OUT.to_owned()).into_iter().collect()
}
