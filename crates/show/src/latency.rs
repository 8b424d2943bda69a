//! How long single operations took, as rows of text.

use dyno_record::Run;
use dyno_verdict::latency;

use super::grid::{Grid, level_name};
use super::units;

/// A table for each test whose operations were timed.
pub fn grids(run: &Run) -> Vec<Grid> {
    let tests = run.shown_tests().map(|test| {
        let header = ["", &format!("{}: latency", test.id), "survives", "p50", "p90", "p99", "p99.9", "max"];
        let rows = run.shown_contenders().filter_map(|(index, contender)| {
            let found = latency(run, index, &test.id)?;
            let mut row = vec![String::new(), contender.label.clone(), level_name(contender)];
            let durations = [found.p50, found.p90, found.p99, found.p999, found.max];
            row.extend(durations.map(|nanoseconds| units::duration(nanoseconds as f64)));
            Some(row)
        });
        Grid { header: header.map(String::from).to_vec(), rows: rows.collect() }
    });
    tests.filter(|grid| !grid.rows.is_empty()).collect()
}

/// What a reading of the clock costs, which every duration includes: the null runner's median.
pub fn note(run: &Run) -> Option<String> {
    let harness = run.contenders.iter().position(|contender| contender.harness)?;
    let medians = run.tests.iter().filter_map(|test| Some(latency(run, harness, &test.id)?.p50));
    let clock = medians.max()?;
    Some(format!(
        "Latency comes from separate trials after the others. Each duration includes one reading of the clock, which \
         takes {} here.",
        units::duration(clock as f64)
    ))
}
