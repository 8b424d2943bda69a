//! An engine within the process of a runner of dyno's: each commit is a test of a job, begun with the event `progress`
//! and acknowledged by the event `sample`, which the runner writes after the work and before anything else. Where several
//! clients are threads of one process, all commits are one test, and each client says so itself ([`threads`]).

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use dyno_engine::Contender;
use dyno_launch::Interrupts;
use dyno_launch::environment;
use dyno_plan::probe;
use dyno_protocol::{Event, Operation, Test, Value};
use dyno_suite::NO_SQL;

use super::{Contents, Subject, UPKEEP, WorkMode, WorkOutcome, data, threads};
use crate::history::Line;
use crate::phase::PhaseMarker;
use crate::process::{Ended, Late, Limit, Output, run};

/// The folder of the database on the disk.
pub const DATABASE: &str = "database";
/// The commit that is made beforehand.
const FIRST: u64 = 0;
/// In how many sessions the commits are made, each of which opens the database and closes it.
const SESSIONS: u64 = 3;

/// A contender whose engine is within its runner's process.
#[derive(Debug)]
pub struct Embedded {
    /// The contender.
    pub contender: Contender,
    /// The number of commits that it makes.
    pub commits: u64,
    /// The number of clients that make them at once, each its share.
    pub clients: u64,
    /// True if the clients are threads of one process; else each is a process, which must be able to share the
    /// database.
    pub threads: bool,
    /// The folder of the inputs: not on the disk.
    pub inputs: PathBuf,
    /// The time limit of the runner for all of its job.
    pub patience: Duration,
    /// By which it is ended.
    pub interrupts: Interrupts,
}

/// The answers of a runner to a job.
#[derive(Default)]
struct Answers {
    /// The rows of each test that ended, in order.
    rows: Vec<Vec<Vec<Value>>>,
    /// The message of its `failed` event.
    failed: Option<String>,
}

impl Embedded {
    fn has_sql(&self) -> bool {
        self.contender.engine.dialect != NO_SQL
    }

    /// The answers of statements, the first row of each or nothing; or the error.
    ///
    /// # Errors
    /// The runner cannot be started or does not end in time ([`Late`]), or dyno is asked to stop.
    pub fn ask(&self, folder: &Path, statements: &[String]) -> Result<Result<Vec<Vec<Value>>, String>> {
        let test = |(number, text): (usize, &String)| {
            data::test(&number.to_string(), std::slice::from_ref(text), &self.inputs)
        };
        let tests = statements.iter().enumerate().map(test).collect::<Result<_>>()?;
        let ended = self.start(folder, tests, Output::Kept, WorkMode::default())?;
        if ended.is_late() {
            return Err(Late(format!("the runner {}", ended.describe())).into());
        }
        let answers = answers(&ended);
        Ok(match answers.failed {
            Some(why) => Err(why),
            None if !ended.is_success() => Err(format!("the runner {}", ended.describe())),
            None => Ok(answers.rows.into_iter().filter_map(|rows| rows.into_iter().next()).collect()),
        })
    }

    fn commit(&self, number: u64) -> Result<Test> {
        if self.clients > 1 && number > FIRST {
            return data::test(&number.to_string(), &data::shared(number, "BEGIN IMMEDIATE"), &self.inputs);
        }
        match self.has_sql() {
            true => data::test(&number.to_string(), &data::statements(number, data::PARTS), &self.inputs),
            false => data::put(number, self.contender.per_commit, &self.inputs),
        }
    }

    /// True if its clients are threads of one process, whose commits are one test.
    fn is_mixed(&self) -> bool {
        self.threads && self.clients > 1
    }

    /// The tests of a client in one of several sessions: its share of the commits, and upkeep between them.
    fn tests(&self, client: u64, (session, sessions): (u64, u64)) -> Result<Vec<Test>> {
        if self.is_mixed() {
            return Ok(vec![threads::test(self.has_sql(), self.clients, self.commits, &self.inputs)?]);
        }
        let numbers: Vec<u64> = data::numbers(client, self.clients, self.commits).collect();
        let [first, end] = [session, session + 1].map(|part| numbers.len() as u64 * part / sessions);
        self.commits_of(client, numbers[first as usize..end as usize].iter().copied())
    }

    /// The tests of these commits, and upkeep between them.
    fn commits_of(&self, client: u64, numbers: impl Iterator<Item = u64>) -> Result<Vec<Test>> {
        let mut tests = Vec::new();
        for number in numbers {
            tests.push(self.commit(number)?);
            if client == 0 && data::is_followed_by_upkeep(number) {
                let upkeep = self.contender.engine.upkeep(&self.contender.settings);
                for one in upkeep.filter(|one| !one.statements.is_empty()) {
                    tests.push(data::test(&format!("{UPKEEP}{}", one.name), &one.statements, &self.inputs)?);
                }
            }
        }
        Ok(tests)
    }

    /// Makes the commits of a session by all clients at once: why it did not come to its end, if it did not.
    fn session(
        &self,
        session: (u64, u64),
        folder: &Path,
        output: &File,
        manner: WorkMode,
    ) -> Result<Option<String>> {
        let one = |client: u64| -> Result<Option<String>> {
            let output = Output::Recorder(output.try_clone()?);
            let tests = match manner.after {
                Some(after) => self.commits_of(client, data::later(after))?,
                None => self.tests(client, session)?,
            };
            let ended = self.start(folder, tests, output, manner)?;
            Ok((!ended.is_success()).then(|| format!("the runner {}", ended.describe())))
        };
        let processes = if self.is_mixed() { 1 } else { self.clients };
        let failures = thread::scope(|scope| {
            let clients = (0..processes).map(|client| scope.spawn(move || one(client)));
            let clients: Vec<_> = clients.collect();
            let ended = clients
                .into_iter()
                .map(|client| client.join().unwrap_or_else(|_| bail!("a client panicked")));
            ended.collect::<Result<Vec<_>>>()
        })?;
        Ok(failures.into_iter().flatten().next())
    }

    /// Reports upkeep that shows in its files alone, of which there are some.
    fn report_files(&self, folder: &Path, mut output: &File) -> Result<()> {
        let Contender { engine, settings, .. } = &self.contender;
        for (name, end) in engine.upkeep(settings).filter_map(|one| Some((&one.name, one.files.as_ref()?))) {
            if holds(&folder.join(DATABASE), end) {
                output.write_all(format!("{UPKEEP}{name}\n").as_bytes())?;
            }
        }
        Ok(())
    }

    /// The finding from the answers about a store, of which the last is its digest.
    fn read_store(&self, answers: &[Vec<Vec<Value>>]) -> Contents {
        let row = |answer: &[Vec<Value>]| answer.first().cloned().unwrap_or_default();
        let Some((digest, clients)) = answers.split_last() else { return Contents::default() };
        if clients.is_empty() {
            return data::read_digest(&row(digest));
        }
        let count = |answer: &Vec<Vec<Value>>| row(answer).first().and_then(data::number).unwrap_or_default();
        threads::read(&clients.iter().map(count).collect::<Vec<_>>(), &row(digest))
    }

    fn start(&self, folder: &Path, tests: Vec<Test>, output: Output, manner: WorkMode) -> Result<Ended> {
        let directory = folder.join(DATABASE);
        fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
        let mut job = probe(&self.contender, &directory);
        job.tests = tests;
        let line = self.contender.runner.command();
        let (program, arguments) = line.split_first().context("the runner's start command is empty")?;
        let mut command = Command::new(program);
        command.args(arguments);
        environment::clean(&mut command);
        let limit = Limit { patience: self.patience, manner };
        run(&mut command, &serde_json::to_vec(&job)?, output, limit, &self.interrupts)
    }
}

impl Subject for Embedded {
    fn prepare(&self, folder: &Path) -> Result<()> {
        let mut first = self.commit(FIRST)?;
        if self.has_sql() {
            first.setup.push(data::table());
            first.setup.extend((self.clients > 1).then(data::accounts).into_iter().flatten());
        }
        let ended = self.start(folder, vec![first], Output::Kept, WorkMode::default())?;
        match (ended.is_success(), answers(&ended).failed) {
            (true, None) => Ok(()),
            (_, Some(why)) => bail!("the first commit failed: {why}"),
            (false, None) => bail!("the runner {}", ended.describe()),
        }
    }

    fn work(&self, folder: &Path, output: File, manner: WorkMode) -> Result<WorkOutcome> {
        let start = Instant::now();
        let sessions = if self.is_mixed() || manner.after.is_some() {
            1
        } else {
            SESSIONS.min(self.commits / self.clients).max(1)
        };
        let mut failure = None;
        for session in 0..sessions {
            let left = manner.kill_after.map(|after| after.saturating_sub(start.elapsed()));
            failure =
                self.session((session, sessions), folder, &output, WorkMode { kill_after: left, ..manner })?;
            if failure.is_some() || session + 1 == sessions {
                break;
            }
            PhaseMarker::Closed.set(&output)?;
            self.report_files(folder, &output)?;
        }
        Ok(WorkOutcome { failure, took: start.elapsed() })
    }

    fn read(&self, line: &str) -> Line {
        let number = |test: &str| test.parse().ok();
        match serde_json::from_str(line) {
            Ok(Event::Progress { test }) => match test.strip_prefix(UPKEEP) {
                Some(name) => Line::Upkeep(name.to_owned()),
                None => number(&test).map_or(Line::Other, Line::Begins),
            },
            Ok(Event::Sample(sample)) => number(&sample.test).map_or(Line::Other, Line::Acknowledged),
            Ok(Event::Operation(Operation { number, done })) => match (u64::try_from(number), done) {
                (Ok(number), true) => Line::Acknowledged(number),
                (Ok(number), false) => Line::Begins(number),
                (Err(_), _) => Line::Other,
            },
            _ => line.strip_prefix(UPKEEP).map_or(Line::Other, |name| Line::Upkeep(name.to_owned())),
        }
    }

    fn check(&self, folder: &Path) -> Result<Contents> {
        let is_shared = self.clients > 1;
        let integrity = data::integrity(&self.contender.engine.dialect);
        let mut tests = Vec::new();
        if self.has_sql() {
            tests.push(data::test("look", &[data::rows()], &self.inputs)?);
            if is_shared {
                tests.push(data::test("balances", &[data::balances()], &self.inputs)?);
            }
            if let Some((query, _)) = integrity {
                tests.push(data::test("integrity", &[query.to_owned()], &self.inputs)?);
            }
        } else {
            if is_shared {
                tests = threads::look(self.clients, self.commits, &self.inputs)?;
            }
            tests.push(data::delete(FIRST, self.contender.per_commit, &self.inputs)?);
        }
        let asked = tests.len();
        let ended = self.start(folder, tests, Output::Kept, WorkMode::default())?;
        if ended.is_late() {
            return Ok(Contents::late(format!("the runner {}", ended.describe())));
        }
        let answers = answers(&ended);
        let is_whole = answers.rows.len() == asked;
        let mut found = match (answers.rows.first(), self.has_sql()) {
            (Some(rows), true) => data::read_rows(rows, data::PARTS),
            // Only complete answers say anything about a store.
            (Some(_), false) if is_whole => self.read_store(&answers.rows),
            _ => Contents::default(),
        };
        let others = answers.rows.get(1..).filter(|_| self.has_sql()).unwrap_or_default();
        if is_shared && let Some(rows) = others.first() {
            data::read_balances(rows, &mut found);
        }
        if let (Some(rows), Some((_, right))) = (others.get(usize::from(is_shared)), integrity)
            && *rows != [[right]]
        {
            found.report(format!("the integrity check says: {}", data::shown(rows)));
        }
        match answers.failed {
            Some(why) => found.report(why),
            None if !ended.is_success() => found.report(format!("the runner {}", ended.describe())),
            None => {}
        }
        Ok(found)
    }

    fn before(&self) -> Option<u64> {
        Some(FIRST)
    }

    fn can_go_on(&self) -> bool {
        self.clients == 1
    }

    fn is_in_order(&self) -> bool {
        true
    }
}

/// True if a folder or a folder within it holds a file whose name ends with `end`.
fn holds(folder: &Path, end: &str) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => holds(&entry.path(), end),
        Ok(kind) => kind.is_file() && entry.file_name().to_string_lossy().ends_with(end),
        Err(_) => false,
    })
}

/// The events of a runner that has ended.
fn answers(ended: &Ended) -> Answers {
    let mut answers = Answers::default();
    for event in ended.output.lines().filter_map(|line| serde_json::from_str(line).ok()) {
        match event {
            Event::Sample(_) => answers.rows.push(Vec::new()),
            Event::Answer { rows, .. } => {
                if let Some(last) = answers.rows.last_mut() {
                    last.extend(rows);
                }
            }
            Event::Failed(failed) => answers.failed = Some(failed.message),
            Event::Hello(_)
            | Event::Progress { .. }
            | Event::Waiting(_)
            | Event::Ready(_)
            | Event::Done {}
            | Event::Operation(_)
            | Event::Interval(_)
            | Event::Bye {} => {}
        }
    }
    answers
}
