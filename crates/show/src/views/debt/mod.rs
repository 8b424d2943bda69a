//! What stores put off: rows of text, a section of the page for each test that settles, and columns.

mod csv;
mod page;
mod table;

use dyno_verdict::Verdict;

use super::Parts;

/// What there is of it.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, columns: csv::columns, notes };

/// What a reader of means must know.
pub const LEFT_OUT: &str = "The geometric means leave out what was put off: who writes to memory and settles later looks faster \
     in them than who has paid at once. What was put off has a table of its own.";

fn notes(verdict: &Verdict) -> Vec<String> {
    let has_means = verdict.summaries.iter().any(|summary| summary.geometric_mean.is_some());
    (has_means && !verdict.views.debts.is_empty()).then(|| LEFT_OUT.to_owned()).into_iter().collect()
}
