//! Tries the power cuts of one history, and asks for harm twice before it is believed.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use dyno_record::{DurabilityProof, Harmed, Tally, Upkept};

use crate::content::Content;
use crate::context::ProofContext;
use crate::cuts::{self, Count, Cut, KeptWrites, Replay, Why};
use crate::history::{History, Upkeep};
use crate::judge::{Losses, judge_at};
use crate::subject::{Contents, Subject};

/// The result of a check of a disk after a cut.
pub(crate) enum CheckOutcome {
    /// The data that are missing or wrong, and how long the check took.
    Judged(Losses, Duration),
    /// The file system could not be mounted.
    Unmountable,
    /// The look did not end in time, and why.
    Late(String),
    /// Something was wrong, and when the same disk was looked at again, nothing was.
    Unrepeated(Losses),
}

impl ProofContext {
    /// Tries cuts of a history, the `number`th of its subject; the first of them that does harm.
    pub(crate) fn cut(
        &self,
        subject: &dyn Subject,
        (base, history, number): (&Content, &History, usize),
        amount: Count,
        proof: &mut DurabilityProof,
    ) -> Result<Option<Cut>> {
        let mut harmful = None;
        let upkeep = history.upkeep();
        for one in &upkeep {
            proof.upkeep.entry(one.name.clone()).or_default().seen += 1;
        }
        let chosen = cuts::choose(history, base, subject.before().is_some(), amount);
        let acknowledgements = history.acknowledgements();
        let mut roll = Replay::new(history.entries(), base.clone());
        for cut in &chosen {
            self.interrupts.check()?;
            let promised = history.promised(cut.place).len();
            let is_strict = cut.kept == KeptWrites::None && acknowledgements.contains(&cut.place);
            let after = || describe(cut, is_strict, promised, number);
            let judge = |found: &Contents| judge_at(subject, history, cut.place, found);
            match self.judged(subject, &roll.content(cut), proof.is_harmed(), &judge)? {
                CheckOutcome::Judged(losses, _) if cut.why == Why::Garbage => {
                    losses.count(&mut proof.garbage, promised);
                    if !losses.is_survived() {
                        proof
                            .garbage_first
                            .get_or_insert_with(|| Harmed { after: after(), harm: losses.harm() });
                    }
                }
                CheckOutcome::Judged(losses, took) => {
                    proof.longest_check_ms = proof.longest_check_ms.max(took.as_millis() as u64);
                    count(proof, (cut, is_strict), &losses, promised, &upkeep);
                    if !losses.is_survived() && harmful.is_none() {
                        harmful = Some(cut.clone());
                    }
                    proof.note(losses.harm(), after);
                }
                CheckOutcome::Unmountable => proof.unmountable += 1,
                CheckOutcome::Late(why) => proof.add_late(why),
                CheckOutcome::Unrepeated(losses) => proof.add_unrepeated(losses.harm(), after),
            }
        }
        Ok(harmful)
    }

    /// Judges a disk; twice, if something is wrong for the first time.
    pub(crate) fn judged(
        &self,
        subject: &dyn Subject,
        content: &Content,
        is_harmed: bool,
        judge: &dyn Fn(&Contents) -> Losses,
    ) -> Result<CheckOutcome> {
        let look = || -> Result<CheckOutcome> {
            Ok(match self.look(subject, content)? {
                None => CheckOutcome::Unmountable,
                Some((Contents { late: Some(why), .. }, _)) => CheckOutcome::Late(why),
                Some((found, took)) => CheckOutcome::Judged(judge(&found), took),
            })
        };
        match look()? {
            CheckOutcome::Judged(losses, _) if !losses.is_survived() && !is_harmed => match look()? {
                CheckOutcome::Judged(again, _) if again.is_survived() => Ok(CheckOutcome::Unrepeated(losses)),
                again => Ok(again),
            },
            first => Ok(first),
        }
    }
}

/// Adds a cut to the tallies of its kinds.
pub(crate) fn count(
    proof: &mut DurabilityProof,
    (cut, is_strict): (&Cut, bool),
    losses: &Losses,
    promised: usize,
    upkeep: &[Upkeep],
) {
    let mut tallies: Vec<&mut Tally> = vec![&mut proof.cuts];
    if cut.is_drawn() {
        tallies.push(&mut proof.drawn);
    }
    if is_strict {
        tallies.push(&mut proof.strict);
    }
    if matches!(cut.kept, KeptWrites::Torn { .. }) {
        tallies.push(&mut proof.torn);
    }
    tallies.into_iter().for_each(|tally| losses.count(tally, promised));
    let names: BTreeMap<&str, ()> = upkeep
        .iter()
        .filter(|one| one.range.contains(&cut.place) || one.range.end == cut.place)
        .map(|one| (one.name.as_str(), ()))
        .collect();
    for name in names.into_keys() {
        let Upkept { cuts, .. } = proof.upkeep.entry(name.to_owned()).or_default();
        losses.count(cuts, promised);
    }
}

fn describe(cut: &Cut, is_strict: bool, promised: usize, number: usize) -> String {
    let what = match is_strict {
        true => "right after an acknowledgement that keeps only what was flushed".to_owned(),
        false => format!("that keeps {}", cut.kept),
    };
    let run = if number > 0 { format!(" of run {}", number + 1) } else { String::new() };
    format!("a cut at entry {} of the log{run} {what}; {promised} commits were acknowledged", cut.place)
}
