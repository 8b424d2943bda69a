//! The time and the counts of an operation, as rows of text.

use dyno_record::Quantity;
use dyno_verdict::{Cell, TestVerdict, Verdict};

use crate::grid::Grid;
use crate::units;

/// From here on, a number of events has no fraction that would matter.
const WHOLE: f64 = 100.0;

/// A row for the time and for each event of each test with counts; none where each test is one operation, of which the
/// results have all counts.
pub fn counts(verdict: &Verdict) -> Option<Grid> {
    let counted = verdict.tests.iter().filter(|test| !test.counts.is_empty() && has_many(test));
    let rows: Vec<Vec<String>> = counted.flat_map(of_test).collect();
    let labels = verdict.shown_contenders().map(|(_, contender)| contender.label.clone());
    let header = [String::new(), "of each operation".to_owned()].into_iter().chain(labels);
    (!rows.is_empty()).then(|| Grid { header: header.collect(), rows })
}

/// True if a contender does several operations in a test.
fn has_many(test: &TestVerdict) -> bool {
    test.cells.iter().any(|cell| operations(cell).is_some_and(|operations| operations > 1.0))
}

fn of_test(test: &TestVerdict) -> Vec<Vec<String>> {
    let whole = test.amount.as_ref().map(|amount| amount.count);
    let row = |quantity: &Quantity, cells: &[Cell]| {
        let figures = test.cells.iter().zip(cells).map(|(own, cell)| {
            of_operation(whole, own, cell).map_or_else(|| "–".to_owned(), |value| figure(quantity, value))
        });
        [String::new(), quantity.to_string()].into_iter().chain(figures).collect::<Vec<String>>()
    };
    let occurred = |cells: &[Cell]| {
        cells.iter().any(|cell| cell.figures.summary.is_some_and(|summary| summary.max > 0.0))
    };
    let counts = test.counts.iter();
    let counts = counts.filter(|measure| occurred(&measure.cells) && !measure.quantity.is_peak());
    let mut rows = vec![row(&Quantity::Time, &test.cells)];
    rows.extend(counts.map(|measure| row(&measure.quantity, &measure.cells)));
    rows[0][0].clone_from(&test.id);
    rows
}

/// The part of an operation in a figure of a test; `own` is the contender's cell of the test itself, which does `whole`
/// operations: those that were not timed are worked out in the figure.
pub(crate) fn of_operation(whole: Option<u64>, own: &Cell, cell: &Cell) -> Option<f64> {
    let whole = whole.filter(|_| own.figures.extrapolated).map(|whole| whole as f64);
    let operations = whole.or_else(|| operations(own)).filter(|operations| *operations > 0.0)?;
    cell.figures.summary.map(|summary| summary.median / operations)
}

fn operations(cell: &Cell) -> Option<f64> {
    cell.figures.costs.as_ref().map(|costs| costs.operations)
}

fn figure(quantity: &Quantity, value: f64) -> String {
    match quantity {
        Quantity::Count { .. } if value >= WHOLE || value.fract() == 0.0 => {
            units::whole(value.round() as u64)
        }
        Quantity::Count { .. } => units::significant(value),
        Quantity::Time | Quantity::Rate(_) | Quantity::Response { .. } => units::duration(value),
    }
}
