//! `dyno challenge`: repeats a run under changes that should not matter, and counts in how many of them its claims
//! survive.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dyno_engine::{Home, Registry};
use dyno_lab::machine::allowed_cpus;
use dyno_lab::run::{can_fix_addresses, circumstances, under};
use dyno_lab::scratch::{Scratch, default_parent};
use dyno_launch::Interrupts;
use dyno_record::{Circumstances, Run, cpu_list};
use dyno_show::challenge::{ChangedRun, render};
use dyno_verdict::{Challenge, Verdict, challenge, judge};
use serde::Serialize;

use super::request::{RunRequest, again};
use super::{Outputs, perform};
use crate::cli::{ChallengeArgs, RepeatArgs, TextFormat};
use crate::commands::outcome::{AsInput, Exit, print};
use crate::commands::registry;
use crate::terminal::say;

/// A challenge under way.
struct Challenger<'a> {
    arguments: &'a ChallengeArgs,
    home: Home,
    registry: Registry,
    claims: Run,
    /// The CPUs of which each changed run takes as many as the run had: none where the run names its own.
    cpus: Vec<usize>,
    runs: Vec<ChangedRun>,
    verdicts: Vec<Verdict>,
}

/// What programs read.
#[derive(Serialize)]
struct ChallengeReport<'a> {
    #[serde(flatten)]
    challenge: &'a Challenge,
    changed: &'a [ChangedRun],
}

/// Repeats the run that the arguments name, and prints what became of its claims.
pub fn execute(arguments: &ChallengeArgs) -> Result<Exit> {
    can_fix_addresses().input()?;
    let home = Home::find()?;
    let registry = registry(&home)?;
    let claims = dyno_record::load(&arguments.repeat.run).input()?;
    let nothing = challenge(&judge(&claims), &[]);
    if nothing.means.is_empty() && nothing.tests.is_empty() {
        return shown(&nothing, &[], arguments.format);
    }
    let cpus = if claims.wanted.cpus.is_none() && claims.placement.runner_cpus.len() == 1 {
        allowed_cpus()
    } else {
        Vec::new()
    };
    // The folder of a changed run is there before the run is.
    Interrupts::listen()?;
    let (runs, verdicts) = (Vec::new(), Vec::new());
    let mut challenger = Challenger { arguments, home, registry, claims, cpus, runs, verdicts };
    let ended = challenger.repeat_all();
    let Challenger { claims, runs, verdicts, .. } = challenger;
    if !runs.is_empty() || ended.is_ok() {
        // The finished runs are judged, even where a later one failed.
        let found = challenge(&judge(&claims), &verdicts);
        let shown = shown(&found, &runs, arguments.format);
        // Of two errors the first is reported.
        return ended.and_then(|exit| shown.map(|_| exit));
    }
    ended
}

fn shown(challenge: &Challenge, changed: &[ChangedRun], format: TextFormat) -> Result<Exit> {
    print(&match format {
        TextFormat::Table => render(challenge, changed),
        TextFormat::Json => dyno_show::pretty(&ChallengeReport { challenge, changed })?,
    })
}

impl Challenger<'_> {
    /// Does all changed runs, until one fails or dyno is interrupted.
    fn repeat_all(&mut self) -> Result<Exit> {
        let mut ended = Exit::Done;
        for number in 1..=self.arguments.runs {
            match self.repeat(number).with_context(|| format!("changed run {number} failed"))? {
                Exit::Done => {}
                Exit::Signal(signal) => return Ok(Exit::Signal(signal)),
                other => ended = other,
            }
        }
        Ok(ended)
    }

    /// Does one changed run.
    fn repeat(&mut self, number: u32) -> Result<Exit> {
        let (circumstances, seed) = circumstances(self.claims.schedule.seed, number);
        let dirs = &self.arguments.dir;
        let parent = dirs.get(number as usize % dirs.len().max(1)).cloned().unwrap_or_else(default_parent);
        let scratch = Scratch::create(&parent)?;
        let folder = longer(scratch.folder(), circumstances.folder_letters)?;
        // Nothing of a changed run is shown but what became of the claims.
        let rerun = self.arguments.repeat.rerun(Some(folder), None, true);
        let mut request = again(&rerun, self.claims.clone(), &self.home, &self.registry)?;
        self.change(&mut request, &circumstances, seed, number);
        if !self.arguments.repeat.quiet {
            say(&format!("dyno: changed run {number} of {}", self.arguments.runs));
        }
        let outputs = Outputs::of_size(&rerun.place, &format!("changed-{number}"))?;
        let (runs, verdicts) = (&mut self.runs, &mut self.verdicts);
        perform(request, &self.registry, &rerun.place, outputs, |run, file| {
            if run.ended == dyno_record::Ended::Interrupted {
                return Ok(Exit::Done);
            }
            let verdict = judge(run);
            let exit = if verdict.is_complete() { Exit::Done } else { Exit::Incomplete };
            runs.push(changed(run, file, &parent, circumstances));
            verdicts.push(verdict);
            Ok(exit)
        })
    }

    /// Changes what should not matter.
    fn change(&self, request: &mut RunRequest, circumstances: &Circumstances, seed: u64, number: u32) {
        let RepeatArgs { trials, budget, .. } = self.arguments.repeat;
        request.circumstances = Some(*circumstances);
        request.experiment = None;
        for contender in &mut request.contenders {
            *contender = under(contender, circumstances);
        }
        if let Some(cpu) = self.cpus.get(number as usize % self.cpus.len().max(1)) {
            request.wanted.cpus = Some(cpu.to_string());
        }
        let schedule = &mut request.schedule;
        schedule.seed = seed;
        (schedule.latency, schedule.counts, schedule.why, schedule.round_trips) =
            (false, false, false, false);
        if trials.is_some() || budget.is_some() {
            schedule.trials = trials;
            schedule.budget_ns = self.arguments.repeat.budget_ns();
            schedule.most_ns = None;
        }
    }
}

/// A changed run as it is shown.
fn changed(run: &Run, file: &Path, folder: &Path, circumstances: Circumstances) -> ChangedRun {
    ChangedRun {
        file: file.display().to_string(),
        seed: run.schedule.seed,
        cpus: cpu_list::format(&run.placement.runner_cpus),
        folder: fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string(),
        circumstances,
    }
}

/// A folder within one, whose name has this many letters. The accounts of servers may pass through both and list
/// neither; the files in them have their own permissions.
fn longer(within: &Path, letters: u32) -> Result<PathBuf> {
    let folder = within.join("x".repeat(letters as usize));
    let made = fs::create_dir(&folder);
    let pass = |folder: &Path| fs::set_permissions(folder, Permissions::from_mode(0o711));
    made.and_then(|()| pass(&folder))
        .and_then(|()| pass(within))
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    Ok(folder)
}
