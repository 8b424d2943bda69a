//! Reads what a runner says: events in the contract's order, collected into a trial.

use dyno_engine::Protocol;
use dyno_protocol::{
    ClientPart, ClientsReady, Event, Failed, Hello, Job, PROTOCOL, Sample, Test, Waiting, Work,
};
use dyno_record::Answer;

use super::{Outcome, Report, Trial};

/// The part of a runner's message that is kept, in characters: an engine may quote a whole statement or value.
const LONGEST_MESSAGE: usize = 10_000;

/// The events that the contract allows next.
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

impl State {
    /// The position in the conversation.
    fn place(self) -> &'static str {
        match self {
            State::Hello => "before `hello`",
            State::Between => "between tests",
            State::Running => "while a test ran",
            State::Failed => "after `failed`",
            State::Ended => "after `bye`",
        }
    }
}

/// The meaning of a line for its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventMeaning {
    /// More comes.
    More,
    /// The runner waits for a turn, and nothing comes before that.
    Waiting(Waiting),
    /// Its clients, some of several processes, are ready to begin.
    Ready(ClientsReady),
    /// They are done.
    Done,
    /// It was the last.
    Last,
}

/// The progress of the clients of a process in a mix that several processes do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClientPhase {
    /// They connect and prepare.
    #[default]
    Connecting,
    /// They wait for the order to begin, or work.
    Ready,
    /// They are done.
    Done,
}

/// The end of reading a runner's output.
pub(super) enum OutputEnd {
    /// With the last event, or the end of the output.
    Ended,
    /// The runner misbehaved, in words.
    Trouble(String),
    /// The run was asked to stop.
    Interrupted,
}

/// Reads events in the contract's order.
pub struct Reader {
    /// The tests of the job, by id.
    tests: Vec<String>,
    /// For each test which of a mix's clients the process has, if others have the rest.
    parts: Vec<Option<ClientPart>>,
    /// The number of clients that the process has in each test.
    clients: Vec<u32>,
    /// The host on which the process is, if it is not this one.
    host: Option<String>,
    /// The progress of these clients.
    phase: ClientPhase,
    /// True if the job has turns.
    turns: bool,
    /// True if a test of the job asks for intervals.
    intervals: bool,
    /// True if the job asks for answers only.
    answers_only: bool,
    /// The server's protocol, and the user.
    server: Option<(Protocol, String)>,
    state: State,
    /// The number of the test's operations that were done when the runner last waited.
    waited: Option<u64>,
    /// The events that were read.
    pub trial: Trial,
}

impl Reader {
    /// Reads the events of a job, from a process on this machine or on a host.
    pub fn new(job: &Job, host: Option<&str>) -> Reader {
        let tests = job.tests.iter().map(|test| test.id.clone()).collect();
        let part = |test: &Test| match &test.work {
            Work::Mix(mix) => mix.part,
            _ => None,
        };
        let clients = |test: &Test| match &test.work {
            Work::Mix(mix) => mix.clients,
            _ => 1,
        };
        let asks = |test: &Test| matches!(&test.work, Work::Mix(mix) if mix.interval_ns.is_some());
        Reader {
            tests,
            parts: job.tests.iter().map(part).collect(),
            clients: job.tests.iter().map(clients).collect(),
            host: host.map(str::to_owned),
            phase: ClientPhase::default(),
            turns: job.turns,
            intervals: job.tests.iter().any(asks),
            answers_only: job.answers_only,
            server: Protocol::parse(job.speaks.as_deref())
                .zip(job.server.as_ref().map(|server| server.user.clone())),
            state: State::Hello,
            waited: None,
            trial: Trial::default(),
        }
    }

    /// Takes one line. The error is nonsense that the runner wrote.
    pub fn read(&mut self, line: &[u8], on_report: &mut impl FnMut(Report)) -> Result<EventMeaning, String> {
        let event: Event = serde_json::from_slice(line).map_err(|error| {
            format!("the runner wrote a line that is no event of the protocol: {} ({error})", excerpt(line))
        })?;
        let unexpected = |state: State| {
            format!("the runner wrote an event out of order, {}: {}", state.place(), excerpt(line))
        };
        match (event, self.state) {
            (Event::Hello(hello), State::Hello) => self.greet(hello)?,
            (Event::Progress { test }, State::Between)
                if self.answers_only && Some(&test) == self.next_test() =>
            {
                self.trial.samples.push(Sample { test, ..Sample::default() });
                self.trial.answers.push(Answer::default());
            }
            (Event::Progress { test }, State::Between) if Some(&test) == self.next_test() => {
                on_report(Report::Begins(self.trial.samples.len()));
                self.waited = None;
                self.phase = ClientPhase::Connecting;
                self.state = State::Running;
            }
            (Event::Waiting(waiting), State::Running) if self.turns && self.is_further(waiting) => {
                self.waited = Some(waiting.done);
                return Ok(EventMeaning::Waiting(waiting));
            }
            (Event::Ready(ready), State::Running)
                if self.part().is_some() && self.phase < ClientPhase::Done =>
            {
                self.phase = ClientPhase::Ready;
                return Ok(EventMeaning::Ready(ready));
            }
            (Event::Done {}, State::Running) if self.phase == ClientPhase::Ready => {
                self.phase = ClientPhase::Done;
                return Ok(EventMeaning::Done);
            }
            (Event::Interval(interval), State::Running) if self.intervals => {
                on_report(Report::Interval(interval));
            }
            (Event::Sample(sample), State::Running)
                if Some(&sample.test) == self.next_test()
                    && (self.part().is_none() || self.phase == ClientPhase::Done) =>
            {
                self.trial.samples.push(sample);
                self.trial.answers.push(Answer::default());
                self.state = State::Between;
            }
            (Event::Answer { test, rows }, State::Between) => {
                let answer = self.answer_of(&test).ok_or_else(|| unexpected(State::Between))?;
                rows.iter().for_each(|row| answer.push(row));
            }
            (Event::Failed(failed), State::Hello | State::Between | State::Running) => self.fail(failed),
            (Event::Bye {}, State::Failed) => self.state = State::Ended,
            (Event::Bye {}, State::Between) if self.next_test().is_none() => self.state = State::Ended,
            (_, state) => return Err(unexpected(state)),
        }
        Ok(if self.state == State::Ended { EventMeaning::Last } else { EventMeaning::More })
    }

    /// The answer to a test, if it is the one whose sample came last.
    fn answer_of(&mut self, test: &str) -> Option<&mut Answer> {
        let last = self.trial.samples.last();
        last.filter(|sample| sample.test == test).and(self.trial.answers.last_mut())
    }

    /// Takes the runner's own word that it failed, with what to do about it.
    fn fail(&mut self, failed: Failed) {
        let message = match &self.server {
            Some((speaks, user)) => dyno_engine::advice(&failed, *speaks, user),
            None => failed.message,
        };
        let message = match &self.host {
            Some(host) => format!("on {host}: {message}"),
            None => message,
        };
        let message = shortened(&message, LONGEST_MESSAGE);
        self.trial.outcome = Outcome::Failed { test: failed.test, message };
        self.state = State::Failed;
    }

    /// Returns true if a runner that waits has used its turn, and has something left to do.
    fn is_further(&self, waiting: Waiting) -> bool {
        waiting.done < waiting.of.max(1) && self.waited.is_none_or(|before| waiting.done > before)
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

    /// Returns true if the runner has greeted, and nothing since.
    pub fn has_just_greeted(&self) -> bool {
        self.state == State::Between && self.trial.samples.is_empty()
    }

    /// The part of a mix's clients that the process has, in the test at work or to come.
    fn part(&self) -> Option<ClientPart> {
        self.parts.get(self.trial.samples.len()).copied().flatten()
    }

    /// The process in words, as the beginning of a sentence.
    pub fn who(&self) -> String {
        let joins = self.parts.iter().flatten().find(|part| part.before > 0).copied();
        if let Some(host) = &self.host {
            return format!("the runner on {host}");
        }
        match joins.or_else(|| self.part().filter(|_| self.state == State::Running)) {
            None => "the runner".to_owned(),
            Some(part) => format!("client {} of {}, a separate process,", part.before + 1, part.of),
        }
    }

    /// The number of its clients in a test of the trial; a process that joins has one test only.
    pub fn clients_of(&self, test: usize) -> u32 {
        let place = if self.clients.len() == 1 { 0 } else { test };
        self.clients.get(place).copied().unwrap_or(1)
    }

    /// The progress of its clients in a mix that several processes do.
    pub fn phase(&self) -> ClientPhase {
        self.phase
    }

    /// Returns true if the last event has come.
    pub fn is_over(&self) -> bool {
        self.state == State::Ended
    }

    /// The failure that the runner has reported.
    pub fn failure(&self) -> Option<String> {
        match &self.trial.outcome {
            Outcome::Failed { message, .. } => Some(message.clone()),
            _ => None,
        }
    }

    /// Makes a failure of the last sample, which came of nothing; nothing more is to be read.
    pub fn refuse_sample(&mut self, message: String) -> OutputEnd {
        let test = self.trial.samples.pop().map(|sample| sample.test);
        self.trial.answers.pop();
        self.trial.outcome = Outcome::Failed { test, message };
        self.state = State::Failed;
        OutputEnd::Ended
    }

    /// Returns true if the runner has reported no failure.
    pub fn is_well(&self) -> bool {
        self.state != State::Failed
    }

    fn next_test(&self) -> Option<&String> {
        self.tests.get(self.trial.samples.len())
    }

    /// The test that is running, by its position.
    pub fn current(&self) -> Option<usize> {
        (self.state == State::Running).then_some(self.trial.samples.len())
    }

    /// The same by its id.
    pub fn current_test(&self) -> Option<String> {
        self.next_test().filter(|_| self.state == State::Running).cloned()
    }

    /// The fault when the output has ended, if there is one.
    pub fn trouble_at_end(&self, success: bool, describe: impl Fn() -> String) -> Option<String> {
        match self.state {
            // The runner has reported what is wrong.
            State::Failed => None,
            State::Ended if matches!(self.trial.outcome, Outcome::Failed { .. }) || success => None,
            State::Ended => Some(format!("{} said bye and then {}", self.who(), describe())),
            _ => Some(format!("{} stopped in the middle of its work: it {}", self.who(), describe())),
        }
    }
}

fn excerpt(line: &[u8]) -> String {
    format!("'{}'", shortened(String::from_utf8_lossy(line).trim_end(), 200).escape_debug())
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
