//! One trial: the tests of a job in order, each between two readings of the clock.

use std::ffi::CString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Error, Result};
use dyno_protocol::{Event, Job, Sample, Test, Work};

use crate::counters::Counters;
use crate::events::Events;
use crate::server_cost::Server;
use crate::{Answer, Driver, Failure, Statements};

/// How many characters of a statement a message quotes.
const QUOTED: usize = 200;

/// Why a trial ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The work went wrong: to be told in a `failed` event.
    #[error(transparent)]
    Failed(#[from] Error),
    /// Nobody listens any more, or the events cannot be written.
    #[error("cannot write to standard output")]
    Output(#[source] io::Error),
}

/// What the tests of a trial share.
struct Trial<'a, D, W> {
    driver: D,
    directory: &'a Path,
    events: &'a mut Events<W>,
    counters: Counters,
    server: Option<Server>,
    answer: Answer,
    /// Kept from test to test, see [`Statements::load`].
    ends: Vec<usize>,
}

/// Goes through a job. `current` names the test at work, also where this panics.
pub fn trial<D: Driver, W: Write>(
    job: &Job,
    events: &mut Events<W>,
    current: &mut Option<String>,
) -> Result<(), Stop> {
    let (driver, hello) = D::open(job)?;
    events.send(&Event::Hello(hello)).map_err(Stop::Output)?;
    let longest = job.tests.iter().map(|test| statement_count(&test.work)).max().unwrap_or(0);
    let mut trial = Trial {
        driver,
        directory: &job.directory,
        events,
        counters: Counters::open(),
        server: job.server.as_ref().and_then(|server| server.process).map(Server::new),
        answer: Answer::resident(),
        ends: Vec::with_capacity(longest),
    };
    for test in &job.tests {
        *current = Some(test.id.clone());
        trial.test(test)?;
    }
    *current = None;
    trial.driver.close().context("the database did not close")?;
    trial.events.send(&Event::Bye {}).map_err(Stop::Output)
}

impl<D: Driver, W: Write> Trial<'_, D, W> {
    fn test(&mut self, test: &Test) -> Result<(), Stop> {
        // Whoever reads this may be at work for a moment, on the same processor perhaps: so it goes
        // out before the input is loaded and not just before the clock starts.
        self.send(&Event::Progress { test: test.id.clone() })?;
        self.answer.begin(test.check.is_none());
        let sample = match &test.work {
            Work::Statements { file, count } => self.statements(file, *count)?,
        };
        self.send(&Event::Sample(Sample { test: test.id.clone(), ..sample }))?;
        if let Some(sql) = &test.check {
            self.check(sql)?;
        }
        self.events.send_answer(&test.id, &self.answer).map_err(Stop::Output)
    }

    fn statements(&mut self, file: &Path, count: u64) -> Result<Sample> {
        let statements = Statements::load(file, count, std::mem::take(&mut self.ends))?;
        let changes = self.driver.changes();
        let server_before = self.server.as_ref().and_then(Server::before);
        let before = self.counters.before();

        let clock = Instant::now();
        let result = self.driver.statements(&statements, &mut self.answer);
        let elapsed = clock.elapsed();

        let after = self.counters.after();
        let peak_memory_bytes = self.counters.peak_bytes();
        let server =
            self.server.as_ref().zip(server_before).and_then(|(server, before)| server.since(&before));
        let operations = result.map_err(|failure| explain(failure, &statements))?;
        let changed = self.driver.changes().saturating_sub(changes);
        let sample = Sample {
            test: String::new(),
            nanoseconds: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
            operations,
            rows: self.answer.rows() + changed,
            bytes: statements.bytes(),
            user_ns: after.user_ns.saturating_sub(before.user_ns),
            system_ns: after.system_ns.saturating_sub(before.system_ns),
            wait_ns: after.wait_ns.saturating_sub(before.wait_ns),
            device_read_bytes: after.read_bytes.saturating_sub(before.read_bytes),
            device_written_bytes: after.written_bytes.saturating_sub(before.written_bytes),
            peak_memory_bytes,
            database_bytes: self.database_bytes()?,
            server,
        };
        self.ends = statements.release();
        Ok(sample)
    }

    fn database_bytes(&mut self) -> Result<u64> {
        match self.driver.database_bytes().context("cannot tell the size of the database")? {
            Some(bytes) => Ok(bytes),
            None => folder_bytes(self.directory).context("cannot add up the database's files"),
        }
    }

    fn check(&mut self, sql: &str) -> Result<()> {
        self.answer.begin(true);
        let quoted = || format!("the check query ({})", quote(sql));
        let text = CString::new(sql).with_context(quoted)?;
        self.driver.query(&text, &mut self.answer).with_context(quoted)
    }

    fn send(&mut self, event: &Event) -> Result<(), Stop> {
        self.events.send(event).map_err(Stop::Output)
    }
}

fn statement_count(work: &Work) -> usize {
    match work {
        Work::Statements { count, .. } => usize::try_from(*count).unwrap_or(0),
    }
}

fn explain(failure: Failure, statements: &Statements) -> Error {
    let text = statements.get(failure.index).unwrap_or_default().to_string_lossy();
    let place = format!("statement {} of {} ({})", failure.index + 1, statements.len(), quote(&text));
    failure.error.context(place)
}

fn quote(sql: &str) -> String {
    match sql.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &sql[..end]),
        None => sql.to_owned(),
    }
}

/// The sizes of all files in a folder and below. A file that goes away meanwhile counts nothing.
fn folder_bytes(folder: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        sum += match entry.metadata() {
            Ok(data) if data.is_dir() => folder_bytes(&entry.path())?,
            Ok(data) => data.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
    }
    Ok(sum)
}
