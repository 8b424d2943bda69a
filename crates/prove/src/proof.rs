//! The proof of one subject: it works on a recorded disk, and then the disk is looked at as power cuts could have
//! left it; and it is killed at random moments.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use dyno_lab::interrupts::Interrupts;
use dyno_record::Tally;
use serde::Serialize;

use crate::calls::Seen;
use crate::content::Content;
use crate::cuts::{self, Cut, Kept, Roll};
use crate::disk::Program;
use crate::disk::faults::Fault;
use crate::disk::files;
use crate::errors::{self, Failed};
use crate::ground::Ground;
use crate::history::{History, Observed};
use crate::judge::{Verdict, judge};
use crate::mark::Mark;
use crate::subject::{Found, Manner, Subject};

/// How many failures are kept in words.
const SHOWN: usize = 5;
/// How much is tried.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// How many power cuts.
    pub cuts: usize,
    /// How many kills.
    pub kills: usize,
    /// Whether its device is to fail.
    pub errors: bool,
    /// Where chance begins.
    pub seed: u64,
}

/// Where and by what it is done.
#[derive(Debug)]
pub struct Workshop {
    /// A folder in memory, in a view of the mounts of dyno's own ([`crate::refuge`]).
    pub place: PathBuf,
    /// On what the data are.
    pub ground: Ground,
    /// The recorder of disks.
    pub recorder: Program,
    /// The recorder of files.
    pub keeper: Program,
    /// The watcher of calls.
    pub watcher: Program,
    /// By which everything is ended.
    pub interrupts: Interrupts,
    /// Where the smallest cut that does harm is kept, if it is.
    pub keep: Option<PathBuf>,
}

/// Who is proved.
#[derive(Clone, Copy)]
pub struct Named<'a> {
    /// The one.
    pub subject: &'a dyn Subject,
    /// The name.
    pub label: &'a str,
    /// The arguments by which dyno makes the same subject; without them nothing is kept.
    pub again: &'a [String],
}

/// One failure in words.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    /// The cut or kill.
    pub after: String,
    /// What is wrong.
    pub verdict: Verdict,
}

/// What became of a subject.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Proof {
    /// What the disk was asked to do.
    pub observed: Observed,
    /// What it asked of the system, as a watcher of its calls saw it in a pass of its own.
    pub calls: Option<Seen>,
    /// Why nobody could watch it, if nobody could.
    pub calls_unseen: Option<String>,
    /// All cuts.
    pub cuts: Tally,
    /// Those of them right after an acknowledgement that keep only what was flushed.
    pub strict: Tally,
    /// Those of them that tore a write.
    pub torn: Tally,
    /// Kills of all its processes.
    pub kills: Tally,
    /// After how many cuts the file system itself could not be mounted, which says nothing of the subject.
    pub unmountable: usize,
    /// A disk that forgets everything was noticed, as it must be.
    pub notices_loss: bool,
    /// The longest that it took to look at the data after a cut, recovery included, in milliseconds.
    pub longest_check_ms: u64,
    /// The first failures.
    pub failures: Vec<Failure>,
    /// The folder in which the smallest of them is kept.
    pub kept_in: Option<PathBuf>,
    /// What it did when its device failed, in each way.
    pub errors: Vec<Failed>,
    /// Why that could not be tried to the end, if it could not.
    pub errors_stopped: Option<String>,
    /// Why the program did not come to its end, if it did not.
    pub incomplete: Option<String>,
}

impl Workshop {
    /// Proves a subject. `tell` hears how far it is.
    ///
    /// # Errors
    /// The machine does not allow it, the subject cannot be started, or dyno is asked to stop.
    pub fn prove(&self, named: Named, effort: Effort, tell: &dyn Fn(&str)) -> Result<Proof> {
        let subject = named.subject;
        let mut proof = Proof::default();
        tell("working");
        let base = self.base(subject)?;
        let without = self.without_work(subject, &base)?;
        if self.ground == Ground::Folder {
            let (history, incomplete) = self.work(subject, &base)?;
            (proof.observed.commits, proof.incomplete) = (history.observed().commits, incomplete);
            proof.notices_loss = notices_loss(subject, &without, &history);
            self.observe(subject, &base, effort, &mut proof, tell)?;
            return Ok(proof);
        }
        let (history, incomplete) = self.record(subject, &base, None)?;
        // dyno itself moves the folders of servers before and after, which no engine answers for.
        let history = if self.ground == Ground::Files { history.of_commits() } else { history };
        (proof.observed, proof.incomplete) = (history.observed(), incomplete);
        let harmful = self.cut(subject, &base, &history, effort, &mut proof, tell)?;
        proof.notices_loss = notices_loss(subject, &without, &history);
        if let (Some(cut), Some(place), false) = (harmful, &self.keep, named.again.is_empty()) {
            tell("keeping the smallest cut that does harm");
            let name = (named.label, named.again);
            proof.kept_in = Some(self.keep(subject, (&base, &history), &cut, name, place)?);
        }
        // Neither depends on what a cut takes.
        if self.ground == Ground::Files {
            return Ok(proof);
        }
        self.observe(subject, &base, effort, &mut proof, tell)?;
        if effort.errors && proof.strict.lost == 0 {
            tell("devices that fail");
            match self.fail(subject, &base, &history) {
                Ok(failed) => proof.errors = failed,
                Err(error) => proof.errors_stopped = Some(format!("{error:#}")),
            }
        }
        Ok(proof)
    }

    /// What is there before the first commit.
    fn base(&self, subject: &dyn Subject) -> Result<Content> {
        let stand = self.empty()?;
        subject.prepare(stand.folder())?;
        self.content(stand)
    }

    /// Lets the subject work on a recorded disk, which may have a fault. The text is why it did not come to its end.
    pub(crate) fn record(
        &self,
        subject: &dyn Subject,
        base: &Content,
        fault: Option<Fault>,
    ) -> Result<(History, Option<String>)> {
        let disk = self.recorded(base, fault)?;
        Mark::Begins.set(&disk.output()?)?;
        let worked = subject.work(disk.folder()?, disk.output()?, Manner::default());
        self.interrupts.check()?;
        Mark::Ends.set(&disk.output()?)?;
        let incomplete = worked.map_or_else(|error| Some(format!("{error:#}")), |worked| worked.failure);
        let entries = disk.finish()?;
        Ok((History::new(entries, |line| subject.read(line)), incomplete))
    }

    /// Tries the cuts; the first of them that does harm.
    fn cut(
        &self,
        subject: &dyn Subject,
        base: &Content,
        history: &History,
        effort: Effort,
        proof: &mut Proof,
        tell: &dyn Fn(&str),
    ) -> Result<Option<Cut>> {
        let mut harmful = None;
        let chosen = cuts::choose(history, base, subject.before().is_some(), effort.cuts, effort.seed);
        tell(&format!("{} power cuts", chosen.len()));
        let mut roll = Roll::new(history.entries(), base.clone());
        for cut in &chosen {
            self.interrupts.check()?;
            let Some((found, took)) = self.look(subject, &roll.content(cut))? else {
                proof.unmountable += 1;
                continue;
            };
            proof.longest_check_ms = proof.longest_check_ms.max(took.as_millis() as u64);
            let promised = history.promised(cut.place);
            let may_have = |commit| history.may_have(cut.place, commit);
            let verdict = judge(&found, &promised, subject.before(), may_have, subject.is_in_order());
            verdict.count(&mut proof.cuts, promised.len());
            if cut.is_strict {
                verdict.count(&mut proof.strict, promised.len());
            }
            if matches!(cut.kept, Kept::Torn { .. }) {
                verdict.count(&mut proof.torn, promised.len());
            }
            if !verdict.is_survived() && harmful.is_none() {
                harmful = Some(cut.clone());
            }
            proof.note(verdict, || describe(cut, promised.len()));
        }
        Ok(harmful)
    }

    /// What the subject finds where nothing of its work was kept, as by a device whose flushes do nothing.
    ///
    /// # Errors
    /// Its first commit is not there either.
    fn without_work(&self, subject: &dyn Subject, base: &Content) -> Result<Found> {
        let (found, _) =
            self.look(subject, base)?.context("the file system cannot be mounted before the first commit")?;
        ensure!(
            subject.before().is_none_or(|first| found.commits.contains(&first)),
            "after a clean end its first commit is not there, so it keeps nothing that a power cut could take{}",
            found.troubles.first().map_or(String::new(), |trouble| format!(": {trouble}"))
        );
        Ok(found)
    }

    /// What the subject finds on a disk, and how long it took to look; nothing where its file system cannot be mounted.
    pub(crate) fn look(&self, subject: &dyn Subject, content: &Content) -> Result<Option<(Found, Duration)>> {
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

/// Whether the subject sees that nothing of its work was kept. Whoever does not see that sees no loss.
fn notices_loss(subject: &dyn Subject, without: &Found, history: &History) -> bool {
    let promised = history.promised(history.places(true).end);
    let verdict = judge(without, &promised, subject.before(), |_| true, subject.is_in_order());
    verdict.lost == promised && !promised.is_empty()
}

impl Proof {
    pub(crate) fn note(&mut self, verdict: Verdict, after: impl Fn() -> String) {
        if !verdict.is_survived() && self.failures.len() < SHOWN {
            self.failures.push(Failure { after: after(), verdict });
        }
    }
}

fn describe(cut: &Cut, promised: usize) -> String {
    let what = match cut.is_strict {
        true => "right after an acknowledgement that keeps only what was flushed".to_owned(),
        false => format!("that keeps {}", cut.kept),
    };
    format!("a cut at entry {} of the log {what}; {promised} commits were acknowledged", cut.place)
}
