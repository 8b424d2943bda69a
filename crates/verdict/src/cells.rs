//! One test: which answers are right, which figures count, and how they compare with the baseline's.

use std::collections::{BTreeMap, BTreeSet};

use dyno_protocol::Model;
use dyno_record::{Answer, Quantity, Run, TestRecord};

use crate::answers::{self, AnswerVerdict, Given, Reference};
use crate::cell::{Cell, CellStanding};
use crate::counts::compare_counts;
use crate::disturbance::Disturbances;
use crate::figures::{Figures, Points, failed_in, figures, is_of_all_trials, takes_in_failed};
use crate::generators::weakness;
use crate::pairs::ratio;
use crate::responses::responses;
use crate::statistics::{Difference, Ratio};
use crate::test_verdict::{QuantityVerdict, TestVerdict};
use crate::uneven::beyond;
use crate::views::{is_disproved, is_unproved};

/// Judges a test; `shown` are the contenders shown, by position.
pub(crate) fn judge_test(
    run: &Run,
    disturbances: &Disturbances,
    shown: &[usize],
    test: &TestRecord,
) -> TestVerdict {
    let (reference, answered) = judge_answers(run, shown, test);
    let judge = TestJudge { run, disturbances, shown, test, answered };
    let own = judge.measure(Quantity::of_test(run.suite.figure, test.amount.as_ref()));
    TestVerdict {
        id: test.id.clone(),
        title: test.title.clone(),
        shows: test.shows.clone(),
        model: test.model.clone(),
        prepares: test.prepares,
        statements: test.statements,
        first: test.first.clone(),
        last: test.last.clone(),
        quantity: own.quantity,
        amount: test.amount.clone(),
        published: test.published.clone(),
        reference,
        floor_ns: own.floor,
        sought: run.target_of(&test.id).is_some(),
        cells: own.cells,
        responses: responses(run, test, |quantity| judge.measure(quantity)),
        counts: events(run, test).map(|event| judge.measure(Quantity::Count { event })).collect(),
    }
}

/// The facts by which the cells of a test are judged.
struct TestJudge<'a> {
    run: &'a Run,
    disturbances: &'a Disturbances,
    /// The contenders shown, by position.
    shown: &'a [usize],
    test: &'a TestRecord,
    /// The faults of contenders' answers, by their position.
    answered: BTreeMap<usize, CellStanding>,
}

impl TestJudge<'_> {
    /// The judgement on one quantity.
    fn measure(&self, quantity: Quantity) -> QuantityVerdict {
        let floor = self.floor(&quantity);
        let mut cells: Vec<Cell> =
            self.shown.iter().map(|&contender| self.cell(&quantity, contender)).collect();
        match quantity {
            Quantity::Count { .. } => compare_counts_with_baseline(self.run, &quantity, &mut cells),
            _ => compare_with_baseline(self.run, floor, &mut cells),
        }
        QuantityVerdict { quantity, floor, cells }
    }

    /// The null runner's median for the same work: of a count the events, of all else the time. The null runner reads
    /// and splits a file as every contender must: that is work, and no cost of measuring.
    fn floor(&self, quantity: &Quantity) -> Option<f64> {
        let harness = self.run.contenders.iter().position(|contender| contender.harness)?;
        let quantity = match quantity {
            Quantity::Count { .. } => quantity,
            Quantity::Time | Quantity::Rate(_) | Quantity::Response { .. } => &Quantity::Time,
        };
        let summary = self.figures(quantity, harness).0.summary;
        summary.filter(|_| self.test.model != Model::ImportFile.name()).map(|summary| summary.median)
    }

    fn figures(&self, quantity: &Quantity, contender: usize) -> (Figures, Points) {
        figures(self.run, self.disturbances, contender, &self.test.id, quantity)
    }

    fn cell(&self, quantity: &Quantity, contender: usize) -> Cell {
        let (mut figures, mut points) = self.figures(quantity, contender);
        // Trials with too few operations are the slow ones: a percentile without them would be that of the quick ones.
        if !is_of_all_trials(self.run, contender, &self.test.id, (quantity, &figures)) {
            (figures, points) = Default::default();
        }
        let standing = match figures.summary {
            Some(_) => self.standing_of_figures(quantity, contender),
            None => self.standing_without_figures(quantity, contender),
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
            failed: failed_in(self.run, contender, &self.test.id),
        }
    }

    fn standing_of_figures(&self, quantity: &Quantity, contender: usize) -> CellStanding {
        let uneven = || match quantity {
            Quantity::Response { class, share } => {
                beyond(self.run, self.disturbances, contender, self.test, class, *share)
            }
            Quantity::Time | Quantity::Rate(_) | Quantity::Count { .. } => None,
        };
        let is_bound = || takes_in_failed(self.run, self.disturbances, contender, &self.test.id, quantity);
        match self.refusal(contender) {
            Some(refusal) => refusal,
            None if is_bound() => CellStanding::AtLeast,
            None => uneven().map_or(CellStanding::Counts, CellStanding::Uneven),
        }
    }

    fn standing_without_figures(&self, quantity: &Quantity, contender: usize) -> CellStanding {
        let (run, test) = (self.run, self.test);
        if run.contenders[contender].lacks.contains(&test.id) {
            CellStanding::NotApplicable
        } else if self.is_sought(contender) {
            self.refusal(contender).unwrap_or(CellStanding::Sought)
        } else if matches!(quantity, Quantity::Response { .. }) && self.has_time(contender) {
            CellStanding::TooFew
        } else if matches!(quantity, Quantity::Count { .. }) && self.has_time(contender) {
            CellStanding::NotApplicable
        } else if test.prepares && failed_elsewhere(run, contender, &test.id) {
            CellStanding::NotReached
        } else {
            why_missing(run, contender, &test.id).map_or(CellStanding::Untried, CellStanding::Missing)
        }
    }

    /// The reason that a contender's figures, if it has some, do not count.
    fn refusal(&self, contender: usize) -> Option<CellStanding> {
        if let Some(standing) = self.answered.get(&contender) {
            Some(standing.clone())
        } else if is_unproved(self.run, contender) {
            Some(CellStanding::NotEncrypted)
        } else {
            let isolated = is_disproved(self.run, contender).then_some(CellStanding::NotIsolated);
            let weakness = || weakness(self.run, self.disturbances, contender, &self.test.id);
            isolated.or_else(|| weakness().map(CellStanding::WeakGenerator))
        }
    }

    /// True if the contender's trials searched for a rate in the test.
    fn is_sought(&self, contender: usize) -> bool {
        let trials = self.run.trials.iter().filter(|trial| trial.contender == contender);
        let mut samples = trials.flat_map(|trial| &trial.samples);
        samples.any(|sample| sample.sample.test == self.test.id && sample.sought.is_some())
    }

    /// True if the contender's time in the test is known.
    fn has_time(&self, contender: usize) -> bool {
        self.figures(&Quantity::Time, contender).0.summary.is_some()
    }
}

/// The events that were counted in measured trials of a test, by name.
fn events(run: &Run, test: &TestRecord) -> impl Iterator<Item = String> {
    let samples = run.trials.iter().filter(|trial| trial.may_count()).flat_map(|trial| &trial.samples);
    let its = samples.filter(|sample| sample.sample.test == test.id);
    let events: BTreeSet<String> =
        its.flat_map(|sample| sample.sample.section.counts.keys().cloned()).collect();
    events.into_iter()
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

fn compare_counts_with_baseline(run: &Run, quantity: &Quantity, cells: &mut [Cell]) {
    let baseline = cells.iter().find(|cell| cell.contender == run.baseline_index()).cloned();
    let Some(baseline) = baseline.filter(Cell::is_comparable) else { return };
    let others = cells.iter_mut().filter(|cell| cell.contender != baseline.contender && cell.is_comparable());
    for cell in others {
        (cell.ratio, cell.difference) =
            compare_counts(quantity, &cell.points.numbers(), &baseline.points.numbers());
    }
}

fn difference(ratio: &Ratio, cell: &Cell, baseline: &Cell, floor: Option<f64>) -> Difference {
    let middle = |cell: &Cell| cell.figures.summary.map(|summary| summary.median);
    match (middle(cell), middle(baseline)) {
        (Some(cell), Some(baseline)) => ratio.difference_above(cell, baseline, floor.unwrap_or(0.0)),
        _ => ratio.difference(),
    }
}
