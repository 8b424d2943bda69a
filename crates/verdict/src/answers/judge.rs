//! Decides which contenders returned the right answer, and records how the right answer was chosen.
//!
//! A judgement is about one test. It never changes an answer, and it cannot know the truth: where a suite states no
//! answer, the one on which most engines agree is taken to be right. Engines count and not contenders, because builds
//! and settings of one engine share its errors: three SQLites outvote no other engine. Where no two engines agree on
//! one answer and no answer leads, nothing says which is right, so each is disputed and none is called wrong.

use std::collections::BTreeSet;

use dyno_record::Answer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compare::{Mismatch, compare};

/// The judgement of all contenders' answers to one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The answer that all others are compared with.
    pub reference: Reference,
    /// One verdict per contender, in the order they were given.
    pub verdicts: Vec<AnswerVerdict>,
}

/// The way in which the reference was chosen. Contenders are named by their position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Reference {
    /// The suite states the answer.
    Stated,
    /// More engines agree with this contender than on any other answer, and at least two do.
    Majority {
        /// The first contender of the group.
        contender: usize,
    },
    /// All answers agree, and all are of one engine: no other one speaks for it.
    OneEngine {
        /// The first contender.
        contender: usize,
    },
    /// There are several answers, and no more engines agree on one of them than on another.
    Disputed,
    /// No contender gave the same answer in all its trials.
    Absent,
}

/// The judgement of one contender's answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum AnswerVerdict {
    /// Every trial agrees with the reference.
    Right,
    /// A trial does not agree.
    Wrong {
        /// The place of the first such trial among those given, from 0.
        trial: usize,
        /// The first difference from the reference, or from the contender's own first trial if the test has no
        /// reference.
        mismatch: Mismatch,
    },
    /// Others answered otherwise, and nothing says which of them is right.
    Disputed {
        /// The first contender that answered otherwise, by its place.
        by: usize,
        /// The difference between the two, seen from that contender.
        mismatch: Mismatch,
    },
    /// It gave no answer.
    Missing,
}

impl AnswerVerdict {
    /// Returns true if the contender may be ranked in this test.
    pub fn is_right(&self) -> bool {
        matches!(self, AnswerVerdict::Right)
    }
}

/// One contender's answers: its engine's name, and one answer per trial.
pub type Given<'a> = (&'a str, Vec<&'a Answer>);

/// Judges one test: `answers` holds per contender its engine and the answers of its trials, `expected` what the suite
/// states.
///
/// A contender whose own trials disagree is in no group and is right only if each of them agrees with
/// the reference.
pub fn judge(answers: &[Given], expected: Option<&Answer>, tolerance: f64) -> Judgement {
    let groups = groups(answers, tolerance);
    let reference = match expected {
        Some(_) => Reference::Stated,
        None => choose(answers, &groups),
    };
    let right = match reference {
        Reference::Stated => expected,
        Reference::Majority { contender } | Reference::OneEngine { contender } => {
            answers[contender].1.first().copied()
        }
        Reference::Disputed | Reference::Absent => None,
    };
    let verdict = |(place, (_, trials)): (usize, &Given)| match verdict(trials, right, tolerance) {
        AnswerVerdict::Right if reference == Reference::Disputed => {
            disputed(answers, &groups, place, tolerance)
        }
        verdict => verdict,
    };
    let verdicts = answers.iter().enumerate().map(verdict).collect();
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

/// Judges an answer that differs from those of other groups.
fn disputed(answers: &[Given], groups: &[Vec<usize>], place: usize, tolerance: f64) -> AnswerVerdict {
    let others = groups.iter().filter(|group| !group.contains(&place)).map(|group| group[0]);
    let own = answers[place].1.first();
    let mut found = others.filter_map(|by| {
        let mismatch = compare(own?, answers[by].1.first()?, tolerance).err()?;
        Some(AnswerVerdict::Disputed { by, mismatch })
    });
    found.next().unwrap_or(AnswerVerdict::Right)
}

/// Chooses the reference if the suite states no answer.
fn choose(answers: &[Given], groups: &[Vec<usize>]) -> Reference {
    let engines = |group: &Vec<usize>| {
        group.iter().map(|&contender| answers[contender].0).collect::<BTreeSet<_>>().len()
    };
    let most = groups.iter().map(engines).max().unwrap_or(0);
    let mut candidates = groups.iter().filter(|group| engines(group) == most);
    match (candidates.next(), candidates.next()) {
        (None, _) => Reference::Absent,
        (Some(group), None) if most > 1 => Reference::Majority { contender: group[0] },
        (Some(group), None) => Reference::OneEngine { contender: group[0] },
        _ => Reference::Disputed,
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

    /// Pairs each contender's answers with the name of an engine, a different one for each contender.
    fn given<'a>(answers: impl IntoIterator<Item = Vec<&'a Answer>>) -> Vec<Given<'a>> {
        ["a", "b", "c", "d", "e"].into_iter().zip(answers).collect()
    }

    fn rights(judgement: &Judgement) -> Vec<bool> {
        judgement.verdicts.iter().map(AnswerVerdict::is_right).collect()
    }

    #[test]
    fn the_majority_is_right_against_the_baseline() {
        let (seven, eight) = (answer(7), answer(8));
        let judgement = judge(&given([vec![&eight], vec![&seven], vec![&seven, &seven]]), None, 0.0);
        assert_eq!(judgement.reference, Reference::Majority { contender: 1 });
        assert_eq!(rights(&judgement), [false, true, true]);
        let AnswerVerdict::Wrong { trial: 0, mismatch } = &judgement.verdicts[0] else { panic!() };
        assert_eq!(mismatch.to_string(), "row 1, column 1 is 8 where 7 is expected");
    }

    #[test]
    fn builds_of_one_engine_outvote_no_other() {
        let (seven, eight) = (answer(7), answer(8));
        let builds = [("sqlite", vec![&eight]), ("sqlite", vec![&eight]), ("postgres", vec![&seven])];
        assert_eq!(judge(&builds, None, 0.0).reference, Reference::Disputed);
        let engines = [builds.to_vec(), vec![("mariadb", vec![&seven])]].concat();
        assert_eq!(judge(&engines, None, 0.0).reference, Reference::Majority { contender: 2 });
    }

    #[test]
    fn builds_of_one_engine_that_agree_are_no_majority_and_those_that_differ_are_not_called_wrong() {
        let (seven, eight) = (answer(7), answer(8));
        let agree = [("sqlite", vec![&seven]), ("sqlite", vec![&seven])];
        let judgement = judge(&agree, None, 0.0);
        assert_eq!(judgement.reference, Reference::OneEngine { contender: 0 });
        assert_eq!(rights(&judgement), [true, true]);
        // However many they are: a wrong baseline and its copies make no right build wrong.
        let differ = [("sqlite", vec![&eight]), ("sqlite", vec![&eight]), ("sqlite", vec![&seven])];
        let judgement = judge(&differ, None, 0.0);
        assert_eq!(judgement.reference, Reference::Disputed);
        let by: Vec<usize> = judgement
            .verdicts
            .iter()
            .map(|verdict| match verdict {
                AnswerVerdict::Disputed { by, .. } => *by,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(by, [2, 2, 0]);
    }

    #[test]
    fn a_tie_between_engines_is_disputed() {
        let (seven, eight, nine) = (answer(7), answer(8), answer(9));
        let tie = judge(&given([vec![&eight], vec![&seven]]), None, 0.0);
        assert_eq!(tie.reference, Reference::Disputed);
        assert_eq!(rights(&tie), [false, false]);
        let pairs = [vec![&nine], vec![&eight], vec![&eight], vec![&seven], vec![&seven]];
        assert_eq!(judge(&given(pairs), None, 0.0).reference, Reference::Disputed);
    }

    #[test]
    fn a_stated_answer_overrules_everyone() {
        let (seven, eight) = (answer(7), answer(8));
        let judgement = judge(&given([vec![&eight], vec![&eight], vec![&seven]]), Some(&seven), 0.0);
        assert_eq!(judgement.reference, Reference::Stated);
        assert_eq!(rights(&judgement), [false, false, true]);
    }

    #[test]
    fn a_contender_at_odds_with_itself_is_wrong() {
        let (seven, eight) = (answer(7), answer(8));
        let judgement = judge(&given([vec![&seven, &seven, &eight], vec![&seven], vec![]]), None, 0.0);
        assert_eq!(judgement.reference, Reference::OneEngine { contender: 1 });
        assert!(matches!(judgement.verdicts[0], AnswerVerdict::Wrong { trial: 2, .. }));
        assert_eq!(judgement.verdicts[1..], [AnswerVerdict::Right, AnswerVerdict::Missing]);

        let alone = judge(&given([vec![&seven, &eight]]), None, 0.0);
        assert_eq!(alone.reference, Reference::Absent);
        assert!(matches!(alone.verdicts[0], AnswerVerdict::Wrong { trial: 1, .. }));
    }
}
