//! What is a difference in a table, once all of its comparisons are counted: those of every test and class of operations
//! with the baseline, and those of the means. Half of the chance of error is for the means, because they are what most
//! readers take away.

use dyno_record::Run;

use crate::judge::{Cell, TestVerdict};
use crate::pairs::{log_ratios, mean_log_ratios};
use crate::statistics::{Compared, told_apart};
use crate::summary::SummaryVerdict;

/// Takes back the differences that could be chance among all of the table's comparisons. `meant` are the tests of which
/// the means are, by position.
pub(crate) fn count_all_comparisons(
    run: &Run,
    tests: &mut [TestVerdict],
    meant: &[usize],
    summaries: &mut [SummaryVerdict],
) {
    let baseline = run.baseline_index();
    let mut table = Vec::new();
    for line in tests.iter().flat_map(TestVerdict::lines) {
        let Some(base) = line.cells.iter().find(|cell| cell.contender == baseline) else { continue };
        let compared = line.cells.iter().filter(|cell| compares(cell));
        let logs = compared.map(|cell| log_ratios(&cell.points, &base.points));
        table.extend(logs.map(|logs| Compared { logs, weight: 1.0 }));
    }
    let comparisons = table.len();
    let meant: Vec<&TestVerdict> = meant.iter().map(|&place| &tests[place]).collect();
    let means = summaries.iter().filter(|summary| summary.difference.is_some());
    let means: Vec<_> =
        means.map(|summary| mean_log_ratios(run, &meant, summary.contender, baseline)).collect();
    // With no cell to share the error with, the means have all of it.
    let weight = comparisons.max(1) as f64 / means.len().max(1) as f64;
    table.extend(means.into_iter().map(|logs| Compared { logs, weight }));
    let mut apart = told_apart(&table).into_iter();
    let cells = tests.iter_mut().flat_map(|test| {
        let responses = test.responses.iter_mut().flat_map(|response| &mut response.cells);
        test.cells.iter_mut().chain(responses).filter(|cell| compares(cell))
    });
    let means = summaries.iter_mut().filter_map(|summary| summary.difference.as_mut());
    let differences = cells.filter_map(|cell| cell.difference.as_mut()).chain(means);
    for difference in differences {
        *difference = difference.held(apart.next().unwrap_or(false));
    }
}

/// Whether a cell is a comparison with the baseline that could show a difference.
fn compares(cell: &Cell) -> bool {
    cell.difference.is_some() && cell.ratio.is_some_and(|ratio| ratio.interval.is_some())
}
