//! One trial: the tests of a job in order, each between two readings of the clock.

use std::cell::RefCell;
use std::ffi::CString;
use std::fs::{self, Metadata};
use std::io::{self, BufRead, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Error, Result};
use dyno_protocol::{Event, Job, Sample, Server, Test, Work};

use crate::clock::Clock;
use crate::events::Events;
use crate::orders::OrderSource;
use crate::quote::quote;
use crate::test_context::TestContext;
use crate::{Answer, Engine, Session, work};

/// The reason that a trial ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The work failed: this is reported in a `failed` event.
    #[error(transparent)]
    Failed(#[from] Error),
    /// The reader of the events has gone, or they cannot be written.
    #[error("cannot write to standard output")]
    Output(#[source] io::Error),
}

/// The state that the tests of a trial share.
struct Trial<'a, E: Engine, W> {
    bench: TestContext<'a, E>,
    directory: &'a Path,
    events: &'a RefCell<Events<W>>,
}

/// Goes through a job, whose turns and orders come from `input`. `current` names the test at work, also where this
/// panics.
pub fn trial<E: Engine, W: Write>(
    job: &Job,
    input: &mut dyn BufRead,
    events: &RefCell<Events<W>>,
    current: &mut Option<String>,
) -> Result<(), Stop> {
    let (mut engine, hello) = E::open(job)?;
    let session = engine.session()?;
    let send = |event: &Event| events.borrow_mut().send(event);
    send(&Event::Hello(hello)).map_err(Stop::Output)?;
    let orders = OrderSource::new(input, &send);
    let longest = job.tests.iter().map(|test| statement_count(&test.work)).max().unwrap_or(0);
    let bench = TestContext {
        session,
        engine,
        job,
        clock: Clock::new(&job.server.as_ref().map(Server::processes).unwrap_or_default())
            .with_turns(job.turns.then_some(&orders))
            .slowed(job.slowdown),
        orders: &orders,
        answer: Answer::resident(),
        ends: Vec::with_capacity(longest),
        latency: job.latency,
    };
    let mut trial = Trial { bench, directory: &job.directory, events };
    for test in &job.tests {
        *current = Some(test.id.clone());
        if job.answers_only { trial.answer_only(test)? } else { trial.test(test)? }
    }
    *current = None;
    let TestContext { session, engine, .. } = trial.bench;
    session.close().and_then(|()| engine.close()).context("the database did not close")?;
    send(&Event::Bye {}).map_err(Stop::Output)
}

impl<E: Engine, W: Write> Trial<'_, E, W> {
    fn test(&mut self, test: &Test) -> Result<(), Stop> {
        // The process that reads this may be busy for a moment, perhaps on the same processor: so it is sent before the
        // input is loaded and not just before the clock starts.
        self.send(&Event::Progress { test: test.id.clone() })?;
        for sql in &test.setup {
            self.query(sql).with_context(|| format!("the setup ({})", quote(sql)))?;
        }
        self.bench.answer.begin(test.check.is_none());
        let sample = work::perform(&test.work, &mut self.bench)?;
        // The process that was joined looks at what all have left.
        let joins = self.bench.job.joins();
        let database_bytes = if joins { 0 } else { self.database_bytes()? };
        self.send(&Event::Sample(Sample { test: test.id.clone(), database_bytes, ..sample }))?;
        if joins {
            return Ok(());
        }
        self.answer(test)?;
        self.events.borrow_mut().send_answer(&test.id, &self.bench.answer).map_err(Stop::Output)
    }

    /// Executes what the job lists for the time before a check.
    fn prepare_check(&mut self) -> Result<()> {
        let job = self.bench.job;
        let mut listed = job.on_connect.iter().filter(|statement| statement.before_checks);
        listed.try_for_each(|one| self.query(&one.sql).with_context(|| format!("cannot {}", one.name)))
    }

    /// Asks what a test left: by its check, or as the model says.
    fn answer(&mut self, test: &Test) -> Result<()> {
        if let Some(sql) = &test.check {
            self.prepare_check()?;
            return self.query(sql).map_err(|error| {
                self.failing(test)
                    .unwrap_or_else(|| error.context(format!("the check query ({})", quote(sql))))
            });
        }
        work::read_back(&test.work, &mut self.bench).context("reading back what is stored")
    }

    /// The reason why a check of several invariants failed: the first whose own query fails.
    #[cold]
    fn failing(&mut self, test: &Test) -> Option<Error> {
        let Work::Mix(mix) = &test.work else { return None };
        mix.queries.iter().find_map(|one| {
            let error = self.query(&one.query).err()?;
            Some(error.context(format!("the invariant {}: {}", one.says, quote(&one.query))))
        })
    }

    /// Asks what a test of another job has left.
    fn answer_only(&mut self, test: &Test) -> Result<(), Stop> {
        self.send(&Event::Progress { test: test.id.clone() })?;
        self.bench.answer.begin(true);
        self.answer(test)?;
        self.events.borrow_mut().send_answer(&test.id, &self.bench.answer).map_err(Stop::Output)
    }

    fn database_bytes(&mut self) -> Result<u64> {
        let TestContext { session, engine, .. } = &mut self.bench;
        match engine.database_bytes(session).context("cannot read the size of the database")? {
            Some(bytes) => Ok(bytes),
            None => folder_bytes(self.directory).context("cannot add up the database's files"),
        }
    }

    fn query(&mut self, sql: &str) -> Result<()> {
        self.bench.answer.begin(true);
        let text = CString::new(sql)?;
        self.bench.session.execute(&text, &mut self.bench.answer).map(drop)
    }

    fn send(&mut self, event: &Event) -> Result<(), Stop> {
        self.events.borrow_mut().send(event).map_err(Stop::Output)
    }
}

fn statement_count(work: &Work) -> usize {
    match work {
        Work::Statements { count, .. } => usize::try_from(*count).unwrap_or(0),
        _ => 0,
    }
}

/// The unit in which the kernel counts blocks of files, in bytes.
const BLOCK: u64 = 512;
/// The share of a file in a database's size: its length without holes, since engines make files longer than their
/// content.
pub fn file_bytes(file: &Metadata) -> u64 {
    file.len().min(file.blocks() * BLOCK)
}

/// The sizes of all files in a folder and below. A file that goes away meanwhile counts nothing.
fn folder_bytes(folder: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        sum += match entry.metadata() {
            Ok(data) if data.is_dir() => folder_bytes(&entry.path())?,
            Ok(data) => file_bytes(&data),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn holes_are_no_part_of_a_database() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("below")).unwrap();
        fs::write(folder.path().join("below/short"), "12345").unwrap();
        let sparse = File::create(folder.path().join("sparse")).unwrap();
        sparse.write_all_at(&[7; 4096], 0).unwrap();
        sparse.set_len(1 << 30).unwrap();
        sparse.sync_all().unwrap();
        let bytes = folder_bytes(folder.path()).unwrap();
        // A file system may give a file more blocks than were written, but not a gigabyte.
        assert!((4096 + 5..1 << 20).contains(&bytes), "{bytes}");
    }
}
