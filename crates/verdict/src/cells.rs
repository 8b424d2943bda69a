//! One test: which answers are right, which figures count, and how they compare with the baseline's.

use std::collections::BTreeMap;

use dyno_protocol::Model;
use dyno_record::{Answer, Run, TestRecord};

use crate::answers::{self, AnswerVerdict, Given, Reference};
use crate::cell::{Cell, CellStanding, is_unproved};
use crate::disturbance::Disturbances;
use crate::figures::{Judged, failed_in, figures};
use crate::pairs::ratio;
use crate::responses::responses;
use crate::statistics::{Difference, Ratio};
use crate::test_verdict::TestVerdict;
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
    let (reference, answered) = judge_answers(run, shown, test);
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
            let standing = match (&figures.summary, answered.get(&contender)) {
                (None, _) if run.contenders[contender].lacks.contains(&test.id) => {
                    CellStanding::NotApplicable
                }
                (None, answered) if is_tried(contender) => match answered {
                    Some(standing) => standing.clone(),
                    None if is_unproved(run, contender) => CellStanding::NotEncrypted,
                    None if is_disproved(run, contender) => CellStanding::NotIsolated,
                    None => CellStanding::Sought,
                },
                (None, _) if tells(judged, contender) => CellStanding::TooFew,
                (None, _) if test.prepares && failed_elsewhere(run, contender, &test.id) => {
                    CellStanding::NotReached
                }
                (None, _) => {
                    why_missing(run, contender, &test.id).map_or(CellStanding::Untried, CellStanding::Missing)
                }
                (_, Some(standing)) => standing.clone(),
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
                failed: failed_in(run, contender, &test.id),
            }
        };
        let mut cells: Vec<Cell> = shown.iter().map(cell).collect();
        compare_with_baseline(run, floor_ns, &mut cells);
        cells
    };
    TestVerdict {
        id: test.id.clone(),
        title: test.title.clone(),
        shows: test.shows.clone(),
        model: test.model.clone(),
        prepares: test.prepares,
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

/// Chooses the right answer, and returns by contender the standing of those that differ from it.
fn judge_answers(
    run: &Run,
    shown: &[usize],
    test: &TestRecord,
) -> (Option<Reference>, BTreeMap<usize, CellStanding>) {
    // The harness answers nothing, and is not asked.
    let asked: Vec<usize> = shown.iter().copied().filter(|&index| !run.contenders[index].harness).collect();
    let given = asked
        .iter()
        .map(|&contender| (&*run.contenders[contender].engine, answers_of(run, contender, &test.id)));
    let given: Vec<Given> = given.collect();
    let expected = test.expect.as_ref().map(Answer::from_rows).or_else(|| test.expect_digest.clone());
    let judgement = answers::judge(&given, expected.as_ref(), run.suite.tolerance);
    let verdicts = asked.iter().zip(judgement.verdicts);
    let wrong = verdicts.filter_map(|(&contender, verdict)| match verdict {
        AnswerVerdict::Wrong { mismatch, .. } => Some((contender, CellStanding::Wrong(mismatch.to_string()))),
        AnswerVerdict::Disputed { by, mismatch } => {
            let by = &run.contenders[asked[by]].label;
            Some((contender, CellStanding::Disputed(format!("{mismatch} by {by}"))))
        }
        AnswerVerdict::Right | AnswerVerdict::Missing => None,
    });
    // People know contenders by their position in the run.
    let reference = match judgement.reference {
        Reference::Stated => Some(Reference::Stated),
        Reference::Majority { contender } => Some(Reference::Majority { contender: asked[contender] }),
        Reference::OneEngine { contender } => Some(Reference::OneEngine { contender: asked[contender] }),
        Reference::Disputed => Some(Reference::Disputed),
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

/// Returns true if the last failure of a contender was in another test.
fn failed_elsewhere(run: &Run, contender: usize, test: &str) -> bool {
    let mut failures = run.trials.iter().rev().filter(|trial| trial.contender == contender);
    let last = failures.find_map(|trial| trial.failure.as_ref());
    last.and_then(|failure| failure.test.as_deref()).is_some_and(|at| at != test)
}

/// The message of the last failed trial of a contender, as the reason why a test has no samples.
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
    if !baseline.is_comparable() {
        return;
    }
    let others = cells.iter_mut().filter(|cell| cell.contender != baseline.contender && cell.is_comparable());
    for cell in others {
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
