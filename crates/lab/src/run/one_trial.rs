//! A single trial: its contender's server reached, its folder made and removed.

use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Result, bail};
use dyno_engine::Contender;
use dyno_protocol::{Job, Server, Work};
use dyno_record::{ContenderRecord, Run};
use tempfile::TempDir;

use super::counting::ServerTrace;
use super::keep::FinishedTrial;
use super::plans::PlanTests;
use super::sustain::TriedRate;
use super::{Counter, Runner, State, TrialSlot, TrialStep, sync_scratch};
use crate::content::Mapped;
use crate::placement;
use crate::trial::{Outcome, Report, Trial, TrialOptions};

impl Runner<'_> {
    /// Runs a single trial and adds it to the record.
    pub(super) fn trial(
        &mut self,
        run: &mut Run,
        state: &mut State,
        when: TrialSlot,
        index: usize,
    ) -> Result<TrialStep> {
        if self.conduct.interrupts.signal().is_some() {
            return Ok(TrialStep::Stopped);
        }
        self.observer.trial_begins(index, run);
        let contender = &self.plan.contenders[index];
        let before = self.beat(state);
        let directory = self.servers.place(contender).and_then(|place| self.scratch.trial_in(&place));
        let result = match directory {
            Ok(directory) => {
                let result = self.measure(index, when, directory.path(), run);
                if let Ok((trial, _)) = &result {
                    self.leave(index, &trial.outcome, directory.path());
                }
                sync_scratch(directory.path());
                result
            }
            Err(error) => Err(error),
        };
        let after = self.beat(state);
        if result.is_err() && self.conduct.interrupts.signal().is_some() {
            // dyno was about to start what the trial needs.
            return Ok(TrialStep::Stopped);
        }
        let (trial, tried) = result.unwrap_or_else(|error| (Trial::failed(&error), Vec::new()));
        let beat_ns = before.zip(after).map(|(before, after)| (before + after) / 2.0);
        Ok(self.keep(
            run,
            state,
            when,
            index,
            FinishedTrial { trial, tried, beat_ns, ..FinishedTrial::default() },
        ))
    }

    /// The metronome's time here; none where agents on other machines do the work.
    fn beat(&self, state: &mut State) -> Option<f64> {
        self.conduct.agents.is_none().then(|| state.metronome.beat())?
    }

    /// Reaches the contender's server, if it has one, and goes through the tests. Returns at which rates it did, where
    /// these are sought.
    fn measure(
        &mut self,
        index: usize,
        when: TrialSlot,
        directory: &Path,
        run: &Run,
    ) -> Result<(Trial, Vec<TriedRate>)> {
        let contender = &self.plan.contenders[index];
        if let Some(missing) = contender.missing() {
            bail!(missing);
        }
        let extra = (when.counter.is_some() || when.watched).then(|| self.scratch.trial()).transpose()?;
        let counts = when.counter.zip(extra.as_ref().map(TempDir::path));
        let (contender, conduct) = match counts {
            Some((counter, folder)) => (counter.around(contender, folder)?, counter.options(self.conduct)),
            None => (contender.clone(), TrialOptions { watches: when.watched, ..self.conduct.clone() }),
        };
        let conduct = TrialOptions { placement: placement::of(&contender, &conduct.placement), ..conduct };
        let contender = &contender;
        let mut job = Job { latency: when.latency, ..self.plan.job(contender, directory) };
        let tried = self.plan_arrivals(run, index, when.block, &mut job)?;
        let mut served = self.servers.reach(contender)?;
        if let (Some(left), Some(server), Some(_)) = (&mut self.left, &mut served, &contender.url) {
            left.name(index, server);
        }
        match &served {
            Some(served) => self.conduct.serve(contender, &mut job, served, self.servers)?,
            None => self.servers.join_store(contender, &mut job)?,
        }
        self.ask_for_more(contender, run, &mut job);
        let dialect = &contender.engine.dialect;
        let plans = match &extra {
            Some(folder) if when.watched => PlanTests::add_to(&mut job, dialect, folder.path())?,
            _ => PlanTests::default(),
        };
        let own = job.server.as_ref().filter(|_| contender.url.is_none());
        let started = own.map(Server::processes).unwrap_or_default();
        let traced = self.trace(counts, &started, &contender.label);
        let observer = &mut *self.observer;
        let mut trial = conduct.run_whole(contender, &job, served.as_ref(), |report| match report {
            Report::Begins(test) => {
                plans.own(test).into_iter().for_each(|test| observer.test_begins(test, run));
            }
            Report::Interval(interval) => observer.interval(&interval, run),
        })?;
        drop(traced);
        trial.server = started.first().map(|&process| Mapped::of(process, SystemTime::UNIX_EPOCH));
        self.explain(contender, &mut trial.outcome);
        trial.left.iter().for_each(|left| self.observer.warn(left));
        if let Some(refused) = plans.take_from(&mut trial, dialect) {
            self.observer.warn(&format!("{}: {refused}", contender.label));
        }
        if let Some((counter, folder)) = counts {
            self.take_counts(counter, folder, &mut trial, &run.contenders[index]);
        }
        Ok((trial, tried))
    }

    /// Adds to a failure that the contender's server has died, if it has.
    fn explain(&mut self, contender: &Contender, outcome: &mut Outcome) {
        if let Outcome::Failed { message, .. } = outcome
            && let Some(death) = self.servers.death(contender)
        {
            *message = format!("{message}; {death}");
        }
    }

    /// Follows the calls of a private server, by its main process, where calls are counted.
    fn trace(
        &mut self,
        counts: Option<(Counter, &Path)>,
        server: &[u32],
        label: &str,
    ) -> Option<ServerTrace> {
        let (_, folder) = counts.filter(|(counter, _)| *counter == Counter::Strace && !server.is_empty())?;
        match ServerTrace::begin(server, folder) {
            Ok(trace) => Some(trace),
            Err(error) => {
                self.observer.warn(&format!("a trial of {label} has no calls of its server: {error:#}"));
                None
            }
        }
    }

    /// Has the runner report more than samples, where it can and the run asks for it.
    fn ask_for_more(&self, contender: &Contender, run: &Run, job: &mut Job) {
        if let Some(every) = self.every.filter(|_| contender.reports_intervals()) {
            ask_for_intervals(job, every);
        }
        if run.schedule.statements && contender.runner.statements {
            ask_for_statements(job);
        }
    }

    /// Adds what was counted to the samples of a trial.
    fn take_counts(&mut self, counter: Counter, folder: &Path, trial: &mut Trial, known: &ContenderRecord) {
        if let Some((hello, known)) = trial.hello.as_mut().zip(known.hello.as_ref()) {
            // It names a copy of its library, of which it knows no flags.
            hello.build.clone_from(&known.build);
        }
        if trial.outcome == Outcome::Finished
            && let Err(error) = counter.add(trial, folder)
        {
            let (label, events) = (&known.label, counter.events());
            self.observer.warn(&format!("a trial of {label} has no {events}: {error:#}"));
        }
    }

    /// Keeps the database of a trial that came to its end, where databases are kept.
    pub(super) fn leave(&mut self, index: usize, outcome: &Outcome, directory: &Path) {
        let Some(left) = &mut self.left else { return };
        let contender = &self.plan.contenders[index];
        if contender.engine.harness {
            return;
        }
        let is_finished = *outcome == Outcome::Finished;
        match &contender.url {
            // The trial removed the database of the one before it.
            Some(_) if !is_finished => left.forget(index),
            None if is_finished => {
                if let Err(error) = left.take(index, directory) {
                    let label = &contender.label;
                    self.observer.warn(&format!("the database of {label} could not be kept: {error:#}"));
                }
            }
            _ => {}
        }
    }
}

/// Has the runner time each statement, in mixes.
fn ask_for_statements(job: &mut Job) {
    for test in &mut job.tests {
        if let Work::Mix(mix) = &mut test.work {
            mix.times_statements = true;
        }
    }
}

/// Has the runner report what clients do, in the mixes that last a time.
fn ask_for_intervals(job: &mut Job, every: Duration) {
    for test in &mut job.tests {
        if let Work::Mix(mix) = &mut test.work {
            mix.interval_ns = mix.lasts.map(|_| every.as_nanos() as u64);
        }
    }
}
