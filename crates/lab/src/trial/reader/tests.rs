//! The contract's order, checked on events made by hand.

use dyno_protocol::{Build, Failed, MixWork, Sample, Section, Test, Value, Work};
use proptest::prelude::*;

use super::*;

fn job() -> Job {
    let test = |id: &str| Test {
        id: id.into(),
        setup: Vec::new(),
        work: Work::Statements { file: "x".into(), count: 1 },
        check: None,
    };
    let tests = vec![test("1"), test("2")];
    Job { tests, ..Job::new("sqlite", "c", Build::Bundled, "/".into()) }
}

fn hello() -> Event {
    Event::Hello(Hello {
        protocol: PROTOCOL,
        runner: "r".into(),
        engine_version: "1".into(),
        driver_version: "1".into(),
        build: Default::default(),
        settings: Vec::new(),
        read_back: Vec::new(),
    })
}

fn progress(test: &str) -> Event {
    Event::Progress { test: test.into() }
}

fn sample(test: &str) -> Event {
    Event::Sample(Sample {
        test: test.into(),
        section: Section { nanoseconds: 5, ..Section::default() },
        ..Sample::default()
    })
}

fn answer(test: &str, number: i64) -> Event {
    Event::Answer { test: test.into(), rows: vec![vec![Value::Integer(number)]] }
}

fn line(event: &Event) -> Vec<u8> {
    serde_json::to_vec(event).unwrap()
}

/// Reads events in order; the trial, or the first complaint.
fn read(events: &[Event]) -> Result<Trial, String> {
    let job = job();
    let mut reader = Reader::new(&job, None);
    for event in events {
        reader.read(&line(event), &mut |_| {})?;
    }
    match reader.trouble_at_end(true, || "ended".into()) {
        Some(trouble) => Err(trouble),
        None => Ok(reader.trial),
    }
}

#[test]
fn a_trial_in_order_is_kept_whole() {
    let trial = read(&[
        hello(),
        progress("1"),
        sample("1"),
        answer("1", 7),
        answer("1", 8),
        progress("2"),
        sample("2"),
        Event::Bye {},
    ])
    .unwrap();
    assert_eq!(trial.outcome, Outcome::Finished);
    assert_eq!((trial.samples.len(), trial.answers[0].rows, trial.answers[1].rows), (2, 2, 0));
}

#[test]
fn a_runner_waits_for_turns_only_where_there_are_some() {
    let waiting = |done| Event::Waiting(Waiting { done, of: 3, nanoseconds: 1 });
    let hear = |turns, events: &[Event]| {
        let mut reader = Reader::new(&Job { turns, ..job() }, None);
        events.iter().map(|event| reader.read(&line(event), &mut |_| {})).collect::<Result<Vec<_>, _>>()
    };
    let events = [hello(), progress("1"), waiting(0), waiting(2), sample("1"), progress("2"), waiting(0)];
    let heard = hear(true, &events).unwrap();
    let turns = heard.iter().filter(|heard| matches!(heard, EventMeaning::Waiting(_))).count();
    assert_eq!((heard.len(), turns), (7, 3));
    for (turns, bad) in [
        (false, vec![hello(), progress("1"), waiting(0)]),
        (true, vec![hello(), waiting(0)]),
        (true, vec![hello(), progress("1"), waiting(3)]),
        // It did nothing in its turn, and would wait for ever.
        (true, vec![hello(), progress("1"), waiting(1), waiting(1)]),
    ] {
        assert!(hear(turns, &bad).unwrap_err().contains("out of order"), "{bad:?}");
    }
}

#[test]
fn events_out_of_order_are_nonsense() {
    for events in [
        vec![progress("1")],
        vec![hello(), hello()],
        vec![hello(), sample("1")],
        vec![hello(), progress("2")],
        vec![hello(), progress("1"), sample("2")],
        vec![hello(), answer("1", 1)],
        vec![hello(), progress("1"), sample("1"), answer("2", 1)],
        vec![hello(), progress("1"), Event::Bye {}],
        vec![hello(), Event::Bye {}],
    ] {
        assert!(read(&events).unwrap_err().contains("out of order"), "{events:?}");
    }
}

#[test]
fn a_failure_keeps_the_samples_before_it() {
    let failed =
        Event::Failed(Failed { test: Some("2".into()), message: "no space".into(), ..Failed::default() });
    for end in [vec![], vec![Event::Bye {}]] {
        let mut events = vec![hello(), progress("1"), sample("1"), progress("2"), failed.clone()];
        events.extend(end);
        let trial = read(&events).unwrap();
        let outcome = Outcome::Failed { test: Some("2".into()), message: "no space".into() };
        assert_eq!((trial.samples.len(), trial.outcome), (1, outcome));
    }
}

#[test]
fn a_message_without_end_is_cut() {
    let failed = Event::Failed(Failed { message: "é".repeat(1 << 20), ..Failed::default() });
    let Outcome::Failed { message, .. } = read(&[hello(), failed]).unwrap().outcome else { panic!() };
    assert_eq!(message.chars().count(), LONGEST_MESSAGE + 1);
    assert!(message.ends_with('…'));
}

#[test]
fn a_runner_that_stops_early_is_found_out() {
    assert!(read(&[hello(), progress("1")]).unwrap_err().contains("in the middle of its work"));
    assert!(read(&[]).unwrap_err().contains("in the middle of its work"));
}

#[test]
fn another_protocol_is_reported() {
    let Event::Hello(mut other) = hello() else { unreachable!() };
    other.protocol = 99;
    assert!(read(&[Event::Hello(other)]).unwrap_err().contains("speaks protocol 99"));
}

#[test]
fn clients_of_several_processes_are_ready_and_then_done() {
    let part = Some(ClientPart { before: 1, of: 3 });
    let work = Work::Mix(MixWork { clients: 1, part, ..MixWork::default() });
    let test = Test { id: "1".into(), setup: Vec::new(), work, check: None };
    let job = Job { tests: vec![test], ..job() };
    let complaint = |events: &[Event]| {
        let mut reader = Reader::new(&job, None);
        let result = events.iter().try_for_each(|event| reader.read(&line(event), &mut |_| {}).map(drop));
        result.err().or_else(|| reader.trouble_at_end(true, || "ended".into()))
    };
    let ready = || Event::Ready(ClientsReady { clock_ns: 7 });
    let begun = [hello(), progress("1"), ready(), ready(), Event::Done {}];
    assert_eq!(complaint(&[&begun[..], &[sample("1"), Event::Bye {}]].concat()), None);
    for wrong in [vec![hello(), progress("1"), sample("1")], vec![hello(), progress("1"), Event::Done {}]] {
        assert!(complaint(&wrong).unwrap().contains("out of order"));
    }
    assert!(complaint(&[&begun[..], &[ready()]].concat()).unwrap().contains("out of order"));
    let early = complaint(&begun[..3]).unwrap();
    assert_eq!(early, "client 2 of 3, a separate process, stopped in the middle of its work: it ended");
}

proptest! {
    /// Whatever a runner writes, reading it ends in a complaint or an event, never a panic.
    #[test]
    fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let job = job();
        let _ = Reader::new(&job, None).read(&bytes, &mut |_| {});
    }

    /// The same for lines that are nearly events: a good one with a piece replaced.
    #[test]
    fn damaged_events_can_be_read(which in 0usize..6, at in 0usize..200, bytes in proptest::collection::vec(any::<u8>(), 0..8)) {
        let failed = Event::Failed(Failed { message: "x".into(), ..Failed::default() });
        let events = [hello(), progress("1"), sample("1"), answer("1", 3), failed, Event::Bye {}];
        let mut text = line(&events[which]);
        let at = at.min(text.len());
        let end = (at + bytes.len()).min(text.len());
        text.splice(at..end, bytes);
        let job = job();
        let mut reader = Reader::new(&job, None);
        let _ = reader.read(&line(&hello()), &mut |_| {});
        let _ = reader.read(&text, &mut |_| {});
    }
}
