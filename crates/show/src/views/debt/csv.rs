//! Deferred work that a test did, as columns. Its time, the bytes written and the size of the files are the test's own
//! figures.

use dyno_verdict::Verdict;

use crate::csv_column::Column;

/// The columns of a contender in a test, by their places.
pub fn columns(verdict: &Verdict, contender: usize, test: usize) -> Vec<Column> {
    let id = &verdict.tests[test].id;
    let debt = verdict.views.debts.iter().find(|debt| debt.test == *id);
    let line = debt.and_then(|debt| debt.lines.iter().find(|line| line.contender == contender));
    let of = line.and(debt);
    vec![
        ("settled_writes_ns", line.map(|line| line.writes_ns).into()),
        ("settled_share", line.map(|line| line.share()).into()),
        ("settled_input_bytes", of.map(|debt| debt.input_bytes).into()),
        ("settled_written_bytes", line.and_then(|line| line.written_bytes).into()),
    ]
}
