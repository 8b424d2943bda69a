//! A trial at work: its processes and what they have said so far. There is one, and where several share the clients of
//! a mix there are more while that goes on.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dyno_engine::Contender;
use dyno_launch::agents::{AgentPool, Fleet, RemoteRunner, Worker};
use dyno_launch::clients::DividedJob;
use dyno_launch::{Ending, Inbox, MemoryCap, Message, Process};
use dyno_protocol::{Job, SliceGrant, Test, Waiting, Work};
use dyno_record::Placement;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use serde::Serialize;

use super::reader::{EventMeaning, OutputEnd, Reader};
use super::{Outcome, Report, Trial, TrialOptions};
use crate::content::Mapped;

/// A trial whose runner was started.
pub struct Running {
    /// The runner's process, and behind it those that share the clients of the mix at work.
    pub(super) members: Vec<Member>,
    inbox: Inbox,
    pub(super) parts: DividedJob,
    contender: Contender,
    command: Vec<String>,
    placement: Placement,
    /// The agents, by rank, that run the processes.
    pub(super) agents: Option<Arc<Fleet>>,
    /// All processes are under one limit.
    cap: Option<Arc<MemoryCap>>,
    /// The number of processes started so far.
    started: usize,
    /// The longest silence of the runner in each test of the job, and outside of them.
    timeouts: Vec<Duration>,
    timeout: Duration,
    /// The time that each test of the job takes at least: the runner is silent meanwhile.
    lasts: Vec<Duration>,
    /// The reason that nothing more is read.
    over: Option<OutputEnd>,
}

/// A process of a trial.
pub(super) struct Member {
    number: usize,
    /// The number of the process among several, and its agent.
    pub rank: usize,
    process: Worker,
    pub reader: Reader,
}

impl Member {
    /// Adds a line to the process's standard input.
    pub fn send(&self, line: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(line).context("cannot write to a runner")?;
        line.push(b'\n');
        self.process.write(line);
        Ok(())
    }

    /// Waits for the process to end, which has said its last, and returns what it said and how it ended.
    pub fn finish(self) -> (Reader, Ending) {
        (self.reader, self.process.finish())
    }
}

/// The factor by which a test that waits for deferred work of an engine may take longer than others: no one knows
/// beforehand how much that is.
const SETTLES: u32 = 12;

/// The reason that a trial goes no further for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// The runner waits for a turn.
    Waiting(Waiting),
    /// It has ended, or is to be ended.
    Over,
}

impl Running {
    /// Starts a contender's runner, by a command, with a job's text; none for that of the job itself.
    pub fn start(
        conduct: &TrialOptions,
        command: &[String],
        contender: &Contender,
        text: Option<&[u8]>,
        job: &Job,
    ) -> Result<Running> {
        let lasts = job.tests.iter().map(|test| Duration::from_nanos(test.work.lasts_ns())).collect();
        let timeout = conduct.timeout;
        let limit = |test: &Test| match test.work {
            Work::KvSettle { .. } => timeout.saturating_mul(SETTLES),
            _ => timeout,
        };
        let agents = conduct.agents.as_ref().filter(|_| job.has_parts());
        let fleet = agents.map(|agents| agents.fleet(&conduct.interrupts)).transpose()?;
        let mut running = Running {
            members: Vec::new(),
            inbox: Inbox::new(&conduct.interrupts),
            parts: DividedJob::of(job, agents.map(AgentPool::count))?,
            contender: contender.clone(),
            command: command.to_vec(),
            placement: conduct.place(job),
            agents: fleet,
            cap: conduct.memory_bytes.map(MemoryCap::create).transpose()?.map(Arc::new),
            started: 0,
            timeouts: job.tests.iter().map(limit).collect(),
            timeout,
            lasts,
            over: None,
        };
        running.provide()?;
        running.add(0, &running.parts.first(), text)?;
        if !job.turns && !job.has_parts() {
            running.members[0].process.end_input();
        }
        Ok(running)
    }

    /// Sends the agents what they lack for their jobs.
    fn provide(&self) -> Result<()> {
        let (Some(fleet), Some(program)) = (&self.agents, self.command.first()) else { return Ok(()) };
        let first = self.parts.first();
        let tests = 0..first.tests.len();
        let others: Vec<(usize, Job)> = tests.flat_map(|test| self.parts.others(test)).collect();
        let others = others.iter().map(|(rank, job)| (*rank, job));
        fleet.provide(Path::new(program), &[(0, &first)].into_iter().chain(others).collect::<Vec<_>>())
    }

    /// Starts the process of a rank with a job, or with a text in its place.
    pub(super) fn add(&mut self, rank: usize, job: &Job, text: Option<&[u8]>) -> Result<()> {
        let number = self.started;
        self.started += 1;
        let (process, host) = match &self.agents {
            Some(fleet) => {
                let remote = RemoteRunner::start(fleet, rank, &self.command, job, (&self.inbox, number))?;
                (Worker::There(remote), Some(fleet.host(rank)))
            }
            None => (Worker::Here(self.start_here(number, job, text)?), None),
        };
        self.members.push(Member { number, rank, process, reader: Reader::new(job, host) });
        Ok(())
    }

    /// Starts a process on this machine.
    fn start_here(&self, number: usize, job: &Job, text: Option<&[u8]>) -> Result<Process> {
        let own = match text {
            Some(text) => text.to_vec(),
            None => {
                let mut text = serde_json::to_vec(job).context("cannot write the job")?;
                text.push(b'\n');
                text
            }
        };
        Process::start(&self.command, &own, &self.placement, self.cap.clone(), (&self.inbox, number))
    }

    /// Gives a turn of this many operations to a runner that waits for one.
    pub fn give(&self, operations: u64) -> Result<()> {
        self.members[0].send(&SliceGrant { operations })
    }

    /// Reads what the runner says until it waits for a turn or says no more. `on_report` hears how far it is.
    pub fn go_on(&mut self, on_report: &mut impl FnMut(Report)) -> Pause {
        if self.over.is_some() {
            return Pause::Over;
        }
        let over = loop {
            let deadline = Instant::now() + self.lasts() + self.patience();
            match self.hear(deadline, &mut |_, report| on_report(report)) {
                Ok(Some((_, EventMeaning::Last))) => break OutputEnd::Ended,
                Ok(Some((_, EventMeaning::Waiting(waiting)))) => return Pause::Waiting(waiting),
                Ok(Some((_, EventMeaning::Ready(_)))) => {
                    if let Err(over) = self.share(on_report) {
                        break over;
                    }
                }
                // Its first section comes after it has opened its database and its input.
                Ok(Some(_)) if self.reader().has_just_greeted() => {
                    if let Some((process, began)) = self.members[0].process.identity() {
                        self.members[0].reader.trial.mapped = Mapped::of(process, began);
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => break self.silent(0),
                Err(over) => break over,
            }
        };
        self.over = Some(over);
        Pause::Over
    }

    /// The number of the runner's process, if it is on this machine.
    pub fn process(&self) -> Option<u32> {
        self.members[0].process.identity().map(|(process, _)| process)
    }

    fn reader(&self) -> &Reader {
        &self.members[0].reader
    }

    /// The shortest time that the test at work takes.
    pub(super) fn lasts(&self) -> Duration {
        self.reader().current().map_or(Duration::ZERO, |test| self.lasts[test])
    }

    /// The time for which the runner may be silent now, beyond the time that the test takes.
    pub(super) fn patience(&self) -> Duration {
        self.reader().current().map_or(self.timeout, |test| self.timeouts[test])
    }

    /// The end of a trial because a process, by its place, is silent.
    pub(super) fn silent(&self, place: usize) -> OutputEnd {
        let after = match self.lasts().as_secs_f64() {
            0.0 => String::new(),
            lasts => format!(" after the {lasts} s that the test takes"),
        };
        OutputEnd::Trouble(format!(
            "{} was silent for {} s{after} and was killed; --timeout allows more",
            self.members[place].reader.who(),
            self.patience().as_secs_f64()
        ))
    }

    /// Reads the next event of any process; returns its place and what it means, or none at the deadline.
    pub(super) fn hear(
        &mut self,
        deadline: Instant,
        on_report: &mut dyn FnMut(usize, Report),
    ) -> Result<Option<(usize, EventMeaning)>, OutputEnd> {
        loop {
            let Some((number, message)) = self.inbox.next(deadline) else { return Ok(None) };
            if let Message::Interrupted = message {
                return Err(OutputEnd::Interrupted);
            }
            // One that has done its part may still close its output.
            let Some(place) = self.members.iter().position(|member| member.number == number) else {
                continue;
            };
            let reader = &mut self.members[place].reader;
            if matches!(message, Message::End) && place > 0 && reader.is_over() {
                continue;
            }
            return match message {
                Message::Line(line) => {
                    let meaning = reader.read(&line, &mut |report| on_report(place, report));
                    meaning.map(|meaning| Some((place, meaning))).map_err(OutputEnd::Trouble)
                }
                Message::Lost(why) => Err(OutputEnd::Trouble(why)),
                Message::Unreadable(what) => Err(OutputEnd::Trouble(format!(
                    "the output of {} cannot be read, so it was killed: {what}",
                    reader.who().trim_end_matches(',')
                ))),
                Message::End | Message::Interrupted if place == 0 => Err(OutputEnd::Ended),
                Message::End | Message::Interrupted => Err(self.lost(place)),
            };
        }
    }

    /// The end of a trial because a process, by its place, has ended that should be at work.
    fn lost(&mut self, place: usize) -> OutputEnd {
        let (reader, ending) = self.members.remove(place).finish();
        let trouble = reader.trouble_at_end(ending.success, || ending.description.clone());
        OutputEnd::Trouble(
            trouble.or(reader.failure()).unwrap_or_else(|| format!("{} has ended", reader.who())),
        )
    }

    /// The number of samples that it has reported.
    pub fn samples(&self) -> usize {
        self.reader().trial.samples.len()
    }

    /// Ends the runner, which is killed if it misbehaved or is still at work, and returns what came of the trial.
    pub fn finish(mut self) -> Trial {
        // Those that share its clients are killed.
        self.members.truncate(1);
        let Some(Member { mut process, mut reader, .. }) = self.members.pop() else {
            return Trial::default();
        };
        let contender = self.contender;
        // A runner that waits for a turn sees that there is none.
        process.end_input();
        let trouble = match self.over {
            None | Some(OutputEnd::Interrupted) => {
                return Trial { outcome: Outcome::Interrupted, may_have_connected: true, ..reader.trial };
            }
            Some(OutputEnd::Trouble(trouble)) => {
                drop(process);
                Some(trouble)
            }
            Some(OutputEnd::Ended) => {
                let ending = process.finish();
                // What the clients of another agent on its machine took is no doing of others.
                let is_shared = self.agents.is_some_and(|fleet| fleet.shares_processors(0));
                reader.trial.saw(ending.others.filter(|_| !is_shared));
                reader.trouble_at_end(ending.success, || ending.description.clone())
            }
        };
        if let Some(message) = trouble {
            reader.trial.outcome = Outcome::Failed { test: reader.current_test(), message };
        }
        if let (Outcome::Failed { message, .. }, Some(hint)) = (&mut reader.trial.outcome, file_limit()) {
            message.push_str(&hint);
        }
        reader.trial.may_have_connected = reader.trial.hello.is_some() || reader.is_well();
        let mut trial = reader.trial;
        match trial.hello.take().map(|hello| contender.greeted(hello)).transpose() {
            Ok(hello) => trial.hello = hello,
            Err(message) if trial.outcome == Outcome::Finished => trial.refuse(message),
            Err(_) => {}
        }
        trial
    }
}

/// The limit on the length of files, if there is one: engines report an error of the disk where they meet it.
fn file_limit() -> Option<String> {
    let (bytes, _) = getrlimit(Resource::RLIMIT_FSIZE).ok()?;
    let is_limited = bytes != RLIM_INFINITY;
    is_limited.then(|| {
        format!("; no file may be longer than {bytes} bytes here, which may be why: `ulimit -f unlimited`")
    })
}
