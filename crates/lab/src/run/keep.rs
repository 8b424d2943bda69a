//! Checks a finished trial against what was asked for, and adds it to the record.

use std::path::Path;

use dyno_engine::Contender;
use dyno_engine::proofs::Proofs;
use dyno_protocol::{Sample, Value};
use dyno_record::{Answer, Content, Failure, Run, SampleRecord, TimeBudget, TrialRecord};

use super::counting::wants_functions;
use super::sustain::{TriedRate, judge_rate};
use super::{MAX_FAILURES, Runner, State, TrialSlot, TrialStep};
use crate::around::Readings;
use crate::content::{Contents, Mapped, is_script};
use crate::machine::cap;
use crate::server::identified;
use crate::trial::{Outcome, SampleSlices, Trial};
use crate::waits::{Looks, WatchedClients};

/// The facts about a trial that its runner did not report.
#[derive(Debug, Default)]
pub(super) struct FinishedTrial {
    pub trial: Trial,
    /// At which rates operations arrived, where these are sought.
    pub tried: Vec<TriedRate>,
    /// The cuts of its samples; empty if the trial ran alone.
    pub cuts: Vec<Option<SampleSlices>>,
    /// The metronome's time before and after it.
    pub beat_ns: Option<f64>,
}

impl Runner<'_> {
    /// Adds a trial to the record.
    pub(super) fn keep(
        &mut self,
        run: &mut Run,
        state: &mut State,
        when: TrialSlot,
        index: usize,
        came: FinishedTrial,
    ) -> TrialStep {
        let FinishedTrial { trial, tried, cuts, beat_ns } = came;
        if trial.outcome == Outcome::Interrupted {
            return TrialStep::Stopped;
        }
        let contender = &self.plan.contenders[index];
        // Settings that did not take once will not take the next time.
        let asks_in_vain = trial.hello.as_ref().is_some_and(|hello| {
            !contender.engine.differences(&contender.settings, &hello.settings).is_empty()
        });
        let mut trial = confirm(trial, contender, self.proofs, index, run);
        // The file of a counted trial's process may be the simulated processor's.
        if when.counter.is_none()
            && let Err(message) = self.identify(&trial, &mut state.contents, index, run)
        {
            trial.refuse(message);
        }
        let failure = match trial.outcome {
            Outcome::Failed { test, message } => Some(Failure { test, message }),
            _ => None,
        };
        let mut answers = trial.answers;
        // The harness keeps nothing.
        if !contender.engine.harness {
            self.count_lost(&trial.samples, &mut answers);
        }
        let reported = trial.samples.into_iter().zip(answers);
        let mut samples = self.samples(run, index, &tried, &trial.readings, reported, cuts);
        samples.iter_mut().for_each(|sample| sample.budget = self.budget(&trial.looks, &sample.sample));
        if wants_functions(run, index) {
            let functions = samples.iter_mut().zip(trial.functions);
            functions.for_each(|(sample, functions)| sample.functions = functions);
        }
        let TrialSlot { block, latency, counter, watched, began_ns } = when;
        let (others, agents) = (trial.others, trial.agents);
        let record = TrialRecord {
            block,
            contender: index,
            latency,
            counted: counter.is_some(),
            watched,
            began_ns,
            others,
            beat_ns,
            agents,
            samples,
            plans: trial.plans,
            failure,
        };
        run.trials.push(record.clone());
        self.observer.trial_ends(&record, run);
        self.count_failure(&mut state.failures[index], record, asks_in_vain, run);
        TrialStep::Done
    }

    /// Adds to each answer the number of acknowledged operations that are not in the database.
    fn count_lost(&self, samples: &[Sample], answers: &mut [Answer]) {
        for (sample, answer) in samples.iter().zip(answers) {
            let planned = self.plan.test(&sample.test);
            count_lost(sample, answer, planned.map_or(&[], |test| &test.acknowledged));
        }
    }

    /// Counts a contender's failures in a row after its trial, and reports it when there are too many: it has no more
    /// trials.
    fn count_failure(&mut self, failures: &mut u32, record: TrialRecord, asks_in_vain: bool, run: &Run) {
        *failures = match record.failure {
            None => 0,
            Some(_) if asks_in_vain => MAX_FAILURES,
            Some(_) => *failures + 1,
        };
        if let Some(failure) = record.failure.filter(|_| *failures == MAX_FAILURES) {
            self.observer.dropped(record.contender, &failure, run);
        }
    }

    /// The samples of a trial with what its runner does not know of them.
    fn samples(
        &self,
        run: &mut Run,
        index: usize,
        tried: &[TriedRate],
        readings: &Readings,
        reported: impl Iterator<Item = (Sample, Answer)>,
        cuts: Vec<Option<SampleSlices>>,
    ) -> Vec<SampleRecord> {
        let cuts = cuts.into_iter().chain(std::iter::repeat(None));
        let records = reported.zip(cuts).map(|((sample, answer), cut)| {
            let planned = self.plan.test(&sample.test);
            SampleRecord {
                answer: run.keep_answer(answer),
                extrapolated_to: planned.and_then(|test| test.whole[index]),
                judged_percentile: planned.and_then(|test| test.judged_percentile),
                due: planned.and_then(|test| test.due).filter(|_| tried.is_empty()),
                sought: judge_rate(run, tried, &sample),
                around: readings.of(&sample),
                slices: cut.map(|cut| cut.slices),
                beat_ns: cut.and_then(|cut| cut.beat_ns),
                budget: None,
                functions: None,
                sample,
            }
        });
        records.collect()
    }

    /// The division of a sample's time, by the looks at the threads.
    fn budget(&self, looks: &Looks, sample: &Sample) -> Option<TimeBudget> {
        let asked = self.plan.test(&sample.test).and_then(|test| test.record.clients.as_ref());
        let several = asked.map_or(1, |clients| u64::from(clients.clients));
        let is_closed =
            asked.is_some_and(|clients| clients.rate.is_none() && clients.think_ns.unwrap_or(0) == 0);
        let threads = if sample.threads > 0 { sample.threads } else { several };
        looks.budget(&sample.section, WatchedClients { threads, contend: is_closed && several > 1 })
    }

    /// Takes into the record which files a trial executed, by their content.
    ///
    /// # Errors
    /// One of them is another than in the trials before, or changed while the trial ran: its samples are of something
    /// else.
    fn identify(
        &self,
        trial: &Trial,
        contents: &mut Contents,
        index: usize,
        run: &mut Run,
    ) -> Result<(), String> {
        let contender = &self.plan.contenders[index];
        let Some(hello) = &trial.hello else { return Ok(()) };
        let library = hello.build.get("library").and_then(|names| names.first()).map(Path::new);
        // Agents name files of their own machines.
        let library = library.filter(|_| trial.agents.is_empty());
        let mut of = |path: Option<&Path>, mapped: &Mapped| match path {
            Some(path) => contents.of(path, mapped),
            None => Ok(None),
        };
        let command = contender.runner.command();
        // A script's process is of its interpreter, which only the kernel names.
        let named = || command.first().map(Path::new).filter(|path| !is_script(path));
        let program = trial.mapped.program.as_deref().or_else(named);
        let runner = of(program, &trial.mapped)?;
        let named = of(library, &trial.mapped)?;
        let (engine, client) = match (contender.engine.is_server(), &trial.server) {
            (true, Some(server)) => (of(self.servers.program(contender), server)?, named),
            (true, None) => (None, named),
            (false, _) if library.is_some() => (named, None),
            (false, _) => (runner.clone(), None),
        };
        let known = &mut run.contenders[index].executed;
        settle_on(&mut known.runner, runner, "the runner's program")?;
        settle_on(&mut known.client, client, "the client library")?;
        settle_on(&mut known.engine, engine, "the engine's file")
    }
}

/// Keeps what was found of a file, where it is the first to be found or the same as before.
fn settle_on(known: &mut Option<Content>, found: Option<Content>, what: &str) -> Result<(), String> {
    match (&known, found) {
        (Some(known), Some(found)) if *known != found => Err(format!(
            "{what} changed within the run: its SHA-256 began with {} and begins with {}",
            known.short(),
            found.short()
        )),
        (None, found) => {
            *known = found;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Puts in the place of how many acknowledged operations left something how many did not, which is what breaks an
/// invariant.
fn count_lost(sample: &Sample, answer: &mut Answer, acknowledged: &[(usize, String)]) {
    for (place, class) in acknowledged {
        let all: u64 = sample
            .classes
            .iter()
            .filter(|reported| reported.class == *class)
            .map(|reported| reported.acknowledged)
            .sum();
        if let Some(Value::Integer(there)) = answer.kept.get_mut(*place).and_then(|row| row.last_mut()) {
            // One that failed at its first try may have left something at a later one.
            *there = (all as i64 - *there).max(0);
        }
    }
}

/// Adds the contents of the trial's `hello` to the record. A setting that is not in force as asked makes the trial a
/// failure: its samples are of something else.
fn confirm(mut trial: Trial, contender: &Contender, proofs: &Proofs, index: usize, run: &mut Run) -> Trial {
    let Some(hello) = trial.hello.clone() else { return trial };
    let hello = &hello;
    let differences = contender.engine.differences(&contender.settings, &hello.settings);
    if !differences.is_empty() {
        let reported: Vec<String> = differences.iter().map(ToString::to_string).collect();
        trial.refuse(reported.join("; "));
    }
    let record = &mut run.contenders[index];
    record.safety = contender.safety(&hello.settings);
    record.isolation = contender.engine.isolation(&hello.settings);
    let knob = contender.engine.cache.as_ref();
    record.cache = knob.and_then(|knob| knob.read(&contender.settings, &hello.settings));
    if contender.url.is_none()
        && let Some((most, why)) = cap(&run.storage)
    {
        record.safety = record.safety.take().map(|safety| safety.at_most(most, why));
    }
    let file_system = &run.storage.file_system;
    let known = identified(contender, hello);
    record.safety = record.safety.take().map(|safety| proofs.judge(safety, contender, &known, file_system));
    match &record.hello {
        None => record.hello = Some(hello.clone()),
        Some(first) if first != hello => {
            trial.refuse("the engine's versions or settings changed within the run".to_owned());
        }
        Some(_) => {}
    }
    trial
}
