//! Two contenders by the samples that they have from the same blocks.
//!
//! Each block gives one logarithm of a ratio, in which whatever slowed or sped up the whole block cancels. The ratio
//! shown is the centre of these. Its interval is what two have in common: that of the signed-rank statistic (see
//! [`super::signed_rank`]) and, from eight blocks on, that of the trimmed mean (see [`super::trimmed`]), which one
//! block that contradicts all others does not widen. They share the chance of error. So every further block narrows it,
//! however much blocks differ from each other. If two contenders are equal, or one takes a constant factor of the
//! other's time, the logarithms scatter alike on both sides of their centre. That is what the interval assumes, and
//! that blocks are independent: it does not cover what all blocks of a run share, such as where the loader placed a
//! library, nor what carries over from one block to the next.
//!
//! Below six blocks there is a centre and no interval, because five cannot carry one of 95 %.

use super::bootstrap::{CONFIDENCE, Interval};
use super::ratio::{Ratio, is_duration};
use super::signed_rank::Walsh;
use super::trimmed::Trimmed;

/// The trimmed mean's part of the chance of error, where there is one; the signed ranks have the rest.
const TRIMMED: f64 = 0.005;

/// The ratio of `pairs`, one (contender, baseline) for each block, with its 95 % interval. Their order is of no
/// account.
///
/// None when there is no pair or a sample is not a finite number above zero; the interval is absent below
/// [`MIN_BLOCKS`](super::MIN_BLOCKS) pairs.
pub fn paired_ratio(pairs: &[(f64, f64)]) -> Option<Ratio> {
    ratio_of_logs(&logs(pairs)?)
}

/// The geometric mean over tests of a contender's times over the baseline's, with its 95 % interval.
///
/// `tests` holds for each test one place for each block: the (contender, baseline) pair of that block, or none where
/// the block has no pair of this test. A block counts with the geometric mean of its own ratios, because what disturbs
/// a block disturbs all its tests; one that lacks a pair of some test does not count, because it would be a mean of
/// other tests.
///
/// None when there is no test, no block has a pair of all, or a sample is not a finite number above zero; the interval
/// is absent where fewer than [`MIN_BLOCKS`](super::MIN_BLOCKS) blocks count.
pub fn geometric_mean_ratio(tests: &[Vec<Option<(f64, f64)>>]) -> Option<Ratio> {
    let blocks = tests.iter().map(Vec::len).min()?;
    let mut means = Vec::with_capacity(blocks);
    for block in 0..blocks {
        let pairs: Option<Vec<(f64, f64)>> = tests.iter().map(|test| test[block]).collect();
        let Some(pairs) = pairs else { continue };
        means.push(logs(&pairs)?.iter().sum::<f64>() / pairs.len() as f64);
    }
    ratio_of_logs(&means)
}

/// The ratio of which logarithms were taken block by block. None where there is none.
pub fn ratio_of_logs(logs: &[f64]) -> Option<Ratio> {
    let walsh = Walsh::new(logs)?;
    let interval = interval(&walsh, logs).map(|interval| interval.map(f64::exp));
    Some(Ratio { ratio: walsh.centre().exp(), interval })
}

/// The 95 % interval of the centre of logarithms; none with fewer than [`MIN_BLOCKS`](super::MIN_BLOCKS).
pub(super) fn interval_of(logs: &[f64]) -> Option<Interval> {
    interval(&Walsh::new(logs)?, logs)
}

fn interval(walsh: &Walsh, logs: &[f64]) -> Option<Interval> {
    let Some(trimmed) = Trimmed::new(logs) else { return walsh.interval(CONFIDENCE) };
    let ranks = walsh.interval(CONFIDENCE + TRIMMED)?;
    let trimmed = trimmed.interval(1.0 - TRIMMED);
    let centre = walsh.centre();
    let both = Interval { low: ranks.low.max(trimmed.low), high: ranks.high.min(trimmed.high) };
    // If the two hardly meet, the ratio that is shown stays within its interval.
    Some(Interval { low: both.low.min(centre), high: both.high.max(centre) })
}

/// The logarithm of each pair's ratio. None where a sample is no duration.
fn logs(pairs: &[(f64, f64)]) -> Option<Vec<f64>> {
    let log = |(contender, baseline): &(f64, f64)| {
        (is_duration(contender) && is_duration(baseline)).then(|| (contender / baseline).ln())
    };
    pairs.iter().map(log).collect()
}
