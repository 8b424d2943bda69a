//! Compares two contenders, using the blocks in which both have a sample.

use std::collections::BTreeMap;

use dyno_record::Run;

use crate::figures::Points;
use crate::statistics::{Ratio, geometric_mean_ratio, paired_ratio};
use crate::test_verdict::TestVerdict;

/// The ratio of a contender's figures to another's, from the blocks that both have.
pub(crate) fn ratio(contender: &Points, other: &Points) -> Option<Ratio> {
    let pairs: Vec<(f64, f64)> = by_block(contender, other).into_values().collect();
    paired_ratio(&pairs)
}

/// The same of two contenders (by position) in a test.
pub(crate) fn ratio_in(test: &TestVerdict, contender: usize, other: usize) -> Option<Ratio> {
    ratio(&test.cell(contender)?.points, &test.cell(other)?.points)
}

/// The geometric mean over `tests` of a contender's times over another's (both by position), with its interval.
pub(crate) fn mean_over(run: &Run, tests: &[&TestVerdict], contender: usize, other: usize) -> Option<Ratio> {
    let blocks = |test: &&TestVerdict| {
        let (contender, other) = (test.cell(contender)?, test.cell(other)?);
        let pairs = by_block(&contender.points, &other.points);
        Some((1..blocks(run)).map(|block| pairs.get(&block).copied()).collect::<Vec<_>>())
    };
    let tests: Option<Vec<_>> = tests.iter().map(blocks).collect();
    geometric_mean_ratio(&tests?)
}

/// The logarithm of a contender's figure over another's, for each block that both have.
pub(crate) fn log_ratios(contender: &Points, other: &Points) -> Vec<f64> {
    let pairs = by_block(contender, other).into_values();
    pairs.map(|(contender, other)| (contender / other).ln()).filter(|log| log.is_finite()).collect()
}

/// The mean over `tests` of the logarithms of a contender's times over another's (both by position), for each block that
/// has them all.
pub(crate) fn mean_log_ratios(run: &Run, tests: &[&TestVerdict], contender: usize, other: usize) -> Vec<f64> {
    let [contender, other] = [contender, other].map(|index| mean_logs_by_block(run, tests, index));
    contender.into_iter().zip(other).filter_map(|(contender, other)| Some(contender? - other?)).collect()
}

/// The pairs of figures by block.
fn by_block(contender: &Points, other: &Points) -> BTreeMap<u32, (f64, f64)> {
    let other: BTreeMap<u32, f64> = other.used.iter().copied().collect();
    let pair = |&(block, figure): &(u32, f64)| Some((block, (figure, *other.get(&block)?)));
    contender.used.iter().filter_map(pair).collect()
}

/// The logarithm of a contender's figure, for each block that has one.
pub(crate) fn logs_by_block(run: &Run, points: &Points) -> Vec<Option<f64>> {
    let mut logs = vec![None; blocks(run) as usize];
    for &(block, figure) in &points.used {
        logs[block as usize] = Some(figure.ln()).filter(|log| log.is_finite());
    }
    logs
}

/// The mean over `tests` of the logarithms of a contender's times, for each block that has them all.
pub(crate) fn mean_logs_by_block(run: &Run, tests: &[&TestVerdict], contender: usize) -> Vec<Option<f64>> {
    let cells = tests.iter().filter_map(|test| test.cell(contender));
    let tests: Vec<_> = cells.map(|cell| logs_by_block(run, &cell.points)).collect();
    let mean = |block: usize| {
        let logs = tests.iter().map(|test| test[block]).collect::<Option<Vec<f64>>>()?;
        (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
    };
    (0..blocks(run) as usize).map(mean).collect()
}

/// One more than the last block.
fn blocks(run: &Run) -> u32 {
    run.trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0)
}
