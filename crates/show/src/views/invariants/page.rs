//! The invariants of tests, as tables of the page.

use dyno_verdict::{Invariants, JointVerdict, Verdict};

use super::table;
use crate::report::charts::Figure;
use crate::views::parts::View;

/// A view for each test with invariants.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    verdict.views.invariants.iter().map(|test| view(verdict, test)).collect()
}

fn view(verdict: &Verdict, test: &Invariants) -> View {
    let labels = test.lines.iter().map(|(contender, _)| verdict.label(*contender).to_owned());
    let row = |(place, says): (usize, &String)| {
        let cells = test.lines.iter().map(|(_, line)| table::text(&line[place]));
        [String::new(), says.clone()].into_iter().chain(cells).collect()
    };
    let title = verdict.test(&test.test).map_or("", |found| &found.title);
    View {
        anchor: format!("holds-{}", test.test),
        title: format!("What must hold: {title}"),
        text: "After every trial dyno looked whether this held. A contender of which something did not is wrong in this test, \
               and is not ranked there."
            .into(),
        choices: Vec::new(),
        figure: Figure::none(),
        details: "What must hold",
        header: [String::new(), "what".into()].into_iter().chain(labels).collect(),
        rows: test.says.iter().enumerate().map(row).collect(),
        notes: Vec::new(),
    }
}
