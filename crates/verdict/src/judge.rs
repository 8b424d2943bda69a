//! The verdict on a run: who is how fast in which test, whose answers are right, and who is the fastest
//! of those that are equally safe.
//!
//! A pure function of the record: `show` says tomorrow what `run` said today.

use std::collections::BTreeMap;

use dyno_record::{Answer, Level, Run, SampleRecord, TestRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::{Figures, figures, is_disturbed, measured, used};
use super::ladder::{Ladder, ladders};
use super::overhead::{Overhead, overheads};
use crate::answers::{self, AnswerVerdict, Reference};
use crate::statistics::{
    Difference, MIN_BLOCKS, NoDifference, Ratio, geometric_mean_ratio, median, paired_ratio,
};

/// What may be said about a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// One for each test shown, in order.
    pub tests: Vec<TestVerdict>,
    /// One for each contender shown, in order.
    pub summaries: Vec<SummaryVerdict>,
    /// What encryption costs those contenders that encrypt, where the same engine took part without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overheads: Vec<Overhead>,
    /// The ladders of a suite that has rungs, one for each test shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladders: Vec<Ladder>,
}

/// What may be said about a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestVerdict {
    /// The test's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// How it was decided which answer is right; absent where there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// What dyno itself costs for the same work, the null runner's median, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor_ns: Option<f64>,
    /// One for each contender shown, in order.
    pub cells: Vec<Cell>,
}

/// What may be said about a contender in a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// Its figures.
    pub figures: Figures,
    /// Whether they count.
    pub standing: CellStanding,
    /// Its time over the baseline's, from samples of the same blocks; absent for the baseline itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// Whether that is a difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// Whether nobody of the same safety level is faster, among two or more. Several are where no
    /// difference can be told.
    pub fastest: bool,
}

/// Whether a contender's figures in a test count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "standing", content = "why", rename_all = "kebab-case")]
pub enum CellStanding {
    /// They do.
    Counts,
    /// Its answer is not the right one; it takes no part in ranking.
    Wrong(String),
    /// It has no samples.
    Missing(String),
    /// Its runner does not do this kind of work.
    NotApplicable,
    /// It says that it encrypts and does not, as far as can be seen; it takes no part in ranking.
    NotEncrypted,
}

/// What may be said about a contender over all tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryVerdict {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The geometric mean of its ratios to the baseline over the tests that all contenders passed;
    /// absent for the baseline and where there is no such test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometric_mean: Option<Ratio>,
    /// How many tests the mean is over.
    pub tests: usize,
    /// Whether it survives the same as the baseline, so that the mean ranks the two.
    pub same_level: bool,
}

/// Judges a run.
pub fn judge(run: &Run) -> Verdict {
    let shown: Vec<usize> = run.shown_contenders().map(|(index, _)| index).collect();
    let tests: Vec<TestVerdict> = run.shown_tests().map(|test| judge_test(run, &shown, test)).collect();
    let summaries = shown.iter().map(|&contender| summarize(run, &tests, contender)).collect();
    let overheads = overheads(run, &tests);
    let ladders = ladders(run, &tests);
    Verdict { tests, summaries, overheads, ladders }
}

/// Whether a test is part of geometric means. Opening is not: it happens once, and deriving a key, slow on purpose,
/// would drown the work.
pub(super) fn is_of_means(run: &Run, test: &str) -> bool {
    run.tests.iter().any(|record| record.id == test && record.model != "reopen")
}

/// Whether a contender should encrypt and was found not to.
fn is_unproved(run: &Run, contender: usize) -> bool {
    let proof = run.contenders[contender].proof.as_ref();
    proof.is_some_and(|proof| proof.encrypts && !proof.holds())
}

fn judge_test(run: &Run, shown: &[usize], test: &TestRecord) -> TestVerdict {
    let floor_ns = floor(run, test);
    let (reference, mismatches) = judge_answers(run, shown, test);
    let mut cells: Vec<Cell> = shown
        .iter()
        .map(|&contender| {
            let figures = figures(run, contender, &test.id);
            let standing = match (&figures.summary, mismatches.get(&contender)) {
                (None, _) if run.contenders[contender].lacks.contains(&test.id) => {
                    CellStanding::NotApplicable
                }
                (None, _) => CellStanding::Missing(why_missing(run, contender, &test.id)),
                (_, Some(mismatch)) => CellStanding::Wrong(mismatch.clone()),
                _ if is_unproved(run, contender) => CellStanding::NotEncrypted,
                _ => CellStanding::Counts,
            };
            Cell { contender, figures, standing, ratio: None, difference: None, fastest: false }
        })
        .collect();
    compare_with_baseline(run, &test.id, floor_ns, &mut cells);
    mark_fastest(run, &test.id, floor_ns, &mut cells);
    TestVerdict { id: test.id.clone(), title: test.title.clone(), reference, floor_ns, cells }
}

/// The null runner's median for the same work. A file it reads and splits as every contender must: that is work, and no
/// cost of measuring.
fn floor(run: &Run, test: &TestRecord) -> Option<f64> {
    let harness = run.contenders.iter().position(|contender| contender.harness)?;
    let summary = figures(run, harness, &test.id).summary.filter(|_| test.model != "import-file");
    summary.map(|summary| summary.median)
}

/// How the right answer was chosen, and by contender what is wrong with those that differ from it.
fn judge_answers(
    run: &Run,
    shown: &[usize],
    test: &TestRecord,
) -> (Option<Reference>, BTreeMap<usize, String>) {
    // The harness answers nothing, and is not asked.
    let asked: Vec<usize> = shown.iter().copied().filter(|&index| !run.contenders[index].harness).collect();
    let given: Vec<Vec<&Answer>> =
        asked.iter().map(|&contender| answers_of(run, contender, &test.id)).collect();
    let expected = test.expect.as_ref().map(Answer::from_rows);
    let baseline = asked.iter().position(|&index| index == run.baseline_index()).unwrap_or(0);
    let judgement = answers::judge(&given, expected.as_ref(), baseline, run.suite.tolerance);
    let verdicts = asked.iter().zip(judgement.verdicts);
    let wrong = verdicts.filter_map(|(&contender, verdict)| match verdict {
        AnswerVerdict::Wrong { mismatch, .. } => Some((contender, mismatch.to_string())),
        AnswerVerdict::Right | AnswerVerdict::Missing => None,
    });
    // People know contenders by their position in the run.
    let reference = match judgement.reference {
        Reference::Stated => Some(Reference::Stated),
        Reference::Majority { contender } => Some(Reference::Majority { contender: asked[contender] }),
        Reference::Baseline { contender } => Some(Reference::Baseline { contender: asked[contender] }),
        Reference::First { contender } => Some(Reference::First { contender: asked[contender] }),
        Reference::Absent => None,
    };
    (reference, wrong.collect())
}

/// The answers of all trials, warm-up included: a wrong answer is wrong there too.
fn answers_of<'a>(run: &'a Run, contender: usize, test: &str) -> Vec<&'a Answer> {
    let trials = run.trials.iter().filter(|trial| trial.contender == contender);
    let samples = trials.flat_map(|trial| &trial.samples).filter(|sample| sample.sample.test == test);
    samples.map(|sample| &run.answers[sample.answer]).collect()
}

fn why_missing(run: &Run, contender: usize, test: &str) -> String {
    let trials = run.trials.iter().rev().filter(|trial| trial.contender == contender);
    match trials.filter_map(|trial| trial.failure.as_ref()).next() {
        Some(failure) => match &failure.test {
            Some(at) if at != test => format!("test {at} failed: {}", failure.message),
            _ => failure.message.clone(),
        },
        None => "no trial got so far".into(),
    }
}

fn compare_with_baseline(run: &Run, test: &str, floor: Option<f64>, cells: &mut [Cell]) {
    let baseline = run.baseline_index();
    for cell in cells.iter_mut().filter(|cell| cell.contender != baseline) {
        let Some(ratio) = paired_ratio(&pairs(run, cell.contender, baseline, test), run.schedule.seed) else {
            continue;
        };
        cell.ratio = Some(ratio);
        cell.difference = Some(difference(run, &ratio, cell.contender, baseline, test, floor));
    }
}

fn difference(
    run: &Run,
    ratio: &Ratio,
    contender: usize,
    baseline: usize,
    test: &str,
    floor: Option<f64>,
) -> Difference {
    let middle = |contender| {
        let times = used(run, contender, test).into_iter().map(|(_, sample)| sample.duration_ns());
        median(&times.collect::<Vec<_>>())
    };
    match (middle(contender), middle(baseline)) {
        (Some(contender), Some(baseline)) => {
            ratio.difference_above(contender, baseline, floor.unwrap_or(0.0))
        }
        _ => ratio.difference(),
    }
}

/// How long a contender takes beside another (both by position) in a test, from the blocks that both have.
pub fn contenders_ratio(run: &Run, contender: usize, other: usize, test: &str) -> Option<Ratio> {
    paired_ratio(&pairs(run, contender, other, test), run.schedule.seed)
}

/// Durations of two contenders in one test, from the blocks in which both have a sample that counts.
fn pairs(run: &Run, contender: usize, baseline: usize, test: &str) -> Vec<(f64, f64)> {
    by_block(run, contender, baseline, test).into_iter().flatten().collect()
}

/// The pairs by block, so that several tests can be resampled together. As with single figures, only
/// pairs of undisturbed samples where these are enough for an interval, else all.
pub(super) fn by_block(run: &Run, contender: usize, baseline: usize, test: &str) -> Vec<Option<(f64, f64)>> {
    let blocks = run.trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0);
    let samples = |index| measured(run, index, test).collect::<BTreeMap<u32, &SampleRecord>>();
    let (contender, baseline) = (samples(contender), samples(baseline));
    let pairs: Vec<Option<(&SampleRecord, &SampleRecord)>> =
        (1..blocks).map(|block| Some((*contender.get(&block)?, *baseline.get(&block)?))).collect();
    let is_quiet = |pair: &(&SampleRecord, &SampleRecord)| !is_disturbed(pair.0) && !is_disturbed(pair.1);
    let enough = pairs.iter().flatten().filter(|pair| is_quiet(pair)).count() >= MIN_BLOCKS;
    let time = |sample: &SampleRecord| sample.duration_ns();
    let counts = |pair: &(&SampleRecord, &SampleRecord)| !enough || is_quiet(pair);
    pairs.into_iter().map(|pair| pair.filter(counts).map(|(a, b)| (time(a), time(b)))).collect()
}

/// Marks, within each safety level that has two contenders or more, the one with the smallest median
/// and those from which it cannot be told apart.
fn mark_fastest(run: &Run, test: &str, floor: Option<f64>, cells: &mut [Cell]) {
    let level = |contender: usize| run.contenders[contender].safety.as_ref().map(|safety| safety.level);
    for wanted in [Level::None, Level::ProcessCrash, Level::PowerLoss] {
        let rivals: Vec<(usize, usize, f64)> = cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| cell.standing == CellStanding::Counts)
            .filter(|(_, cell)| {
                level(cell.contender) == Some(wanted) && !run.contenders[cell.contender].harness
            })
            .filter_map(|(place, cell)| Some((place, cell.contender, cell.figures.summary?.median)))
            .collect();
        let best = rivals.iter().min_by(|a, b| a.2.total_cmp(&b.2));
        let Some(&(_, best, _)) = best.filter(|_| rivals.len() > 1) else { continue };
        let against_best: Vec<(usize, Difference)> = rivals
            .iter()
            .filter(|(_, contender, _)| *contender != best)
            .filter_map(|&(place, contender, _)| {
                let ratio = paired_ratio(&pairs(run, contender, best, test), run.schedule.seed)?;
                Some((place, difference(run, &ratio, contender, best, test, floor)))
            })
            .collect();
        // Where the samples are too few to tell anyone apart, nobody is called the fastest.
        let untold = Difference::None(NoDifference::TooFewSamples);
        if against_best.iter().any(|(_, difference)| *difference == untold) {
            continue;
        }
        for (place, contender, _) in rivals {
            let alike = against_best.iter().find(|(other, _)| *other == place);
            cells[place].fastest =
                contender == best || alike.is_some_and(|(_, found)| matches!(found, Difference::None(_)));
        }
    }
}

fn summarize(run: &Run, tests: &[TestVerdict], contender: usize) -> SummaryVerdict {
    let baseline = run.baseline_index();
    let passed = |test: &&TestVerdict| {
        let ranked = test.cells.iter().filter(|cell| {
            !run.contenders[cell.contender].harness && cell.standing != CellStanding::NotEncrypted
        });
        is_of_means(run, &test.id)
            && ranked.clone().count() > 0
            && ranked.clone().all(|cell| cell.standing == CellStanding::Counts)
    };
    let tests: Vec<_> =
        tests.iter().filter(passed).map(|test| by_block(run, contender, baseline, &test.id)).collect();
    let level = |index: usize| run.contenders[index].safety.as_ref().map(|safety| safety.level);
    SummaryVerdict {
        contender,
        geometric_mean: (contender != baseline && !is_unproved(run, contender))
            .then(|| geometric_mean_ratio(&tests, run.schedule.seed))
            .flatten(),
        tests: tests.len(),
        same_level: level(contender) == level(baseline),
    }
}
