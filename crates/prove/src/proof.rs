//! The proof of one subject: it works on a recorded disk, and then the disk is looked at as power cuts could have
//! left it; and it is killed at random moments.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use dyno_record::DurabilityProof;

use crate::content::Content;
use crate::context::{Effort, Named, ProofContext, StorageKind};
use crate::cuts::Count;
use crate::disk::faults::Fault;
use crate::disk::files;
use crate::errors;
use crate::history::History;
use crate::judge::judge;
use crate::phase::PhaseMarker;
use crate::rounds::CHAINS;
use crate::storage::Recorded;
use crate::subject::{Contents, Subject, WorkMode};

/// In how many recordings of its work a subject is cut, at most, and for how many cuts there is one.
const RUNS: usize = 5;
const CUTS_A_RUN: usize = 20;
/// For how many cuts there is one more that leaves garbage.
const CUTS_A_GARBAGE: usize = 10;

impl ProofContext {
    /// Proves a subject. Progress is passed to `progress`.
    ///
    /// # Errors
    /// The machine does not allow it, the subject cannot be started, or dyno is asked to stop.
    pub fn prove(&self, named: Named, effort: Effort, progress: &dyn Fn(&str)) -> Result<DurabilityProof> {
        let subject = named.subject;
        let mut proof = DurabilityProof::default();
        progress("working");
        let base = self.base(subject)?;
        if self.storage == StorageKind::Folder {
            let (history, incomplete) = self.work(subject, &base)?;
            (proof.observed.commits, proof.incomplete) = (history.observed().commits, incomplete);
            proof.notices_loss = notices_loss(subject, &self.without_work(subject, &base)?, &history);
            self.observe(subject, &base, effort, &mut proof, progress)?;
            return Ok(proof);
        }
        let (history, incomplete) = self.history(subject, &base)?;
        (proof.observed, proof.incomplete) = (history.observed(), incomplete);
        // After the work: a program whose data are not on the disk finds them here.
        proof.notices_loss = notices_loss(subject, &self.without_work(subject, &base)?, &history);
        proof.runs = effort.cuts.div_ceil(CUTS_A_RUN).clamp(1, RUNS);
        let all = effort.cuts.div_ceil(proof.runs);
        progress(&format!("{} power cuts and one after each flush", effort.cuts));
        let garbage = all.div_ceil(CUTS_A_GARBAGE);
        let count = Count { all, flushes: effort.cuts, garbage, seed: effort.seed };
        let first = self.cut(subject, (&base, &history, 0), count, &mut proof)?;
        let mut harmful = first.map(|cut| (None, cut));
        self.rounds(subject, (&base, &history, 0), effort, &mut proof)?;
        proof.end_run(0);
        for number in 1..proof.runs {
            let harmed = proof.cuts.tried - proof.cuts.survived;
            let (other, incomplete) = self.history(subject, &base)?;
            proof.incomplete = proof.incomplete.or(incomplete);
            let seed = effort.seed.wrapping_add(number as u64);
            let count = Count { all, flushes: all / 2, garbage, seed };
            if let Some(cut) = self.cut(subject, (&base, &other, number), count, &mut proof)? {
                harmful.get_or_insert((Some(other), cut));
            } else if number < CHAINS {
                self.rounds(subject, (&base, &other, number), effort, &mut proof)?;
            }
            proof.end_run(harmed);
        }
        if let (Some((other, cut)), Some(place), false) = (harmful, &self.keep, named.again.is_empty()) {
            progress("keeping the smallest cut that does harm");
            let (name, harmed) = ((named.label, named.again), other.as_ref().unwrap_or(&history));
            proof.kept_in = Some(self.keep(subject, (&base, harmed), &cut, name, place)?);
        }
        // Neither depends on what a cut takes.
        if self.storage == StorageKind::Files {
            return Ok(proof);
        }
        self.observe(subject, &base, effort, &mut proof, progress)?;
        if effort.errors {
            self.damage(subject, (&base, &history), effort.seed, &mut proof, progress);
            self.interrupts.check()?;
        }
        Ok(proof)
    }

    /// Tries devices that fail, and damaged data.
    fn damage(
        &self,
        subject: &dyn Subject,
        (base, history): (&Content, &History),
        seed: u64,
        proof: &mut DurabilityProof,
        progress: &dyn Fn(&str),
    ) {
        if proof.strict.lost == 0 {
            progress("devices that fail");
            match self.fail(subject, base, history, seed) {
                Ok(failed) => proof.errors = failed,
                Err(error) => proof.errors_stopped = Some(format!("{error:#}")),
            }
        }
        progress("damaged data");
        match self.corrupt(subject, (base, history), seed) {
            Ok(corruption) => proof.corruption = corruption,
            Err(error) => proof.corruption_stopped = Some(format!("{error:#}")),
        }
    }

    /// The content of the disk before the first commit.
    fn base(&self, subject: &dyn Subject) -> Result<Content> {
        let stand = self.empty()?;
        subject.prepare(stand.folder())?;
        self.content(stand)
    }

    /// The history of the subject's work. The text is why it did not come to its end.
    fn history(&self, subject: &dyn Subject, base: &Content) -> Result<(History, Option<String>)> {
        let (history, incomplete) = self.record(subject, base, None, WorkMode::default())?;
        // dyno itself moves the folders of servers before and after, which no engine answers for.
        let is_files = self.storage == StorageKind::Files;
        Ok((if is_files { history.of_commits() } else { history }, incomplete))
    }

    /// Lets the subject work on a recorded disk, which may have a fault. The text is why it did not come to its end.
    pub(crate) fn record(
        &self,
        subject: &dyn Subject,
        base: &Content,
        fault: Option<Fault>,
        manner: WorkMode,
    ) -> Result<(History, Option<String>)> {
        let disk = self.recorded(base, fault)?;
        let incomplete = self.worked(subject, &disk, manner)?;
        let entries = disk.finish()?;
        Ok((History::new(entries, |line| subject.read(line)), incomplete))
    }

    /// Lets the subject work on a disk, between marks in its record: why it did not come to its end, if it did not.
    pub(crate) fn worked(
        &self,
        subject: &dyn Subject,
        disk: &Recorded,
        manner: WorkMode,
    ) -> Result<Option<String>> {
        PhaseMarker::Begins.set(&disk.output()?)?;
        let worked = subject.work(disk.folder()?, disk.output()?, manner);
        self.interrupts.check()?;
        PhaseMarker::Ends.set(&disk.output()?)?;
        Ok(worked.map_or_else(|error| Some(format!("{error:#}")), |worked| worked.failure))
    }

    /// Checks the subject on a disk that kept nothing of its work, as after a device whose flushes do nothing.
    ///
    /// # Errors
    /// Its first commit is not there either.
    fn without_work(&self, subject: &dyn Subject, base: &Content) -> Result<Contents> {
        let (found, _) =
            self.look(subject, base)?.context("the file system cannot be mounted before the first commit")?;
        if let Some(why) = found.late {
            bail!(
                "the data before the first commit could not be looked at: {why}; give it more time by --timeout"
            );
        }
        ensure!(
            subject.before().is_none_or(|first| found.commits.contains(&first)),
            "after a clean end its first commit is not there, so it keeps nothing that a power cut could take{}",
            found.troubles.first().map_or(String::new(), |trouble| format!(": {trouble}"))
        );
        Ok(found)
    }

    /// Checks the subject on a disk. Returns the finding and the duration of the check; none where its file system
    /// cannot be mounted.
    pub(crate) fn look(
        &self,
        subject: &dyn Subject,
        content: &Content,
    ) -> Result<Option<(Contents, Duration)>> {
        let stand = match self.stand(content) {
            Ok(stand) => stand,
            Err(error) if files::is_damaged(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        errors::make_room(stand.folder());
        let start = Instant::now();
        let found = subject.check(stand.folder())?;
        let took = start.elapsed();
        stand.end()?;
        Ok(Some((found, took)))
    }
}

/// True if the subject notices that nothing of its work was kept. A subject that does not notice that cannot show any
/// loss.
fn notices_loss(subject: &dyn Subject, without: &Contents, history: &History) -> bool {
    let promised = history.promised(history.places(true).end);
    let verdict = judge(without, &promised, subject.before(), |_| true, subject.is_in_order());
    verdict.lost == promised && !promised.is_empty()
}
