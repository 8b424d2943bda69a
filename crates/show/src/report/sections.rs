//! One section for each test: what was asked, every sample, the table.

use dyno_record::Quantity;
use dyno_verdict::answers::Reference;
use dyno_verdict::{Cell, CellStanding, Costs, TestVerdict, Verdict};
use serde::Serialize;

use super::anchors;
use super::charts::{self, Figure, Samples, grouped};
use super::sortable::Sortable;
use super::words;
use crate::figure::{self, Detail};
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
    /// The quantities besides the test's own.
    further: Vec<FurtherTable>,
    published: Vec<(String, String)>,
    /// The source of the right answer.
    reference: Option<String>,
    floor: Option<String>,
}

/// A quantity besides the test's own, such as the durations of the slow operations of a class.
#[derive(Debug, Serialize)]
struct FurtherTable {
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
    figure: Sortable,
    /// The median duration, where figures are rates.
    time: Sortable,
    interval: String,
    range: String,
    samples: Sortable,
    ratio: Sortable,
    cpu: Sortable,
    written: Sortable,
    memory: Sortable,
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
    // A mix has no statement of its own: the plan puts its description in that place.
    let is_described = test.statements == 1 && test.first.first() == Some(&test.shows);
    TestSection {
        id: test.id.clone(),
        anchor: anchors::test(&test.id),
        title: test.title.clone(),
        shows: test.shows.clone(),
        model: test.model.clone(),
        first: if is_described { Vec::new() } else { test.first.clone() },
        omitted: test.statements.saturating_sub(shown),
        last: test.last.clone(),
        figure: figure(verdict, test),
        unit: test.quantity.amount().map(|amount| amount.unit.clone()),
        rows: test.cells.iter().map(|cell| row(verdict, &test.quantity, cell)).collect(),
        further: test
            .further()
            .map(|measure| FurtherTable {
                title: measure.quantity.to_string(),
                rows: measure.cells.iter().map(|cell| row(verdict, &measure.quantity, cell)).collect(),
            })
            .collect(),
        published: test
            .published
            .iter()
            .map(|(system, seconds)| (system.clone(), published_text(&test.quantity, *seconds)))
            .collect(),
        reference: test.reference.as_ref().map(|reference| known_by(verdict, reference)),
        floor: test.floor_ns.map(units::duration),
    }
}

/// A published figure; those of old pages are seconds with three decimals.
fn published_text(quantity: &Quantity, seconds: f64) -> String {
    match quantity {
        Quantity::Time => format!("{seconds:.3} s"),
        _ => measure::text(quantity, measure::from_seconds(seconds)),
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

/// The figure of a cell with its spread and marks.
pub(super) fn figure_of(quantity: &Quantity, cell: &Cell) -> Sortable {
    Sortable {
        text: figure::figure(quantity, cell),
        number: cell.figures.summary.map(|summary| quantity.figure(summary.median)),
    }
}

fn row(verdict: &Verdict, quantity: &Quantity, cell: &Cell) -> TestRow {
    let contender = &verdict.contenders[cell.contender];
    let summary = cell.figures.summary;
    let costs = cell.figures.costs.as_ref();
    let cost = |of: fn(&Costs) -> f64, text: fn(f64) -> String| Sortable::new(costs.map(of), text);
    let span = |low, high| measure::span(quantity, low, high);
    let is_baseline = cell.contender == verdict.baseline;
    TestRow {
        label: contender.label.clone(),
        anchor: anchors::contender(cell.contender),
        colour: charts::colour(verdict, cell.contender),
        level: words::short(contender),
        figure: figure_of(quantity, cell),
        time: Sortable::of(&Quantity::Time, summary.map(|summary| summary.median)),
        interval: summary
            .and_then(|summary| summary.interval)
            .map_or("–".into(), |ends| span(ends.low, ends.high)),
        range: summary.map_or("–".into(), |summary| span(summary.min, summary.max)),
        samples: Sortable { text: samples(cell), number: Some(cell.figures.samples as f64) },
        ratio: match is_baseline {
            true => Sortable { text: "baseline".into(), number: Some(1.0) },
            false => Sortable {
                text: figure::ratio_of(quantity, cell, Detail::Interval),
                number: cell.ratio.map(|ratio| ratio.ratio),
            },
        },
        cpu: cost(|costs| costs.user_ns + costs.system_ns, units::duration),
        written: cost(|costs| costs.device_written_bytes, units::bytes),
        memory: cost(|costs| costs.peak_memory_bytes, units::bytes),
        fastest: cell.fastest,
        trouble: trouble(cell),
    }
}

/// The number of samples, with those that were left out or are disturbed.
fn samples(cell: &Cell) -> String {
    let left_out = cell.figures.samples - cell.figures.undisturbed;
    match (cell.figures.samples, left_out, cell.figures.rests_on_disturbed) {
        (all, 0, _) => all.to_string(),
        (all, disturbed, true) => format!("{all} ({disturbed} disturbed)"),
        (all, disturbed, false) => format!("{} of {all}", all - disturbed),
    }
}

/// The reason that a contender's figures are absent or not compared, where the mark in its cell does not say it.
fn trouble(cell: &Cell) -> Option<String> {
    match &cell.standing {
        CellStanding::Counts if cell.failed => {
            Some("Trials failed: these figures are of the others, and dyno compares them with none".into())
        }
        CellStanding::Counts
        | CellStanding::NotApplicable
        | CellStanding::NotReached
        | CellStanding::TooFew
        | CellStanding::Uneven(_)
        | CellStanding::Sought => None,
        CellStanding::AtLeast => {
            Some("Operations without success are among these: the time is longer than this".into())
        }
        CellStanding::NotEncrypted => Some("Not encrypted, as far as its files show".into()),
        CellStanding::NotIsolated => Some("Its transactions show what its isolation level forbids".into()),
        CellStanding::WeakGenerator(why) => {
            Some(format!("A machine that drove the clients was the limit: {why}"))
        }
        CellStanding::Wrong(why) => Some(format!("Wrong answer: {why}")),
        CellStanding::Disputed(why) => Some(format!("No answer is known to be right: {why}")),
        CellStanding::Missing(why) => Some(format!("Failed: {why}")),
        CellStanding::Untried => Some("The run was stopped before it measured this".into()),
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
            format!("{}: {}", verdict.contenders[cell.contender].label, figure::figure(&test.quantity, cell))
        })
        .collect();
    let rows = grouped(groups.to_vec(), false);
    let lines = rows.len();
    let chart = charts::samples(rows, test.quantity.amount().map(|amount| amount.count));
    let mut caption = Vec::new();
    if let Some(amount) = test.quantity.amount() {
        caption
            .push(format!("{} a second: further to the right is faster.", words::capitalized(&amount.unit)));
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
                format!("{} ✗ wrong", measure::text(&test.quantity, summary.median))
            }
            (CellStanding::Disputed(_), Some(summary)) => {
                format!("{} ✗ disputed", measure::text(&test.quantity, summary.median))
            }
            _ => figure::figure(&test.quantity, cell),
        },
        median: summary.map(|summary| summary.median),
        interval: summary.and_then(|summary| summary.interval),
        used: whole(&cell.points.used),
        left_out: whole(&cell.points.left_out),
    }
}
