//! Two contenders beside each other, from the blocks in which both have a sample.

use std::collections::BTreeMap;

use dyno_record::{Run, SampleRecord};

use crate::figures::used;
use crate::statistics::{Ratio, geometric_mean_ratio, paired_ratio};

/// How long a contender takes beside another (both by position) in a test, from the blocks that both have.
pub(crate) fn contenders_ratio(run: &Run, contender: usize, other: usize, test: &str) -> Option<Ratio> {
    let pairs: Vec<(f64, f64)> = by_block(run, contender, other, test).into_iter().flatten().collect();
    paired_ratio(&pairs)
}

/// The geometric mean over `tests` of a contender's times over another's, with its interval.
pub(crate) fn mean_over(run: &Run, tests: &[&str], contender: usize, other: usize) -> Option<Ratio> {
    let tests: Vec<_> = tests.iter().map(|test| by_block(run, contender, other, test)).collect();
    geometric_mean_ratio(&tests)
}

/// The pairs of durations by block, from the blocks on which figures rest.
fn by_block(run: &Run, contender: usize, other: usize, test: &str) -> Vec<Option<(f64, f64)>> {
    let samples = |index| used(run, index, test).into_iter().collect::<BTreeMap<u32, &SampleRecord>>();
    let (contender, other) = (samples(contender), samples(other));
    let time = |sample: &&SampleRecord| sample.duration_ns();
    let pair = |block| Some((contender.get(&block).map(time)?, other.get(&block).map(time)?));
    (1..blocks(run)).map(pair).collect()
}

/// The logarithm of a contender's time in a test, for each block that has one.
pub(crate) fn logs_by_block(run: &Run, contender: usize, test: &str) -> Vec<Option<f64>> {
    let mut logs = vec![None; blocks(run) as usize];
    for (block, sample) in used(run, contender, test) {
        logs[block as usize] = Some(sample.duration_ns().ln()).filter(|log| log.is_finite());
    }
    logs
}

/// The mean over `tests` of the logarithms of a contender's times, for each block that has them all.
pub(crate) fn mean_logs_by_block(run: &Run, tests: &[&str], contender: usize) -> Vec<Option<f64>> {
    let tests: Vec<_> = tests.iter().map(|test| logs_by_block(run, contender, test)).collect();
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
