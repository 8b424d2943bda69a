//! Which contenders answered rightly, and by what it was decided what right is.
//!
//! A judgement is about one test. It never changes an answer, and it cannot know the truth: where a suite
//! states no answer, the one on which most engines agree is taken to be right. Engines count and not contenders, because
//! builds and settings of one engine share its errors: three SQLites outvote nobody.

use std::collections::BTreeSet;

use dyno_record::Answer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compare::{Mismatch, compare};

/// Who is right in one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// What the answers were held against.
    pub reference: Reference,
    /// One verdict per contender, in the order they were given.
    pub verdicts: Vec<AnswerVerdict>,
}

/// How the reference was chosen. Contenders are named by their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Reference {
    /// The suite states the answer.
    Stated,
    /// More engines agree with this contender than on any other answer.
    Majority {
        /// The first contender of the group.
        contender: usize,
    },
    /// As many engines disagree, and the baseline is among them.
    Baseline {
        /// The first contender of the baseline's group.
        contender: usize,
    },
    /// As many engines disagree, without the baseline: the contender listed first was taken.
    First {
        /// The first contender of the group.
        contender: usize,
    },
    /// No contender gave the same answer in all its trials.
    Absent,
}

/// What became of one contender's answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum AnswerVerdict {
    /// Every trial agrees with the reference.
    Right,
    /// A trial does not agree.
    Wrong {
        /// The place of the first such trial among those given, from 0.
        trial: usize,
        /// Where it departs from the reference; from the contender's own first trial where there is no
        /// reference.
        mismatch: Mismatch,
    },
    /// It gave no answer.
    Missing,
}

impl AnswerVerdict {
    /// Whether the contender may be ranked in this test.
    pub fn is_right(&self) -> bool {
        matches!(self, AnswerVerdict::Right)
    }
}

/// What a contender answered: its engine, and the answers of its trials.
pub type Given<'a> = (&'a str, Vec<&'a Answer>);

/// Judges one test: `answers` holds per contender its engine and the answers of its trials, `expected` what the suite
/// states, `baseline` the place of the baseline among the contenders.
///
/// A contender whose own trials disagree is in no group and is right only if each of them agrees with
/// the reference.
pub fn judge(answers: &[Given], expected: Option<&Answer>, baseline: usize, tolerance: f64) -> Judgement {
    let reference = match expected {
        Some(_) => Reference::Stated,
        None => choose(answers, baseline, tolerance),
    };
    let right = match reference {
        Reference::Stated => expected,
        Reference::Majority { contender }
        | Reference::Baseline { contender }
        | Reference::First { contender } => answers[contender].1.first().copied(),
        Reference::Absent => None,
    };
    let verdicts = answers.iter().map(|(_, trials)| verdict(trials, right, tolerance)).collect();
    Judgement { reference, verdicts }
}

fn verdict(trials: &[&Answer], right: Option<&Answer>, tolerance: f64) -> AnswerVerdict {
    let Some(right) = right.or(trials.first().copied()) else { return AnswerVerdict::Missing };
    if trials.is_empty() {
        return AnswerVerdict::Missing;
    }
    let wrong = trials.iter().enumerate().find_map(|(trial, answer)| {
        let mismatch = compare(answer, right, tolerance).err()?;
        Some(AnswerVerdict::Wrong { trial, mismatch })
    });
    wrong.unwrap_or(AnswerVerdict::Right)
}

/// The contenders that agree whose engines are the most; on a tie the baseline's, else the first.
fn choose(answers: &[Given], baseline: usize, tolerance: f64) -> Reference {
    let groups = groups(answers, tolerance);
    let engines = |group: &Vec<usize>| {
        group.iter().map(|&contender| answers[contender].0).collect::<BTreeSet<_>>().len()
    };
    let most = groups.iter().map(engines).max().unwrap_or(0);
    let mut candidates = groups.iter().filter(|group| engines(group) == most);
    let Some(first) = candidates.next() else { return Reference::Absent };
    if candidates.next().is_none() {
        return Reference::Majority { contender: first[0] };
    }
    match groups.iter().find(|group| engines(group) == most && group.contains(&baseline)) {
        Some(group) => Reference::Baseline { contender: group[0] },
        None => Reference::First { contender: first[0] },
    }
}

/// The contenders that agree, in groups. Agreement within a tolerance is not transitive, so a contender
/// joins the first group with whose first member all its trials agree.
fn groups(answers: &[Given], tolerance: f64) -> Vec<Vec<usize>> {
    let agree = |trials: &[&Answer], with: &Answer| {
        trials.iter().all(|answer| compare(answer, with, tolerance).is_ok())
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (contender, (_, trials)) in answers.iter().enumerate() {
        let Some(own) = trials.first() else { continue };
        if !agree(trials, own) {
            continue;
        }
        match groups.iter_mut().find(|group| agree(trials, answers[group[0]].1[0])) {
            Some(group) => group.push(contender),
            None => groups.push(vec![contender]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use dyno_protocol::Value;

    use super::*;

    fn answer(count: i64) -> Answer {
        Answer::from_rows(&[vec![Value::Integer(count)]])
    }

    /// What contenders of different engines answered.
    fn given<'a>(answers: impl IntoIterator<Item = Vec<&'a Answer>>) -> Vec<Given<'a>> {
        ["a", "b", "c", "d", "e"].into_iter().zip(answers).collect()
    }

    fn rights(judgement: &Judgement) -> Vec<bool> {
        judgement.verdicts.iter().map(AnswerVerdict::is_right).collect()
    }

    #[test]
    fn the_majority_is_right_against_the_baseline() {
        let (seven, eight) = (answer(7), answer(8));
        let judgement = judge(&given([vec![&eight], vec![&seven], vec![&seven, &seven]]), None, 0, 0.0);
        assert_eq!(judgement.reference, Reference::Majority { contender: 1 });
        assert_eq!(rights(&judgement), [false, true, true]);
        let AnswerVerdict::Wrong { trial: 0, mismatch } = &judgement.verdicts[0] else { panic!() };
        assert_eq!(mismatch.to_string(), "row 1, column 1 is 8 where 7 is expected");
    }

    #[test]
    fn builds_of_one_engine_outvote_no_other() {
        let (seven, eight) = (answer(7), answer(8));
        let builds = [("sqlite", vec![&eight]), ("sqlite", vec![&eight]), ("postgres", vec![&seven])];
        let judgement = judge(&builds, None, 2, 0.0);
        assert_eq!(judgement.reference, Reference::Baseline { contender: 2 });
        assert_eq!(rights(&judgement), [false, false, true]);
        let engines = [builds.to_vec(), vec![("mariadb", vec![&seven])]].concat();
        assert_eq!(judge(&engines, None, 0, 0.0).reference, Reference::Majority { contender: 2 });
    }

    #[test]
    fn a_tie_goes_to_the_baseline_and_else_to_the_first() {
        let (seven, eight, nine) = (answer(7), answer(8), answer(9));
        let tie = judge(&given([vec![&eight], vec![&seven]]), None, 1, 0.0);
        assert_eq!(tie.reference, Reference::Baseline { contender: 1 });
        assert_eq!(rights(&tie), [false, true]);
        let pairs = [vec![&nine], vec![&eight], vec![&eight], vec![&seven], vec![&seven]];
        let without = judge(&given(pairs), None, 0, 0.0);
        assert_eq!(without.reference, Reference::First { contender: 1 });
    }

    #[test]
    fn a_stated_answer_overrules_everyone() {
        let (seven, eight) = (answer(7), answer(8));
        let judgement = judge(&given([vec![&eight], vec![&eight], vec![&seven]]), Some(&seven), 0, 0.0);
        assert_eq!(judgement.reference, Reference::Stated);
        assert_eq!(rights(&judgement), [false, false, true]);
    }

    #[test]
    fn a_contender_at_odds_with_itself_is_wrong() {
        let (seven, eight) = (answer(7), answer(8));
        let judgement = judge(&given([vec![&seven, &seven, &eight], vec![&seven], vec![]]), None, 0, 0.0);
        assert_eq!(judgement.reference, Reference::Majority { contender: 1 });
        assert!(matches!(judgement.verdicts[0], AnswerVerdict::Wrong { trial: 2, .. }));
        assert_eq!(judgement.verdicts[1..], [AnswerVerdict::Right, AnswerVerdict::Missing]);

        let alone = judge(&given([vec![&seven, &eight]]), None, 0, 0.0);
        assert_eq!(alone.reference, Reference::Absent);
        assert!(matches!(alone.verdicts[0], AnswerVerdict::Wrong { trial: 1, .. }));
    }
}
