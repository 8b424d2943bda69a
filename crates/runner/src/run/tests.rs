//! Whole trials with an engine made of nothing, from the job's text to the events' text.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io;
use std::process::ExitCode;

use anyhow::{Result, bail};
use dyno_protocol::{Event, Failed, Hello, Job, PROTOCOL, Sink, Value};

use super::run_with;
use crate::{Answer, Engine, NoStore, Rows, Session};

/// An engine whose session returns a number per statement and obeys a few words.
struct Toy;

/// The number of statements executed, and of rows changed.
#[derive(Default)]
struct Client {
    executed: i64,
    changes: u64,
}

impl Engine for Toy {
    type Session = Client;

    fn open(job: &Job) -> Result<(Self, Hello)> {
        if job.driver == "broken" {
            bail!("cannot open");
        }
        let hello = Hello {
            protocol: PROTOCOL,
            runner: "toy 1".into(),
            engine_version: "1".into(),
            driver_version: "1".into(),
            build: BTreeMap::new(),
            settings: Vec::new(),
            read_back: Vec::new(),
        };
        Ok((Toy, hello))
    }

    fn session(&mut self) -> Result<Client> {
        Ok(Client::default())
    }

    fn close(self) -> Result<()> {
        Ok(())
    }
}

impl Rows for Client {}

impl Session for Client {
    type Store<'s> = NoStore;
    type Prepared<'s> = crate::mix::NoStatements;

    fn execute(&mut self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        match sql.to_bytes() {
            b"panic" => panic!("the toy broke"),
            b"change" => self.changes += 2,
            b"change itself" => return Ok(3),
            sql if sql.starts_with(b"fail") => bail!("no such toy (code 7)"),
            b"check" => {
                answer.text(sql.to_bytes());
                answer.end_row();
            }
            _ => {
                answer.integer(self.executed);
                answer.end_row();
            }
        }
        self.executed += 1;
        Ok(0)
    }

    fn changes(&mut self) -> u64 {
        self.changes
    }
}

/// Runs a job whose tests are (statements, check) and returns the events.
fn events(driver: &str, tests: &[(&[&str], Option<&str>)]) -> (Vec<Event>, ExitCode) {
    events_of(driver, false, tests)
}

/// The same, of a job that may be for answers only.
fn events_of(driver: &str, answers_only: bool, tests: &[(&[&str], Option<&str>)]) -> (Vec<Event>, ExitCode) {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("db");
    std::fs::create_dir(&directory).unwrap();
    let mut list = Vec::new();
    for (index, (statements, check)) in tests.iter().enumerate() {
        let file = folder.path().join(format!("{index}.sql"));
        let text: String = statements.iter().map(|text| format!("{text}\0")).collect();
        std::fs::write(&file, text).unwrap();
        list.push(serde_json::json!({
            "id": (index + 1).to_string(), "model": "statements", "file": file,
            "count": statements.len(), "check": check,
        }));
    }
    let waits = serde_json::json!([{ "name": "wait", "sql": "wait", "before_checks": driver == "waits" }]);
    let job = serde_json::json!({
        "protocol": PROTOCOL, "engine": "toy", "driver": driver, "build": "bundled", "on_connect": waits,
        "settings": [], "directory": directory, "answers_only": answers_only, "tests": list,
    });
    let mut out = Vec::new();
    let code = run_with::<Toy>(job.to_string().as_bytes(), &mut out);
    let text = String::from_utf8(out).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), code)
}

fn failure(events: &[Event]) -> &Failed {
    match events.last() {
        Some(Event::Failed(failed)) => failed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_trial_sends_its_events_in_order() {
    let (events, code) =
        events("c", &[(&["a", "change", "change itself"], None), (&["b", "c"], Some("check"))]);
    assert_eq!(code, ExitCode::SUCCESS);
    assert!(matches!(&events[0], Event::Hello(hello) if hello.runner == "toy 1"));
    assert_eq!(events[1], Event::Progress { test: "1".into() });
    let Event::Sample(sample) = &events[2] else { panic!("{:?}", events[2]) };
    assert_eq!((sample.operations, sample.rows, sample.bytes), (3, 6, 20));
    assert!(sample.section.nanoseconds > 0 && sample.section.client.peak_memory_bytes > 0);
    assert_eq!(events[3], Event::Answer { test: "1".into(), rows: vec![vec![Value::Integer(0)]] });
    let Event::Sample(sample) = &events[5] else { panic!("{:?}", events[5]) };
    assert_eq!((sample.test.as_str(), sample.rows), ("2", 2));
    let checked = vec![vec![Value::Text("check".into())]];
    assert_eq!(events[6], Event::Answer { test: "2".into(), rows: checked });
    assert_eq!(events[7], Event::Bye {});
    assert_eq!(events.len(), 8);
}

#[test]
fn what_is_listed_for_the_time_before_checks_is_executed_then() {
    let counted = |driver| {
        let (events, code) = events(driver, &[(&["a", "b"], Some("count")), (&["c"], None)]);
        assert_eq!(code, ExitCode::SUCCESS);
        events.iter().find_map(|event| match event {
            Event::Answer { rows, .. } => Some(rows.clone()),
            _ => None,
        })
    };
    assert_eq!(counted("c"), Some(vec![vec![Value::Integer(2)]]));
    assert_eq!(counted("waits"), Some(vec![vec![Value::Integer(3)]]));
}

#[test]
fn a_job_without_tests_is_a_probe() {
    let (events, code) = events("c", &[]);
    assert_eq!(code, ExitCode::SUCCESS);
    assert!(matches!(events[..], [Event::Hello(_), Event::Bye {}]));
}

#[test]
fn a_failed_statement_is_named_and_ends_the_trial() {
    let long = format!("fail {}", "ä".repeat(300));
    let (events, code) = events("c", &[(&["a"], None), (&["a", &long], None), (&["a"], None)]);
    assert_eq!(code, ExitCode::FAILURE);
    let failed = failure(&events);
    assert_eq!(failed.test.as_deref(), Some("2"));
    let start = failed.message.strip_prefix("statement 2 of 2 (fail ä").expect(&failed.message);
    assert!(start.ends_with("ä…): no such toy (code 7)"), "{start}");
    assert_eq!(start.matches('ä').count(), 194);
}

#[test]
fn what_fails_before_the_first_test_names_none() {
    let (events, _) = events("broken", &[(&["a"], None)]);
    assert_eq!(failure(&events), &Failed { test: None, message: "cannot open".into(), ..Failed::default() });
}

#[test]
fn a_panic_is_a_failure() {
    let (events, code) = events("c", &[(&["panic"], None)]);
    assert_eq!(code, ExitCode::FAILURE);
    let failed = failure(&events);
    assert_eq!(failed.test.as_deref(), Some("1"));
    assert!(failed.message.ends_with("the toy broke"));
}

#[test]
fn a_job_for_answers_only_executes_no_statement_of_a_test() {
    // The toy answers with the number of statements that its session has executed.
    let tests: &[(&[&str], Option<&str>)] = &[(&["a", "fail"], Some("b"))];
    let (events, code) = events_of("c", true, tests);
    assert_eq!(code, ExitCode::SUCCESS);
    let [Event::Hello(_), Event::Progress { .. }, Event::Answer { test, rows }, Event::Bye {}] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((test.as_str(), rows), ("1", &vec![vec![Value::Integer(0)]]));
}

#[test]
fn nobody_listening_is_no_panic() {
    struct Closed;
    impl io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    assert_eq!(run_with::<Toy>("nonsense".as_bytes(), Closed), ExitCode::FAILURE);
}
