//! The runners of servers against the real ones that this machine has: what the conformance checks, which
//! know no engine, cannot look at. Where a server is missing, its part is skipped and says so.

use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::{Home, Registry};
use dyno_protocol::{Event, Job, Secret, Server, Setting};

use crate::common::runner::{message, samples};
use crate::rig::{MARIADB, POSTGRES, Rig, failure};

fn rigs() -> impl Iterator<Item = Rig> {
    [POSTGRES, MARIADB].into_iter().filter_map(Rig::start)
}

const CREATE: &str = "CREATE TABLE t(a INTEGER)";
const INSERT: &str = "INSERT INTO t VALUES(1)";

#[test]
fn a_sample_tells_what_the_server_paid() {
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
        let text = complaint(|server| {
            server.user = "nobody_here".into();
            server.password = Some(Secret::new("hunter2"));
        });
        assert!(text.contains("nobody_here") && !text.contains("hunter2"), "{text}");
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
fn a_second_statement_in_a_text_is_refused() {
    for rig in rigs() {
        let events =
            rig.run(&rig.job(&[(&[CREATE, "INSERT INTO t VALUES(1); INSERT INTO t VALUES(2)"], None)]));
        assert!(message(&events).starts_with("statement 2 of 2 (INSERT INTO t VALUES(1); "), "{events:?}");
        if rig.engine.name == "postgres" {
            assert!(
                message(&events).ends_with("more than one statement in it: give each an entry of its own")
            );
        }
        rig.assert_nothing_left();
    }
}

#[test]
fn mysql_is_not_mariadb() {
    let Some(rig) = Rig::start(MARIADB) else { return };
    let registry = Registry::load(&Home::find().unwrap()).unwrap();
    let mysql = registry.engine("mysql").unwrap().server().unwrap();
    let mut job = Job { engine: "mysql".into(), ..rig.job(&[]) };
    job.server.as_mut().unwrap().version = mysql.version;
    let said = failure(&rig, &rig.run(&job));
    assert!(
        said.starts_with("the server is 1") && said.contains("-MariaDB, not mysql: name the engine"),
        "{said}"
    );
}
