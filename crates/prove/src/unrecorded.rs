//! Observations of a subject without a recorder: its system calls, and the data that kills leave.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, anyhow};
use dyno_record::{DurabilityProof, SyncCalls};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::calls::CallWatch;
use crate::content::Content;
use crate::context::{Effort, ProofContext};
use crate::disk::log::Entry;
use crate::history::History;
use crate::judge::judge_at;
use crate::subject::{Subject, WorkMode};

impl ProofContext {
    /// The observations that need no recorder: calls, and kills.
    pub(crate) fn observe(
        &self,
        subject: &dyn Subject,
        base: &Content,
        effort: Effort,
        proof: &mut DurabilityProof,
        progress: &dyn Fn(&str),
    ) -> Result<()> {
        progress("system calls");
        match self.watch(subject, base) {
            Ok(seen) => proof.calls = seen,
            Err(error) => proof.calls_unseen = Some(format!("{error:#}")),
        }
        self.interrupts.check()?;
        self.kill(subject, base, effort, proof, progress)
    }

    /// Lets the subject work where nothing is recorded but what it says. The text is why it did not come to its end.
    pub(crate) fn work(&self, subject: &dyn Subject, base: &Content) -> Result<(History, Option<String>)> {
        let stand = self.stand(base)?;
        let said = self.place.join("said");
        let worked = subject.work(stand.folder(), fs::File::create(&said)?, WorkMode::default());
        self.interrupts.check()?;
        let incomplete = worked.map_or_else(|error| Some(format!("{error:#}")), |worked| worked.failure);
        stand.end()?;
        Ok((spoken(subject, fs::read(&said)?), incomplete))
    }

    /// Lets the subject work where its calls are seen; nothing where it cannot be watched.
    fn watch(&self, subject: &dyn Subject, base: &Content) -> Result<Option<SyncCalls>> {
        if !subject.can_be_watched() {
            return Ok(None);
        }
        let stand = self.stand(base)?;
        let said = self.place.join("said");
        let output = fs::File::create(&said)?;
        let watch = CallWatch::new(self.watcher.clone(), output.try_clone()?);
        let manner = WorkMode { watch: Some(&watch), ..WorkMode::default() };
        let worked = subject.work(stand.folder(), output, manner);
        stand.end()?;
        worked?.failure.map_or(Ok(()), |why| Err(anyhow!(why)))?;
        watch.seen(&fs::read(&said)?, |line| subject.read(line)).map(Some)
    }

    fn kill(
        &self,
        subject: &dyn Subject,
        base: &Content,
        effort: Effort,
        proof: &mut DurabilityProof,
        progress: &dyn Fn(&str),
    ) -> Result<()> {
        let mut random = ChaCha8Rng::seed_from_u64(effort.seed);
        // The time it works without being killed, measured first.
        let mut whole = None;
        if effort.kills > 0 {
            progress(&format!("{} kills", effort.kills));
        }
        for _ in 0..if effort.kills == 0 { 0 } else { effort.kills + 1 } {
            let after = whole.map(|whole: Duration| whole.mul_f64(random.random()));
            let stand = self.stand(base)?;
            let said = self.place.join("said");
            let manner = WorkMode { kill_after: after, ..WorkMode::default() };
            let worked = subject.work(stand.folder(), fs::File::create(&said)?, manner)?;
            whole = whole.or(Some(worked.took));
            let history = spoken(subject, fs::read(&said)?);
            if let Some(after) = after {
                let promised = history.promised(history.entries().len()).len();
                let after =
                    || format!("a kill after {} ms, {promised} commits acknowledged", after.as_millis());
                self.judge_kill(subject, stand.folder(), &history, (promised, &after), proof)?;
            }
            stand.end()?;
        }
        Ok(())
    }

    /// Judges what a kill left; twice, if something is wrong for the first time.
    fn judge_kill(
        &self,
        subject: &dyn Subject,
        folder: &Path,
        history: &History,
        (promised, after): (usize, &dyn Fn() -> String),
        proof: &mut DurabilityProof,
    ) -> Result<()> {
        let look = || -> Result<_> {
            let found = self.look_beside(subject, folder)?;
            let losses = judge_at(subject, history, history.entries().len(), &found);
            Ok((found.late, losses))
        };
        let (late, losses) = look()?;
        if let Some(why) = late {
            proof.add_late(why);
            return Ok(());
        }
        if !losses.is_survived() && !proof.is_harmed() {
            let (late, again) = look()?;
            if late.is_none() && again.is_survived() {
                proof.add_unrepeated(losses.harm(), after);
                return Ok(());
            }
        }
        losses.count(&mut proof.kills, promised);
        proof.note(losses.harm(), after);
        Ok(())
    }
}

/// The history of a work of which only the subject's output was recorded.
fn spoken(subject: &dyn Subject, said: Vec<u8>) -> History {
    History::new(vec![Entry::Text(said)], |line| subject.read(line))
}
