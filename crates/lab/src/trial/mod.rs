//! One trial: one contender, once through the tests, in a fresh process on a fresh database.
//!
//! Reads the runner's events, checks that they come in the contract's order and collects them. It
//! judges nothing: what a sample means is the verdict's business.

mod ask;
mod family;
mod memory_cap;
mod process;
mod servers;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dyno_protocol::{Event, Hello, Job, PROTOCOL, Sample};
use dyno_record::{Answer, Others, Placement, Sharing};
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};

use crate::others::Moment;
use crate::placement;
use crate::scratch::Scratch;
use process::{Message, Process};

pub use crate::interrupts::Interrupts;
pub use ask::Reply;
pub use memory_cap::{MemoryCap, sweep as sweep_memory_caps};
pub use servers::Servers;

/// How much of a runner's message is kept, in characters: an engine may quote a whole statement or value.
const LONGEST_MESSAGE: usize = 10_000;

/// What came out of a trial.
#[derive(Debug, Default)]
pub struct Trial {
    /// Who answered; none if the runner failed before.
    pub hello: Option<Hello>,
    /// The samples, in the order of the tests.
    pub samples: Vec<Sample>,
    /// The answers of the same tests.
    pub answers: Vec<Answer>,
    /// What others took of the CPUs meanwhile; none where the kernel does not tell.
    pub others: Option<Others>,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the runner may have reached its engine: it greeted, or it ended without a word about why it did not.
    pub may_have_connected: bool,
}

/// How a trial ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Outcome {
    /// All tests are done.
    #[default]
    Finished,
    /// Something went wrong; the samples before it stand.
    Failed {
        /// The test in which it happened.
        test: Option<String>,
        /// What happened, for people.
        message: String,
    },
    /// Somebody asked the run to stop; the trial does not count.
    Interrupted,
}

/// How to run trials, the same for all of a run.
#[derive(Debug, Clone)]
pub struct Conduct {
    /// Where runners and dyno run.
    pub placement: Placement,
    /// Where clients of servers and the servers run.
    pub sharing: Sharing,
    /// How long a runner may be silent: the longest time for one test.
    pub timeout: Duration,
    /// How many bytes of memory a runner may use; none: as many as there are.
    pub memory_bytes: Option<u64>,
    /// How the run is asked to stop.
    pub interrupts: Interrupts,
}

impl Conduct {
    /// The usual placement and no limits, for runners that are asked and not measured.
    pub fn unmeasured(timeout: Duration) -> Result<Conduct> {
        Ok(Conduct {
            placement: placement::choose(None, None)?,
            sharing: Sharing::default(),
            timeout,
            memory_bytes: None,
            interrupts: Interrupts::default(),
        })
    }

    /// The servers of trials run like this; their files go to a folder within `scratch`.
    pub fn servers(&self, scratch: &Scratch) -> Servers {
        Servers::new(scratch.folder().to_owned(), &self.placement, self.sharing).obeying(&self.interrupts)
    }

    /// Runs a trial. `on_test` hears the number of each test, from 0, as it begins.
    ///
    /// Errors are those of starting the process; everything after that is in the outcome.
    pub fn run(&self, command: &[String], job: &Job, on_test: impl FnMut(usize)) -> Result<Trial> {
        let text = serde_json::to_vec(job).context("cannot write the job")?;
        self.run_text(command, &text, job, on_test)
    }

    /// Runs a trial with a job's text that may be anything, for checking what a runner makes of it; the
    /// events are held against `job`.
    pub fn run_text(
        &self,
        command: &[String],
        text: &[u8],
        job: &Job,
        mut on_test: impl FnMut(usize),
    ) -> Result<Trial> {
        let (placement, cpus) = match &job.server {
            None => (self.placement.clone(), self.placement.runner_cpus.clone()),
            Some(_) => {
                let pair = self.sharing.pair(&self.placement);
                let both: BTreeSet<usize> =
                    pair.client.runner_cpus.iter().chain(&pair.server.runner_cpus).copied().collect();
                (pair.client, both.into_iter().collect())
            }
        };
        let with_dyno = self.placement.dyno_cpus.iter().any(|cpu| cpus.contains(cpu));
        let cap = self.memory_bytes.map(MemoryCap::create).transpose()?;
        let before = Moment::read(&cpus, with_dyno);
        let process = Process::start(command, text, &placement, cap, &self.interrupts)?;
        let mut reader = Reader::new(job);
        let stop = loop {
            match process.next(Instant::now() + self.timeout) {
                Some(Message::Line(line)) => match reader.read(&line, &mut on_test) {
                    Ok(true) => break None,
                    Ok(false) => {}
                    Err(nonsense) => break Some(nonsense),
                },
                Some(Message::End) => break None,
                Some(Message::Unreadable(what)) => {
                    break Some(format!("the runner's output cannot be read, so it was killed: {what}"));
                }
                Some(Message::Interrupted) => {
                    return Ok(Trial {
                        outcome: Outcome::Interrupted,
                        may_have_connected: true,
                        ..reader.trial
                    });
                }
                None => {
                    let seconds = self.timeout.as_secs_f64();
                    break Some(format!(
                        "the runner was silent for {seconds} s and was killed; --timeout allows more"
                    ));
                }
            }
        };
        // A runner that misbehaved is killed when dropped; one that did not may end by itself.
        let trouble = match stop {
            Some(trouble) => Some(trouble),
            None => {
                let ending = process.finish();
                reader.trouble_at_end(ending.is_success(), || ending.describe())
            }
        };
        let after = Moment::read(&cpus, with_dyno);
        reader.trial.others = before.zip(after).map(|(before, after)| after.since(&before, cpus.len()));
        if let Some(message) = trouble {
            reader.trial.outcome = Outcome::Failed { test: reader.current_test(), message };
        }
        if let (Outcome::Failed { message, .. }, Some(hint)) = (&mut reader.trial.outcome, file_limit()) {
            message.push_str(&hint);
        }
        reader.trial.may_have_connected = reader.trial.hello.is_some() || reader.state != State::Failed;
        Ok(reader.trial)
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

/// What the contract allows next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Hello,
    /// Between tests: `progress`, `bye`, or more `answer` to the test before.
    Between,
    /// A test is running: `sample`.
    Running,
    /// The runner said that it failed; only `bye` may follow.
    Failed,
    /// `bye` was said.
    Ended,
}

/// Reads events in the contract's order.
struct Reader<'a> {
    job: &'a Job,
    state: State,
    trial: Trial,
}

impl<'a> Reader<'a> {
    fn new(job: &'a Job) -> Reader<'a> {
        Reader { job, state: State::Hello, trial: Trial::default() }
    }

    /// Takes one line; whether it was the last. The error is nonsense that the runner wrote.
    fn read(&mut self, line: &[u8], on_test: &mut impl FnMut(usize)) -> Result<bool, String> {
        let event: Event = serde_json::from_slice(line).map_err(|error| {
            format!("the runner wrote a line that is no event of the protocol: {} ({error})", excerpt(line))
        })?;
        let unexpected =
            |state: State| format!("the runner wrote an event out of order ({state:?}): {}", excerpt(line));
        match (event, self.state) {
            (Event::Hello(hello), State::Hello) => self.greet(hello)?,
            (Event::Progress { test }, State::Between) if Some(&test) == self.next_test() => {
                on_test(self.trial.samples.len());
                self.state = State::Running;
            }
            (Event::Sample(sample), State::Running) if Some(&sample.test) == self.next_test() => {
                self.trial.samples.push(sample);
                self.trial.answers.push(Answer::default());
                self.state = State::Between;
            }
            (Event::Answer { test, rows }, State::Between) => {
                let last = self.trial.samples.last().map(|sample| &sample.test);
                let answer = self.trial.answers.last_mut().filter(|_| last == Some(&test));
                let answer = answer.ok_or_else(|| unexpected(self.state))?;
                for row in &rows {
                    answer.push(row);
                }
            }
            (Event::Failed(failed), State::Hello | State::Between | State::Running) => {
                let message = shortened(&failed.message, LONGEST_MESSAGE);
                self.trial.outcome = Outcome::Failed { test: failed.test, message };
                self.state = State::Failed;
            }
            (Event::Bye {}, State::Failed) => self.state = State::Ended,
            (Event::Bye {}, State::Between) if self.next_test().is_none() => self.state = State::Ended,
            (_, state) => return Err(unexpected(state)),
        }
        Ok(self.state == State::Ended)
    }

    fn greet(&mut self, hello: Hello) -> Result<(), String> {
        if hello.protocol != PROTOCOL {
            return Err(format!(
                "the runner speaks protocol {}, and this dyno speaks {PROTOCOL}; build both from one clone",
                hello.protocol
            ));
        }
        self.trial.hello = Some(hello);
        self.state = State::Between;
        Ok(())
    }

    fn next_test(&self) -> Option<&String> {
        self.job.tests.get(self.trial.samples.len()).map(|test| &test.id)
    }

    /// The test that is running.
    fn current_test(&self) -> Option<String> {
        self.next_test().filter(|_| self.state == State::Running).cloned()
    }

    /// What is wrong when the output has ended, if anything is.
    fn trouble_at_end(&self, success: bool, describe: impl Fn() -> String) -> Option<String> {
        match self.state {
            // It has told what is wrong itself.
            State::Failed => None,
            State::Ended if matches!(self.trial.outcome, Outcome::Failed { .. }) || success => None,
            State::Ended => Some(format!("the runner said bye and then {}", describe())),
            _ => Some(format!("the runner stopped in the middle of its work: it {}", describe())),
        }
    }
}

fn excerpt(line: &[u8]) -> String {
    format!("{:?}", shortened(String::from_utf8_lossy(line).trim_end(), 200))
}

/// The beginning of a text, with an ellipsis where there is more.
fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
