//! The runners of servers against the real ones that this machine has: what the conformance checks, which
//! know no engine, cannot look at. Where a server is missing, its part is skipped and says so.

use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::{Home, Protocol, Registry, advice};
use dyno_protocol::{Event, Secret, Server, Value};

use crate::common::runner::{message, samples};
use crate::rig::{MARIADB, POSTGRES, Rig};

fn rigs() -> impl Iterator<Item = Rig> {
    [POSTGRES, MARIADB].into_iter().filter_map(Rig::start)
}

const CREATE: &str = "CREATE TABLE t(a INTEGER)";
const INSERT: &str = "INSERT INTO t VALUES(1)";

#[test]
fn a_sample_has_what_the_server_paid() {
    for rig in rigs() {
        let inserts = [INSERT; 2000];
        let update: &[&str] = &["UPDATE t SET a = a"];
        let events = rig.run(&rig.job(&[(&[CREATE], None), (&inserts, None), (update, None)]));
        let samples: Vec<_> = samples(&events).collect();
        let cost = samples[1].section.server.expect("the server runs on this machine");
        let cpu = cost.user_ns + cost.system_ns;
        assert!(cpu > 1_000_000 && cpu < 8 * samples[1].section.nanoseconds, "{cost:?}");
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
        rig.set(&mut job, &[("no_such_setting", "1")]);
        let events = rig.run(&job);
        // MySQL's databases are made with the session's settings in force.
        let words = ["the setting 'no_such_setting' is refused: ", "cannot set no_such_setting: "];
        assert!(words.iter().any(|words| message(&events).starts_with(words)), "{events:?}");
        let Some(Event::Failed(failed)) = events.last() else { panic!("{events:?}") };
        let protocol = Protocol::parse(job.speaks.as_deref()).unwrap();
        let said = advice(failed, protocol, "somebody");
        assert!(said.starts_with("unknown setting 'no_such_setting' (see https://"), "{said}");
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
        assert!(began.elapsed() < Duration::from_secs(50), "it waited for the statement to end");
        rig.assert_nothing_left();
    }
}

#[test]
fn a_lost_connection_is_reported() {
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
fn what_is_wrong_with_a_connection_is_reported_without_its_secrets() {
    for rig in rigs() {
        let complaint = |change: fn(&mut Server)| {
            let mut job = rig.job(&[]);
            change(job.server.as_mut().unwrap());
            message(&rig.run(&job)).to_owned()
        };
        let text = complaint(|server| {
            server.user = "nobody_here".into();
            server.password = Some(Secret::new("hunter2"));
        });
        assert!(text.contains("nobody_here") && !text.contains("hunter2"), "{text}");
        assert!(
            complaint(|server| server.host = "no.such.host.invalid".into()).contains("check the host's name")
        );
        assert!(complaint(|server| server.host = format!("/{}", "x".repeat(200))).contains("too long"));
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
        rig.set(&mut job, &[session, server]);
        let events = rig.run(&job);
        let Event::Hello(hello) = &events[0] else { panic!("{events:?}") };
        let is_in_force = |(name, asked): (&str, &str)| {
            let answer = hello.read_back.iter().find(|answer| answer.name == name).unwrap();
            let found = match &answer.rows[0][0] {
                Value::Text(text) => text.clone(),
                other => serde_json::to_string(other).unwrap(),
            };
            rig.syntax().means(asked, &found, None)
        };
        assert!(is_in_force(session) && !is_in_force(server), "{:?}", hello.read_back);
    }
}

#[test]
fn a_second_statement_in_a_text_is_refused() {
    for rig in rigs() {
        let events =
            rig.run(&rig.job(&[(&[CREATE, "INSERT INTO t VALUES(1); INSERT INTO t VALUES(2)"], None)]));
        assert!(message(&events).starts_with("statement 2 of 2 (INSERT INTO t VALUES(1); "), "{events:?}");
        if rig.engine.name == "postgres" {
            assert!(message(&events).ends_with("more than one statement in it: give each a separate entry"));
        }
        rig.assert_nothing_left();
    }
}

#[test]
fn mysql_is_not_mariadb() {
    let Some(rig) = Rig::start(MARIADB) else { return };
    let registry = Registry::load(&Home::find().unwrap()).unwrap();
    let mysql = registry.engine("mysql").unwrap().server().unwrap();
    let said = mysql.version.check("mysql", Protocol::MySql, &rig.version).unwrap_err().to_string();
    assert!(
        said.starts_with("the server is 1") && said.contains("-MariaDB, not mysql: name the engine"),
        "{said}"
    );
}
