//! A private server and the runner that reaches it, for the tests of the runners of servers. Where a server
//! is missing, its part is skipped and says so.

use std::fs;
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};

use dyno_engine::SettingSyntax;
use dyno_lab::server::PrivateServer;
use dyno_protocol::{Build, Event, Job, Setting, Test, Value, Work};
use tempfile::TempDir;

use crate::common::runner::{self, message};
use crate::common::server::{self, Started};
use crate::common::wait_for;

/// The name of the databases that the tests make.
const SCRATCH: &str = "dyno_test";

/// The differences between the engines.
pub struct Engine {
    pub name: &'static str,
    /// The protocol.
    speaks: &'static str,
    /// The installation of it.
    build: Option<&'static str>,
    pub runner: &'static str,
    /// Counts the databases of the tests' name.
    pub count: &'static str,
    /// Takes five seconds.
    pub sleep: &'static str,
    /// Ends the connections that work in the database.
    pub end: &'static str,
}

pub const POSTGRES: Engine = Engine {
    name: "postgres",
    speaks: "postgres",
    build: None,
    runner: "dyno-runner-postgres",
    count: "SELECT count(*) FROM pg_database WHERE datname = 'dyno_test'",
    sleep: "SELECT pg_sleep(60)",
    end: "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = 'dyno_test'",
};

pub const MARIADB: Engine = Engine {
    name: "mariadb",
    speaks: "mysql",
    build: None,
    runner: "dyno-runner-mysql",
    count: "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'dyno_test'",
    sleep: "SELECT sleep(60)",
    end: "KILL USER root",
};

pub const MYSQL: Engine = Engine { name: "mysql", build: Some("9"), ..MARIADB };

/// The number of files that have been written.
static FILES: AtomicU32 = AtomicU32::new(0);

/// A private server and the runner that reaches it.
pub struct Rig {
    pub engine: Engine,
    /// The version of the server, as it reports it.
    pub version: String,
    server: PrivateServer,
    folder: TempDir,
}

impl Rig {
    /// A server of the engine's; none where there is none.
    pub fn start(engine: Engine) -> Option<Rig> {
        Rig::start_with(engine, &[])
    }

    /// A server with settings.
    pub fn start_with(engine: Engine, settings: &[Setting]) -> Option<Rig> {
        let build = engine.build.map_or(Build::System, |name| Build::Path(name.into()));
        let Started { server, folder, .. } = server::start(engine.name, &build, settings)?;
        let mut rig = Rig { engine, version: String::new(), server, folder };
        let question = rig.server.connection(SCRATCH).question(&rig.plain_job());
        let events = rig.run(&question);
        let Some(Event::Hello(hello)) = events.first() else { panic!("{events:?}") };
        let Value::Text(version) = &hello.read_back[0].rows[0][0] else { panic!("{hello:?}") };
        rig.version.clone_from(version);
        Some(rig)
    }

    /// A job that names no server and has no tests.
    fn plain_job(&self) -> Job {
        Job {
            speaks: Some(self.engine.speaks.to_owned()),
            ..Job::new(self.engine.name, "rust", Build::System, self.folder.path().to_owned())
        }
    }

    /// A file with this in it. A job that runs keeps its files while another one is made.
    pub fn file(&self, content: &[u8]) -> PathBuf {
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let file = self.folder.path().join(format!("{number}.input"));
        fs::write(&file, content).unwrap();
        file
    }

    /// A job of tests of statements, each with its check.
    pub fn job(&self, tests: &[(&[&str], Option<&str>)]) -> Job {
        let tests = tests.iter().enumerate().map(|(index, (statements, check))| {
            let file =
                self.file(statements.iter().map(|text| format!("{text}\0")).collect::<String>().as_bytes());
            let work = Work::Statements { file, count: statements.len() as u64 };
            Test { id: (index + 1).to_string(), setup: Vec::new(), work, check: check.map(str::to_owned) }
        });
        self.job_of(tests.collect())
    }

    /// A job of any tests.
    pub fn job_of(&self, tests: Vec<Test>) -> Job {
        self.job_in(SCRATCH, tests)
    }

    fn job_in(&self, scratch: &str, tests: Vec<Test>) -> Job {
        let mut job = Job { tests, ..self.plain_job() };
        self.server.connection(scratch).serve(&mut job, &[], &self.version);
        job
    }

    /// Has each connection of a job set these settings, which are read back too.
    pub fn set(&self, job: &mut Job, settings: &[(&str, &str)]) {
        let setting = |&(name, value): &(&str, &str)| Setting { name: name.into(), value: value.into() };
        let asked: Vec<Setting> = settings.iter().map(setting).collect();
        job.on_connect = self.syntax().on_connect(asked.iter());
        job.read_back = self.syntax().read_back(&asked, &[]);
        self.server.connection(SCRATCH).serve(job, &asked, &self.version);
    }

    /// The SQL by which settings are set and read.
    pub fn syntax(&self) -> SettingSyntax {
        match self.engine.speaks {
            "postgres" => SettingSyntax::Postgres,
            _ => SettingSyntax::MySql,
        }
    }

    /// Starts the runner with a job.
    pub fn begin(&self, job: &Job) -> Child {
        runner::begin(&runner::program(self.engine.runner), job)
    }

    /// The events of the runner for a job.
    pub fn run(&self, job: &Job) -> Vec<Event> {
        runner::run(&runner::program(self.engine.runner), job)
    }

    /// The only answer of a query in a database of another name.
    pub fn ask(&self, query: &str) -> Option<Value> {
        let job = self.job_in("dyno_asks", self.job(&[(&[query], None)]).tests);
        self.run(&job).into_iter().find_map(|event| match event {
            Event::Answer { mut rows, .. } => rows.pop()?.pop(),
            _ => None,
        })
    }

    pub fn assert_nothing_left(&self) {
        assert_eq!(self.ask(self.engine.count), Some(Value::Integer(0)), "{}", self.engine.name);
    }

    /// Waits until the runner's database is there.
    pub fn await_database(&self) {
        wait_for("the runner's database", 60, || self.ask(self.engine.count) == Some(Value::Integer(1)));
    }
}

/// The rows that a test was answered with.
pub fn answers(events: &[Event], test: &str) -> Vec<Vec<Value>> {
    let of = |event: &Event| match event {
        Event::Answer { test: of, rows } if of == test => Some(rows.clone()),
        _ => None,
    };
    events.iter().filter_map(of).flatten().collect()
}

/// The message of the runner about one load that must fail; it sends no sample and no answer of it.
pub fn complaint(rig: &Rig, way: &str, test: Test) -> String {
    let mut job = rig.job_of(vec![test]);
    job.variant = Some(way.to_owned());
    failure(rig, &rig.run(&job))
}

/// The message of the runner at the end of events that hold no sample and no answer.
pub fn failure(rig: &Rig, events: &[Event]) -> String {
    assert!(
        !events.iter().any(|event| matches!(event, Event::Sample(_) | Event::Answer { .. })),
        "{events:?}"
    );
    rig.assert_nothing_left();
    message(events).to_owned()
}
