//! Deferred work of stores: rows of text, a section of the page for each test that does it, and columns.

mod csv;
mod page;
mod table;

use dyno_verdict::Verdict;

use super::parts::Parts;

/// The parts of this view.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, columns: csv::columns, notes };

/// The caveat for readers of means.
pub const LEFT_OUT: &str = "The geometric means leave out what was put off: who writes to memory and settles later looks faster \
     in them than who has paid at once. What was put off has a table of its own.";

fn notes(verdict: &Verdict) -> Vec<String> {
    let has_means = verdict.summaries.iter().any(|summary| summary.geometric_mean.is_some());
    (has_means && !verdict.views.debts.is_empty()).then(|| LEFT_OUT.to_owned()).into_iter().collect()
}
