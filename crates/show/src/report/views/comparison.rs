//! The subject of the page against each of the runs before it.

use anyhow::{Context, Result};
use dyno_verdict::statistics::Difference;
use dyno_verdict::{CellComparison, Comparison, compare};
use serde::Serialize;

use crate::Measure;
use crate::report::charts::{self, Figure, RatioRow, grouped};
use crate::report::{Source, words};

/// One comparison.
#[derive(Debug, Serialize)]
pub(in crate::report) struct Compared {
    anchor: String,
    /// The file of the older run, and when it began.
    name: String,
    started: String,
    figure: Option<Figure>,
    rows: Vec<ComparedRow>,
    /// What else is not alike.
    changes: Vec<String>,
}

/// A contender in a test.
#[derive(Debug, Serialize)]
struct ComparedRow {
    test: String,
    title: String,
    contender: String,
    old: String,
    old_value: Option<f64>,
    new: String,
    new_value: Option<f64>,
    ratio: String,
    ratio_value: Option<f64>,
    word: String,
}

/// The last run against each of the others that did the same work; those of other sizes are in [`super::scaling`].
pub(in crate::report) fn comparisons(sources: &[Source]) -> Result<Vec<Compared>> {
    let Some((new, older)) = sources.split_last() else { return Ok(Vec::new()) };
    let is_other_size = |old: &Source| {
        old.run.suite.name == new.run.suite.name && old.run.suite.parameters != new.run.suite.parameters
    };
    let alike = older.iter().filter(|old| !is_other_size(old));
    let compared = alike.enumerate().map(|(place, old)| {
        let comparison = compare(&old.run, &new.run)
            .with_context(|| format!("{} and {} cannot be compared", old.name, new.name))?;
        Ok(compared(place, old, new, comparison))
    });
    compared.collect()
}

fn compared(place: usize, old: &Source, new: &Source, comparison: Comparison) -> Compared {
    let rows = comparison.tests.iter().flat_map(|test| {
        let measure = Measure::of(&new.run, &test.id);
        let text = move |nanoseconds: Option<f64>| nanoseconds.map_or("–".into(), |ns| measure.text(ns));
        test.cells.iter().zip(&comparison.contenders).map(move |(cell, contender)| ComparedRow {
            test: test.id.clone(),
            title: test.title.clone(),
            contender: contender.clone(),
            old: text(cell.old_ns),
            old_value: cell.old_ns.map(|ns| measure.value(ns)),
            new: text(cell.new_ns),
            new_value: cell.new_ns.map(|ns| measure.value(ns)),
            ratio: cell.ratio.map_or("–".into(), |ratio| words::ratio_with_interval(&ratio)),
            ratio_value: cell.ratio.map(|ratio| ratio.ratio),
            word: word(cell),
        })
    });
    let rows = rows.collect();
    Compared {
        anchor: format!("compared-{place}"),
        name: old.name.clone(),
        started: old.run.started.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect(),
        figure: figure(&comparison, new),
        rows,
        changes: comparison.changes,
    }
}

fn word(cell: &CellComparison) -> String {
    match (&cell.why_not, cell.difference) {
        (Some(why), _) => format!("not compared: {why}"),
        (None, Some(Difference::Faster)) => "faster".into(),
        (None, Some(Difference::Slower)) => "slower".into(),
        (None, Some(Difference::None(reason))) => format!("≈ {reason}"),
        (None, None) => String::new(),
    }
}

/// Each contender's tests, new over old.
fn figure(comparison: &Comparison, new: &Source) -> Option<Figure> {
    let groups: Vec<(&str, Vec<RatioRow>)> = comparison
        .contenders
        .iter()
        .enumerate()
        .map(|(place, label)| {
            let index = new.run.contenders.iter().position(|contender| contender.label == *label);
            let colour = index.map_or(0, |index| charts::colour(&new.run, index));
            let lines = comparison.tests.iter().filter_map(|test| {
                let ratio = test.cells[place].ratio?;
                Some(charts::ratio_row(&format!("{} {}", test.id, test.title), colour, &ratio, false))
            });
            (label.as_str(), lines.collect())
        })
        .collect();
    let rows = grouped(groups, true);
    let slower = comparison.slower_than(0.0).len();
    (!rows.is_empty()).then(|| {
        Figure::new(
            format!(
                "Times of this run compared with the older one: {} slower. The table below has every figure.",
                words::counted(slower, "figure")
            ),
            "The median of this run over the median of the older one; further to the right is slower. The intervals hold for all \
             comparisons together with 95 % confidence.",
            rows.len(),
            &charts::ratios(rows, false),
        )
    })
}
