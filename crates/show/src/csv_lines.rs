//! The results as CSV: a line for each test and contender, durations in nanoseconds, sizes bytes.

use std::borrow::Cow;
use std::collections::BTreeSet;

use anyhow::{Context, Result};
use csv::WriterBuilder;
use dyno_record::{Isolation, Load, Tuning};
use dyno_verdict::statistics::Difference;
use dyno_verdict::{Cell, CellStanding, TestVerdict, Verdict};

use crate::csv_column::{Column, Field, ratio};
use crate::views::per_operation::of_operation;
use crate::{headings, views};

/// All lines, with a header.
pub fn render(verdict: &Verdict) -> Result<String> {
    let events = events(verdict);
    let mut lines: Vec<Vec<(Cow<str>, Field)>> = Vec::new();
    for (place, test) in verdict.tests.iter().enumerate() {
        lines.extend(test.cells.iter().map(|cell| {
            let mut line = in_test(verdict, test, cell);
            line.extend(over_all(verdict, cell.contender));
            line.extend(views::columns(verdict, cell.contender, place));
            let line = line.into_iter().map(|(name, field)| (name.into(), field));
            line.chain(events.iter().flat_map(|event| counted(test, event, cell.contender))).collect()
        }));
    }
    let mut writer = WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    if let Some(first) = lines.first() {
        writer.write_record(first.iter().map(|(name, _)| name.as_bytes())).context("cannot write CSV")?;
    }
    for line in &lines {
        let fields: Vec<&Field> = line.iter().map(|(_, field)| field).collect();
        writer.serialize(fields).context("cannot write CSV")?;
    }
    let bytes = writer.into_inner().context("cannot write CSV")?;
    String::from_utf8(bytes).context("cannot write CSV")
}

/// A contender in a test.
fn in_test(verdict: &Verdict, test: &TestVerdict, cell: &Cell) -> Vec<Column> {
    let contender = &verdict.contenders[cell.contender];
    let mut line = vec![
        ("suite", verdict.about.suite.name.as_str().into()),
        ("test", test.id.as_str().into()),
        ("title", test.title.as_str().into()),
        ("contender", contender.label.as_str().into()),
        ("level", contender.safety.as_ref().map(|safety| safety.level.name()).into()),
        ("consistent", contender.safety.as_ref().map(|safety| safety.consistent).into()),
        ("hole", contender.safety.as_ref().and_then(|safety| safety.hole).into()),
        ("isolation", verdict.isolation(cell.contender).map(Isolation::name).into()),
        ("load", verdict.about.load.map(Load::name).into()),
        ("clients", verdict.processes(cell.contender).map(kind_of_client).into()),
        ("per_commit", verdict.commits(cell.contender).into()),
        ("tuning", headings::standard(verdict, contender).map(Tuning::name).into()),
        ("cache_bytes", contender.cache.map(|cache| cache.bytes).into()),
        ("standing", standing(&cell.standing).into()),
    ];
    line.extend(times(cell));
    line.extend(ratio(["ratio", "ratio_low", "ratio_high"], cell.ratio.as_ref()));
    line.extend([("difference", cell.difference.map(difference).into()), ("fastest", cell.fastest.into())]);
    line.extend(costs(cell));
    line
}

fn times(cell: &Cell) -> Vec<Column> {
    let summary = cell.figures.summary;
    let interval = summary.and_then(|summary| summary.interval);
    vec![
        ("samples", cell.figures.samples.into()),
        ("undisturbed", cell.figures.undisturbed.into()),
        ("median_ns", summary.map(|summary| summary.median).into()),
        ("sd_ns", summary.and_then(|summary| summary.sd).into()),
        ("spread_ns", summary.and_then(|summary| summary.spread).into()),
        ("min_ns", summary.map(|summary| summary.min).into()),
        ("max_ns", summary.map(|summary| summary.max).into()),
        ("low_ns", interval.map(|interval| interval.low).into()),
        ("high_ns", interval.map(|interval| interval.high).into()),
    ]
}

fn costs(cell: &Cell) -> Vec<Column> {
    let costs = cell.figures.costs.as_ref();
    vec![
        ("operations", costs.map(|costs| costs.operations).into()),
        ("rows", costs.map(|costs| costs.rows).into()),
        ("user_ns", costs.map(|costs| costs.user_ns).into()),
        ("system_ns", costs.map(|costs| costs.system_ns).into()),
        ("wait_ns", costs.map(|costs| costs.wait_ns).into()),
        ("device_read_bytes", costs.map(|costs| costs.device_read_bytes).into()),
        ("device_written_bytes", costs.map(|costs| costs.device_written_bytes).into()),
        ("peak_memory_bytes", costs.map(|costs| costs.peak_memory_bytes).into()),
        ("database_bytes", costs.map(|costs| costs.database_bytes).into()),
    ]
}

/// The events that were counted in any test.
fn events(verdict: &Verdict) -> BTreeSet<&str> {
    let counts = verdict.tests.iter().flat_map(|test| &test.counts);
    counts.map(|measure| measure.quantity.unit()).collect()
}

/// The number of times that an event occurred in a contender's test, and the ratio to the baseline.
fn counted(
    test: &TestVerdict,
    event: &str,
    contender: usize,
) -> impl Iterator<Item = (Cow<'static, str>, Field)> {
    let found = test.counts.iter().find(|measure| measure.quantity.unit() == event);
    let cell = found.and_then(|measure| measure.cells.iter().find(|cell| cell.contender == contender));
    let median = cell.and_then(|cell| cell.figures.summary).map(|summary| summary.median);
    let own = test.cells.iter().find(|cell| cell.contender == contender);
    let is_sum = found.is_some_and(|measure| !measure.quantity.is_peak());
    let whole = test.amount.as_ref().map(|amount| amount.count);
    let of_operation =
        own.zip(cell).filter(|_| is_sum).and_then(|(own, cell)| of_operation(whole, own, cell));
    let ratio = ratio(["_ratio", "_low", "_high"], cell.and_then(|cell| cell.ratio.as_ref()));
    let name = format!("count_{event}");
    let columns = [("", median.into()), ("_per_operation", of_operation.into())].into_iter().chain(ratio);
    columns.map(move |(part, field)| (format!("{name}{part}").into(), field))
}

fn standing(standing: &CellStanding) -> &'static str {
    match standing {
        CellStanding::Counts => "counts",
        CellStanding::Wrong(_) => "wrong",
        CellStanding::Disputed(_) => "disputed",
        CellStanding::Missing(_) => "missing",
        CellStanding::Untried => "untried",
        CellStanding::NotApplicable => "not-applicable",
        CellStanding::NotReached => "not-reached",
        CellStanding::TooFew => "too-few",
        CellStanding::Sought => "sought",
        CellStanding::Uneven(_) => "uneven",
        CellStanding::AtLeast => "at-least",
        CellStanding::WeakGenerator(_) => "weak-generator",
        CellStanding::NotEncrypted => "not-encrypted",
        CellStanding::NotIsolated => "not-isolated",
    }
}

fn difference(difference: Difference) -> &'static str {
    match difference {
        Difference::Faster => "faster",
        Difference::Slower => "slower",
        open if open.is_open() => "none",
        Difference::None(_) => "close",
    }
}

/// A contender over all tests, the same in each of its lines: geometric means over the baseline, and over the fastest
/// of its level, how many of its trials failed, which file its engine is, and whether the run file is as it was
/// written.
fn over_all(verdict: &Verdict, contender: usize) -> Vec<Column> {
    let summary = verdict.summaries.iter().find(|summary| summary.contender == contender);
    let mut ranks = verdict.rankings.iter().flat_map(|ranking| &ranking.ranks);
    let rank = ranks.find(|rank| rank.contender == contender);
    let mut columns = Vec::new();
    let mean = summary.and_then(|summary| summary.geometric_mean.as_ref());
    columns.extend(ratio(["mean_ratio", "mean_low", "mean_high"], mean));
    let mean = rank.and_then(|rank| rank.ratio.as_ref());
    columns.extend(ratio(["level_ratio", "level_low", "level_high"], mean));
    columns.push(("level_fastest", rank.map(|rank| rank.fastest).into()));
    let failures = verdict.failures.iter().find(|failures| failures.contender == contender);
    columns.push(("failed_trials", failures.map_or(0, |failures| failures.failed).into()));
    let file = verdict.contenders[contender].executed.engine.as_ref();
    columns.push(("engine_sha256", file.map(|file| &*file.sha256).into()));
    columns.push(("run_file", verdict.about.seals.to_string().as_str().into()));
    columns
}

/// The kind of each client.
fn kind_of_client(processes: bool) -> &'static str {
    if processes { "processes" } else { "threads" }
}
