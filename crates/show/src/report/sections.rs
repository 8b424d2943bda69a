//! One section for each test: what was asked, every sample, the table.

use dyno_verdict::answers::Reference;
use dyno_verdict::{Cell, CellStanding, Measure, ResponseVerdict, TestVerdict, Verdict};
use serde::Serialize;

use super::anchors;
use super::charts::{self, Figure, Samples, grouped};
use super::words;
use crate::grid::{self, Detail};
use crate::{measure, units};

/// A test.
#[derive(Debug, Serialize)]
pub(super) struct TestSection {
    id: String,
    anchor: String,
    title: String,
    shows: String,
    model: String,
    first: Vec<String>,
    /// The number of statements omitted between the first and the last.
    omitted: u64,
    last: Vec<String>,
    figure: Figure,
    /// The unit that rates count: `rows` or `operations`.
    unit: Option<String>,
    rows: Vec<TestRow>,
    /// Durations of the slow operations of each class.
    responses: Vec<ResponseTable>,
    published: Vec<(String, String)>,
    /// The source of the right answer.
    reference: Option<String>,
    floor: Option<String>,
}

/// Durations of the slow operations of a class.
#[derive(Debug, Serialize)]
struct ResponseTable {
    title: String,
    rows: Vec<TestRow>,
}

/// A contender in the test's table.
#[derive(Debug, Serialize)]
struct TestRow {
    label: String,
    anchor: String,
    colour: usize,
    level: &'static str,
    /// The median with its spread and marks.
    figure: String,
    /// The median as a number; by these the table is sorted.
    value: Option<f64>,
    /// The median duration, where figures are rates.
    time: String,
    nanoseconds: Option<f64>,
    interval: String,
    range: String,
    samples: String,
    used: usize,
    ratio: String,
    ratio_value: Option<f64>,
    cpu: String,
    cpu_ns: Option<f64>,
    written: String,
    written_bytes: Option<f64>,
    memory: String,
    memory_bytes: Option<f64>,
    fastest: bool,
    /// The reason why the figures do not count.
    trouble: Option<String>,
}

pub(super) fn sections(verdict: &Verdict) -> Vec<TestSection> {
    // Of those whose rate was sought there is a view.
    let tests = verdict.tests.iter().filter(|test| !test.is_sought());
    tests.map(|test| section(verdict, test)).collect()
}

fn section(verdict: &Verdict, test: &TestVerdict) -> TestSection {
    let shown = (test.first.len() + test.last.len()) as u64;
    TestSection {
        id: test.id.clone(),
        anchor: anchors::test(&test.id),
        title: test.title.clone(),
        shows: test.shows.clone(),
        model: test.model.clone(),
        first: test.first.clone(),
        omitted: test.statements.saturating_sub(shown),
        last: test.last.clone(),
        figure: figure(verdict, test),
        unit: test.measure().unit().map(String::from),
        rows: test.cells.iter().map(|cell| row(verdict, test.measure(), cell)).collect(),
        responses: test.responses.iter().map(|response| responses(verdict, response)).collect(),
        published: test
            .published
            .iter()
            .map(|(system, seconds)| (system.clone(), published_text(test.measure(), *seconds)))
            .collect(),
        reference: test.reference.as_ref().map(|reference| known_by(verdict, reference)),
        floor: test.floor_ns.map(units::duration),
    }
}

/// A published figure; those of old pages are seconds with three decimals.
fn published_text(shown_as: Measure, seconds: f64) -> String {
    match shown_as {
        Measure::Time => format!("{seconds:.3} s"),
        Measure::Rate(_) => measure::text(shown_as, seconds * 1e9),
    }
}

fn known_by(verdict: &Verdict, reference: &Reference) -> String {
    let label = |contender: &usize| verdict.label(*contender);
    match reference {
        Reference::Stated => "the suite states it".into(),
        Reference::Majority { contender } => {
            format!("most engines agree, {} among them", label(contender))
        }
        Reference::OneEngine { contender } => format!(
            "all answers agree, and all are of {}, so no other engine confirms them",
            verdict.contenders[*contender].engine
        ),
        Reference::Disputed => {
            "not known: answers differ, and no more engines agree on one than on another".into()
        }
        Reference::Absent => "no contender gave one".into(),
    }
}

fn responses(verdict: &Verdict, response: &ResponseVerdict) -> ResponseTable {
    let rows = response.cells.iter().map(|cell| row(verdict, Measure::Time, cell));
    ResponseTable { title: response.title(), rows: rows.collect() }
}

fn row(verdict: &Verdict, shown_as: Measure, cell: &Cell) -> TestRow {
    let contender = &verdict.contenders[cell.contender];
    let summary = cell.figures.summary;
    let costs = cell.figures.costs.as_ref();
    let cpu = costs.map(|costs| costs.user_ns + costs.system_ns);
    let bytes = |bytes: Option<f64>| bytes.map_or("–".into(), units::bytes);
    let written = costs.map(|costs| costs.device_written_bytes);
    let memory = costs.map(|costs| costs.peak_memory_bytes);
    let left_out = cell.figures.samples - cell.figures.undisturbed;
    let samples = match (cell.figures.samples, left_out, cell.figures.rests_on_disturbed) {
        (all, 0, _) => all.to_string(),
        (all, disturbed, true) => format!("{all} ({disturbed} disturbed)"),
        (all, disturbed, false) => format!("{} of {all}", all - disturbed),
    };
    TestRow {
        label: contender.label.clone(),
        anchor: anchors::contender(cell.contender),
        colour: charts::colour(verdict, cell.contender),
        level: words::short(contender),
        figure: grid::figure(shown_as, cell),
        value: summary.map(|summary| shown_as.value(summary.median)),
        time: units::duration_or_dash(summary.map(|summary| summary.median)),
        nanoseconds: summary.map(|summary| summary.median),
        interval: summary
            .and_then(|summary| summary.interval)
            .map_or("–".into(), |ends| measure::span(shown_as, ends.low, ends.high)),
        range: summary.map_or("–".into(), |summary| measure::span(shown_as, summary.min, summary.max)),
        samples,
        used: cell.figures.samples,
        ratio: match cell.contender == verdict.baseline {
            true => "baseline".into(),
            false => grid::ratio_of(shown_as, cell, Detail::Interval),
        },
        ratio_value: match cell.contender == verdict.baseline {
            true => Some(1.0),
            false => cell.ratio.map(|ratio| ratio.ratio),
        },
        cpu: units::duration_or_dash(cpu),
        cpu_ns: cpu,
        written: bytes(written),
        written_bytes: written,
        memory: bytes(memory),
        memory_bytes: memory,
        fastest: cell.fastest,
        trouble: match &cell.standing {
            CellStanding::Counts if cell.failed => Some(
                "Trials failed: these figures are of the others, and dyno compares them with none".into(),
            ),
            CellStanding::Counts
            | CellStanding::NotApplicable
            | CellStanding::NotReached
            | CellStanding::TooFew
            | CellStanding::Uneven(_)
            | CellStanding::Sought => None,
            CellStanding::NotEncrypted => Some("Not encrypted, as far as its files show".into()),
            CellStanding::NotIsolated => {
                Some("Its transactions show what its isolation level forbids".into())
            }
            CellStanding::Wrong(why) => Some(format!("Wrong answer: {why}")),
            CellStanding::Disputed(why) => Some(format!("No answer is known to be right: {why}")),
            CellStanding::Missing(why) => Some(format!("Failed: {why}")),
            CellStanding::Untried => Some("The run was stopped before it measured this".into()),
        },
    }
}

/// Every sample of every contender, those of one level together, the fastest of them first.
fn figure(verdict: &Verdict, test: &TestVerdict) -> Figure {
    let mut cells: Vec<&Cell> = test.cells.iter().collect();
    let median = |cell: &Cell| cell.figures.summary.map_or(f64::INFINITY, |summary| summary.median);
    cells.sort_by(|a, b| median(a).total_cmp(&median(b)));
    let groups = words::LEVELS.map(|level| {
        let of_level = cells.iter().filter(|cell| words::level(&verdict.contenders[cell.contender]) == level);
        (words::heading(level), of_level.map(|cell| line(verdict, test, cell)).collect::<Vec<_>>())
    });
    let said: Vec<String> = cells
        .iter()
        .map(|cell| {
            format!("{}: {}", verdict.contenders[cell.contender].label, grid::figure(test.measure(), cell))
        })
        .collect();
    let rows = grouped(groups.to_vec(), false);
    let lines = rows.len();
    let chart = charts::samples(rows, test.measure().count());
    let mut caption = Vec::new();
    if let Some(unit) = test.measure().unit() {
        caption.push(format!("{} a second: further to the right is faster.", words::capitalized(unit)));
    }
    if matches!(chart, charts::Chart::Samples { log: true, .. }) {
        caption.push("Logarithmic scale.".into());
    }
    let label = format!("Samples of test {}. Medians: {}", test.id, said.join("; "));
    Figure::new(label, &caption.join(" "), lines, &chart)
}

fn line(verdict: &Verdict, test: &TestVerdict, cell: &Cell) -> Samples {
    let summary = cell.figures.summary;
    // Whole nanoseconds are enough for a dot.
    let whole = |samples: &[(u32, f64)]| samples.iter().map(|&(block, ns)| (block, ns as u64)).collect();
    Samples {
        label: verdict.label(cell.contender).to_owned(),
        colour: charts::colour(verdict, cell.contender),
        text: match (&cell.standing, summary) {
            (CellStanding::Wrong(_), Some(summary)) => {
                format!("{} ✗ wrong", measure::text(test.measure(), summary.median))
            }
            (CellStanding::Disputed(_), Some(summary)) => {
                format!("{} ✗ disputed", measure::text(test.measure(), summary.median))
            }
            _ => grid::figure(test.measure(), cell),
        },
        median: summary.map(|summary| summary.median),
        interval: summary.and_then(|summary| summary.interval),
        used: whole(&cell.points.used),
        left_out: whole(&cell.points.left_out),
    }
}
