//! All tests and contenders at a glance.

use serde::Serialize;

use super::charts::{self, Figure, RatioRow, grouped};
use super::sections::anchor;
use super::words;
use crate::output::grid::{self, Detail};
use crate::output::{self, units};
use crate::record::Run;
use crate::verdict::{CellStanding, LevelRanking, Verdict};

/// The summary chart and the table below it.
#[derive(Debug, Serialize)]
pub(super) struct Overview {
    /// Geometric means within each level; absent where nobody has a rival.
    figure: Option<Figure>,
    contenders: Vec<Column>,
    rows: Vec<GlanceRow>,
}

/// A contender's columns.
#[derive(Debug, Serialize)]
struct Column {
    label: String,
    level: String,
    baseline: bool,
    anchor: String,
}

/// A test's row.
#[derive(Debug, Serialize)]
struct GlanceRow {
    id: String,
    title: String,
    anchor: String,
    cells: Vec<GlanceCell>,
}

/// A contender in a test: its time and, but for the baseline, the ratio.
#[derive(Debug, Serialize)]
struct GlanceCell {
    time: String,
    ratio: Option<String>,
    /// Nanoseconds, by which to sort.
    value: Option<f64>,
    fastest: bool,
    /// Whether the figures do not count.
    bad: bool,
}

pub(super) fn overview(run: &Run, verdict: &Verdict, rankings: &[LevelRanking]) -> Overview {
    let baseline = run.baseline_index();
    let contenders = run.shown_contenders().map(|(index, contender)| Column {
        label: contender.label.clone(),
        level: grid::level_name(contender),
        baseline: index == baseline,
        anchor: super::contenders::anchor(index),
    });
    let rows = verdict.tests.iter().map(|test| GlanceRow {
        id: test.id.clone(),
        title: test.title.clone(),
        anchor: anchor(&test.id),
        cells: test
            .cells
            .iter()
            .map(|cell| GlanceCell {
                time: grid::figure(run, &test.id, cell),
                ratio: (cell.contender != baseline).then(|| grid::ratio_of(cell, Detail::Ratio)),
                value: cell.figures.summary.map(|summary| summary.median),
                fastest: cell.fastest,
                bad: !matches!(cell.standing, CellStanding::Counts | CellStanding::NotApplicable),
            })
            .collect(),
    });
    Overview { figure: figure(run, rankings), contenders: contenders.collect(), rows: rows.collect() }
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
            "Geometric mean of times over those of the fastest of each safety level. {}",
            said.join("; ")
        ),
        &format!(
            "Geometric mean of the times of {} over those of the fastest with the same safety, with its 95 % interval; \
             ≈ means that no difference may be claimed. A mean of unlike things; nobody is ranked across safety levels.",
            words::counted(tests, "test")
        ),
        count,
        &charts::ratios(rows, false),
    ))
}

fn lines(run: &Run, ranking: &LevelRanking) -> Vec<RatioRow> {
    let line = |rank: &crate::verdict::Rank| {
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
                text: if rank.fastest { "fastest".into() } else { output::ratio(1.0) },
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
