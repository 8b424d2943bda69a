//! The observations of `dyno prove`, held against what each subject's settings promise.

use dyno_record::{
    Breach, DurabilityAbout, DurabilityControls, DurabilityProof, DurabilityRecord, DurabilitySubject, Level,
    Tally,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The judgement on one use of `dyno prove`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DurabilityVerdict {
    /// The facts that are the same for all subjects.
    #[serde(flatten)]
    pub about: DurabilityAbout,
    /// True if both controls behaved as they must; absent where they were not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controls_behaved: Option<bool>,
    /// The subjects in the order of the record.
    pub subjects: Vec<SubjectVerdict>,
    /// The result of all of it.
    pub outcome: DurabilityOutcome,
}

/// The judgement on one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectVerdict {
    /// The observations.
    #[serde(flatten)]
    pub observed: DurabilitySubject,
    /// True if its promise was kept; absent where nothing is promised, or where a loss would not have been noticed.
    pub kept: Option<bool>,
    /// The ways in which its promise was broken.
    pub breaches: Vec<Breach>,
}

/// The result of the judgements on all subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DurabilityOutcome {
    /// All subjects were tried, and no program of the user's was refuted.
    Done,
    /// A program of the user's lost commits, was found broken, acknowledged nothing or did not come to its end.
    Refuted,
    /// A subject could not be tried, or a control did not behave.
    Incomplete,
}

/// Judges what was observed.
pub fn judge_durability(record: DurabilityRecord) -> DurabilityVerdict {
    let controls_behaved = record.about.controls.as_ref().map(behaved);
    let outcome = outcome(&record, controls_behaved);
    let DurabilityRecord { about, subjects } = record;
    let subjects = subjects.into_iter().map(judge).collect();
    DurabilityVerdict { about, controls_behaved, subjects, outcome }
}

/// Returns true if the control that must lose commits lost some after every cut, and the other survived every cut.
pub fn behaved(controls: &DurabilityControls) -> bool {
    if let Some([none, all]) = &controls.calls {
        return none.by_name.is_empty() && all.calls > 0.0 && all.without == 0;
    }
    let DurabilityControls { loses, keeps, .. } = controls;
    loses.tried > 0 && loses.lost == loses.tried && keeps.is_whole()
}

fn judge(observed: DurabilitySubject) -> SubjectVerdict {
    let held = (&observed.promised, &observed.proof, &observed.survival);
    let (breaches, kept) = match held {
        (Some(promised), Some(proof), Some(survival)) => {
            let breaches = survival.breaches(promised);
            // Where no power was cut, a promise about power cuts was not tried.
            let is_tried = promised.level != Level::PowerLoss || proof.cuts.tried > 0;
            let is_known = proof.notices_loss && (is_tried || !breaches.is_empty());
            let kept = is_known.then_some(breaches.is_empty());
            (breaches, kept)
        }
        _ => (Vec::new(), None),
    };
    SubjectVerdict { observed, kept, breaches }
}

fn outcome(record: &DurabilityRecord, controls_behaved: Option<bool>) -> DurabilityOutcome {
    let proofs: Vec<Option<&DurabilityProof>> =
        record.subjects.iter().map(|subject| subject.proof.as_ref()).collect();
    let is_own = |subject: &&DurabilitySubject| subject.promised.is_none() && subject.hello.is_none();
    let mut own = record.subjects.iter().filter(is_own).filter_map(|subject| subject.proof.as_ref());
    let is_cut = record.about.no_cuts.is_none() || !record.about.asked_cuts;
    if proofs.contains(&None) || controls_behaved == Some(false) || !is_cut {
        DurabilityOutcome::Incomplete
    } else if own.any(is_refuted) {
        DurabilityOutcome::Refuted
    } else if proofs.into_iter().flatten().any(|proof| !is_known(proof)) {
        DurabilityOutcome::Incomplete
    } else {
        DurabilityOutcome::Done
    }
}

/// True if a program lost acknowledged commits, left broken data, did not come to its end, or acknowledged nothing.
fn is_refuted(proof: &DurabilityProof) -> bool {
    let harmed = |tally: &Tally| tally.survived < tally.tried;
    let errors = proof.failed_devices().unwrap_or_default();
    let is_harmed = [&proof.cuts, &proof.kills, &errors].into_iter().any(harmed);
    is_harmed || proof.observed.unflushed > 0 || proof.observed.commits == 0 || proof.incomplete.is_some()
}

/// True if checks of its data came to a result, where any were tried.
fn is_known(proof: &DurabilityProof) -> bool {
    proof.late == 0 || proof.cuts.tried + proof.kills.tried > 0
}

#[cfg(test)]
mod tests {
    use dyno_record::{Safety, Standing, Survival};

    use super::*;

    fn whole(tried: u64) -> Tally {
        Tally { tried, survived: tried, ..Tally::default() }
    }

    fn proof() -> DurabilityProof {
        let mut proof = DurabilityProof { notices_loss: true, cuts: whole(10), ..DurabilityProof::default() };
        proof.observed.commits = 50;
        proof
    }

    fn record(proof: Option<DurabilityProof>) -> DurabilityRecord {
        let subject = DurabilitySubject { label: "mine".to_owned(), proof, ..DurabilitySubject::default() };
        DurabilityRecord {
            about: DurabilityAbout { asked_cuts: true, ..DurabilityAbout::default() },
            subjects: vec![subject],
        }
    }

    fn outcome_of(change: impl FnOnce(&mut DurabilityRecord)) -> DurabilityOutcome {
        let mut record = record(Some(proof()));
        change(&mut record);
        judge_durability(record).outcome
    }

    fn changed(change: impl FnOnce(&mut DurabilityProof)) -> DurabilityOutcome {
        outcome_of(|record| change(record.subjects[0].proof.as_mut().unwrap()))
    }

    #[test]
    fn each_harm_refutes_a_program_of_the_users() {
        assert_eq!(outcome_of(|_| ()), DurabilityOutcome::Done);
        assert_eq!(changed(|proof| proof.cuts.survived -= 1), DurabilityOutcome::Refuted);
        assert_eq!(changed(|proof| proof.kills.tried += 1), DurabilityOutcome::Refuted);
        assert_eq!(changed(|proof| proof.observed.unflushed = 1), DurabilityOutcome::Refuted);
        assert_eq!(changed(|proof| proof.observed.commits = 0), DurabilityOutcome::Refuted);
        assert_eq!(changed(|proof| proof.incomplete = Some("ended".into())), DurabilityOutcome::Refuted);
    }

    #[test]
    fn what_was_not_tried_is_incomplete() {
        assert_eq!(outcome_of(|record| record.subjects[0].proof = None), DurabilityOutcome::Incomplete);
        assert_eq!(
            outcome_of(|record| record.about.no_cuts = Some("no disk".into())),
            DurabilityOutcome::Incomplete
        );
        let is_late = |proof: &mut DurabilityProof| (proof.late, proof.cuts) = (1, Tally::default());
        assert_eq!(changed(is_late), DurabilityOutcome::Incomplete);
        let controls =
            DurabilityControls { loses: whole(8), keeps: whole(8), ..DurabilityControls::default() };
        assert_eq!(
            outcome_of(|record| record.about.controls = Some(controls)),
            DurabilityOutcome::Incomplete
        );
    }

    #[test]
    fn controls_must_lose_and_keep() {
        let lost = Tally { tried: 8, lost: 8, ..Tally::default() };
        let good = DurabilityControls { loses: lost, keeps: whole(8), ..DurabilityControls::default() };
        assert!(behaved(&good));
        assert!(!behaved(&DurabilityControls { loses: Tally { lost: 7, ..lost }, ..good.clone() }));
        assert!(!behaved(&DurabilityControls { keeps: Tally { tried: 9, ..good.keeps }, ..good }));
    }

    #[test]
    fn a_promise_is_kept_only_where_it_was_tried() {
        let kept = |level, change: &dyn Fn(&mut DurabilityProof, &mut Survival)| {
            let mut proof = proof();
            let mut survival = Survival { cuts: proof.cuts, commits: 50, ..Survival::default() };
            change(&mut proof, &mut survival);
            let promised = Safety {
                level,
                consistent: true,
                standing: Standing::Claimed,
                why: String::new(),
                link: None,
                caveat: None,
                hole: None,
                nodes: None,
                survival: None,
            };
            let mut record = record(Some(proof));
            record.subjects[0].promised = Some(promised);
            record.subjects[0].survival = Some(survival);
            judge_durability(record).subjects[0].kept
        };
        assert_eq!(kept(Level::PowerLoss, &|_, _| ()), Some(true));
        assert_eq!(kept(Level::PowerLoss, &|_, survival| survival.cuts.lost = 1), Some(false));
        assert_eq!(kept(Level::ProcessCrash, &|_, survival| survival.cuts.lost = 1), Some(true));
        assert_eq!(kept(Level::PowerLoss, &|proof, _| proof.notices_loss = false), None);
        assert_eq!(kept(Level::PowerLoss, &|proof, _| proof.cuts = Tally::default()), None);
    }
}
