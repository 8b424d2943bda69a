//! Durations of single operations, as columns.

use dyno_verdict::{LatencyLine, Verdict};

use crate::csv_column::Column;

/// The columns of a contender in a test, by their places.
pub fn columns(verdict: &Verdict, contender: usize, test: usize) -> Vec<Column> {
    let id = &verdict.tests[test].id;
    let mut tests = verdict.views.latency.iter().flat_map(|latency| &latency.tests);
    let test = tests.find(|test| test.test == *id);
    // Those of one of several classes are not those of the test.
    let is_its = |line: &&LatencyLine| line.contender == contender && line.class.is_none();
    let line = test.and_then(|test| test.lines.iter().find(is_its));
    let found = line.map(|line| line.percentiles).filter(|found| found.count > 0);
    vec![
        ("timed", found.map(|found| found.count).into()),
        ("p50_ns", found.map(|found| found.p50).into()),
        ("p90_ns", found.and_then(|found| found.p90).into()),
        ("p99_ns", found.and_then(|found| found.p99).into()),
        ("p999_ns", found.and_then(|found| found.p999).into()),
        ("slowest_ns", found.map(|found| found.max).into()),
    ]
}
