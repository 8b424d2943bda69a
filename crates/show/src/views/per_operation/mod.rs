//! Counts of events for each operation, in runs with `--counts`: a table, and a section of the page.

mod table;

use dyno_verdict::{JointVerdict, Verdict};

use super::parts::{NOTHING, Parts, View};
use crate::grid::Grid;
use crate::labels::{LABEL, fold_labels};
use crate::plain::plain;
use crate::report::charts::Figure;

pub(crate) use table::of_operation;

/// The parts of this view. Its columns follow those of the counts.
pub const PARTS: Parts = Parts {
    tables: |verdict, _| {
        table::counts(verdict).map(|grid| plain(&fold_labels(grid, LABEL))).into_iter().collect()
    },
    pages: page,
    ..NOTHING
};

fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    let Some(Grid { header, rows }) = table::counts(verdict) else { return Vec::new() };
    vec![View {
        anchor: "per-operation".into(),
        title: "Counts of an operation".into(),
        text: "The time and the counts of each test, divided by the number of its operations.".into(),
        choices: Vec::new(),
        figure: Figure::none(),
        details: "Each test",
        header,
        rows,
        notes: Vec::new(),
    }]
}
