//! How long single operations took, as rows of text.

use dyno_verdict::{LatencyLine, Verdict};

use crate::grid::{Grid, level_name};
use crate::table::{TableOptions, plain};
use crate::units;

/// What the columns after the contender hold.
pub const COLUMNS: [&str; 6] = ["survives", "p50", "p90", "p99", "p99.9", "max"];

/// A table for each test whose operations were timed.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    let tests = verdict.views.latency.iter().flat_map(|latency| &latency.tests);
    let grid = |test: &dyno_verdict::LatencyTest| Grid {
        header: ["", &format!("{}: latency", test.test)]
            .into_iter()
            .chain(COLUMNS)
            .map(String::from)
            .collect(),
        rows: test.lines.iter().map(|line| row(verdict, "", line)).collect(),
    };
    tests.map(|test| plain(&grid(test))).collect()
}

/// A contender's percentiles, with what stands before its label.
pub fn row(verdict: &Verdict, first: &str, line: &LatencyLine) -> Vec<String> {
    let (contender, found) = (&verdict.contenders[line.contender], &line.percentiles);
    let mut row = vec![first.to_owned(), contender.label.clone(), level_name(contender)];
    let durations = [found.p50, found.p90, found.p99, found.p999, found.max];
    row.extend(durations.map(|nanoseconds| units::duration(nanoseconds as f64)));
    row
}

/// What a reading of the clock costs, which every duration includes.
pub fn notes(verdict: &Verdict) -> Vec<String> {
    let clock = verdict.views.latency.as_ref().and_then(|latency| latency.clock_ns);
    let note = clock.map(|clock| {
        format!(
            "Latency comes from separate trials after the others. Each duration includes one reading of the clock, which \
             takes {} here.",
            units::duration(clock as f64)
        )
    });
    note.into_iter().collect()
}
