//! All tests and contenders at a glance.

use dyno_record::{ContenderRecord, Quantity};
use dyno_verdict::{Cell, LevelRanking, Rank, TestVerdict, Verdict};
use serde::Serialize;

use super::anchors;
use super::charts::{self, Figure, RatioRow, grouped};
use super::sections::figure_of;
use super::sortable::Sortable;
use super::words;
use crate::figure::{self, Detail};
use crate::headings;
use crate::units;

/// With more contenders than this, and fewer tests, each contender has a row and each test a column.
const IN_A_ROW: usize = 6;

/// The summary chart and the table below it.
#[derive(Debug, Serialize)]
pub(super) struct Overview {
    /// Geometric means within each level; absent if no contender has a rival.
    figure: Option<Figure>,
    /// The kind of the rows: `Test` or `Contender`.
    corner: &'static str,
    columns: Vec<Heading>,
    rows: Vec<GlanceRow>,
    /// True if there are contenders to compare with the baseline.
    ratios: bool,
}

/// The item that a row or a column shows.
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
    figure: Sortable,
    ratio: Option<String>,
    fastest: bool,
    /// True if the figures do not count.
    bad: bool,
}

pub(super) fn overview(verdict: &Verdict) -> Overview {
    let contenders = verdict.shown_contenders().count();
    let (corner, columns, rows) = match contenders > IN_A_ROW && contenders > verdict.tests.len() {
        true => ("Contender", verdict.tests.iter().map(column).collect(), by_contender(verdict)),
        false => {
            let columns = verdict.shown_contenders().map(|(index, _)| contender(verdict, index)).collect();
            ("Test", columns, verdict.tests.iter().flat_map(|judged| test(verdict, judged)).collect())
        }
    };
    Overview { figure: figure(verdict), corner, columns, rows, ratios: contenders > 1 }
}

/// A test's rows, one for each quantity: its own has the test's id and title.
fn test(verdict: &Verdict, judged: &TestVerdict) -> impl Iterator<Item = GlanceRow> {
    judged.lines().enumerate().map(|(nth, (quantity, cells))| GlanceRow {
        heading: Heading {
            id: (nth == 0).then(|| judged.id.clone()),
            name: if nth == 0 { judged.title.clone() } else { quantity.to_string() },
            below: String::new(),
            anchor: anchors::test(&judged.id),
        },
        cells: cells.iter().map(|found| cell(verdict, judged, quantity, found)).collect(),
    })
}

/// A row for each contender: the safest first, the harness last, and within a level as they were named.
fn by_contender(verdict: &Verdict) -> Vec<GlanceRow> {
    let place = |record: &ContenderRecord| match record.harness {
        true => words::LEVELS.len(),
        false => words::place(words::level(record)),
    };
    let row = |(column, (index, record)): (usize, (usize, &ContenderRecord))| {
        let cells =
            verdict.tests.iter().map(|judged| cell(verdict, judged, &judged.quantity, &judged.cells[column]));
        (place(record), GlanceRow { heading: contender(verdict, index), cells: cells.collect() })
    };
    let mut rows: Vec<(usize, GlanceRow)> = verdict.shown_contenders().enumerate().map(row).collect();
    rows.sort_by_key(|(place, _)| *place);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn contender(verdict: &Verdict, index: usize) -> Heading {
    let record = &verdict.contenders[index];
    let baseline = if index == verdict.baseline { " · baseline" } else { "" };
    Heading {
        id: None,
        name: record.label.clone(),
        below: format!("{}{baseline}", headings::survives(verdict, index)),
        anchor: anchors::contender(index),
    }
}

/// A test where there is no room for its title.
fn column(judged: &TestVerdict) -> Heading {
    Heading {
        id: None,
        name: judged.id.clone(),
        below: judged.quantity.amount().map_or("".into(), |amount| format!("{}/s", amount.unit)),
        anchor: anchors::test(&judged.id),
    }
}

/// A ratio stands where it counts: that of a test outside of the means, such as of filling or settling, is in the test's
/// own table. Words for what is wrong stand everywhere.
fn cell(verdict: &Verdict, judged: &TestVerdict, quantity: &Quantity, cell: &Cell) -> GlanceCell {
    let bad = !cell.standing.is_fine();
    let is_compared = cell.contender != verdict.baseline && (judged.is_of_means() || bad);
    GlanceCell {
        figure: figure_of(quantity, cell),
        ratio: is_compared.then(|| figure::ratio_of(quantity, cell, Detail::Ratio)),
        fastest: cell.fastest,
        bad,
    }
}

/// Each level's contenders against its fastest.
fn figure(verdict: &Verdict) -> Option<Figure> {
    let ranked: Vec<&LevelRanking> =
        verdict.rankings.iter().filter(|ranking| ranking.ranks.len() > 1 && ranking.tests > 0).collect();
    let tests = ranked.iter().map(|ranking| ranking.tests).max()?;
    let groups = ranked.iter().map(|ranking| (words::class(&ranking.class), lines(verdict, ranking)));
    let said: Vec<String> = ranked
        .iter()
        .flat_map(|ranking| &ranking.ranks)
        .map(|rank| {
            let times = match (&rank.ratio, rank.fastest, rank.failed) {
                (Some(ratio), ..) => words::ratio_with_interval(ratio),
                (None, true, _) => "the fastest".to_owned(),
                (None, _, true) => "trials failed".to_owned(),
                (None, ..) => "the least mean, and not shown to be the fastest".to_owned(),
            };
            format!("{}: {times}{}", verdict.contenders[rank.contender].label, mark(verdict, rank))
        })
        .collect();
    let rows = grouped(groups.collect(), true);
    let count = rows.len();
    Some(Figure::new(
        format!(
            "Geometric mean of times, compared with the least of those ranked together. {}",
            said.join("; ")
        ),
        &format!(
            "Geometric mean of the times of {}, compared with the least of the contenders that are equally safe and commit as \
             much at a time, with its 95% interval. Not shown to be slower by more than {}, once all comparisons of the \
             table are counted: ≈ where the interval excludes it, ? where the trials do not decide. A mean mixes unlike tests, so \
             look at each of them below. dyno ranks none across safety levels or commit sizes.",
            words::counted(tests, "test"),
            units::percent(verdict.about.schedule.margin)
        ),
        count,
        &charts::ratios(rows, false),
    ))
}

/// The mark of a contender that is not shown to be slower than the first of its ranking.
fn mark(verdict: &Verdict, rank: &Rank) -> &'static str {
    match rank.ratio {
        Some(ratio) if !rank.slower && ratio.is_within(verdict.about.schedule.margin) => " ≈",
        Some(_) if !rank.slower => " ?",
        _ => "",
    }
}

fn lines(verdict: &Verdict, ranking: &LevelRanking) -> Vec<RatioRow> {
    let line = |rank: &Rank| {
        let label = verdict.label(rank.contender);
        let colour = charts::colour(verdict, rank.contender);
        match rank.ratio {
            Some(ratio) => {
                let mut row = charts::ratio_row(label, colour, &ratio, false);
                row.text.push_str(mark(verdict, rank));
                row
            }
            None => RatioRow {
                label: label.to_owned(),
                colour,
                text: if rank.fastest { "fastest".into() } else { crate::ratio(1.0) },
                ratio: 1.0,
                interval: None,
            },
        }
    };
    ranking.ranks.iter().filter(|rank| !rank.failed).map(line).collect()
}
