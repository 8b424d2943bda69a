//! The ladder of a suite that has rungs: how fast each is, and what it gains over the rung that it changes.
//!
//! A pure function of the record. A gain is a ratio of rates, above one is faster; it states the effect of a change and
//! ranks no contender: if the two rungs survive different failures, the gain is paid for with safety, or the loss buys
//! safety. The gains of a ladder share one chance of error, as the comparisons of the main table do.

use std::cmp::Ordering;

use dyno_record::{Level, Run, RungRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::CellStanding;
use crate::pairs::{log_ratios, ratio_in};
use crate::statistics::{Compared, Difference, Interval, Ratio, significant};
use crate::test_verdict::TestVerdict;

/// The rungs in one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ladder {
    /// The test's id.
    pub test: String,
    /// The rungs whose contenders took part, in the suite's order.
    pub rungs: Vec<RungVerdict>,
}

/// The figures of one rung.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RungVerdict {
    /// Its name.
    pub name: String,
    /// A description of the change that it shows.
    pub shows: String,
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The validity of its figures.
    pub standing: CellStanding,
    /// Rows a second, from the median time; absent where it has no samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The 95 % interval of the rate; absent where the samples are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// True if only the first rows were timed, each in its own commit, and the rate is theirs.
    pub extrapolated: bool,
    /// The rung with which it is compared, by its position in `rungs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<usize>,
    /// Its rate divided by that of the rung it changes, from samples of the same blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Ratio>,
    /// The judgement on that ratio: faster or slower than the rung compared with, or no difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// The failures that its commits survive; absent for the control, which stores nothing, and if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// Its change in safety from the rung with which it is compared; absent if one of the two levels is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety: Option<SafetyChange>,
    /// The published rows per second: other hardware, other versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// The published gain over the same rung, where both are published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_gain: Option<f64>,
}

/// The change in safety from one rung to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SafetyChange {
    /// It gives some up.
    Lower,
    /// It survives the same.
    Same,
    /// It survives more.
    Higher,
}

/// The ladders of a run, one for each test shown whose amount is known; none of a suite without rungs.
pub(super) fn ladders(run: &Run, tests: &[TestVerdict]) -> Vec<Ladder> {
    let ladders = tests.iter().filter_map(|test| {
        let rungs = rungs(run, test, test.amount.as_ref()?.count as f64);
        (!rungs.is_empty()).then(|| Ladder { test: test.id.clone(), rungs })
    });
    ladders.collect()
}

fn rungs(run: &Run, test: &TestVerdict, rows: f64) -> Vec<RungVerdict> {
    let mut rungs: Vec<RungVerdict> = Vec::new();
    for record in &run.suite.rungs {
        let Some(rung) = alone(run, test, rows, record) else { continue };
        let over = record.over.as_ref().and_then(|over| rungs.iter().position(|rung| rung.name == *over));
        rungs.push(match over {
            Some(over) => compared(run, test, rung, over, &rungs[over]),
            None => rung,
        });
    }
    mark_significant(test, &mut rungs, run.schedule.margin);
    rungs
}

/// Takes back the differences that could be chance among all rungs.
fn mark_significant(test: &TestVerdict, rungs: &mut [RungVerdict], margin: f64) {
    let compared = |rung: &RungVerdict| {
        let (own, over) = (test.cell(rung.contender)?, test.cell(rungs[rung.over?].contender)?);
        rung.gain.map(|_| Compared { logs: log_ratios(&own.points, &over.points), weight: 1.0 })
    };
    let mut apart = significant(&rungs.iter().filter_map(compared).collect::<Vec<_>>()).into_iter();
    let found = rungs.iter_mut().filter_map(|rung| Some((&rung.gain, rung.difference.as_mut()?)));
    for (gain, difference) in found {
        let holds = apart.next().unwrap_or(false);
        if let Some(gain) = gain {
            *difference = difference.held(holds, gain, margin);
        }
    }
}

/// A rung without comparison; none if its contender took no part.
fn alone(run: &Run, test: &TestVerdict, rows: f64, record: &RungRecord) -> Option<RungVerdict> {
    let is_its = |contender: usize| run.contenders[contender].label == record.contender;
    let cell = test.cells.iter().find(|cell| is_its(cell.contender))?;
    let contender = &run.contenders[cell.contender];
    let summary = cell.figures.summary.filter(|summary| summary.median > 0.0);
    let rate = |nanoseconds: f64| rows / nanoseconds * 1e9;
    let turned = |interval: Interval| Interval { low: rate(interval.high), high: rate(interval.low) };
    let safety = contender.safety.as_ref().filter(|_| !contender.harness);
    Some(RungVerdict {
        name: record.name.clone(),
        shows: record.shows.clone(),
        contender: cell.contender,
        standing: cell.standing.clone(),
        rate: summary.map(|summary| rate(summary.median)),
        interval: summary.and_then(|summary| summary.interval).map(turned),
        extrapolated: cell.figures.extrapolated,
        over: None,
        gain: None,
        difference: None,
        level: safety.map(|safety| safety.level),
        safety: None,
        published: record.published,
        published_gain: None,
    })
}

/// The same rung with its comparison to another, which is at position `over`.
fn compared(
    run: &Run,
    test: &TestVerdict,
    rung: RungVerdict,
    over: usize,
    other: &RungVerdict,
) -> RungVerdict {
    // The other's time over its own: how many times as fast.
    let both_compare = [&rung, other].iter().all(|rung| test.compares(rung.contender));
    let gain = ratio_in(test, other.contender, rung.contender).filter(|_| both_compare);
    let medians = test.median(other.contender).zip(test.median(rung.contender));
    let floor = test.floor_ns.unwrap_or(0.0);
    let found = gain.zip(medians).map(|(gain, (other, own))| gain.difference_above(other, own, floor));
    let difference = found.map(|found| match found {
        Difference::Slower => Difference::Faster,
        Difference::Faster => Difference::Slower,
        none => none,
    });
    let safety =
        safe(run, rung.contender).zip(safe(run, other.contender)).map(|(own, other)| match own.cmp(&other) {
            Ordering::Less => SafetyChange::Lower,
            Ordering::Equal => SafetyChange::Same,
            Ordering::Greater => SafetyChange::Higher,
        });
    let published_gain = rung.published.zip(other.published).map(|(own, other)| own / other);
    RungVerdict { over: Some(over), gain, difference, safety, published_gain, ..rung }
}

/// The safety of a contender's commits (by position), ordered from the least safe: the level; at the level `none`,
/// whether the remaining data stays whole; and whether no failure is known.
fn safe(run: &Run, contender: usize) -> Option<(Level, bool, bool)> {
    let contender = &run.contenders[contender];
    let safety = contender.safety.as_ref().filter(|_| !contender.harness)?;
    Some((safety.level, safety.level != Level::None || safety.consistent, safety.hole.is_none()))
}
