//! The trials of one block whose contenders take turns.

use anyhow::Result;
use dyno_protocol::{Job, Sample};
use dyno_record::Run;
use rand::Rng;
use tempfile::TempDir;

use super::keep::FinishedTrial;
use super::{Runner, State, TrialStep, sync_file_system, sync_scratch};
use crate::trial::{Expected, InterleavedTrial, Pace, Sliced};

impl Runner<'_> {
    /// Runs one trial of each of some contenders, side by side, and adds them to the record.
    pub(super) fn side_by_side(
        &mut self,
        run: &mut Run,
        state: &mut State,
        block: u32,
        contenders: &[usize],
        random: &mut impl Rng,
    ) -> Result<TrialStep> {
        let when = state.when(block, false);
        let mut members = Vec::new();
        let mut folders: Vec<TempDir> = Vec::new();
        for &index in contenders {
            let folder = self.scratch.trial()?;
            members.push(self.member(run, index, &folder));
            folders.push(folder);
        }
        let tests: Vec<String> = self.plan.tests.iter().map(|test| test.record.id.clone()).collect();
        if let Some(&first) = contenders.first() {
            self.observer.trial_begins(first, run);
        }
        let observer = &mut *self.observer;
        let settle = || {
            if let Some(folder) = folders.first() {
                sync_file_system(folder.path());
            }
        };
        let watch = |test: usize| observer.test_begins(test, run);
        let mut sliced =
            self.conduct.run_together(&members, &tests, random, &mut state.metronome, watch, settle);
        for (member, one) in members.iter().zip(&mut sliced) {
            self.conduct.read_again(&member.contender, &member.job, None, &mut one.trial);
        }
        for ((&index, folder), one) in contenders.iter().zip(&folders).zip(&sliced) {
            self.leave(index, &one.trial.outcome, folder.path());
        }
        folders.iter().for_each(|folder| sync_scratch(folder.path()));
        if self.conduct.interrupts.signal().is_some() {
            return Ok(TrialStep::Stopped);
        }
        for (&index, Sliced { trial, cuts }) in contenders.iter().zip(sliced) {
            self.keep(run, state, when, index, FinishedTrial { trial, cuts, ..FinishedTrial::default() });
        }
        Ok(TrialStep::Done)
    }

    fn member(&self, run: &Run, index: usize, folder: &TempDir) -> InterleavedTrial {
        let contender = &self.plan.contenders[index];
        let tests = self.plan.tests.iter().enumerate().filter(|(_, test)| !test.only_reads);
        let writing = tests.map(|(place, _)| place).filter(|_| run.contenders[index].apart_writing.is_some());
        let writing = writing.collect();
        let job = Job { turns: true, ..self.plan.job(contender, folder.path()) };
        InterleavedTrial {
            contender: contender.clone(),
            command: contender.runner.command(),
            job,
            expected: expected(run, index),
            alone: writing,
        }
    }
}

/// The time that each test took a contender in its newest trial.
fn expected(run: &Run, contender: usize) -> Expected {
    let trials = run.trials.iter().filter(|trial| trial.contender == contender && !trial.is_extra());
    let samples = trials.flat_map(|trial| &trial.samples).map(|sample| &sample.sample);
    let pace =
        |sample: &Sample| Pace { ns: sample.section.nanoseconds as f64, operations: sample.operations };
    samples.map(|sample| (sample.test.clone(), pace(sample))).collect()
}
