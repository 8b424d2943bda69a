//! A trial at work: its process and what it has said so far.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dyno_protocol::{Job, SliceGrant, Test, Waiting, Work};
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};

use super::process::{Message, Process};
use super::reader::{EventMeaning, Reader};
use super::{MemoryCap, Outcome, Report, Trial, TrialOptions};

/// A trial whose runner was started.
pub struct Running {
    process: Process,
    reader: Reader,
    /// How long the runner may be silent in each test of the job, and outside of them.
    timeouts: Vec<Duration>,
    timeout: Duration,
    /// How long each test of the job takes at least: the runner is silent meanwhile.
    lasts: Vec<Duration>,
    /// Why nothing more is read.
    over: Option<OutputEnd>,
}

/// How many times as long as other tests one may take that waits for an engine to do what it has put off: nobody knows
/// beforehand how much that is.
const SETTLES: u32 = 12;

/// Why a trial goes no further for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// The runner waits for a turn.
    Waiting(Waiting),
    /// It has ended, or is to be ended.
    Over,
}

/// How the reading of a runner's output came to its end.
enum OutputEnd {
    /// With the last event, or the end of the output.
    Ended,
    /// The runner misbehaved, in words.
    Trouble(String),
    /// Somebody asked the run to stop.
    Interrupted,
}

impl Running {
    /// Starts a runner with a job's text.
    pub fn start(conduct: &TrialOptions, command: &[String], text: &[u8], job: &Job) -> Result<Running> {
        let cap = conduct.memory_bytes.map(MemoryCap::create).transpose()?;
        let process = Process::start(command, text, &conduct.place(job), cap, &conduct.interrupts)?;
        let lasts = job.tests.iter().map(|test| Duration::from_nanos(test.work.lasts_ns())).collect();
        let timeout = conduct.timeout;
        let limit = |test: &Test| match test.work {
            Work::KvSettle { .. } => timeout.saturating_mul(SETTLES),
            _ => timeout,
        };
        let timeouts = job.tests.iter().map(limit).collect();
        Ok(Running { process, reader: Reader::new(job), timeouts, timeout, lasts, over: None })
    }

    /// Tells the runner that nothing follows its job.
    pub fn end_input(&mut self) {
        self.process.end_input();
    }

    /// Gives a turn of so many operations to a runner that waits for one.
    pub fn give(&self, operations: u64) -> Result<()> {
        let mut line = serde_json::to_vec(&SliceGrant { operations }).context("cannot write a turn")?;
        line.push(b'\n');
        self.process.write(line);
        Ok(())
    }

    /// Reads what the runner says until it waits for a turn or says no more. `on_report` hears how far it is.
    pub fn go_on(&mut self, on_report: &mut impl FnMut(Report)) -> Pause {
        if self.over.is_some() {
            return Pause::Over;
        }
        self.process.hear_interrupts();
        let over = loop {
            let test = self.reader.current();
            let lasts = test.map_or(Duration::ZERO, |test| self.lasts[test]);
            let timeout = test.map_or(self.timeout, |test| self.timeouts[test]);
            match self.process.next(Instant::now() + lasts + timeout) {
                Some(Message::Line(line)) => match self.reader.read(&line, on_report) {
                    Ok(EventMeaning::Last) => break OutputEnd::Ended,
                    Ok(EventMeaning::Waiting(waiting)) => return Pause::Waiting(waiting),
                    // Its first section comes after it has opened its database and its input.
                    Ok(EventMeaning::More) if self.reader.has_just_greeted() => {
                        self.reader.trial.mapped = self.process.mapped();
                    }
                    Ok(EventMeaning::More) => {}
                    Err(nonsense) => break OutputEnd::Trouble(nonsense),
                },
                Some(Message::End) => break OutputEnd::Ended,
                Some(Message::Unreadable(what)) => {
                    break OutputEnd::Trouble(format!(
                        "the runner's output cannot be read, so it was killed: {what}"
                    ));
                }
                Some(Message::Interrupted) => break OutputEnd::Interrupted,
                None => {
                    let seconds = timeout.as_secs_f64();
                    let after = match lasts.as_secs_f64() {
                        0.0 => String::new(),
                        lasts => format!(" after the {lasts} s that the test takes"),
                    };
                    break OutputEnd::Trouble(format!(
                        "the runner was silent for {seconds} s{after} and was killed; --timeout allows more"
                    ));
                }
            }
        };
        self.over = Some(over);
        Pause::Over
    }

    /// How many samples it has told of.
    pub fn samples(&self) -> usize {
        self.reader.trial.samples.len()
    }

    /// Ends the runner, which is killed if it misbehaved or is still at work, and tells what came of the trial.
    pub fn finish(self) -> Trial {
        let Running { mut process, mut reader, over, .. } = self;
        // What waits for a turn sees that there is none.
        process.end_input();
        let trouble = match over {
            None | Some(OutputEnd::Interrupted) => {
                return Trial { outcome: Outcome::Interrupted, may_have_connected: true, ..reader.trial };
            }
            Some(OutputEnd::Trouble(trouble)) => {
                drop(process);
                Some(trouble)
            }
            Some(OutputEnd::Ended) => {
                let ending = process.finish();
                reader.trouble_at_end(ending.is_success(), || ending.describe())
            }
        };
        if let Some(message) = trouble {
            reader.trial.outcome = Outcome::Failed { test: reader.current_test(), message };
        }
        if let (Outcome::Failed { message, .. }, Some(hint)) = (&mut reader.trial.outcome, file_limit()) {
            message.push_str(&hint);
        }
        reader.trial.may_have_connected = reader.trial.hello.is_some() || reader.is_well();
        reader.trial
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
