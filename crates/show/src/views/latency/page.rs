//! Durations of single operations, if they were timed: percentiles of each contender and test.

use dyno_verdict::{JointVerdict, LatencyLine, LatencyTest, Verdict};

use super::table;
use crate::report::charts::{self, Chart, Figure, LatencyRow, LatencySeries, grouped};
use crate::report::words;
use crate::units;
use crate::views::parts::View;

/// The view of a run with `--latency`.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    let tests = verdict.views.latency.as_ref().map(|latency| &latency.tests[..]).unwrap_or_default();
    let is_apart = verdict.views.latency.as_ref().is_some_and(|latency| latency.apart);
    let title = |test: &str| verdict.test(test).map_or("", |test| &test.title);
    let series: Vec<LatencySeries> = tests
        .iter()
        .map(|test| LatencySeries {
            name: format!("{} {}", test.test, title(&test.test)),
            clock: test.clock_ns,
            rows: rows(verdict, test),
        })
        .collect();
    let Some(longest) = series.iter().map(|series| series.rows.len()).max() else { return Vec::new() };
    let lines = tests.iter().flat_map(|test| test.lines.iter().map(move |line| (test, line)));
    vec![View {
        anchor: "latency".into(),
        title: "How long single operations took".into(),
        text: format!(
            "dyno timed every operation{}. Here you see what a mean hides: the slow commit, the compaction, the \
             page that was not in memory.",
            if is_apart { ", in separate trials after the measured ones" } else { "" }
        ),
        choices: series.iter().map(|series| series.name.clone()).collect(),
        figure: Figure::new(
            "Percentiles of the durations of single operations, of each contender. The table below has every figure."
                .into(),
            "Logarithmic scale. In each row the median (filled), 90 %, 99 % and 99.9 % of all operations where at least \
             ten took longer, and the slowest of them (hollow). Dashed: what one reading of the clock takes; every duration includes it.",
            longest,
            &Chart::Latency { series },
        ),
        details: "All percentiles",
        header: ["", "contender"].into_iter().chain(table::COLUMNS).map(String::from).collect(),
        rows: lines.map(|(test, line)| table::row(verdict, &test.test, line)).collect(),
        notes: table::notes(verdict),
    }]
}

/// The contenders of each level together, those with the shortest 99th percentile first.
fn rows(verdict: &Verdict, test: &LatencyTest) -> Vec<charts::Row<LatencyRow>> {
    let mut lines: Vec<&LatencyLine> = test.lines.iter().filter(|line| line.percentiles.count > 0).collect();
    lines.sort_by_key(|line| line.percentiles.p99.unwrap_or(line.percentiles.max));
    let groups = words::LEVELS.map(|level| {
        let of_level = lines.iter().filter(|line| words::level(&verdict.contenders[line.contender]) == level);
        let rows = of_level.map(|line| LatencyRow {
            label: match &line.class {
                Some(class) => format!("{}, {class}", verdict.label(line.contender)),
                None => verdict.label(line.contender).to_owned(),
            },
            colour: charts::colour(verdict, line.contender),
            text: match line.percentiles.p99 {
                Some(p99) => format!("99 % in {}", units::duration(p99 as f64)),
                None => format!("all in {}", units::duration(line.percentiles.max as f64)),
            },
            percentiles: line.percentiles,
        });
        (words::heading(level), rows.collect::<Vec<_>>())
    });
    grouped(groups.into(), false)
}
