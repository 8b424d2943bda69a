//! All tests and contenders at a glance.

use dyno_record::{ContenderRecord, Run};
use dyno_verdict::{Cell, CellStanding, LevelRanking, TestVerdict, Verdict};
use serde::Serialize;

use super::charts::{self, Figure, RatioRow, grouped};
use super::sections::anchor;
use super::words;
use crate::grid::{self, Detail};
use crate::{Measure, units};

/// With more contenders than this, and fewer tests, each contender has a row and each test a column.
const IN_A_ROW: usize = 6;

/// The summary chart and the table below it.
#[derive(Debug, Serialize)]
pub(super) struct Overview {
    /// Geometric means within each level; absent where nobody has a rival.
    figure: Option<Figure>,
    /// What the rows are: `Test` or `Contender`.
    corner: &'static str,
    columns: Vec<Heading>,
    rows: Vec<GlanceRow>,
    /// Whether figures are rates, so that a ratio goes the other way.
    rates: bool,
}

/// What a row or a column stands for.
#[derive(Debug, Serialize)]
struct Heading {
    /// A test's id.
    id: Option<String>,
    /// A test's title, or a contender's label.
    name: String,
    /// A contender's level, or what is counted in a test.
    below: String,
    anchor: String,
}

/// A row of figures.
#[derive(Debug, Serialize)]
struct GlanceRow {
    heading: Heading,
    cells: Vec<GlanceCell>,
}

/// A contender in a test: its figure and, but for the baseline, the ratio.
#[derive(Debug, Serialize)]
struct GlanceCell {
    figure: String,
    ratio: Option<String>,
    /// The figure as a number, by which to sort.
    value: Option<f64>,
    fastest: bool,
    /// Whether the figures do not count.
    bad: bool,
}

pub(super) fn overview(run: &Run, verdict: &Verdict, rankings: &[LevelRanking]) -> Overview {
    let contenders = run.shown_contenders().count();
    let (corner, columns, rows) = match contenders > IN_A_ROW && contenders > verdict.tests.len() {
        true => (
            "Contender",
            verdict.tests.iter().map(|judged| column(run, judged)).collect(),
            by_contender(run, verdict),
        ),
        false => {
            let columns = run.shown_contenders().map(|(index, _)| contender(run, index)).collect();
            ("Test", columns, verdict.tests.iter().map(|judged| test(run, judged)).collect())
        }
    };
    let rates = run.suite.figure == dyno_record::Figure::Rate;
    Overview { figure: figure(run, rankings), corner, columns, rows, rates }
}

/// A test's row.
fn test(run: &Run, judged: &TestVerdict) -> GlanceRow {
    let heading = Heading {
        id: Some(judged.id.clone()),
        name: judged.title.clone(),
        below: String::new(),
        anchor: anchor(&judged.id),
    };
    GlanceRow { heading, cells: judged.cells.iter().map(|found| cell(run, judged, found)).collect() }
}

/// A row for each contender: the safest first, the harness last, and within a level as they were named.
fn by_contender(run: &Run, verdict: &Verdict) -> Vec<GlanceRow> {
    let place = |record: &ContenderRecord| match record.harness {
        true => words::LEVELS.len(),
        false => words::place(words::level(record)),
    };
    let row = |(column, (index, record)): (usize, (usize, &ContenderRecord))| {
        let cells = verdict.tests.iter().map(|judged| cell(run, judged, &judged.cells[column]));
        (place(record), GlanceRow { heading: contender(run, index), cells: cells.collect() })
    };
    let mut rows: Vec<(usize, GlanceRow)> = run.shown_contenders().enumerate().map(row).collect();
    rows.sort_by_key(|(place, _)| *place);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn contender(run: &Run, index: usize) -> Heading {
    let record = &run.contenders[index];
    let baseline = if index == run.baseline_index() { " · baseline" } else { "" };
    Heading {
        id: None,
        name: record.label.clone(),
        below: format!("{}{baseline}", grid::level_name(record)),
        anchor: super::contenders::anchor(index),
    }
}

/// A test where there is no room for its title.
fn column(run: &Run, judged: &TestVerdict) -> Heading {
    Heading {
        id: None,
        name: judged.id.clone(),
        below: Measure::of(run, &judged.id).unit().map_or("".into(), |unit| format!("{unit}/s")),
        anchor: anchor(&judged.id),
    }
}

fn cell(run: &Run, judged: &TestVerdict, cell: &Cell) -> GlanceCell {
    let measure = Measure::of(run, &judged.id);
    GlanceCell {
        figure: grid::figure(run, &judged.id, cell),
        ratio: (cell.contender != run.baseline_index()).then(|| grid::ratio_of(cell, Detail::Ratio)),
        value: cell.figures.summary.map(|summary| measure.value(summary.median)),
        fastest: cell.fastest,
        bad: !matches!(cell.standing, CellStanding::Counts | CellStanding::NotApplicable),
    }
}

/// Each level's contenders against its fastest.
fn figure(run: &Run, rankings: &[LevelRanking]) -> Option<Figure> {
    let ranked: Vec<&LevelRanking> =
        rankings.iter().filter(|ranking| ranking.ranks.len() > 1 && ranking.tests > 0).collect();
    let tests = ranked.iter().map(|ranking| ranking.tests).max()?;
    let groups = ranked.iter().map(|ranking| (words::heading(Some(ranking.level)), lines(run, ranking)));
    let said: Vec<String> = ranked
        .iter()
        .flat_map(|ranking| &ranking.ranks)
        .map(|rank| {
            let times = rank.ratio.map_or("the fastest".into(), |ratio| words::ratio_with_interval(&ratio));
            format!("{}: {times}", run.contenders[rank.contender].label)
        })
        .collect();
    let rows = grouped(groups.collect(), true);
    let count = rows.len();
    Some(Figure::new(
        format!(
            "Geometric mean of times, compared with the fastest of each safety level. {}",
            said.join("; ")
        ),
        &format!(
            "Geometric mean of the times of {}, compared with the fastest contender that is equally safe, with its 95 % \
             interval. ≈ too close to call: the interval includes 1.00. A mean mixes unlike tests, so look at each of \
             them below. Nobody is ranked across safety levels.",
            words::counted(tests, "test")
        ),
        count,
        &charts::ratios(rows, false),
    ))
}

fn lines(run: &Run, ranking: &LevelRanking) -> Vec<RatioRow> {
    let line = |rank: &dyno_verdict::Rank| {
        let label = &run.contenders[rank.contender].label;
        let colour = charts::colour(run, rank.contender);
        match rank.ratio {
            Some(ratio) => {
                let mut row = charts::ratio_row(label, colour, &ratio, false);
                if !ratio.is_difference() {
                    row.text.push_str(" ≈");
                }
                row
            }
            None => RatioRow {
                label: label.clone(),
                colour,
                text: if rank.fastest { "fastest".into() } else { crate::ratio(1.0) },
                ratio: 1.0,
                interval: None,
            },
        }
    };
    ranking.ranks.iter().map(line).collect()
}

/// A duration for people, or a dash.
pub(super) fn time(nanoseconds: Option<f64>) -> String {
    nanoseconds.map_or("–".into(), units::duration)
}
