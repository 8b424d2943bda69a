//! Runs the programs that are compared, round by round, and collects their pairs.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use dyno_engine::{Contender, Home, Registry};
use dyno_lab::scratch::Scratch;
use dyno_lab::trial::{Outcome, Servers, TrialOptions};
use dyno_launch::Interrupts;
use dyno_plan::{Plan, PlannedTest, select};
use dyno_protocol::Job;
use dyno_record::{Placement, Sharing};
use dyno_suite::Suite;
use fastrand::Rng;
use tempfile::TempDir;

use crate::comparison::{Comparison, Time, times};
use crate::loads::{self, Inputs, Load};
use crate::measured::Measured;
use crate::reference::{self, References};
use crate::turns::{Side, Turns};
use crate::{clients, kv};

/// Longest silence of a runner.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The runner with which the C programs take turns.
const TAKES_TURNS: &str = "sqlite";

/// All that is needed for a round, and what the rounds gave.
pub struct Session {
    plan: Plan,
    scratch: Scratch,
    conduct: TrialOptions,
    references: References,
    /// The rows to load, where that is measured.
    inputs: Option<Inputs>,
    servers: Servers,
    random: Rng,
    /// The turns of runner and C program, if they take turns.
    turns: Option<Turns>,
    /// Of each contender but the null runner.
    pub comparisons: Vec<Comparison>,
    /// For each round the null runner's nanoseconds for each test.
    pub null: Vec<Vec<u64>>,
}

impl Session {
    /// Plans the tests for the contenders and the null runner, writes this many rows to load, and builds the C
    /// programs. None where no contender can be measured here.
    pub fn prepare(
        measured: &Measured,
        names: &[String],
        rows: u64,
        dir: &Path,
        placement: Placement,
        seed: u64,
    ) -> Result<Option<Session>> {
        let home = Home::find()?;
        let registry = Registry::load(&home)?;
        let names = names.iter().map(String::as_str).chain(["null"]);
        let mut contenders =
            names.map(|name| Contender::parse(name, &registry)).collect::<Result<Vec<_>>>()?;
        contenders.retain(|contender| clients::is_available(contender) && kv::is_available(contender));
        if contenders.len() < 2 {
            return Ok(None);
        }
        let suite = Suite::load(&home.suite(measured.suite), &registry.dialects())?;
        let changes = measured.parameters.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let parameters = dyno_suite::resolve(&suite.parameters, &changes.collect::<Vec<_>>())?;
        let scratch = Scratch::create(dir)?;
        let selection = select(&suite, measured.only)?;
        let plan = Plan::new(&suite, &parameters, contenders, &selection, &scratch.inputs(), None)?;
        let compared = &plan.contenders[..plan.contenders.len() - 1];
        let comparisons = comparisons(compared, plan.tests.len(), measured);
        let runners = compared.iter().map(|contender| contender.runner.name.as_str());
        let references = References::build(&home.programs, measured.suite, runners)?;
        let sharing = Sharing::default();
        let servers = Servers::new(scratch.folder().to_owned(), &placement, sharing);
        Ok(Some(Session {
            servers,
            comparisons,
            inputs: measured.loads.then(|| Inputs::write(rows, seed)).transpose()?,
            plan,
            scratch,
            conduct: TrialOptions {
                placement,
                sharing,
                timeout: TIMEOUT,
                memory_bytes: None,
                interrupts: Interrupts::listen()?,
                agents: None,
                watches: false,
            },
            references,
            random: Rng::with_seed(seed),
            turns: None,
            null: Vec::new(),
        }))
    }

    /// From now on lets runner and C program take turns, where both know how.
    pub fn take_turns(&mut self) -> Result<()> {
        let contenders =
            self.comparisons.iter().map(|comparison| &self.plan.contenders[comparison.contender]);
        if let Some(other) = contenders.into_iter().find(|contender| contender.runner.name != TAKES_TURNS) {
            bail!("the C program beside {} takes no turns: name others by --only and --with", other.label);
        }
        self.turns = Some(Turns::new(&self.conduct, self.comparisons.len(), &mut self.random));
        Ok(())
    }

    /// Runs every program once. A round that does not count is forgotten.
    pub fn round(&mut self, counts: bool) -> Result<()> {
        let null = self.comparisons.len();
        let mut order: Vec<usize> = (0..=null).collect();
        self.random.shuffle(&mut order);
        for place in order {
            if place == null {
                let times = self.dyno(self.plan.contenders.len() - 1, None)?;
                if counts {
                    self.null.push(times.into_iter().map(|time| time.nanoseconds).collect());
                }
                continue;
            }
            let Comparison { contender, load, .. } = self.comparisons[place];
            let (dyno, reference) = if self.turns.as_ref().is_some_and(|turns| turns.knows(place)) {
                self.side_by_side(place, contender)?
            } else if self.random.bool() {
                let dyno = self.dyno(contender, load)?;
                (dyno, self.reference(contender, load)?)
            } else {
                let reference = self.reference(contender, load)?;
                (self.dyno(contender, load)?, reference)
            };
            if let Some(turns) = self.turns.as_mut().filter(|turns| !turns.knows(place)) {
                turns.learn(place, &dyno);
            }
            if counts {
                self.comparisons[place].add(&dyno, &reference);
            }
        }
        Ok(())
    }

    /// A trial of dyno and the C program's, in turns.
    fn side_by_side(&mut self, comparison: usize, contender: usize) -> Result<(Vec<Time>, Vec<Time>)> {
        let (folder, other) = (self.fresh()?, self.scratch.trial()?);
        let job = self.job(contender, None, folder.path())?;
        let named = self.plan.contenders[contender].clone();
        let command = named.runner.command().into_iter().map(Into::into).collect();
        let dyno = Side { contender: named.clone(), command, job };
        let job = self.job(contender, None, other.path())?;
        let command = self.references.in_turns(&named, &job)?;
        let turns = self.turns.as_mut().context("no test takes turns")?;
        let sides = [dyno, Side { contender: named, command, job }];
        let [dyno, reference] = turns.run(&self.conduct, comparison, sides)?;
        Ok((dyno, reference))
    }

    /// The tests, in order.
    pub fn tests(&self) -> &[PlannedTest] {
        &self.plan.tests
    }

    /// Each test's id and title.
    pub fn titles(&self) -> Vec<String> {
        self.plan.tests.iter().map(|test| format!("{} {}", test.record.id, test.record.title)).collect()
    }

    /// The number of undisturbed pairs of the test that has the fewest.
    pub fn fewest_pairs(&self) -> usize {
        let tests = self.comparisons.iter().flat_map(|comparison| &comparison.pairs);
        tests.map(|pairs| pairs.iter().flatten().count()).min().unwrap_or(0)
    }

    /// A trial of dyno.
    fn dyno(&mut self, contender: usize, load: Option<Load>) -> Result<Vec<Time>> {
        let folder = self.fresh()?;
        let job = self.job(contender, load, folder.path())?;
        let trial = self.conduct.run(&self.plan.contenders[contender], &job, |_| ())?;
        match trial.outcome {
            Outcome::Finished => {}
            Outcome::Failed { message, .. } => bail!("{}: {message}", self.plan.contenders[contender].label),
            Outcome::Interrupted => bail!("interrupted"),
        }
        Ok(times(&trial))
    }

    /// The same by the C program, or by psql.
    fn reference(&mut self, contender: usize, load: Option<Load>) -> Result<Vec<Time>> {
        let folder = self.fresh()?;
        let job = self.job(contender, load, folder.path())?;
        let contender = &self.plan.contenders[contender];
        let placement = &self.conduct.placement;
        let times = match load.zip(self.inputs.as_ref()) {
            Some((load, inputs)) if load.is_psqls() => {
                vec![reference::copy(&job, inputs.script(), placement)?]
            }
            Some((load, inputs)) => {
                self.references.run(contender, &job, inputs.arguments(load), placement)?
            }
            None => self.references.run(contender, &job, reference::tests(&job)?, placement)?,
        };
        ensure!(times.len() == job.tests.len(), "the C program gave {} times", times.len());
        Ok(times)
    }

    fn job(&mut self, contender: usize, load: Option<Load>, folder: &Path) -> Result<Job> {
        let contender = &self.plan.contenders[contender];
        let mut job = self.plan.job(contender, folder);
        job.tests.iter_mut().for_each(|test| test.check = None);
        self.conduct.attach(contender, &mut job, &mut self.servers)?;
        Ok(match load.zip(self.inputs.as_ref()) {
            Some((load, inputs)) => inputs.job(load, job),
            None => job,
        })
    }

    /// A fresh folder, with nothing left to be written from what ran before.
    fn fresh(&self) -> Result<TempDir> {
        nix::unistd::sync();
        self.scratch.trial().context("no folder for a database")
    }
}

/// A comparison with C for each contender: of the suite's tests, or of each way of loading rows.
fn comparisons(contenders: &[Contender], tests: usize, measured: &Measured) -> Vec<Comparison> {
    let compared = contenders.iter().enumerate().flat_map(|(place, contender)| {
        let suite = (!measured.loads).then_some((None, tests));
        let loads = loads::of(contender).iter().filter(|_| measured.loads);
        suite.into_iter().chain(loads.map(|load| (Some(*load), 1))).map(move |(load, tests)| Comparison {
            contender: place,
            label: contender.label.clone(),
            load,
            is_server: contender.engine.is_server(),
            pairs: vec![Vec::new(); tests],
            cpu: vec![Vec::new(); tests],
        })
    });
    compared.collect()
}
