//! The traffic of operations, as tables of the page.

use dyno_verdict::{JointVerdict, TrafficTest, Verdict};

use super::table;
use crate::report::charts::Figure;
use crate::views::parts::View;

/// The most characters of a statement's text.
const SHOWN: usize = 300;

/// A view of the counts, and one of the statements.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    let tests = &verdict.views.traffic;
    if tests.is_empty() {
        return Vec::new();
    }
    let first = |test: &TrafficTest, mut row: Vec<String>| {
        row[0] = table::name(test);
        row
    };
    let header =
        |columns: &[&str]| ["", "contender"].iter().chain(columns).map(|name| (*name).to_owned()).collect();
    let counts = tests
        .iter()
        .flat_map(|test| test.lines.iter().map(move |line| first(test, table::row(verdict, line))));
    let statements = tests.iter().flat_map(|test| {
        table::statements(verdict, test, SHOWN).into_iter().map(move |row| first(test, row))
    });
    vec![
        View {
            anchor: "round-trips".into(),
            title: "What each operation takes on the way to the server".into(),
            text: "A proxy of dyno's recorded one client. A round trip is a wait of the client for its server: on a network each \
                   takes the time of the way there and back."
                .into(),
            choices: Vec::new(),
            figure: Figure::none(),
            details: "All counts",
            header: header(&table::COLUMNS),
            rows: counts.collect(),
            notes: table::notes(verdict),
        },
        View {
            anchor: "sent-statements".into(),
            title: "The statements that the server saw".into(),
            text: "How often each was executed in an operation. Of texts that differ by values and comments alone, you see \
                   the first."
                .into(),
            choices: Vec::new(),
            figure: Figure::none(),
            details: "All statements",
            header: header(&["each", "statement"]),
            rows: statements.collect(),
            notes: Vec::new(),
        },
    ]
}
