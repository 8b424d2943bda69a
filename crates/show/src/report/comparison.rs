//! The subject of the page against each of the runs before it.

use dyno_record::Quantity;
use dyno_verdict::statistics::{Difference, NoDifference};
use dyno_verdict::{
    CellComparison, Comparison, CountComparison, JointVerdict, Outcome, TestComparison, Verdict,
};
use serde::Serialize;

use super::charts::{self, Figure, RatioRow, grouped};
use super::sortable::Sortable;
use super::{PageSource, words};
use crate::comparison::functions;
use crate::figure::{counts_ratio, mark_of};
use crate::grid::Grid;
use crate::views::sustained::words as sustained_words;

/// One comparison.
#[derive(Debug, Serialize)]
pub(super) struct Compared {
    anchor: String,
    /// The file of the older run, and when it began.
    name: String,
    started: String,
    figure: Option<Figure>,
    rows: Vec<ComparedRow>,
    /// A table for each contender whose functions differ, and what its numbers mean.
    functions: Vec<FunctionTable>,
    function_notes: Vec<String>,
    /// Other differences between the runs.
    changes: Vec<String>,
}

/// A contender in a test.
#[derive(Debug, Serialize)]
struct ComparedRow {
    test: String,
    title: String,
    contender: String,
    old: Sortable,
    new: Sortable,
    ratio: Sortable,
    word: String,
}

/// The functions of a contender.
#[derive(Debug, Serialize)]
struct FunctionTable {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The last run against each of the others that did the same work.
pub(super) fn comparisons(sources: &[PageSource], verdict: &Verdict, beside: &JointVerdict) -> Vec<Compared> {
    let compared = beside.comparisons.iter().enumerate();
    compared.map(|(place, (old, found))| compared_with(place, &sources[*old], verdict, found)).collect()
}

fn compared_with(place: usize, old: &PageSource, verdict: &Verdict, comparison: &Comparison) -> Compared {
    let rows = comparison.tests.iter().flat_map(|test| {
        let quantity = verdict.test(&test.id).map_or(&Quantity::Time, |test| &test.quantity);
        let figure = move |judged: Option<f64>, sustained: Option<Outcome>| match sustained {
            Some(outcome) => {
                Sortable { text: sustained_words::outcome(&outcome), number: outcome.per_second() }
            }
            None => Sortable::of(quantity, judged),
        };
        let own = test.cells.iter().zip(&comparison.contenders).map(move |(cell, contender)| ComparedRow {
            test: test.id.clone(),
            title: test.title.clone(),
            contender: contender.clone(),
            old: figure(cell.old_ns, cell.old_sustained),
            new: figure(cell.new_ns, cell.new_sustained),
            ratio: Sortable {
                text: cell.ratio.map_or("–".into(), |ratio| words::ratio_with_interval(&ratio)),
                number: cell.ratio.map(|ratio| ratio.ratio),
            },
            word: word(cell),
        });
        own.chain(test.counts.iter().flat_map(move |count| counted(test, count, &comparison.contenders)))
    });
    let started = old.verdict.about.started.chars().take(16);
    Compared {
        anchor: format!("compared-{place}"),
        name: old.name.clone(),
        started: started.map(|c| if c == 'T' { ' ' } else { c }).collect(),
        figure: figure(comparison, verdict),
        rows: rows.collect(),
        functions: functions::grids(comparison)
            .map(|Grid { header, rows }| FunctionTable { header, rows })
            .collect(),
        function_notes: functions::notes(comparison),
        changes: comparison.changes.clone(),
    }
}

/// The rows of an event that both runs counted.
fn counted<'a>(
    test: &'a TestComparison,
    count: &'a CountComparison,
    contenders: &'a [String],
) -> impl Iterator<Item = ComparedRow> + 'a {
    let quantity = Quantity::Count { event: count.event.clone() };
    count.cells.iter().zip(contenders).map(move |(cell, contender)| ComparedRow {
        test: test.id.clone(),
        title: quantity.to_string(),
        contender: contender.clone(),
        old: Sortable::of(&quantity, cell.old),
        new: Sortable::of(&quantity, cell.new),
        ratio: Sortable {
            text: counts_ratio(cell.ratio.as_ref(), cell.difference),
            number: cell.ratio.map(|ratio| ratio.ratio),
        },
        word: match cell.difference {
            Some(Difference::Faster) => "fewer".into(),
            Some(Difference::Slower) => "more".into(),
            Some(Difference::None(NoDifference::TooFewSamples)) => "? does not repeat to the digit".into(),
            Some(Difference::None(_)) | None => String::new(),
        },
    })
}

fn word(cell: &CellComparison) -> String {
    match (&cell.why_not, cell.difference) {
        (Some(why), _) => format!("not compared: {why}"),
        (None, Some(Difference::Faster)) => "faster".into(),
        (None, Some(Difference::Slower)) => "slower".into(),
        (None, Some(Difference::None(reason))) => {
            format!("{} {reason}", mark_of(cell.difference).trim_start())
        }
        (None, None) => String::new(),
    }
}

/// Each contender's tests, new over old.
fn figure(comparison: &Comparison, verdict: &Verdict) -> Option<Figure> {
    let groups: Vec<(&str, Vec<RatioRow>)> = comparison
        .contenders
        .iter()
        .enumerate()
        .map(|(place, label)| {
            let index = verdict.contenders.iter().position(|contender| contender.label == *label);
            let colour = index.map_or(0, |index| charts::colour(verdict, index));
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
            "The median of this run over the median of the older one, or where a rate was sought the older rate over this one; \
             further to the right is slower. The intervals hold for all comparisons together with 95% confidence.",
            rows.len(),
            &charts::ratios(rows, false),
        )
    })
}
