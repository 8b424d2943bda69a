//! Durations of the statements of operations, as rows of text: a table for each class of each test.

use dyno_verdict::{LatencyLine, LatencyTest, StatementLine, Verdict};

use crate::grid::Grid;
use crate::layout::cut_line;
use crate::plain::with_texts;
use crate::table_options::TableOptions;
use crate::units;

/// The headers of the columns after the statement.
pub const COLUMNS: [&str; 7] = ["executed", "mean", "p50", "p90", "p99", "p99.9", "max"];
/// The most characters of a statement's text that a table shows.
const SHOWN: usize = 60;

/// A table for each contender and class whose statements were timed.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    let grid = |(test, line): (&LatencyTest, &LatencyLine)| Grid {
        header: ["", &format!("{}: {}", test.test, name(verdict, line))]
            .into_iter()
            .chain(COLUMNS)
            .map(String::from)
            .collect(),
        rows: line.statements.iter().map(|statement| row("", statement)).collect(),
    };
    timed(verdict).map(|timed| with_texts(&grid(timed))).collect()
}

/// The lines whose statements were timed, with their tests.
pub fn timed(verdict: &Verdict) -> impl Iterator<Item = (&LatencyTest, &LatencyLine)> {
    let tests = verdict.views.latency.iter().flat_map(|latency| &latency.tests);
    let lines = tests.flat_map(|test| test.lines.iter().map(move |line| (test, line)));
    lines.filter(|(_, line)| !line.statements.is_empty())
}

/// A contender and its class.
pub fn name(verdict: &Verdict, line: &LatencyLine) -> String {
    let label = verdict.label(line.contender);
    line.class.as_ref().map_or_else(|| label.to_owned(), |class| format!("{label}, {class}"))
}

/// The figures of a statement, after a first cell.
pub fn row(first: &str, statement: &StatementLine) -> Vec<String> {
    let found = &statement.percentiles;
    let durations = [Some(found.p50), found.p90, found.p99, found.p999, Some(found.max)];
    let shown = |found: Option<u64>| found.map_or_else(|| "–".into(), |ns| units::duration(ns as f64));
    [
        first.to_owned(),
        cut_line(&statement.text, SHOWN),
        units::whole(found.count),
        units::duration(statement.mean_ns),
    ]
    .into_iter()
    .chain(durations.map(shown))
    .collect()
}

/// The meaning of the figures, where there are any.
pub fn notes(verdict: &Verdict) -> Vec<String> {
    let is_timed = timed(verdict).next().is_some();
    let asked = verdict.about.schedule.statements;
    let note = if is_timed {
        "Each statement was timed (--statements): from its call until all of its rows were read, in operations that succeeded \
         or were rolled back as planned. The two readings of the clock for each statement are a part of the time of its \
         operation."
    } else {
        "No contender timed its statements (--statements)."
    };
    (asked || is_timed).then(|| note.to_owned()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_statements_are_cut() {
        assert_eq!(cut_line("SELECT\n   1", SHOWN), "SELECT 1");
        let long = cut_line(&"é".repeat(61), SHOWN);
        assert_eq!((long.chars().count(), long.ends_with('…')), (60, true));
    }
}
