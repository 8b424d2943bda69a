//! Deferred work of stores, as tables of the page.

use dyno_verdict::{Debt, JointVerdict, Verdict};

use super::table;
use crate::report::charts::Figure;
use crate::views::parts::View;

/// A view for each test that does deferred work.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    verdict.views.debts.iter().map(|debt| view(verdict, debt)).collect()
}

fn view(verdict: &Verdict, debt: &Debt) -> View {
    View {
        anchor: format!("put-off-{}", debt.test),
        title: format!("Deferred work ({})", debt.test),
        text: format!(
            "An engine may leave work for later: it keeps pairs in memory and in a log, and merges tables, moves its log or \
             syncs when it must. The test {} has each engine do all of that. You see how long the writes before it took ({}), how \
             long settling took then, and how many bytes went to the device: while the tests before it ran, and by settling.",
            debt.test,
            debt.writes.join(", ")
        ),
        choices: Vec::new(),
        figure: Figure::none(),
        details: "Deferred work",
        header: ["", "contender"].into_iter().chain(table::COLUMNS).map(String::from).collect(),
        rows: debt.lines.iter().map(|line| table::row(verdict, debt, line)).collect(),
        notes: Vec::new(),
    }
}
