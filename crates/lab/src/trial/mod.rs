//! One trial: one contender, once through the tests, in a fresh process on a fresh database.
//!
//! Reads the runner's events, checks that they come in the contract's order and collects them. It
//! judges nothing: what a sample means is the verdict's business.

mod ask;
mod attach;
mod clients;
mod interleaved;
mod last;
mod network;
mod parts;
mod reader;
mod rounds;
mod running;
mod servers;

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;
use dyno_engine::Contender;
use dyno_launch::Interrupts;
use dyno_launch::agents::AgentPool;
use dyno_protocol::{Hello, Interval, Job, Sample, Server, Waiting};
use dyno_record::{AgentShare, Answer, FunctionCounts, Others, Placement, Sharing, StatementPlan};

use crate::around::{ActivityMonitor, Readings};
use crate::content::Mapped;
use crate::interference::Watched;
use crate::placement;
use crate::scratch::Scratch;
use crate::waits::{Looks, WaitWatch};
use running::{Pause, Running};

pub use ask::Reply;
pub use interleaved::{Expected, InterleavedTrial, SampleSlices, Sliced};
pub use rounds::Pace;
pub use servers::{InspectedServer, Servers, wire_protocol};

/// The result of a trial.
#[derive(Debug, Default)]
pub struct Trial {
    /// The identity of the runner; none if the runner failed before.
    pub hello: Option<Hello>,
    /// The samples, in the order of the tests.
    pub samples: Vec<Sample>,
    /// The answers of the same tests.
    pub answers: Vec<Answer>,
    /// The files that its runner had mapped as code once it greeted.
    pub(crate) mapped: Mapped,
    /// The same of the server, where dyno started one.
    pub(crate) server: Option<Mapped>,
    /// The time that others took of the CPUs meanwhile; none where the kernel does not report it.
    pub others: Option<Others>,
    /// The work of each agent, where agents drove the clients.
    pub agents: Vec<AgentShare>,
    /// Activity of others meanwhile.
    pub(crate) readings: Readings,
    /// The plans of the tests' read statements, where dyno asked for them.
    pub(crate) plans: Vec<StatementPlan>,
    /// The looks at its threads and its server's, where dyno took some.
    pub(crate) looks: Looks,
    /// The functions that each sample executed, in the order of the samples, where they were counted.
    pub(crate) functions: Vec<Option<FunctionCounts>>,
    /// Its ending.
    pub outcome: Outcome,
    /// True if the runner may have reached its engine: it greeted, or it ended without a word about why it did not.
    pub may_have_connected: bool,
    /// True if the runner came to its end, and dyno does not take what it did.
    pub(crate) is_refused: bool,
    /// The database that may be left on a server at a URL, in a sentence for the user.
    pub left: Option<String>,
}

impl Trial {
    /// One that could not begin, or could not go on.
    pub(crate) fn failed(error: &anyhow::Error) -> Trial {
        let outcome = Outcome::Failed { test: None, message: format!("{error:#}") };
        Trial { outcome, ..Trial::default() }
    }
}

impl Trial {
    /// Takes what others took of the machine of the first agent during the trial, and of those of all agents together.
    fn saw(&mut self, first: Option<Others>) {
        self.agents.iter_mut().filter(|share| share.agent == 0).for_each(|share| share.others = first);
        let rest = self.agents.iter().filter(|share| share.agent > 0).filter_map(|share| share.others);
        self.others = rest.chain(first).reduce(Others::and);
    }

    /// Makes a failure of it, because its samples are not of what was asked for.
    pub(crate) fn refuse(&mut self, message: String) {
        self.outcome = Outcome::Failed { test: None, message };
        self.is_refused = true;
        self.samples.clear();
        self.answers.clear();
    }
}

/// A report of a runner while a trial goes on.
#[derive(Debug)]
pub enum Report {
    /// A test begins, by its number from 0.
    Begins(usize),
    /// Recent work of clients of its mix.
    Interval(Interval),
}

/// The ending of a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Outcome {
    /// All tests are done.
    #[default]
    Finished,
    /// Something went wrong; the samples before it stand.
    Failed {
        /// The test in which it happened.
        test: Option<String>,
        /// The cause, for people.
        message: String,
    },
    /// The run was asked to stop; the trial does not count.
    Interrupted,
}

/// The conditions of trials, the same for all of a run.
#[derive(Debug, Clone)]
pub struct TrialOptions {
    /// The CPUs of runners and dyno.
    pub placement: Placement,
    /// The CPUs of clients of servers and of the servers.
    pub sharing: Sharing,
    /// The longest silence of a runner: the longest time for one test.
    pub timeout: Duration,
    /// Bytes of memory that a runner may use; none: as many as there are.
    pub memory_bytes: Option<u64>,
    /// The request to stop the run.
    pub interrupts: Interrupts,
    /// The agents that drive the clients of mixes that are divided; none: processes of this machine do.
    pub agents: Option<AgentPool>,
    /// True if dyno looks at what the threads of runners and servers wait for.
    pub watches: bool,
}

impl TrialOptions {
    /// The usual placement and no limits, for runners that are asked and not measured.
    pub fn unmeasured(timeout: Duration) -> Result<TrialOptions> {
        Ok(TrialOptions {
            placement: placement::choose(None, None)?,
            sharing: Sharing::default(),
            timeout,
            memory_bytes: None,
            interrupts: Interrupts::default(),
            agents: None,
            watches: false,
        })
    }

    /// The servers of trials run like this; their files go to a folder within `scratch`.
    pub fn servers(&self, scratch: &Scratch) -> Servers {
        Servers::new(scratch.folder().to_owned(), &self.placement, self.sharing).obeying(&self.interrupts)
    }

    /// Runs a trial. `on_report` hears how far its runner is.
    ///
    /// Errors are those of starting the process; everything after that is in the outcome.
    pub fn run(&self, contender: &Contender, job: &Job, on_report: impl FnMut(Report)) -> Result<Trial> {
        self.run_by(contender, None, job, on_report)
    }

    /// Runs a trial with a job's text that may be anything, for checking what a runner makes of it; the
    /// events are held against `job`.
    pub fn run_text(
        &self,
        contender: &Contender,
        text: &[u8],
        job: &Job,
        on_report: impl FnMut(Report),
    ) -> Result<Trial> {
        self.run_by(contender, Some(text), job, on_report)
    }

    fn run_by(
        &self,
        contender: &Contender,
        text: Option<&[u8]>,
        job: &Job,
        mut on_report: impl FnMut(Report),
    ) -> Result<Trial> {
        let watched = self.watched(job);
        let before = watched.moment();
        let mut running = Running::start(self, &contender.runner.command(), contender, text, job)?;
        let watch = ActivityMonitor::begin(job);
        let server = job.server.as_ref().map(Server::processes).unwrap_or_default();
        let waits =
            running.process().filter(|_| self.watches).map(|runner| WaitWatch::begin(runner, &server));
        running.go_on(&mut on_report);
        let looks = waits.map(WaitWatch::end).unwrap_or_default();
        let by_agents = running.agents.is_some();
        let trial = running.finish();
        let readings = watch.end();
        if by_agents {
            // Nothing of what was measured ran here.
            return Ok(trial);
        }
        let others = before.zip(watched.moment()).map(|(before, after)| watched.others(&before, &after));
        Ok(Trial { others, readings, looks, ..trial })
    }

    /// Runs a trial of a job with turns; `give` says how many operations each turn has, by how far the runner is.
    pub fn run_in_turns(
        &self,
        contender: &Contender,
        job: &Job,
        mut give: impl FnMut(Waiting) -> u64,
    ) -> Result<Trial> {
        let mut running = Running::start(self, &contender.runner.command(), contender, None, job)?;
        while let Pause::Waiting(waiting) = running.go_on(&mut |_| {}) {
            running.give(give(waiting))?;
        }
        Ok(running.finish())
    }

    /// The CPUs of the runner of a job.
    fn place(&self, job: &Job) -> Placement {
        match &job.server {
            None => self.placement.clone(),
            Some(_) => self.sharing.pair(&self.placement).client,
        }
    }

    /// The CPUs on which the work of a job is done.
    fn watched(&self, job: &Job) -> Watched {
        let mut cpus: BTreeSet<usize> = self.place(job).runner_cpus.iter().copied().collect();
        if job.server.is_some() {
            cpus.extend(self.sharing.pair(&self.placement).server.runner_cpus);
        }
        let with_dyno = self.placement.dyno_cpus.iter().any(|cpu| cpus.contains(cpu));
        Watched { cpus: cpus.into_iter().collect(), with_dyno }
    }
}
