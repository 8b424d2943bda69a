//! Hand-written jobs, and the trials that they lead to.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use dyno_engine::Contender;
use dyno_lab::scratch::Scratch;
use dyno_lab::trial::{Outcome, Trial, TrialOptions};
use dyno_plan::probe;
use dyno_protocol::{Job, Test, Value, Waiting, Work};
use dyno_suite::one_row;

/// The surroundings of the checks: contender, folders, server.
pub struct Script<'a> {
    /// The contender whose runner is checked.
    pub contender: &'a Contender,
    /// The folder for files.
    pub scratch: &'a Scratch,
    /// The limits and measuring of trials.
    pub conduct: &'a TrialOptions,
    /// A job without tests, on the contender's server if it has one.
    pub job: &'a Job,
    /// The number of operations of each turn; `None`: the tests are done without turns.
    pub turn: Option<u64>,
}

/// One test to be: statements, and a checking query if any.
pub type Lines<'a> = (&'a [&'a str], Option<&'a str>);

impl Script<'_> {
    /// A trial of some tests, named 1, 2, …
    pub fn run(&self, tests: &[Lines]) -> Result<Trial> {
        self.run_changed(tests, |_, _| Ok(()))
    }

    /// The same with the job changed before it is given; the change may also look at the folder that
    /// holds the inputs.
    pub fn run_changed(
        &self,
        tests: &[Lines],
        change: impl FnOnce(&mut Job, &Path) -> Result<()>,
    ) -> Result<Trial> {
        self.perform(tests, change, |job| match self.turn {
            None => self.conduct.run(self.contender, job, |_| {}),
            Some(turn) => {
                self.conduct.run_in_turns(self.contender, &Job { turns: true, ..job.clone() }, |_| turn)
            }
        })
    }

    /// A trial in turns, each as long as `give` says.
    pub fn run_giving(&self, tests: &[Lines], give: impl FnMut(Waiting) -> u64) -> Result<Trial> {
        let turns = |job: &mut Job, _: &Path| {
            job.turns = true;
            Ok(())
        };
        self.perform(tests, turns, |job| self.conduct.run_in_turns(self.contender, job, give))
    }

    /// A trial at whose end the database is opened again.
    pub fn run_whole(&self, tests: &[Lines]) -> Result<Trial> {
        self.perform(tests, |_, _| Ok(()), |job| self.conduct.run_whole(self.contender, job, None, |_| {}))
    }

    /// A query without a table, in the contender's dialect: some want a table.
    pub fn without_table(&self, query: &str) -> String {
        format!("{query}{}", one_row(&self.contender.engine.dialect))
    }

    /// The same checks of a contender that differs, whose settings may be others.
    pub fn with<'s>(&'s self, contender: &'s Contender) -> Script<'s> {
        Script { contender, ..*self }
    }

    fn perform(
        &self,
        tests: &[Lines],
        change: impl FnOnce(&mut Job, &Path) -> Result<()>,
        run: impl FnOnce(&Job) -> Result<Trial>,
    ) -> Result<Trial> {
        let directory = self.scratch.trial()?;
        let inputs = self.scratch.trial()?;
        let Job { server, maintenance, database_bytes, .. } = self.job.clone();
        let own = probe(self.contender, directory.path());
        let mut job = Job { server, maintenance, database_bytes, ..own };
        for (index, (statements, check)) in tests.iter().enumerate() {
            job.tests.push(write(index + 1, statements, *check, inputs.path())?);
        }
        change(&mut job, inputs.path())?;
        run(&job)
    }

    /// A trial of tests of any kind, which may keep their inputs in the folder given.
    pub fn run_tests(&self, make: impl FnOnce(&Path) -> Result<Vec<Test>>) -> Result<Trial> {
        self.run_changed(&[], |job, folder| {
            job.tests = make(folder)?;
            Ok(())
        })
    }

    /// A trial with a text for a job.
    pub fn run_text(&self, text: &str) -> Result<Trial> {
        let directory = self.scratch.trial()?;
        let job = probe(self.contender, directory.path());
        self.conduct.run_text(self.contender, text.as_bytes(), &job, |_| {})
    }
}

fn write(number: usize, statements: &[&str], check: Option<&str>, folder: &Path) -> Result<Test> {
    let file: PathBuf = folder.join(format!("{number}.statements"));
    let text: String = statements.iter().map(|statement| format!("{statement}\0")).collect();
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(Test {
        id: number.to_string(),
        setup: Vec::new(),
        work: Work::Statements { file, count: statements.len() as u64 },
        check: check.map(str::to_owned),
    })
}

/// The trial must have finished.
pub fn finished(trial: &Trial) -> Result<()> {
    match &trial.outcome {
        Outcome::Finished => Ok(()),
        other => bail!("the trial did not finish: {}", ended(other)),
    }
}

/// The end of a trial, in words.
fn ended(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Finished => "it finished".to_owned(),
        Outcome::Interrupted => "it was interrupted".to_owned(),
        Outcome::Failed { test: None, message } => format!("it failed before any test: {message}"),
        Outcome::Failed { test: Some(test), message } => format!("it failed in test {test}: {message}"),
    }
}

/// The trial must have loaded this number of rows within the timed section, and left a table of this digest.
pub fn stored(trial: &Trial, operations: u64, truth: &[Vec<Value>]) -> Result<()> {
    finished(trial)?;
    let sample = &trial.samples[0];
    ensure!(
        (sample.operations, sample.rows) == (operations, operations),
        "the sample says {} operations and {} rows, and there were {operations}",
        sample.operations,
        sample.rows
    );
    answered(trial, 1, truth)
}

/// The trial must have failed, in this test, with a message that holds each of `words`.
pub fn failed(trial: &Trial, test: Option<&str>, words: &[&str]) -> Result<()> {
    let Outcome::Failed { test: found, message } = &trial.outcome else {
        bail!("the trial should have failed and ended: {}", ended(&trial.outcome));
    };
    if found.as_deref() != test {
        let place =
            |test: Option<&str>| test.map_or("before any test".to_owned(), |test| format!("in test {test}"));
        bail!("it failed {} and should have {}: {message}", place(found.as_deref()), place(test));
    }
    for word in words {
        if !message.to_lowercase().contains(&word.to_lowercase()) {
            bail!("the message does not say '{word}': {message}");
        }
    }
    for nonsense in ["no event of the protocol", "out of order", "in the middle of its work", "was silent"] {
        if message.contains(nonsense) {
            bail!("it should have sent `failed`, and did not: {message}");
        }
    }
    Ok(())
}

/// The answer of a test (from 1) must be these rows.
pub fn answered(trial: &Trial, test: usize, rows: &[Vec<Value>]) -> Result<()> {
    let answer = trial.answers.get(test - 1).with_context(|| format!("test {test} has no sample"))?;
    let expected = dyno_record::Answer::from_rows(rows);
    dyno_verdict::answers::compare(answer, &expected, 1e-9)
        .map_err(|mismatch| anyhow::anyhow!("the answer of test {test} is wrong: {mismatch}"))
}
