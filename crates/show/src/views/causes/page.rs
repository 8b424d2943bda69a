//! The causes of a difference, as a section of the page.

use dyno_verdict::{JointVerdict, Verdict};

use super::{table, words};
use crate::grid::Grid;
use crate::report::charts::Figure;
use crate::views::parts::View;

/// The section of a run that is an experiment.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    let Some(causes) = &verdict.views.causes else { return Vec::new() };
    let Grid { mut header, mut rows } = table::shares(causes);
    header.insert(1, "test".into());
    for (row, found) in rows.iter_mut().zip(&causes.differences) {
        let title = found.test.as_ref().and_then(|id| verdict.test(id)).map(|test| test.title.clone());
        row.insert(1, title.unwrap_or_default());
    }
    vec![View {
        anchor: "causes".into(),
        title: "Causes".into(),
        text: table::sentences(causes).concat().join(" "),
        choices: Vec::new(),
        figure: Figure::none(),
        details: "Shares",
        header,
        rows,
        notes: words::notes(verdict),
    }]
}
