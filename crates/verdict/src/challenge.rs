//! The orders that a run claims, held against runs of the same work under changed circumstances.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judge::Verdict;
use crate::statistics::{Difference, Ratio};

/// The claims of a run, each with its outcomes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Challenge {
    /// The name of the suite.
    pub suite: String,
    /// The number of changed runs.
    pub runs: usize,
    /// The claims about geometric means.
    pub means: Vec<ChallengedOrder>,
    /// The claims about single tests.
    pub tests: Vec<ChallengedOrder>,
}

/// A claim that one contender is faster than another, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChallengedOrder {
    /// The test, by its id; absent for the mean over tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The contender of which the ratio is.
    pub contender: String,
    /// The baseline, with which it is compared.
    pub baseline: String,
    /// The claim: `faster` or `slower`.
    pub claimed: ClaimedOrder,
    /// The ratio of their times in the run that claims it.
    pub ratio: f64,
    /// For each changed run what it shows, in their order.
    pub outcomes: Vec<ChallengeOutcome>,
}

/// An order of a contender and the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimedOrder {
    /// The contender takes less time than the baseline.
    Faster,
    /// It takes more.
    Slower,
}

/// The outcome of a claim in a changed run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChallengeOutcome {
    /// The order that it shows, by the same rule as the run that claims; absent where it shows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<ClaimedOrder>,
    /// The ratio of their times; absent where the run has no such ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
}

impl ChallengedOrder {
    /// In how many changed runs the order is there again.
    pub fn survived(&self) -> usize {
        self.count(Some(self.claimed))
    }

    /// In how many it is not shown.
    pub fn not_shown(&self) -> usize {
        self.count(None)
    }

    /// In how many the opposite is shown.
    pub fn turned(&self) -> usize {
        self.outcomes.len() - self.survived() - self.not_shown()
    }

    /// The least and the greatest ratio of the changed runs.
    pub fn range(&self) -> Option<(f64, f64)> {
        let ratios = || self.outcomes.iter().filter_map(|outcome| outcome.ratio);
        Some((ratios().reduce(f64::min)?, ratios().reduce(f64::max)?))
    }

    fn count(&self, shown: Option<ClaimedOrder>) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.shown == shown).count()
    }
}

/// Holds the claims of a run against changed runs of the same work.
pub fn challenge(claims: &Verdict, changed: &[Verdict]) -> Challenge {
    let order = |test: Option<&str>, contender: usize, (difference, ratio): Judged| {
        let label = claims.label(contender);
        let outcome = |verdict: &Verdict| match judged(verdict, test, label) {
            Some((difference, ratio)) => {
                ChallengeOutcome { shown: shown(difference), ratio: Some(ratio.ratio) }
            }
            None => ChallengeOutcome { shown: None, ratio: None },
        };
        Some(ChallengedOrder {
            test: test.map(str::to_owned),
            contender: label.to_owned(),
            baseline: claims.label(claims.baseline).to_owned(),
            claimed: shown(difference)?,
            ratio: ratio.ratio,
            outcomes: changed.iter().map(outcome).collect(),
        })
    };
    let claimed = |test: Option<&str>| -> Vec<ChallengedOrder> {
        let contenders = claims.shown_contenders().map(|(contender, _)| contender);
        let judged = |contender| Some((contender, judged(claims, test, claims.label(contender))?));
        contenders
            .filter_map(judged)
            .filter_map(|(contender, judged)| order(test, contender, judged))
            .collect()
    };
    Challenge {
        suite: claims.about.suite.name.clone(),
        runs: changed.len(),
        means: claimed(None),
        tests: claims.tests.iter().flat_map(|test| claimed(Some(test.id.as_str()))).collect(),
    }
}

type Judged = (Difference, Ratio);

/// The judgement of a verdict on a contender, by its label, against the baseline: in a test, or in the mean.
fn judged(verdict: &Verdict, test: Option<&str>, label: &str) -> Option<Judged> {
    let (contender, _) = verdict.shown_contenders().find(|(_, known)| known.label == label)?;
    match test {
        Some(id) => {
            let cell = verdict.test(id)?.cell(contender)?;
            cell.difference.zip(cell.ratio)
        }
        None => {
            let summary = verdict.summaries.iter().find(|summary| summary.contender == contender)?;
            summary.difference.zip(summary.geometric_mean)
        }
    }
}

fn shown(difference: Difference) -> Option<ClaimedOrder> {
    match difference {
        Difference::Faster => Some(ClaimedOrder::Faster),
        Difference::Slower => Some(ClaimedOrder::Slower),
        Difference::None(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_counted_by_what_they_show() {
        let outcome = |shown, ratio| ChallengeOutcome { shown, ratio };
        let order = ChallengedOrder {
            test: None,
            contender: "a".into(),
            baseline: "b".into(),
            claimed: ClaimedOrder::Faster,
            ratio: 0.8,
            outcomes: vec![
                outcome(Some(ClaimedOrder::Faster), Some(0.7)),
                outcome(None, Some(0.99)),
                outcome(Some(ClaimedOrder::Slower), Some(1.2)),
                outcome(None, None),
            ],
        };
        assert_eq!((order.survived(), order.turned(), order.not_shown()), (1, 1, 2));
        assert_eq!(order.range(), Some((0.7, 1.2)));
    }
}
