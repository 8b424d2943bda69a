//! One side of a comparison: a contender in a test of one of the two runs.

use dyno_record::Target;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CellComparison;
use crate::answers::Reference;
use crate::cell::CellStanding;
use crate::judge::Verdict;
use crate::statistics::{Ratio, independent_ratio, median};
use crate::test_verdict::TestVerdict;
use crate::views::{Outcome, SustainedLine};

/// A contender in a test of one of the two runs.
pub(super) struct Side<'a> {
    /// The durations that count.
    times: Vec<f64>,
    /// The result of the rate search.
    sustained: Option<&'a SustainedLine>,
    target: Option<Target>,
    /// The reason that none do.
    why_not: Option<String>,
    floor_ns: f64,
    answers: CheckedAnswers,
}

/// The state of a contender's answers in a test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckedAnswers {
    /// They are right.
    Right,
    /// The answers of a run agree with each other; nothing says whether they are right.
    Agreed,
    /// There is no answer to check.
    #[default]
    Unchecked,
    /// One is wrong or disputed.
    Wrong,
}

impl<'a> Side<'a> {
    pub(super) fn new(run: &'a Verdict, test: &TestVerdict, label: &str) -> Side<'a> {
        let cell = test.cells.iter().find(|cell| run.contenders[cell.contender].label == label);
        let why_not = match cell.map(|cell| &cell.standing) {
            Some(CellStanding::Counts) if cell.is_some_and(|cell| cell.failed) => {
                Some("a trial failed, and the others may be the quick ones".into())
            }
            Some(CellStanding::Counts | CellStanding::Sought) => None,
            Some(CellStanding::Wrong(why)) => Some(format!("wrong: {why}")),
            Some(CellStanding::Disputed(why)) => Some(format!("disputed: {why}")),
            Some(CellStanding::Missing(why)) => Some(why.clone()),
            Some(CellStanding::Untried) => Some("the run was stopped before it measured this".into()),
            Some(CellStanding::NotEncrypted) => Some("not encrypted".into()),
            Some(CellStanding::WeakGenerator(why)) => Some(why.clone()),
            Some(CellStanding::NotIsolated) => Some("below its isolation level".into()),
            Some(CellStanding::NotReached) => Some("not reached".into()),
            Some(CellStanding::AtLeast) => Some("its percentile takes in operations without success".into()),
            Some(CellStanding::NotApplicable | CellStanding::TooFew | CellStanding::Uneven(_)) => {
                Some("does not apply".into())
            }
            None => Some("not in the run".into()),
        };
        let used =
            cell.filter(|cell| cell.is_comparable()).map(|cell| &cell.points.used[..]).unwrap_or_default();
        let times = used.iter().map(|(_, nanoseconds)| *nanoseconds).collect();
        let found = run.views.sustained.iter().find(|sustained| sustained.test == test.id);
        let mut lines = found.iter().flat_map(|found| &found.lines);
        let is_sought = cell.is_some_and(|cell| cell.standing == CellStanding::Sought);
        let line = lines.find(|line| is_sought && run.contenders[line.contender].label == label);
        Side {
            times,
            sustained: line,
            target: found.map(|found| found.target),
            why_not,
            floor_ns: test.floor_ns.unwrap_or(0.0),
            answers: match (cell.map(|cell| &cell.standing), &test.reference) {
                (Some(CellStanding::Wrong(_) | CellStanding::Disputed(_)), _) => CheckedAnswers::Wrong,
                (
                    None
                    | Some(
                        CellStanding::Missing(_)
                        | CellStanding::Untried
                        | CellStanding::NotApplicable
                        | CellStanding::NotReached,
                    ),
                    _,
                ) => CheckedAnswers::Unchecked,
                (_, Some(Reference::Stated)) => CheckedAnswers::Right,
                (_, Some(Reference::Majority { .. } | Reference::OneEngine { .. })) => CheckedAnswers::Agreed,
                (_, Some(Reference::Disputed | Reference::Absent) | None) => CheckedAnswers::Unchecked,
            },
        }
    }

    /// Compares this old side with a new one.
    pub(super) fn against(&self, new: &Side, seed: u64, confidence: f64, margin: f64) -> CellComparison {
        let answers = self.answers.max(new.answers);
        CellComparison { answers, ..self.figures_against(new, seed, confidence, margin) }
    }

    fn figures_against(&self, new: &Side, seed: u64, confidence: f64, margin: f64) -> CellComparison {
        if self.target.is_some() || new.target.is_some() {
            return self.rate_against(new, confidence, margin);
        }
        let ratio = independent_ratio(&new.times, &self.times, seed, confidence);
        let (old_ns, new_ns) = (median(&self.times), median(&new.times));
        let floor = self.floor_ns.max(new.floor_ns);
        let difference = match (ratio, old_ns, new_ns) {
            (Some(ratio), Some(old), Some(new)) => {
                Some(ratio.difference_above(new, old, floor).held(true, &ratio, margin))
            }
            _ => None,
        };
        let why_not = self.why_not.clone().or_else(|| new.why_not.clone());
        let (old_samples, new_samples) = (self.times.len(), new.times.len());
        CellComparison {
            old_ns,
            new_ns,
            old_samples,
            new_samples,
            ratio,
            difference,
            why_not,
            ..CellComparison::default()
        }
    }

    /// The same where a rate was sought.
    fn rate_against(&self, new: &Side, confidence: f64, margin: f64) -> CellComparison {
        let outcome = |side: &Side| side.sustained.map(|line| line.outcome);
        let (old_sustained, new_sustained) = (outcome(self), outcome(new));
        let why_not = self.why_not.clone().or_else(|| new.why_not.clone()).or_else(|| {
            if self.target != new.target {
                return Some("the runs do not seek the same target".into());
            }
            [("old", self), ("new", new)].into_iter().find_map(|(name, side)| match outcome(side) {
                None => Some(format!("the {name} run has no trial at a rate")),
                Some(Outcome::AtLeast { .. }) => {
                    Some(format!("in the {name} run the target held at every rate that was tried"))
                }
                Some(Outcome::NotSustained { .. }) => {
                    Some(format!("in the {name} run the target held at no rate that was tried"))
                }
                Some(Outcome::Sustains { .. }) => None,
            })
        });
        let threshold = |side: &Side| side.sustained.and_then(SustainedLine::threshold);
        let is_close =
            |outcome: Option<Outcome>| matches!(outcome, Some(Outcome::Sustains { interval: Some(_), .. }));
        let ratio = threshold(self).zip(threshold(new)).filter(|_| why_not.is_none()).map(|(old, new)| {
            let ratio = old.over(&new, confidence);
            let is_known = is_close(old_sustained) && is_close(new_sustained);
            Ratio { interval: ratio.interval.filter(|_| is_known), ..ratio }
        });
        let difference = ratio.map(|ratio| ratio.difference().held(true, &ratio, margin));
        CellComparison {
            old_sustained,
            new_sustained,
            ratio,
            difference,
            why_not,
            ..CellComparison::default()
        }
    }
}
