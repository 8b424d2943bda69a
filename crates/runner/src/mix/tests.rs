//! Mixes by clients that are made of nothing.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Error, anyhow};
use dyno_protocol::{
    FieldKind, Hello, Job, Lasts, MixClass, MixStatement, MixWork, Purpose, Sample, StepField, StepFile,
};

use super::*;
use crate::clock::Clock;
use crate::trial::Bench;
use crate::{Answer, Engine, NoStore, Rows, Session};

/// What all clients have done, in order.
#[derive(Default)]
struct Log {
    lines: Mutex<Vec<String>>,
    tries: AtomicU64,
}

#[derive(Default)]
struct Toy(Arc<Log>);

struct Client(Arc<Log>);

struct Told<'s> {
    log: &'s Log,
    statements: Vec<Statement>,
}

impl Engine for Toy {
    type Session = Client;

    fn open(_: &Job) -> anyhow::Result<(Self, Hello)> {
        Err(anyhow!("it is open"))
    }

    fn session(&mut self) -> anyhow::Result<Client> {
        Ok(Client(self.0.clone()))
    }

    fn close(self) -> anyhow::Result<()> {
        Ok(())
    }
}

impl Rows for Client {}

impl Session for Client {
    type Store<'s> = NoStore;
    type Prepared<'s> = Told<'s>;

    fn prepare(&mut self, mix: &MixWork) -> anyhow::Result<Told<'_>> {
        Ok(Told { log: &self.0, statements: statements(mix, |place| format!("${place}")) })
    }
}

impl Told<'_> {
    fn tell(&self, what: &str) {
        self.log.lines.lock().unwrap().push(what.to_owned());
    }
}

impl Prepared for Told<'_> {
    fn run(&mut self, statement: usize, step: &Step, _: &mut Answer) -> anyhow::Result<()> {
        let Statement { sql, parameters } = &self.statements[statement];
        match sql.split('$').next().unwrap_or_default() {
            "panic" => panic!("the toy broke"),
            "fail" => return Err(anyhow!("no such toy")),
            "sleep" => std::thread::sleep(Duration::from_millis(5)),
            "busy" => return Err(anyhow!("busy")),
            // Two of three tries are in somebody's way.
            "crowded" if self.log.tries.fetch_add(1, Ordering::Relaxed) % 3 != 2 => {
                return Err(anyhow!("busy"));
            }
            _ => {}
        }
        let values: Vec<String> =
            parameters.iter().map(|field| format!("{:?}", step.value(*field))).collect();
        self.tell(&format!("{sql} {}", values.join(" ")));
        Ok(())
    }

    fn begin(&mut self, purpose: Purpose) -> anyhow::Result<()> {
        self.tell(&format!("begin {purpose:?}"));
        Ok(())
    }

    fn commit(&mut self) -> anyhow::Result<()> {
        self.tell("commit");
        Ok(())
    }

    fn rollback(&mut self) -> anyhow::Result<()> {
        self.tell("rollback");
        Ok(())
    }

    fn may_pass(&self, error: &Error) -> bool {
        error.to_string() == "busy"
    }
}

/// A mix of classes of one statement each, whose steps are (due, class).
fn mix(folder: &Path, classes: &[(&str, Option<Purpose>)], clients: u32, steps: &[&[(u64, u64)]]) -> MixWork {
    let class = |(text, transaction): &(&str, Option<Purpose>)| MixClass {
        name: text.split(' ').next().unwrap_or_default().to_owned(),
        transaction: *transaction,
        statements: vec![MixStatement { text: vec![(*text).to_owned(), String::new()], parameters: vec![0] }],
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
        fields: vec![StepField { name: "place".into(), kind: FieldKind::Integer, bytes: 8 }],
        clients,
        steps: steps.iter().enumerate().map(file).collect(),
        lasts: None,
        patience_ns: 50_000_000,
    }
}

/// Does it, and returns what is told of it and what the clients did.
fn done(mix: &MixWork) -> (anyhow::Result<Sample>, Vec<String>) {
    let mut engine = Toy::default();
    let log = engine.0.clone();
    let session = engine.session().unwrap();
    let clock = Clock::new(None);
    let (answer, ends) = (Answer::new(), Vec::new());
    let mut bench = Bench { session, engine, clock, answer, ends, latency: false };
    let sample = perform(mix, &mut bench);
    let lines = std::mem::take(&mut *log.lines.lock().unwrap());
    (sample, lines)
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
fn a_panic_is_told_and_nobody_waits_for_it() {
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
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), 100);
    let class = &sample.classes[0];
    for response in [&class.service, &class.wait, &class.late] {
        assert_eq!(response.histogram().unwrap().unwrap().len(), 100);
    }
}

#[test]
fn a_mix_that_lasts_a_time_begins_anew_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let lasts = Some(Lasts { duration_ns: 60_000_000, warm_up_ns: 20_000_000 });
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
}
