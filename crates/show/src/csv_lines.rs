//! The results as CSV: a line for each test and contender, durations in nanoseconds, sizes in bytes.

use anyhow::{Context, Result};
use csv::Writer;
use dyno_record::Run;
use dyno_verdict::statistics::Difference;
use dyno_verdict::{Cell, CellStanding, TestVerdict, Verdict};
use serde::Serialize;

/// One line. `docs/run-file.md` explains the columns.
#[derive(Debug, Serialize)]
struct Line<'a> {
    suite: &'a str,
    test: &'a str,
    title: &'a str,
    contender: &'a str,
    level: Option<&'static str>,
    standing: &'static str,
    samples: usize,
    undisturbed: usize,
    median_ns: Option<f64>,
    sd_ns: Option<f64>,
    min_ns: Option<f64>,
    max_ns: Option<f64>,
    low_ns: Option<f64>,
    high_ns: Option<f64>,
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    difference: Option<&'static str>,
    fastest: bool,
    operations: Option<f64>,
    rows: Option<f64>,
    user_ns: Option<f64>,
    system_ns: Option<f64>,
    wait_ns: Option<f64>,
    device_read_bytes: Option<f64>,
    device_written_bytes: Option<f64>,
    peak_memory_bytes: Option<f64>,
    database_bytes: Option<f64>,
}

/// All lines, with a header.
pub fn render(run: &Run, verdict: &Verdict) -> Result<String> {
    let mut writer = Writer::from_writer(Vec::new());
    for test in &verdict.tests {
        for cell in &test.cells {
            writer.serialize(line(run, test, cell)).context("cannot write CSV")?;
        }
    }
    let bytes = writer.into_inner().context("cannot write CSV")?;
    String::from_utf8(bytes).context("cannot write CSV")
}

fn line<'a>(run: &'a Run, test: &'a TestVerdict, cell: &Cell) -> Line<'a> {
    let contender = &run.contenders[cell.contender];
    let summary = cell.figures.summary;
    let interval = summary.and_then(|summary| summary.interval);
    let costs = cell.figures.costs.as_ref();
    let ratio = cell.ratio;
    Line {
        suite: &run.suite.name,
        test: &test.id,
        title: &test.title,
        contender: &contender.label,
        level: contender.safety.as_ref().map(|safety| safety.level.name()),
        standing: match cell.standing {
            CellStanding::Counts => "counts",
            CellStanding::Wrong(_) => "wrong",
            CellStanding::Missing(_) => "missing",
            CellStanding::NotApplicable => "not-applicable",
            CellStanding::NotEncrypted => "not-encrypted",
        },
        samples: cell.figures.samples,
        undisturbed: cell.figures.undisturbed,
        median_ns: summary.map(|summary| summary.median),
        sd_ns: summary.and_then(|summary| summary.sd),
        min_ns: summary.map(|summary| summary.min),
        max_ns: summary.map(|summary| summary.max),
        low_ns: interval.map(|interval| interval.low),
        high_ns: interval.map(|interval| interval.high),
        ratio: ratio.map(|ratio| ratio.ratio),
        ratio_low: ratio.and_then(|ratio| ratio.interval).map(|interval| interval.low),
        ratio_high: ratio.and_then(|ratio| ratio.interval).map(|interval| interval.high),
        difference: cell.difference.map(|difference| match difference {
            Difference::Faster => "faster",
            Difference::Slower => "slower",
            Difference::None(_) => "none",
        }),
        fastest: cell.fastest,
        operations: costs.map(|costs| costs.operations),
        rows: costs.map(|costs| costs.rows),
        user_ns: costs.map(|costs| costs.user_ns),
        system_ns: costs.map(|costs| costs.system_ns),
        wait_ns: costs.map(|costs| costs.wait_ns),
        device_read_bytes: costs.map(|costs| costs.device_read_bytes),
        device_written_bytes: costs.map(|costs| costs.device_written_bytes),
        peak_memory_bytes: costs.map(|costs| costs.peak_memory_bytes),
        database_bytes: costs.map(|costs| costs.database_bytes),
    }
}
