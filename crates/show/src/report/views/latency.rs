//! How long single operations took, where they were timed: percentiles of each contender and test.

use dyno_record::Run;
use dyno_verdict::{Percentiles, latency};

use super::View;
use crate::report::charts::{self, Chart, Figure, LatencyRow, LatencySeries, grouped};
use crate::report::words;
use crate::{latency as words_of, units};

/// The view of a run with `--latency`.
pub(in crate::report) fn latencies(run: &Run) -> Option<View> {
    let harness = run.contenders.iter().position(|contender| contender.harness);
    let mut series = Vec::new();
    for test in run.shown_tests() {
        let found: Vec<(usize, Percentiles)> = run
            .shown_contenders()
            .filter_map(|(index, _)| Some((index, latency(run, index, &test.id)?)))
            .collect();
        if found.is_empty() {
            continue;
        }
        series.push(LatencySeries {
            name: format!("{} {}", test.id, test.title),
            clock: harness.and_then(|harness| latency(run, harness, &test.id)).map(|clock| clock.p50),
            rows: rows(run, found),
        });
    }
    let longest = series.iter().map(|series| series.rows.len()).max()?;
    let grids = words_of::grids(run);
    let tables = grids.iter().flat_map(|grid| {
        // A grid's title is in its header; here all tests stand in one table.
        let test = grid.header[1].trim_end_matches(": latency").to_owned();
        grid.rows.iter().map(move |row| {
            let mut row = row.clone();
            row[0].clone_from(&test);
            row
        })
    });
    let mut header = grids[0].header.clone();
    header[1] = "contender".into();
    Some(View {
        anchor: "latency".into(),
        title: "How long single operations took".into(),
        text: "dyno timed every operation by itself, in separate trials after the measured ones. Here you see what a \
               mean hides: the slow commit, the compaction, the page that was not in memory."
            .into(),
        choices: series.iter().map(|series| series.name.clone()).collect(),
        figure: Figure::new(
            "Percentiles of the durations of single operations, of each contender. The table below has every figure."
                .into(),
            "Logarithmic scale. In each row the median (filled), 90 %, 99 % and 99.9 % of all operations, and the slowest \
             of them (hollow). Dashed: what one reading of the clock takes; every duration includes it.",
            longest,
            &Chart::Latency { series },
        ),
        details: "All percentiles",
        header,
        rows: tables.collect(),
        notes: words_of::note(run).into_iter().collect(),
    })
}

/// The contenders of each level together, those with the shortest 99th percentile first.
fn rows(run: &Run, mut found: Vec<(usize, Percentiles)>) -> Vec<charts::Row<LatencyRow>> {
    found.sort_by_key(|(_, percentiles)| percentiles.p99);
    let groups = words::LEVELS.map(|level| {
        let of_level = found.iter().filter(|(index, _)| words::level(&run.contenders[*index]) == level);
        let lines = of_level.map(|&(index, percentiles)| LatencyRow {
            label: run.contenders[index].label.clone(),
            colour: charts::colour(run, index),
            text: format!("99 % in {}", units::duration(percentiles.p99 as f64)),
            percentiles,
        });
        (words::heading(level), lines.collect::<Vec<_>>())
    });
    grouped(groups.into(), false)
}
