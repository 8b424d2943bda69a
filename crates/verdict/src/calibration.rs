//! The smallest differences that a machine can show, judged from a run in which copies of a contender were made slower
//! by known shares.

mod draws;

use dyno_record::{Quantity, Run};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::disturbance::Disturbances;
use crate::figures::figures;
use crate::offsets::{CopyOffsets, offsets};
use crate::pairs::logs_by_block;
use crate::statistics::{Ratio, ratio_of_logs};

use draws::{Blocks, Pair, means, reported, shares};

/// The lengths of the runs for which the calibration reports, in seconds.
const SPANS: [u32; 3] = [10, 30, 60];
/// The smallest differences that a machine can show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The suite.
    pub suite: String,
    /// The number of tests whose means are taken.
    pub tests: usize,
    /// The number of measured blocks.
    pub blocks: usize,
    /// In how many of them others took too much of the processors.
    pub disturbed: usize,
    /// True if the figures rest on disturbed blocks, because too few others are left: then they show the work of other
    /// processes too.
    pub rests_on_disturbed: bool,
    /// For each contender of which there are copies.
    pub contenders: Vec<Calibrated>,
}

/// The differences that can be shown for one contender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// Its label.
    pub label: String,
    /// The mean over all tests of an equal copy's time over its own: a bias shows here.
    pub equal: Option<Ratio>,
    /// The differences that a table of all blocks claims for the equal copy.
    pub significant: FalseDifferences,
    /// By how long a run is.
    pub spans: Vec<RunLength>,
    /// The differences between copies of its library under other names, if the run has some.
    pub copies: Option<CopyOffsets>,
}

/// The differences that a table claims for an equal copy. All of them are wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FalseDifferences {
    /// True if the mean is called different.
    pub by_mean: bool,
    /// In how many tests it is.
    pub tests: usize,
    /// True if the blocks are too few to call anything different.
    #[serde(default)]
    pub too_few: bool,
}

impl FalseDifferences {
    /// True if anything is called different.
    fn is_any(self) -> bool {
        self.by_mean || self.tests > 0
    }
}

/// The differences that a run of some length can show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunLength {
    /// Its length, in seconds.
    pub seconds: u32,
    /// The number of blocks of two trials in that time.
    pub blocks: usize,
    /// The share of runs that call equals different.
    pub alarms: FalseAlarms,
    /// For each planted slowdown, a share as 0.03, how often it is found.
    pub found: Vec<DetectionRates>,
}

/// The shares of runs that call equals different.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FalseAlarms {
    /// By the mean over all tests.
    pub by_mean: f64,
    /// In any test of the table, or the mean.
    pub in_table: f64,
}

/// The shares of runs that find a slowdown.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DetectionRates {
    /// The slowdown that was planted.
    pub slowdown: f64,
    /// By the mean over all tests.
    pub by_mean: f64,
    /// In a test, on average over them.
    pub by_test: f64,
}

/// Judges a run. Contenders without equal and slower copies are left out, and so are tests that one of them lacks.
pub fn calibrate(run: &Run) -> Calibration {
    let tests: Vec<&str> = run.shown_tests().map(|test| test.id.as_str()).collect();
    let mut random = ChaCha8Rng::seed_from_u64(run.schedule.seed);
    let originals = run.contenders.iter().enumerate().filter(|(_, contender)| contender.slowdown.is_none());
    let contenders = originals.filter_map(|(index, _)| calibrated(run, &tests, index, &mut random)).collect();
    let blocks: std::collections::BTreeSet<u32> =
        run.trials.iter().filter(|trial| trial.is_measured()).map(|trial| trial.block).collect();
    let disturbances = Disturbances::new(run);
    Calibration {
        suite: run.suite.name.clone(),
        tests: tests.len(),
        blocks: blocks.len(),
        disturbed: disturbances.disturbed.len(),
        rests_on_disturbed: disturbances.rests_on_disturbed(),
        contenders,
    }
}

fn calibrated(run: &Run, tests: &[&str], index: usize, random: &mut ChaCha8Rng) -> Option<Calibrated> {
    let label = &run.contenders[index].label;
    let copies: Vec<(usize, f64)> = (0..run.contenders.len())
        .filter_map(|copy| {
            let record = &run.contenders[copy];
            let is_copy = record.label.split(",slowdown=").next() == Some(label);
            Some((copy, record.slowdown.filter(|_| is_copy)?))
        })
        .collect();
    let equal = copies.iter().find(|(_, slowdown)| *slowdown == 0.0)?.0;
    let equals = pairs(run, tests, equal, index);
    let significant = reported(&equals);
    let seconds = pair_seconds(run, index)?;
    let spans = SPANS.iter().map(|&span| {
        let blocks = (f64::from(span) / seconds) as usize;
        let found = copies.iter().filter(|(_, slowdown)| *slowdown > 0.0).map(|&(copy, slowdown)| {
            let pairs = pairs(run, tests, copy, index);
            let shares = shares(&pairs, blocks, Pair::Planted, random);
            DetectionRates { slowdown, by_mean: shares.by_mean, by_test: shares.by_test }
        });
        let found = found.collect();
        let pair = if significant.is_any() { Pair::Apart } else { Pair::Alike };
        let alarms = shares(&equals, blocks, pair, random);
        let alarms = FalseAlarms { by_mean: alarms.by_mean, in_table: alarms.in_table };
        RunLength { seconds: span, blocks, alarms, found }
    });
    let spans = spans.collect();
    let equal = ratio_of_logs(&means(&equals));
    let copies = offsets(run, tests, index);
    Some(Calibrated { label: label.clone(), equal, significant, spans, copies })
}

/// The blocks in which both contenders have all tests that both have at all.
fn pairs(run: &Run, tests: &[&str], contender: usize, baseline: usize) -> Blocks {
    let disturbances = Disturbances::new(run);
    let logs = |index: usize| -> Vec<Vec<Option<f64>>> {
        let points = |test: &&str| figures(run, &disturbances, index, test, &Quantity::Time).1;
        tests.iter().map(|test| logs_by_block(run, &points(test))).collect()
    };
    let (contender, baseline) = (logs(contender), logs(baseline));
    let blocks = contender.first().map_or(0, Vec::len);
    let pair = |block: usize| {
        let tests = contender.iter().zip(&baseline);
        tests.map(|(contender, baseline)| Some(contender[block]? - baseline[block]?)).collect()
    };
    (0..blocks).filter_map(pair).collect()
}

/// The time that a block of two trials of a contender takes, in seconds, with what is around the clocks.
fn pair_seconds(run: &Run, contender: usize) -> Option<f64> {
    let trials = run.trials.iter().filter(|trial| trial.is_measured());
    let own: Vec<f64> = trials
        .filter(|trial| trial.contender == contender)
        .map(|trial| trial.samples.iter().map(|sample| sample.sample.section.nanoseconds as f64).sum())
        .collect();
    let all: f64 = run
        .trials
        .iter()
        .flat_map(|trial| &trial.samples)
        .map(|sample| sample.sample.section.nanoseconds as f64)
        .sum();
    let around = run.elapsed_ns as f64 / all;
    let mean = own.iter().sum::<f64>() / own.len() as f64;
    Some(2.0 * mean * around / 1e9).filter(|seconds| seconds.is_finite() && *seconds > 0.0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_record::{ContenderRecord, TrialRecord};

    use super::*;
    use crate::judge;
    use crate::statistics::MIN_BLOCKS;

    /// A run in which the first contender has copies, and samples scatter by half a percent.
    fn run(slowdowns: &[f64]) -> Run {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
        let mut run = dyno_record::load(&golden).unwrap();
        let label = run.contenders[0].label.clone();
        let trials: Vec<TrialRecord> =
            run.trials.iter().filter(|trial| trial.contender == 0 && !trial.is_extra()).cloned().collect();
        for &slowdown in slowdowns {
            let copy = run.contenders.len();
            run.contenders.push(ContenderRecord {
                label: format!("{label},slowdown={}%", slowdown * 100.0),
                slowdown: Some(slowdown),
                ..run.contenders[0].clone()
            });
            for trial in &trials {
                let noise = f64::from((trial.block * 7 + copy as u32) % 5) * 0.0025 - 0.005;
                let mut trial = TrialRecord { contender: copy, ..trial.clone() };
                for sample in &mut trial.samples {
                    let section = &mut sample.sample.section;
                    section.nanoseconds = (section.nanoseconds as f64 * (1.0 + slowdown + noise)) as u64;
                }
                run.trials.push(trial);
            }
        }
        run
    }

    #[test]
    fn what_is_planted_is_found_and_equals_are_not() {
        let mut run = run(&[0.0, 0.1]);
        // Long enough that ten seconds are too short for any claim.
        run.elapsed_ns = run.elapsed_ns.max(1) * 1_000_000;
        let own = pair_seconds(&run, 0).unwrap();
        run.elapsed_ns = (run.elapsed_ns as f64 * 3.0 / own) as u64;
        let calibration = calibrate(&run);
        let [contender] = &calibration.contenders[..] else { panic!("{calibration:?}") };
        let equal = contender.equal.unwrap();
        assert!((equal.ratio - 1.0).abs() < 0.01, "{equal:?}");
        let blocks: Vec<usize> = contender.spans.iter().map(|span| span.blocks).collect();
        assert!(blocks[0] < MIN_BLOCKS && blocks[2] >= 19, "{blocks:?}");
        let long = &contender.spans[2];
        assert_eq!((long.found[0].by_mean, long.found[0].by_test), (1.0, 1.0));
        assert!(long.alarms.by_mean <= long.alarms.in_table);
        assert_eq!(contender.spans[0].found[0].by_mean, 0.0);
    }

    /// A copy that is called equal and takes 4 % longer in every block is no noise: the table says that it is slower,
    /// and so do the draws.
    #[test]
    fn a_bias_of_the_equal_copy_is_not_taken_out_of_the_draws() {
        let biased = |share: f64| {
            let mut run = run(&[share]);
            let copy = run.contenders.len() - 1;
            run.contenders[copy].slowdown = Some(0.0);
            run.elapsed_ns = run.elapsed_ns.max(1) * 1_000_000;
            let own = pair_seconds(&run, 0).unwrap();
            run.elapsed_ns = (run.elapsed_ns as f64 * 3.0 / own) as u64;
            calibrate(&run).contenders.remove(0)
        };
        let found = biased(0.04);
        let tests = judge(&run(&[0.04])).tests.len();
        assert_eq!(found.significant, FalseDifferences { by_mean: true, tests, too_few: false });
        assert_eq!(found.spans[2].alarms, FalseAlarms { by_mean: 1.0, in_table: 1.0 });
    }

    #[test]
    fn without_copies_there_is_nothing_to_show() {
        assert!(calibrate(&run(&[])).contenders.is_empty());
        assert!(calibrate(&run(&[0.1])).contenders.is_empty());
    }
}
