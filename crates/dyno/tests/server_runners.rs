//! The runners of servers against the real ones that this machine has: what the conformance checks, which
//! know no engine, cannot look at. Where a server is missing, its part is skipped and says so.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dyno::placement::Placement;
use dyno::server::{Installation, PrivateServer};
use dyno_protocol::{Build, Event, Job, PROTOCOL, Sample, Secret, Server, Setting, Test, Value, Work};
use tempfile::TempDir;

/// The name of the databases that the tests make.
const SCRATCH: &str = "dyno_test";

/// What differs between the engines.
struct Engine {
    name: &'static str,
    runner: &'static str,
    /// Counts the databases of the tests' name.
    count: &'static str,
    /// Takes five seconds.
    sleep: &'static str,
    /// Ends the connections that work in the database.
    end: &'static str,
}

const POSTGRES: Engine = Engine {
    name: "postgres",
    runner: "dyno-runner-postgres",
    count: "SELECT count(*) FROM pg_database WHERE datname = 'dyno_test'",
    sleep: "SELECT pg_sleep(5)",
    end: "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = 'dyno_test'",
};

const MARIADB: Engine = Engine {
    name: "mariadb",
    runner: "dyno-runner-mysql",
    count: "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'dyno_test'",
    sleep: "SELECT sleep(5)",
    end: "KILL USER root",
};

/// How many files of statements have been written.
static FILES: AtomicU32 = AtomicU32::new(0);

/// A private server and the runner that reaches it.
struct Rig {
    engine: Engine,
    server: PrivateServer,
    folder: TempDir,
}

impl Rig {
    /// A server of the system's; none where it has none.
    fn start(engine: Engine) -> Option<Rig> {
        let installation = match Installation::find(engine.name, &Build::System) {
            Ok(installation) => installation,
            Err(error) => {
                eprintln!("SKIPPED for {}: {error:#}", engine.name);
                return None;
            }
        };
        // A folder that the server's account may enter.
        let folder = tempfile::Builder::new().prefix("dyno-test-").tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let placement = Placement::choose(None, None).unwrap();
        let server = PrivateServer::start(&installation, &[], folder.path(), &placement).unwrap();
        Some(Rig { engine, server, folder })
    }

    fn job(&self, tests: &[(&[&str], Option<&str>)]) -> Job {
        let tests = tests.iter().enumerate().map(|(index, (statements, check))| {
            // A job that runs keeps its files while another one is made.
            let number = FILES.fetch_add(1, Ordering::Relaxed);
            let file = self.folder.path().join(format!("{number}.statements"));
            fs::write(&file, statements.iter().map(|text| format!("{text}\0")).collect::<String>()).unwrap();
            let work = Work::Statements { file, count: statements.len() as u64 };
            Test { id: (index + 1).to_string(), setup: Vec::new(), work, check: check.map(str::to_owned) }
        });
        Job {
            protocol: PROTOCOL,
            engine: self.engine.name.to_owned(),
            driver: "rust".to_owned(),
            variant: None,
            build: Build::System,
            settings: Vec::new(),
            server: Some(self.server.connection(SCRATCH)),
            key: None,
            directory: self.folder.path().to_owned(),
            latency: false,
            tests: tests.collect(),
        }
    }

    fn begin(&self, job: &Job) -> Child {
        let program = Path::new(env!("CARGO_BIN_EXE_dyno")).with_file_name(self.engine.runner);
        assert!(program.is_file(), "{} is not built; `make test` builds it", program.display());
        let mut command = Command::new(&program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&serde_json::to_vec(job).unwrap()).unwrap();
        child
    }

    fn run(&self, job: &Job) -> Vec<Event> {
        let output = self.begin(job).wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The only answer of a query in a database of another name.
    fn ask(&self, query: &str) -> Option<Value> {
        let mut job = self.job(&[(&[query], None)]);
        job.server.as_mut().unwrap().scratch = "dyno_asks".into();
        self.run(&job).into_iter().find_map(|event| match event {
            Event::Answer { mut rows, .. } => rows.pop()?.pop(),
            _ => None,
        })
    }

    fn assert_nothing_left(&self) {
        assert_eq!(self.ask(self.engine.count), Some(Value::Integer(0)), "{}", self.engine.name);
    }

    /// Waits until the runner's database is there.
    fn await_database(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.ask(self.engine.count) != Some(Value::Integer(1)) {
            assert!(Instant::now() < deadline, "the runner made no database");
        }
    }
}

fn rigs() -> impl Iterator<Item = Rig> {
    [POSTGRES, MARIADB].into_iter().filter_map(Rig::start)
}

fn message(events: &[Event]) -> &str {
    match events.last() {
        Some(Event::Failed(failed)) => &failed.message,
        other => panic!("it should have failed: {other:?}"),
    }
}

fn samples(events: Vec<Event>) -> Vec<Sample> {
    let sample = |event| match event {
        Event::Sample(sample) => Some(sample),
        _ => None,
    };
    events.into_iter().filter_map(sample).collect()
}

const CREATE: &str = "CREATE TABLE t(a INTEGER)";
const INSERT: &str = "INSERT INTO t VALUES(1)";

#[test]
fn a_sample_tells_what_the_server_paid() {
    for rig in rigs() {
        let inserts = [INSERT; 2000];
        let update: &[&str] = &["UPDATE t SET a = a"];
        let samples = samples(rig.run(&rig.job(&[(&[CREATE], None), (&inserts, None), (update, None)])));
        let cost = samples[1].server.clone().expect("the server runs on this machine");
        let cpu = cost.user_ns + cost.system_ns;
        assert!(cpu > 1_000_000 && cpu < 8 * samples[1].nanoseconds, "{cost:?}");
        assert!(cost.peak_memory_bytes > 1 << 20 && samples[1].database_bytes > 1 << 12, "{samples:?}");
        // An UPDATE counts the rows that it finds, on every engine.
        assert_eq!((samples[1].rows, samples[2].rows), (2000, 2000));
    }
}

#[test]
fn no_database_is_left_after_any_failure() {
    for rig in rigs() {
        let events = rig.run(&rig.job(&[(&[CREATE, "BEGIN", INSERT, "SELEC"], None)]));
        assert!(message(&events).starts_with("statement 4 of 4 (SELEC): "), "{}", message(&events));
        rig.assert_nothing_left();
        let mut job = rig.job(&[]);
        job.settings = vec![Setting { name: "no_such_setting".into(), value: "1".into() }];
        assert!(message(&rig.run(&job)).starts_with("unknown setting 'no_such_setting'"));
        rig.assert_nothing_left();
    }
}

#[test]
fn a_probe_removes_what_a_killed_runner_left() {
    for rig in rigs() {
        let mut runner = rig.begin(&rig.job(&[(&[CREATE, "BEGIN", INSERT, rig.engine.sleep], None)]));
        rig.await_database();
        runner.kill().unwrap();
        runner.wait().unwrap();
        let began = Instant::now();
        assert!(matches!(rig.run(&rig.job(&[]))[..], [Event::Hello(_), Event::Bye {}]));
        assert!(began.elapsed() < Duration::from_secs(4), "it waited for the statement to end");
        rig.assert_nothing_left();
    }
}

#[test]
fn a_lost_connection_is_told() {
    for rig in rigs() {
        let runner = rig.begin(&rig.job(&[(&[rig.engine.sleep], None)]));
        rig.await_database();
        thread::sleep(Duration::from_millis(200));
        rig.ask(rig.engine.end);
        let output = String::from_utf8(runner.wait_with_output().unwrap().stdout).unwrap();
        assert!(output.contains("the connection to the server is lost: "), "{output}");
        rig.assert_nothing_left();
    }
}

#[test]
fn what_is_wrong_with_a_connection_is_told_without_its_secrets() {
    for rig in rigs() {
        let complaint = |change: fn(&mut Server)| {
            let mut job = rig.job(&[]);
            change(job.server.as_mut().unwrap());
            message(&rig.run(&job)).to_owned()
        };
        let told = complaint(|server| {
            server.user = "nobody_here".into();
            server.password = Some(Secret::new("hunter2"));
        });
        assert!(told.contains("nobody_here") && !told.contains("hunter2"), "{told}");
        assert!(
            complaint(|server| server.host = "no.such.host.invalid".into()).contains("check the host's name")
        );
        assert!(complaint(|server| server.host = format!("/{}", "x".repeat(200))).contains("too long"));
        assert!(complaint(|server| server.scratch = "production".into()).contains("named dyno_… only"));
        assert!(
            complaint(|server| drop(server.options.insert("sslmood".into(), "x".into()))).contains("sslmood")
        );
    }
}

#[test]
fn a_setting_of_the_session_is_set_and_one_of_the_server_is_not() {
    for rig in rigs() {
        let (session, server) = match rig.engine.name {
            "postgres" => (("work_mem", "98304kB"), ("max_wal_size", "7GB")),
            _ => (("sort_buffer_size", "4M"), ("innodb_buffer_pool_size", "192M")),
        };
        let mut job = rig.job(&[]);
        for (name, value) in [session, server] {
            job.settings.push(Setting { name: name.into(), value: value.into() });
        }
        let events = rig.run(&job);
        let Event::Hello(hello) = &events[0] else { panic!("{events:?}") };
        let value = |name| &hello.settings.iter().find(|setting| setting.name == name).unwrap().value;
        // In the spelling in which it was asked, though the servers have others.
        assert_eq!(value(session.0), session.1);
        assert_ne!(value(server.0), server.1);
    }
}

#[test]
fn mysql_is_not_mariadb() {
    let Some(rig) = Rig::start(MARIADB) else { return };
    let job = Job { engine: "mysql".into(), ..rig.job(&[]) };
    let events = rig.run(&job);
    assert!(message(&events).starts_with("the server is MariaDB 1"), "{}", message(&events));
}
