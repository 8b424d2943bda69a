//! Several power cuts in succession: what a cut left is recovered on a recorded disk and worked on, and the power is cut again
//! meanwhile or afterwards.

use std::collections::BTreeSet;

use anyhow::Result;
use dyno_record::DurabilityProof;

use crate::content::Content;
use crate::context::{Effort, ProofContext, StorageKind};
use crate::cuts::{self, Count, Cut, Replay};
use crate::history::History;
use crate::judge::{Losses, judge};
use crate::subject::{Contents, Subject, WorkMode};
use crate::tried::{CheckOutcome, count};

/// The number of cuts that are tried in each round.
const CUTS: usize = 6;
/// The largest number of recordings of its work in which a subject is cut in rounds.
pub(crate) const CHAINS: usize = 3;

/// A disk that a cut left, and what must and may be on it.
struct CutDisk {
    content: Content,
    /// Acknowledged before the cut, in any round.
    promised: BTreeSet<u64>,
    /// The last commit that had begun.
    most: u64,
    /// A description of the cuts that led to it.
    how: String,
}

impl ProofContext {
    /// Cuts the work that a subject does after one of the cuts of its history, recovery included, and so on for the rounds
    /// after the first.
    ///
    /// # Errors
    /// As for a proof.
    pub(crate) fn rounds(
        &self,
        subject: &dyn Subject,
        (base, history, number): (&Content, &History, usize),
        effort: Effort,
        proof: &mut DurabilityProof,
    ) -> Result<()> {
        let is_disk = matches!(self.storage, StorageKind::Disk(_));
        // Of a subject that loses commits at a single cut, a further one shows nothing more.
        if !subject.can_go_on() || !is_disk || proof.is_harmed() || effort.rounds < 2 {
            return Ok(());
        }
        let seed = effort.seed.wrapping_add((number * effort.rounds) as u64);
        let chosen = cuts::choose(history, base, true, Count { all: CUTS, flushes: 0, garbage: 0, seed });
        if chosen.is_empty() {
            return Ok(());
        }
        let cut = &chosen[seed as usize % chosen.len()];
        let content = Replay::new(history.entries(), base.clone()).content(cut);
        let mut left = left(&content, cut, history, None);
        for round in 2..=effort.rounds {
            self.interrupts.check()?;
            let seed = seed.wrapping_add(round as u64);
            match self.round(subject, &left, (round, seed), proof)? {
                Some(next) => left = next,
                None => break,
            }
        }
        Ok(())
    }

    /// One round: what the last cut of it left. None where nothing more can follow.
    fn round(
        &self,
        subject: &dyn Subject,
        before: &CutDisk,
        (round, seed): (usize, u64),
        proof: &mut DurabilityProof,
    ) -> Result<Option<CutDisk>> {
        let Some((Contents { commits, .. }, _)) = self.look(subject, &before.content)? else {
            return Ok(None);
        };
        let Some(after) = commits.last().copied() else { return Ok(None) };
        let manner = WorkMode { after: Some(after), ..WorkMode::default() };
        let (history, stopped) = self.record(subject, &before.content, None, manner)?;
        let history = history.with_recovery();
        if let Some(why) = stopped {
            proof.rounds_stopped.get_or_insert(why);
        }
        let amount = Count { all: CUTS, flushes: CUTS / 2, garbage: 0, seed };
        let chosen = cuts::choose(&history, &before.content, true, amount);
        let mut roll = Replay::new(history.entries(), before.content.clone());
        let (upkeep, mut next) = (history.upkeep(), None);
        for (number, cut) in chosen.iter().enumerate() {
            self.interrupts.check()?;
            let content = roll.content(cut);
            let here = left(&content, cut, &history, Some((before, round)));
            let judged = |found: &Contents| here.judge(subject, found);
            match self.judged(subject, &content, proof.is_harmed(), &judged)? {
                CheckOutcome::Judged(losses, _) => {
                    count(proof, (cut, false), &losses, here.promised.len(), &upkeep);
                    losses.count(&mut proof.rounds, here.promised.len());
                    proof.note(losses.harm(), || here.how.clone());
                }
                CheckOutcome::Unmountable => proof.unmountable += 1,
                CheckOutcome::Late(why) => proof.add_late(why),
                CheckOutcome::Unrepeated(losses) => proof.add_unrepeated(losses.harm(), || here.how.clone()),
            }
            if number == seed as usize % chosen.len() {
                next = Some(here);
            }
        }
        Ok(next)
    }
}

/// The disk that a cut of a round leaves; `before` is the disk with which the round began, and the round's number.
fn left(content: &Content, cut: &Cut, history: &History, before: Option<(&CutDisk, usize)>) -> CutDisk {
    let begun = history.begun(cut.place).unwrap_or_default().last().copied().unwrap_or_default();
    let mut promised = history.promised(cut.place);
    let (mut most, mut how) =
        (begun, format!("a cut at entry {} of the log that keeps {}", cut.place, cut.kept));
    if let Some((before, round)) = before {
        promised.extend(&before.promised);
        most = most.max(before.most);
        how = format!("{}, and in round {round} {how}", before.how);
    }
    CutDisk { content: content.clone(), promised, most, how }
}

impl CutDisk {
    fn judge(&self, subject: &dyn Subject, found: &Contents) -> Losses {
        judge(found, &self.promised, subject.before(), |commit| commit <= self.most, subject.is_in_order())
    }
}
