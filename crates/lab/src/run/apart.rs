//! A trial by itself: its contender's server reached, its folder made and removed.

use std::path::Path;
use std::time::SystemTime;

use anyhow::{Result, bail};
use dyno_protocol::Job;
use dyno_record::Run;

use super::keep::Came;
use super::sustain::Seeking;
use super::{Runner, State, Step, When, settle};
use crate::content::Mapped;
use crate::trial::{Outcome, Trial};

impl Runner<'_> {
    /// Runs one trial by itself and adds it to the record.
    pub(super) fn trial(
        &mut self,
        run: &mut Run,
        state: &mut State,
        when: When,
        index: usize,
    ) -> Result<Step> {
        if self.conduct.interrupts.signal().is_some() {
            return Ok(Step::Stopped);
        }
        self.observer.trial_begins(index, run);
        let contender = &self.plan.contenders[index];
        let before = state.metronome.beat();
        let directory = self.servers.place(contender).and_then(|place| self.scratch.trial_in(&place));
        let result = match directory {
            Ok(directory) => {
                let result = self.measure(index, when, directory.path(), run);
                settle(directory.path());
                result
            }
            Err(error) => Err(error),
        };
        let after = state.metronome.beat();
        if result.is_err() && self.conduct.interrupts.signal().is_some() {
            // What the trial needs was about to start.
            return Ok(Step::Stopped);
        }
        let (trial, seeking) = result.unwrap_or_else(|error| (Trial::failed(&error), Vec::new()));
        let beat_ns = before.zip(after).map(|(before, after)| (before + after) / 2.0);
        Ok(self.keep(run, state, when, index, Came { trial, seeking, beat_ns, ..Came::default() }))
    }

    /// Reaches the contender's server, if it has one, and goes through the tests. Tells at which rates it did, where these
    /// are sought.
    fn measure(
        &mut self,
        index: usize,
        when: When,
        directory: &Path,
        run: &Run,
    ) -> Result<(Trial, Vec<Seeking>)> {
        let contender = &self.plan.contenders[index];
        if let Some(missing) = contender.missing() {
            bail!(missing);
        }
        let mut job = Job { latency: when.latency, ..self.plan.job(contender, directory) };
        let seeking = self.seek(run, index, when.block, &mut job)?;
        job.server = self.servers.reach(contender)?;
        let observer = &mut *self.observer;
        let mut trial = self.conduct.run_tidily(contender, &job, |test| observer.test_begins(test, run))?;
        let started =
            job.server.as_ref().filter(|_| contender.url.is_none()).and_then(|server| server.process);
        trial.server = started.map(|process| Mapped::of(process, SystemTime::UNIX_EPOCH));
        if let Outcome::Failed { message, .. } = &mut trial.outcome
            && let Some(death) = self.servers.death(contender)
        {
            *message = format!("{message}; {death}");
        }
        trial.left.iter().for_each(|left| self.observer.warn(left));
        Ok((trial, seeking))
    }
}
