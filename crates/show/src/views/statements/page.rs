//! Durations of the statements of operations, as a table of the page.

use dyno_verdict::{JointVerdict, Verdict};

use super::table;
use crate::report::charts::Figure;
use crate::views::parts::View;

/// The view of a run with `--statements`.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    let rows: Vec<Vec<String>> = table::timed(verdict)
        .flat_map(|(test, line)| {
            let first = format!("{}: {}", test.test, table::name(verdict, line));
            line.statements.iter().map(move |statement| table::row(&first, statement))
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![View {
        anchor: "statements".into(),
        title: "How long each statement took".into(),
        text: "dyno timed each statement of the operations. In the rows of a class you see which of its statements takes the \
               time of its operations."
            .into(),
        choices: Vec::new(),
        figure: Figure::none(),
        details: "All statements",
        header: ["", "statement"].into_iter().chain(table::COLUMNS).map(String::from).collect(),
        rows,
        notes: table::notes(verdict),
    }]
}
