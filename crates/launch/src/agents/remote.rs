//! A runner on another machine, in the place of a process on this one.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use dyno_protocol::Job;

use super::fleet::{Fleet, Route};
use super::wire::AgentOrder;
use crate::process::{Ending, Inbox, Process};

/// The time in which an agent reports how its runner has ended. The runner has the most of it.
const END_TIMEOUT: Duration = Duration::from_secs(15);

/// A runner, wherever it is.
pub enum Worker {
    /// A process of this machine.
    Here(Process),
    /// One of another.
    There(RemoteRunner),
}

impl Worker {
    /// Adds a line to the runner's standard input.
    pub fn write(&self, line: Vec<u8>) {
        match self {
            Worker::Here(process) => process.write(line),
            Worker::There(remote) => remote.write(&line),
        }
    }

    /// Ends the runner's standard input.
    pub fn end_input(&mut self) {
        match self {
            Worker::Here(process) => process.end_input(),
            Worker::There(remote) => remote.order(AgentOrder::EndInput { trial: remote.trial }),
        }
    }

    /// Its number in the kernel of this machine, and when it was started; none if it is on another.
    pub fn identity(&self) -> Option<(u32, SystemTime)> {
        match self {
            Worker::Here(process) => Some(process.identity()),
            Worker::There(_) => None,
        }
    }

    /// Waits for the runner to end unprompted and returns how it ended; kills it if it does not end.
    pub fn finish(self) -> Ending {
        match self {
            Worker::Here(process) => process.finish(),
            Worker::There(remote) => remote.finish(),
        }
    }
}

/// A runner that an agent has started. It is killed when dropped.
pub struct RemoteRunner {
    fleet: Arc<Fleet>,
    rank: usize,
    trial: u64,
    ended: Receiver<Ending>,
}

impl RemoteRunner {
    /// Has an agent, by rank, start a runner of which it has the program and the files. What the runner writes goes to
    /// the inbox, under its number.
    ///
    /// # Errors
    /// The agent was lost, or a file was not sent.
    pub fn start(
        fleet: &Arc<Fleet>,
        rank: usize,
        command: &[String],
        job: &Job,
        (inbox, number): (&Inbox, usize),
    ) -> Result<RemoteRunner> {
        let (program, arguments) = command.split_first().context("the runner's start command is empty")?;
        let (program, arguments) = (fleet.digest(Path::new(program))?, arguments.to_vec());
        let job = Box::new(fleet.job_there(job)?);
        let (forward, messages) = channel();
        let (end, ended) = channel();
        let trial = fleet.route(rank, |trial| Route { trial, forward, end })?;
        let sender = inbox.sender();
        // The inbox may be full, and other agents must be heard meanwhile.
        thread::spawn(move || messages.iter().try_for_each(|message| sender.send((number, message))));
        fleet.order(rank, AgentOrder::Start { trial, program, arguments, job });
        Ok(RemoteRunner { fleet: fleet.clone(), rank, trial, ended })
    }

    fn write(&self, line: &[u8]) {
        let line = String::from_utf8_lossy(line).trim_end().to_owned();
        self.order(AgentOrder::Input { trial: self.trial, line });
    }

    fn order(&self, order: AgentOrder) {
        self.fleet.order(self.rank, order);
    }

    fn finish(self) -> Ending {
        self.ended.recv_timeout(END_TIMEOUT).unwrap_or_else(|_| Ending {
            description: self.fleet.trouble(self.rank).unwrap_or_else(|| "did not end".into()),
            ..Ending::default()
        })
    }
}

impl Drop for RemoteRunner {
    fn drop(&mut self) {
        self.order(AgentOrder::Stop { trial: self.trial });
    }
}
