//! One test: whose answers are right, whose figures count, and who is the fastest of those that are equally safe.

use std::collections::BTreeMap;

use dyno_protocol::Model;
use dyno_record::{Answer, Level, Run, TestRecord};

use crate::answers::{self, AnswerVerdict, Reference};
use crate::figures::{figures, points, used};
use crate::judge::{Cell, CellStanding, TestVerdict, is_unproved};
use crate::pairs::contenders_ratio;
use crate::statistics::{Difference, NoDifference, Ratio, median};

/// Judges a test; `shown` are the contenders shown, by position.
pub(crate) fn judge_test(run: &Run, shown: &[usize], test: &TestRecord) -> TestVerdict {
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
            let points = points(run, contender, &test.id);
            Cell { contender, figures, points, standing, ratio: None, difference: None, fastest: false }
        })
        .collect();
    compare_with_baseline(run, &test.id, floor_ns, &mut cells);
    mark_fastest(run, &test.id, floor_ns, &mut cells);
    TestVerdict {
        id: test.id.clone(),
        title: test.title.clone(),
        shows: test.shows.clone(),
        model: test.model.clone(),
        statements: test.statements,
        first: test.first.clone(),
        last: test.last.clone(),
        figure: run.suite.figure,
        amount: test.amount.clone(),
        published: test.published.clone(),
        reference,
        floor_ns,
        cells,
    }
}

/// The null runner's median for the same work. A file it reads and splits as every contender must: that is work, and no
/// cost of measuring.
fn floor(run: &Run, test: &TestRecord) -> Option<f64> {
    let harness = run.contenders.iter().position(|contender| contender.harness)?;
    let summary = figures(run, harness, &test.id).summary.filter(|_| test.model != Model::ImportFile.name());
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
        let Some(ratio) = contenders_ratio(run, cell.contender, baseline, test) else {
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
                let ratio = contenders_ratio(run, contender, best, test)?;
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
