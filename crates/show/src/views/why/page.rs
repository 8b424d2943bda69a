//! The parts of each test's time and the plans, as tables of the page.

use dyno_verdict::{JointVerdict, TimeBudgets, Verdict};

use super::table;
use crate::grid::Grid;
use crate::report::charts::Figure;
use crate::views::parts::View;

/// The views of a run whose threads were looked at.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    let Some(why) = &verdict.views.why else { return Vec::new() };
    [budgets(verdict, why), plans(verdict, why)].into_iter().filter(|view| !view.rows.is_empty()).collect()
}

fn budgets(verdict: &Verdict, why: &TimeBudgets) -> View {
    let Grid { header, rows } = table::budgets(verdict, why);
    View {
        anchor: "why".into(),
        title: "Where the time went".into(),
        text: "The time of one further pass of each contender, divided: on processors, and waiting for what. The shares of a \
               row add up to the time of the pass; what could not be placed is a part as well. They say where the time was \
               spent, and not what would change if a part were taken away."
            .into(),
        choices: Vec::new(),
        figure: Figure::none(),
        details: "Where the time went",
        header,
        rows,
        notes: table::notes(verdict),
    }
}

fn plans(verdict: &Verdict, why: &TimeBudgets) -> View {
    let Grid { header, rows } = table::plans(verdict, why.plans.iter());
    View {
        anchor: "plans".into(),
        title: "Plans".into(),
        text: "The plans of statements that only read, as the engines' own EXPLAIN reports them after the test. ≠ marks a \
               statement for which contenders of one engine have different plans."
            .into(),
        choices: Vec::new(),
        figure: Figure::none(),
        details: "Plans",
        header,
        rows,
        notes: Vec::new(),
    }
}
