//! Mixes by clients that are made of nothing.

mod shared_threads;
mod toy;
mod wire;

use std::fs;
use std::path::Path;

use dyno_protocol::{
    Build, ClientPart, Event, Job, LoopSource, MixClass, MixLoop, MixRows, MixStatement, MixValue, MixWork,
    Purpose, Sample, StepField, StepFile, StepKind, StepList, TimeWindow,
};

use super::*;
use crate::clock::Clock;
use crate::orders::OrderSource;
use crate::system_clock::monotonic;
use crate::test_context::TestContext;
use crate::{Answer, Engine};
use toy::Toy;

/// A statement of a word and as many parameters.
fn statement(word: &str, parameters: Vec<MixValue>) -> MixStatement {
    let text = std::iter::once(word.to_owned()).chain(vec![String::new(); parameters.len()]).collect();
    MixStatement { text, parameters, ..MixStatement::default() }
}

/// A mix of classes of one statement each, whose steps are (due, class).
fn mix(folder: &Path, classes: &[(&str, Option<Purpose>)], clients: u32, steps: &[&[(u64, u64)]]) -> MixWork {
    let class = |(text, transaction): &(&str, Option<Purpose>)| MixClass {
        name: text.split(' ').next().unwrap_or_default().to_owned(),
        transaction: *transaction,
        statements: vec![statement(text, vec![MixValue::Field(0)])],
        ..MixClass::default()
    };
    let file = |(place, steps): (usize, &&[(u64, u64)])| {
        let file = folder.join(format!("{place}.steps"));
        let step =
            |(place, (due, class)): (u64, &(u64, u64))| [*due, *class, place].map(u64::to_le_bytes).concat();
        fs::write(&file, (0..).zip(steps.iter()).flat_map(step).collect::<Vec<u8>>()).unwrap();
        StepFile { file, count: steps.len() as u64 }
    };
    MixWork {
        classes: classes.iter().map(class).collect(),
        fields: vec![StepField { name: "place".into(), kind: StepKind::Integer, bytes: 8 }],
        clients,
        steps: steps.iter().enumerate().map(file).collect(),
        patience_ns: 50_000_000,
        ..MixWork::default()
    }
}

/// Runs it. Returns its sample and the actions of the clients.
fn done(mix: &MixWork) -> (anyhow::Result<Sample>, Vec<String>) {
    let engine = Toy::default();
    let log = engine.0.clone();
    let sample = done_by(mix, engine);
    let lines = std::mem::take(&mut *log.lines.lock().unwrap());
    (sample, lines)
}

/// Runs it on an engine.
fn done_by<E: Engine>(mix: &MixWork, engine: E) -> anyhow::Result<Sample> {
    done_as_ordered(mix, engine, &[])
}

/// The same with the orders that come, if it is the part of a process.
fn done_as_ordered<E: Engine>(mix: &MixWork, mut engine: E, orders: &[u8]) -> anyhow::Result<Sample> {
    let session = engine.session().unwrap();
    let clock = Clock::new(&[]);
    let (answer, ends) = (Answer::new(), Vec::new());
    let job = Job::new("toy", "rust", Build::Bundled, "/".into());
    let (mut input, send) = (orders, |_: &Event| Ok(()));
    let orders = &OrderSource::new(&mut input, &send);
    let mut bench = TestContext { session, engine, job: &job, clock, orders, answer, ends, latency: false };
    perform(mix, &mut bench)
}

fn counts(sample: &Sample) -> Vec<(u64, u64, u64)> {
    sample.classes.iter().map(|class| (class.done, class.failed, class.retried)).collect()
}

#[test]
fn statements_have_placeholders_and_values() {
    let folder = tempfile::tempdir().unwrap();
    let classes = [("get ", None), ("put ", Some(Purpose::Write))];
    let (sample, lines) = done(&mix(folder.path(), &classes, 1, &[&[(0, 1), (0, 0)]]));
    assert_eq!(lines, ["begin Write", "put $1 Integer(0)", "commit", "get $1 Integer(1)"]);
    let sample = sample.unwrap();
    assert_eq!((counts(&sample), sample.operations), (vec![(1, 0, 0), (1, 0, 0)], 2));
    assert!(sample.ticks.is_empty());
}

#[test]
fn what_is_in_somebodys_way_is_tried_again_and_undone_before() {
    let folder = tempfile::tempdir().unwrap();
    let (sample, lines) = done(&mix(folder.path(), &[("crowded", Some(Purpose::Read))], 1, &[&[(0, 0); 2]]));
    assert_eq!(counts(&sample.unwrap()), [(2, 0, 4)]);
    let one =
        ["begin Read", "rollback", "begin Read", "rollback", "begin Read", "crowded$1 Integer", "commit"];
    assert_eq!(lines.len(), 2 * one.len());
    assert!(lines.iter().zip(one.iter().cycle()).all(|(line, start)| line.starts_with(start)), "{lines:?}");
}

#[test]
fn what_never_succeeds_is_counted_when_patience_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (sample, _) =
        done(&mix(folder.path(), &[("busy", None), ("get", None)], 2, &[&[(0, 0), (0, 1)], &[(0, 1)]]));
    let counts = counts(&sample.unwrap());
    assert_eq!((counts[0].0, counts[0].1, counts[1]), (0, 1, (2, 0, 0)));
    assert!(counts[0].2 > 0);
}

#[test]
fn any_other_failure_ends_the_mix_and_names_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let get: Vec<(u64, u64)> = vec![(0, 1); 3];
    let mix = mix(folder.path(), &[("fail", None), ("sleep", None)], 3, &[&get, &[(0, 1), (0, 0)], &get]);
    let said = format!("{:#}", done(&mix).0.unwrap_err());
    assert_eq!(said, "client 2: class fail: no such toy");
}

#[test]
fn a_panic_is_reported_and_no_client_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let mix = mix(folder.path(), &[("panic", None), ("get", None)], 2, &[&[(0, 1)], &[(0, 0)]]);
    let said = done(&mix).0.unwrap_err().to_string();
    assert!(said.contains("a client panicked"), "{said}");
}

#[test]
fn steps_that_are_shared_are_done_once_and_not_before_they_are_due() {
    let folder = tempfile::tempdir().unwrap();
    let steps: Vec<(u64, u64)> = (1..=100).map(|place| (place * 200_000, 0)).collect();
    let (sample, mut lines) = done(&mix(folder.path(), &[("get ", None)], 4, &[&steps]));
    let sample = sample.unwrap();
    assert_eq!(counts(&sample), [(100, 0, 0)]);
    assert!(sample.section.nanoseconds >= 20_000_000);
    lines.retain(|line| line != "leave");
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), 100);
    let class = &sample.classes[0];
    for response in [&class.service, &class.wait, &class.late] {
        assert_eq!(response.histogram().unwrap().unwrap().len(), 100);
    }
}

#[test]
fn what_was_due_before_a_late_order_has_waited() {
    let folder = tempfile::tempdir().unwrap();
    let steps: Vec<(u64, u64)> = (1..=10).map(|place| (place * 1_000_000, 0)).collect();
    let part = Some(ClientPart { before: 0, of: 2 });
    let mix = MixWork { part, ..mix(folder.path(), &[("get ", None)], 1, &[&steps]) };
    let begin = monotonic() - 200_000_000;
    let orders = format!("{{\"order\":\"begin\",\"at_ns\":{begin}}}\n{{\"order\":\"go-on\"}}\n");
    let sample = done_as_ordered(&mix, Toy::default(), orders.as_bytes()).unwrap();
    let class = &sample.classes[0];
    for response in [&class.response, &class.wait] {
        let times = response.histogram().unwrap().unwrap();
        assert!(times.len() == 10 && times.min() >= 180_000_000, "{}", times.min());
    }
}

#[test]
fn a_mix_that_lasts_a_time_begins_anew_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let lasts = Some(TimeWindow { duration_ns: 60_000_000, warm_up_ns: 20_000_000 });
    let mix = MixWork { lasts, ..mix(folder.path(), &[("sleep", None)], 2, &[&[(0, 0); 2], &[(0, 0); 3]]) };
    let (sample, lines) = done(&mix);
    let sample = sample.unwrap();
    assert_eq!(sample.section.nanoseconds, 60_000_000);
    assert!(
        sample.operations > 4 && (lines.len() as u64) > sample.operations,
        "{} {}",
        sample.operations,
        lines.len()
    );
    assert_eq!(sample.ticks.len(), 1);
    assert_eq!(sample.ticks[0].classes[0].done, sample.operations);
    // Steps of the warm-up count too, but no step twice.
    assert_eq!(sample.classes[0].acknowledged, 5);
}

/// A mix that lasts 300 ms.
fn lasting(mix: MixWork) -> MixWork {
    MixWork { lasts: Some(TimeWindow { duration_ns: 300_000_000, warm_up_ns: 0 }), ..mix }
}

#[test]
fn what_is_due_and_not_done_at_the_end_counts_with_its_age() {
    let folder = tempfile::tempdir().unwrap();
    // Each takes five milliseconds, so that one client cannot do all of them in time.
    let steps: Vec<(u64, u64)> =
        [(1, 0), (200_000_000, 0)].into_iter().flat_map(|step| vec![step; 50]).collect();
    let late = (400_000_000, 0);
    let steps = [&steps[..], &[late]].concat();
    for clients in [1, 2] {
        let (sample, _) = done(&lasting(mix(folder.path(), &[("sleep", None)], clients, &[&steps])));
        let class = sample.unwrap().classes.remove(0);
        let ages = class.unfinished.histogram().unwrap().unwrap();
        assert_eq!(class.done + ages.len(), 100, "{class:?}");
        // The last of them was due 100 ms before the end, and none has waited longer than the section lasted.
        assert!(ages.count_between(99_900_000, 100_100_000) >= 1 && ages.max() < 300_200_000);
    }
}

#[test]
fn what_is_under_way_at_the_end_counts_with_its_age() {
    let folder = tempfile::tempdir().unwrap();
    let classes = [("get ", None), ("hang", None)];
    let (sample, _) = done(&lasting(mix(folder.path(), &classes, 1, &[&[(0, 0), (0, 1)]])));
    let sample = sample.unwrap();
    assert_eq!(counts(&sample), [(1, 0, 0), (0, 0, 0)]);
    let ages: Vec<u64> = sample
        .classes
        .iter()
        .flat_map(|class| class.unfinished.histogram().unwrap())
        .map(|ages| ages.len())
        .collect();
    assert_eq!(ages, [1]);
    // In one hundredth of the second an operation succeeded.
    assert_eq!(sample.ticks[0].succeeded().unwrap().count_ones(), 1);
}

#[test]
fn the_cpu_time_of_many_clients_is_counted_from_their_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let steps = [(0, 0)];
    let mix = lasting(mix(folder.path(), &[("spin", None)], 400, &vec![&steps[..]; 400]));
    let sample = done(&mix).0.unwrap();
    let client = sample.section.client;
    // Each operation takes a millisecond of a processor.
    let least = sample.operations * 1_000_000;
    assert!(client.user_ns + client.system_ns >= least / 10 * 9, "{client:?} for {least} ns of work");
}

/// A class whose statements depend on each other, and steps of how many items a list has and the items.
fn chained(folder: &Path, statements: Vec<MixStatement>, loops: Vec<MixLoop>, steps: &[[u64; 4]]) -> MixWork {
    let mut mix = mix(folder, &[("class", Some(Purpose::Write))], 1, &[&[(0, 0)]]);
    let file = &mut mix.steps[0];
    let bytes = steps.iter().flatten().flat_map(|number| number.to_le_bytes());
    let step = |fields: &[u8]| [&[0; 16], fields].concat();
    let bytes: Vec<u8> = bytes.collect::<Vec<u8>>().chunks(32).flat_map(step).collect();
    fs::write(&file.file, bytes).unwrap();
    file.count = steps.len() as u64;
    let field = |name: &str| StepField { name: name.into(), kind: StepKind::Integer, bytes: 8 };
    mix.fields = ["undo", "count", "item 1", "item 2"].map(field).into();
    mix.lists = vec![StepList { name: "list".into(), count: 1, first: 2, columns: 1, most: 2 }];
    mix.classes[0].statements = statements;
    mix.classes[0].loops = loops;
    mix.classes[0].rollback_if = Some(0);
    mix
}

fn keeping(statement: MixStatement, all: bool, may_miss: bool) -> MixStatement {
    MixStatement { keeps: Some(MixRows { columns: 2, all, may_miss }), ..statement }
}

#[test]
fn rows_and_items_are_parameters_of_statements_that_are_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let row = |column| MixValue::Row { statement: 0, column };
    let statements = vec![
        keeping(statement("rows", vec![]), true, false),
        statement("for ", vec![MixValue::Item { item: 0 }, row(1)]),
        statement("each ", vec![row(0)]),
        statement("after ", vec![row(0)]),
    ];
    let each = |first, over| MixLoop { first, count: 1, over };
    let loops = vec![each(1, LoopSource::List(0)), each(2, LoopSource::Rows(0))];
    let mix = chained(folder.path(), statements, loops, &[[0, 2, 8, 9], [1, 0, 0, 0]]);
    let (sample, lines) = done(&mix);
    let words = "Text([115, 111, 109, 101, 32, 119, 111, 114, 100, 115])";
    let first = [
        "begin Write",
        "rows ",
        &format!("for $1$2 Integer(8) {words}"),
        &format!("for $1$2 Integer(9) {words}"),
        "each $1 Integer(0)",
        "each $1 Integer(1)",
        "after $1 Integer(0)",
        "commit",
    ];
    // The second has no items, and is rolled back at its end.
    let second = [
        "begin Write",
        "rows ",
        "each $1 Integer(0)",
        "each $1 Integer(1)",
        "after $1 Integer(0)",
        "rollback",
    ];
    assert_eq!(lines, [&first[..], &second].concat());
    let class = &sample.unwrap().classes[0];
    assert_eq!((class.done, class.undone, class.failed), (2, 1, 0));
}

#[test]
fn a_row_that_is_missing_fails_the_operation_unless_it_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let row = |statement| MixValue::Row { statement, column: 0 };
    let statements = |may_miss| {
        vec![
            keeping(statement("none ", vec![]), false, may_miss),
            keeping(statement("some ", vec![row(0)]), false, false),
            statement("use ", vec![row(1)]),
            statement("always ", vec![MixValue::Field(1)]),
        ]
    };
    let mix = |may_miss| chained(folder.path(), statements(may_miss), vec![], &[[0, 0, 0, 0]]);
    let (sample, lines) = done(&mix(true));
    assert_eq!(lines, ["begin Write", "none  ", "always $1 Integer(0)", "commit"]);
    assert_eq!(counts(&sample.unwrap()), [(1, 0, 0)]);
    let (sample, lines) = done(&mix(false));
    assert_eq!(lines, ["begin Write", "none  ", "rollback"]);
    let said = sample.unwrap_err().to_string();
    assert_eq!(said, "no operation succeeded within the time: no row came of none ");
}

#[test]
fn a_class_that_names_what_is_not_there_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let row = MixValue::Row { statement: 0, column: 0 };
    for (statements, loops) in [
        (vec![statement("", vec![row])], vec![]),
        (vec![statement("", vec![]), statement("", vec![row])], vec![]),
        (vec![statement("", vec![MixValue::Item { item: 0 }])], vec![]),
        (vec![statement("", vec![MixValue::Field(4)])], vec![]),
        (vec![statement("", vec![])], vec![MixLoop { first: 0, count: 2, over: LoopSource::List(0) }]),
        (vec![statement("", vec![])], vec![MixLoop { first: 0, count: 1, over: LoopSource::Rows(0) }]),
    ] {
        let mix = chained(folder.path(), statements, loops, &[[0, 0, 0, 0]]);
        let said = done(&mix).0.unwrap_err().to_string();
        assert!(said.ends_with("this is an error in dyno"), "{said}");
    }
    let long = chained(folder.path(), vec![], vec![], &[[0, 3, 0, 0]]);
    let said = done(&long).0.unwrap_err().to_string();
    assert_eq!(said, "the list list of step 0 has more than 2 items");
}

#[test]
fn a_client_thinks_before_a_step() {
    let folder = tempfile::tempdir().unwrap();
    let statements = || vec![statement("get ", vec![MixValue::Field(1)])];
    let mut mix = chained(folder.path(), statements(), vec![], &[[0, 0, 3_000_000, 0]; 2]);
    mix.think = Some(2);
    let (sample, lines) = done(&mix);
    assert_eq!((sample.unwrap().section.nanoseconds >= 6_000_000, lines.len()), (true, 6));
    mix.think = Some(4);
    let said = done(&mix).0.unwrap_err().to_string();
    assert!(said.starts_with("clients think by a field that is not there"), "{said}");
}

#[test]
fn a_session_connects_does_its_steps_and_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let classes = [("never ", None), ("get ", None), ("put ", Some(Purpose::Write))];
    let steps = [(1_000_000, 1), (0, 2), (2_000_000, 1), (0, 1)];
    let mix = MixWork { session: Some(2), ..mix(folder.path(), &classes, 1, &[&steps]) };
    let (sample, lines) = done(&mix);
    let reported = [
        "aside",
        "connect",
        "get $1 Integer(0)",
        "begin Write",
        "put $1 Integer(1)",
        "commit",
        "leave",
        "connect",
        "get $1 Integer(2)",
        "get $1 Integer(3)",
        "leave",
    ];
    assert_eq!(lines, reported);
    let sample = sample.unwrap();
    // Four operations, besides connecting twice.
    assert_eq!((sample.operations, counts(&sample)), (4, vec![(0, 0, 0), (3, 0, 0), (1, 0, 0), (2, 0, 0)]));
    let connect = &sample.classes[3];
    assert_eq!(connect.class, "connect");
    assert_eq!(connect.late.histogram().unwrap().unwrap().len(), 2);
    // Only a session is due at a time.
    assert!(sample.classes[1].wait.is_empty() && !sample.classes[1].response.is_empty());
}

#[test]
fn steps_that_are_no_sessions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (each, steps, why) in [
        (2, vec![(1, 0)], "1 steps in sessions of 2"),
        (1, vec![(1, 0), (0, 0)], "session 1 is due at no time"),
    ] {
        let mix = MixWork { session: Some(each), ..mix(folder.path(), &[("get", None)], 1, &[&steps]) };
        let said = done(&mix).0.unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    }
}
