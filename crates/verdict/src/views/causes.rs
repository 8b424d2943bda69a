//! The causes of a difference, in runs of `dyno causes`: how much of it goes with each suspect that is neutralised.

use dyno_protocol::Model;
use dyno_record::{Experiment, Neutralised, Quantity, Run, Suspect, UntriedSuspect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::disturbance::Disturbances;
use crate::figures::figures;
use crate::statistics::{CentralDifference, Difference, ExplainedShare, Interval, explained_share};
use crate::test_verdict::TestVerdict;

/// The widest interval of a share that says something: all from nothing to everything would be in a wider one.
const WIDEST: f64 = 1.0;

/// The causes of the difference of a contender from the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Causes {
    /// The contender.
    pub contender: String,
    /// The baseline.
    pub baseline: String,
    /// The suspects that were neutralised, in the order of the shares.
    pub tried: Vec<Neutralised>,
    /// The suspects that could not be neutralised for this pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_tried: Vec<UntriedSuspect>,
    /// All tests together, where there are several and each is a fixed amount of work, and each test.
    pub differences: Vec<ExplainedDifference>,
}

/// A difference, and what explains it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedDifference {
    /// The test, by its id; absent for the sum of all tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The number of blocks in which both contenders were measured.
    pub blocks: usize,
    /// The time of the contender less that of the baseline, in nanoseconds: the centre over the blocks.
    pub difference_ns: f64,
    /// The 95 % interval of the difference; absent where the blocks are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The shares of the suspects; empty where no difference is shown, so that nothing is to be explained.
    pub shares: Vec<SuspectShare>,
}

/// The share of a suspect in a difference: 1 for all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuspectShare {
    /// The suspect.
    pub suspect: Suspect,
    /// The answer.
    pub explains: Explains,
    /// The share; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Its 95 % interval, which may reach below 0 and above 1; absent where trials without the suspect are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// The answer to whether a suspect explains a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Explains {
    /// The share is shown to be above zero.
    Some,
    /// It is not shown to differ from zero.
    NotShown,
    /// It is shown to be below zero: the suspect hides a part of the difference.
    Hides,
    /// The interval is too wide to tell, or missing.
    CannotBeTold,
}

/// The causes in a run that is an experiment.
pub(super) fn causes(run: &Run, tests: &[TestVerdict]) -> Option<Causes> {
    let experiment = run.experiment.as_ref()?;
    let times = PairTimes::of(run, experiment)?;
    let each: Vec<BlockTimes> = tests.iter().map(|test| times.in_test(run, &test.id)).collect();
    let is_shown = |test: &TestVerdict| {
        let found = test.cell(times.contender).and_then(|cell| cell.difference);
        matches!(found, Some(Difference::Faster | Difference::Slower))
    };
    let explained = |test: &TestVerdict, times: &BlockTimes| {
        times.explained(Some(test.id.clone()), experiment, is_shown(test))
    };
    let mut differences: Vec<_> =
        tests.iter().zip(&each).filter_map(|(test, times)| explained(test, times)).collect();
    let is_whole = tests.iter().all(|test| test.model != Model::Mix.name());
    let compares = |test: &TestVerdict| times.pairs[0].iter().all(|&contender| test.compares(contender));
    if tests.len() > 1 && is_whole && tests.iter().all(compares) {
        let all = BlockTimes::sum(&each).explained(None, experiment, true);
        differences = all.into_iter().chain(differences).collect();
    }
    Some(Causes {
        contender: experiment.contender.clone(),
        baseline: run.baseline.clone(),
        tried: experiment.tried.clone(),
        not_tried: experiment.not_tried.clone(),
        differences,
    })
}

/// The places of the pair of an experiment, plain and with each suspect neutralised, in the order of the suspects.
struct PairTimes {
    contender: usize,
    pairs: Vec<[usize; 2]>,
}

/// The difference of each pair, by block: none where one of both has no sample.
struct BlockTimes {
    /// The plain pair, and then those with a suspect neutralised.
    pairs: Vec<Vec<Option<f64>>>,
}

impl PairTimes {
    /// Those of a run; none if a contender of the experiment is not in it.
    fn of(run: &Run, experiment: &Experiment) -> Option<PairTimes> {
        let place = |label: &str| run.contenders.iter().position(|contender| contender.label == label);
        let pair = [experiment.contender.as_str(), run.baseline.as_str()];
        let places = |label: &dyn Fn(&str) -> String| -> Option<[usize; 2]> {
            Some([place(&label(pair[0]))?, place(&label(pair[1]))?])
        };
        let plain = places(&str::to_owned)?;
        let mut pairs = vec![plain];
        for how in &experiment.tried {
            pairs.push(places(&|label| how.suspect().label(label))?);
        }
        Some(PairTimes { contender: plain[0], pairs })
    }

    /// The differences in a test, in nanoseconds.
    fn in_test(&self, run: &Run, test: &str) -> BlockTimes {
        let disturbances = Disturbances::new(run);
        let blocks = run.trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0) as usize;
        let times = |contender: usize| {
            let mut times = vec![None; blocks];
            for (block, time) in figures(run, &disturbances, contender, test, &Quantity::Time).1.used {
                times[block as usize] = Some(time);
            }
            times
        };
        let difference = |pair: &[usize; 2]| {
            let pairs = times(pair[0]).into_iter().zip(times(pair[1]));
            pairs.map(|(contender, baseline)| Some(contender? - baseline?)).collect()
        };
        BlockTimes { pairs: self.pairs.iter().map(difference).collect() }
    }
}

impl BlockTimes {
    /// The sums over tests, of blocks that have all of them.
    fn sum(tests: &[BlockTimes]) -> BlockTimes {
        let pairs = tests.first().map_or(0, |test| test.pairs.len());
        let sum = |pair: usize| {
            let each: Vec<&Vec<Option<f64>>> = tests.iter().map(|test| &test.pairs[pair]).collect();
            let blocks = each.iter().map(|test| test.len()).min().unwrap_or(0);
            (0..blocks).map(|block| each.iter().map(|test| test[block]).sum()).collect()
        };
        BlockTimes { pairs: (0..pairs).map(sum).collect() }
    }

    /// The difference of the plain pair and the shares of the suspects; none without a block.
    fn explained(
        &self,
        test: Option<String>,
        experiment: &Experiment,
        is_shown: bool,
    ) -> Option<ExplainedDifference> {
        let (plain, without) = self.pairs.split_first()?;
        let known: Vec<f64> = plain.iter().copied().flatten().collect();
        let difference = CentralDifference::of(&known)?;
        let is_shown = is_shown && difference.is_shown();
        let share = |(how, left): (&Neutralised, &Vec<Option<f64>>)| {
            let blocks = plain.iter().zip(left).filter_map(|(plain, left)| Some(((*plain)?, (*left)?)));
            SuspectShare::new(how.suspect(), explained_share(&blocks.collect::<Vec<_>>()))
        };
        let shares = experiment.tried.iter().zip(without).filter(|_| is_shown).map(share).collect();
        Some(ExplainedDifference {
            test,
            blocks: known.len(),
            difference_ns: difference.centre,
            interval: difference.interval,
            shares,
        })
    }
}

impl SuspectShare {
    fn new(suspect: Suspect, found: Option<ExplainedShare>) -> SuspectShare {
        let interval = found.map(|found| found.interval);
        let explains = match interval {
            None => Explains::CannotBeTold,
            Some(interval) if interval.high - interval.low > WIDEST => Explains::CannotBeTold,
            Some(interval) if interval.low > 0.0 => Explains::Some,
            Some(interval) if interval.high < 0.0 => Explains::Hides,
            Some(_) => Explains::NotShown,
        };
        let share = found.filter(|_| explains != Explains::CannotBeTold).map(|found| found.share);
        SuspectShare { suspect, explains, share, interval }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explains(share: f64, low: f64, high: f64) -> (Explains, Option<f64>) {
        let found = ExplainedShare { share, interval: Interval { low, high } };
        let share = SuspectShare::new(Suspect::Disk, Some(found));
        (share.explains, share.share)
    }

    #[test]
    fn an_answer_follows_from_the_interval() {
        assert_eq!(explains(0.92, 0.88, 0.95), (Explains::Some, Some(0.92)));
        assert_eq!(explains(0.01, -0.02, 0.05), (Explains::NotShown, Some(0.01)));
        assert_eq!(explains(-0.4, -0.6, -0.2), (Explains::Hides, Some(-0.4)));
        assert_eq!(explains(0.5, -0.1, 1.1), (Explains::CannotBeTold, None));
        assert_eq!(SuspectShare::new(Suspect::Cache, None).explains, Explains::CannotBeTold);
    }

    #[test]
    fn a_block_without_a_sample_does_not_count() {
        let experiment = Experiment {
            contender: "a".into(),
            tried: vec![Neutralised::Processors { cpu: 0 }],
            not_tried: Vec::new(),
        };
        let plain = (0..9).map(|block| (block > 0).then_some(10.0 + f64::from(block))).collect();
        let left = (0..9).map(|block| (block > 1).then_some(1.0)).collect();
        let times = BlockTimes { pairs: vec![plain, left] };
        let found = times.explained(None, &experiment, true).unwrap();
        assert_eq!((found.blocks, found.shares.len()), (8, 1));
        assert_eq!(found.shares[0].explains, Explains::Some);
        // A difference that the table does not show is not explained.
        assert!(times.explained(None, &experiment, false).unwrap().shares.is_empty());
    }
}
