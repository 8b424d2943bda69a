//! One test: whose answers are right, whose figures count, and who is the fastest of those that are equally safe.

use std::collections::BTreeMap;

use dyno_protocol::Model;
use dyno_record::{Answer, Run, TestRecord};

use crate::answers::{self, AnswerVerdict, Given, Reference};
use crate::disturbance::Disturbances;
use crate::figures::{Judged, failed_in, figures};
use crate::judge::{Cell, CellStanding, TestVerdict, is_unproved};
use crate::pairs::{logs_by_block, ratio};
use crate::responses::responses;
use crate::statistics::{Difference, Ratio, best};
use crate::uneven::beyond;
use crate::views::is_disproved;

/// Judges a test; `shown` are the contenders shown, by position.
pub(crate) fn judge_test(
    run: &Run,
    disturbances: &Disturbances,
    shown: &[usize],
    test: &TestRecord,
) -> TestVerdict {
    let floor_ns = floor(run, disturbances, test);
    let (reference, mismatches) = judge_answers(run, shown, test);
    // Whether it has figures in the test but too few operations of a class.
    let tells = |judged: Judged, contender: usize| {
        let (own, _) = figures(run, disturbances, contender, &test.id, Judged::Test);
        matches!(judged, Judged::Response { .. }) && own.summary.is_some()
    };
    let uneven = |judged: Judged, contender: usize| match judged {
        Judged::Test => None,
        Judged::Response { class, share } => beyond(run, disturbances, contender, test, class, share),
    };
    let is_tried = |contender: usize| {
        let its = run.trials.iter().filter(|trial| trial.contender == contender);
        its.flat_map(|trial| &trial.samples)
            .any(|sample| sample.sample.test == test.id && sample.sought.is_some())
    };
    let cells = |judged: Judged| {
        let cell = |&contender: &usize| {
            let (figures, points) = figures(run, disturbances, contender, &test.id, judged);
            let standing = match (&figures.summary, mismatches.get(&contender)) {
                (None, _) if run.contenders[contender].lacks.contains(&test.id) => {
                    CellStanding::NotApplicable
                }
                (None, mismatch) if is_tried(contender) => match mismatch {
                    Some(mismatch) => CellStanding::Wrong(mismatch.clone()),
                    None if is_unproved(run, contender) => CellStanding::NotEncrypted,
                    None if is_disproved(run, contender) => CellStanding::NotIsolated,
                    None => CellStanding::Sought,
                },
                (None, _) if tells(judged, contender) => CellStanding::TooFew,
                (None, _) => {
                    why_missing(run, contender, &test.id).map_or(CellStanding::Untried, CellStanding::Missing)
                }
                (_, Some(mismatch)) => CellStanding::Wrong(mismatch.clone()),
                _ if is_unproved(run, contender) => CellStanding::NotEncrypted,
                _ if is_disproved(run, contender) => CellStanding::NotIsolated,
                _ => uneven(judged, contender).map_or(CellStanding::Counts, CellStanding::Uneven),
            };
            Cell {
                contender,
                figures,
                points,
                standing,
                ratio: None,
                difference: None,
                sustained: None,
                fastest: false,
            }
        };
        let mut cells: Vec<Cell> = shown.iter().map(cell).collect();
        compare_with_baseline(run, floor_ns, &mut cells);
        mark_fastest(run, &test.id, floor_ns, &mut cells);
        cells
    };
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
        sought: run.target_of(&test.id).is_some(),
        cells: cells(Judged::Test),
        responses: responses(run, test, |class, share| cells(Judged::Response { class, share })),
    }
}

/// The null runner's median for the same work. A file it reads and splits as every contender must: that is work, and no
/// cost of measuring.
fn floor(run: &Run, disturbances: &Disturbances, test: &TestRecord) -> Option<f64> {
    let harness = run.contenders.iter().position(|contender| contender.harness)?;
    let (figures, _) = figures(run, disturbances, harness, &test.id, Judged::Test);
    let summary = figures.summary.filter(|_| test.model != Model::ImportFile.name());
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
    let given = asked
        .iter()
        .map(|&contender| (&*run.contenders[contender].engine, answers_of(run, contender, &test.id)));
    let given: Vec<Given> = given.collect();
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

/// What failed in the last trial of a contender that failed, as the reason why a test has no samples.
fn why_missing(run: &Run, contender: usize, test: &str) -> Option<String> {
    let trials = run.trials.iter().rev().filter(|trial| trial.contender == contender);
    let failure = trials.filter_map(|trial| trial.failure.as_ref()).next()?;
    Some(match &failure.test {
        Some(at) if at != test => format!("test {at} failed: {}", failure.message),
        _ => failure.message.clone(),
    })
}

fn compare_with_baseline(run: &Run, floor: Option<f64>, cells: &mut [Cell]) {
    let Some(baseline) = cells.iter().find(|cell| cell.contender == run.baseline_index()).cloned() else {
        return;
    };
    let is_uneven = |cell: &Cell| matches!(cell.standing, CellStanding::Uneven(_));
    if is_uneven(&baseline) {
        return;
    }
    for cell in cells.iter_mut().filter(|cell| cell.contender != baseline.contender && !is_uneven(cell)) {
        cell.ratio = ratio(&cell.points, &baseline.points);
        cell.difference = cell.ratio.map(|ratio| difference(&ratio, cell, &baseline, floor));
    }
}

fn difference(ratio: &Ratio, cell: &Cell, baseline: &Cell, floor: Option<f64>) -> Difference {
    let middle = |cell: &Cell| cell.figures.summary.map(|summary| summary.median);
    match (middle(cell), middle(baseline)) {
        (Some(cell), Some(baseline)) => ratio.difference_above(cell, baseline, floor.unwrap_or(0.0)),
        _ => ratio.difference(),
    }
}

/// Marks the fastest of each class that has two contenders or more. Who failed in a trial is none of them: the figures are
/// of those trials in which it did not.
fn mark_fastest(run: &Run, test: &str, floor: Option<f64>, cells: &mut [Cell]) {
    for (_, members) in run.classes() {
        let rivals: Vec<usize> = cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| cell.counts() && members.contains(&cell.contender))
            .filter(|(_, cell)| !failed_in(run, cell.contender, test))
            .map(|(place, _)| place)
            .collect();
        if rivals.len() < 2 {
            continue;
        }
        let logs: Vec<_> = rivals.iter().map(|&place| logs_by_block(run, &cells[place].points)).collect();
        // Where the samples are too few to tell anyone apart, nobody is called the fastest.
        let Some(found) = best(&logs, run.schedule.margin) else { continue };
        let middle = |place: usize| cells[place].figures.summary.map(|summary| summary.median);
        let least = middle(rivals[found.best]);
        // Closer than what measuring costs is alike.
        let is_alike = |place: usize| {
            middle(place).zip(least).is_some_and(|(own, least)| (own - least).abs() < floor.unwrap_or(0.0))
        };
        let fastest: Vec<bool> =
            rivals.iter().zip(&found.fastest).map(|(&place, fastest)| *fastest || is_alike(place)).collect();
        for (place, fastest) in rivals.into_iter().zip(fastest) {
            cells[place].fastest = fastest;
        }
    }
}
