//! The checks of mixes: with many clients, no operation is lost or done twice.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use dyno_lab::trial::Trial;
use dyno_protocol::{
    CONNECT, ClientPart, MixClass, MixStatement, MixValue, MixWork, Pause, Purpose, StepField, StepFile,
    StepKind, Test, TimeWindow, Value, Work,
};

use super::duty::{Duty, Needs};
use super::script::{Script, answered, failed, finished};

/// Every check with the duty that it looks at.
pub const ALL: [Duty; 9] = [
    ("clients do all of their steps, each once", Needs::StoredClients, every_step),
    ("clients that share their steps do each of them once, when it is due", Needs::StoredClients, shared),
    ("a mix ends when its time is up", Needs::Clients, timed),
    ("clients that are in each other's way go on", Needs::StoredClients, crowded),
    ("clients that come and go connect for each session and do its steps", Needs::Sessions, sessions),
    ("clients that are processes do all of their steps, each once", Needs::Processes, processes),
    ("clients that are processes share their steps", Needs::Processes, shared_by_processes),
    ("a client pauses within its operation as long as it is to", Needs::StoredClients, paused),
    ("a failed operation is reported with its client and class", Needs::StoredClients, refused),
];

pub(super) const CLIENTS: u32 = 3;
/// All clients, which dyno divides among processes.
const ALL_CLIENTS: Option<ClientPart> = Some(ClientPart { before: 0, of: CLIENTS });
/// Steps of each client.
pub(super) const STEPS: u64 = 40;
pub(super) const CREATE: [&str; 3] = [
    "CREATE TABLE account(id INTEGER NOT NULL PRIMARY KEY, balance INTEGER NOT NULL)",
    "CREATE TABLE moved(id INTEGER NOT NULL, client INTEGER NOT NULL, note VARCHAR(8) NOT NULL)",
    "INSERT INTO account VALUES(1, 0), (2, 0)",
];
/// The result of all clients together: money is moved back and forth, and each move is recorded once.
const CHECK: &str = "SELECT (SELECT sum(balance) FROM account), (SELECT count(*) FROM moved), \
                     (SELECT count(*) FROM moved WHERE note = 'abc'), (SELECT sum(client) FROM moved)";

/// A mix of two classes: one moves money in a transaction, the other looks. All lock the first account first: a server may
/// take a second to see that two wait for each other.
pub(super) fn mix(
    folder: &Path,
    clients: u32,
    files: usize,
    steps: u64,
    due: impl Fn(u64) -> u64,
) -> Result<MixWork> {
    let field = |name: &str, kind, bytes| StepField { name: name.to_owned(), kind, bytes };
    let file = |number: usize| -> Result<StepFile> {
        let file = folder.join(format!("{number}.steps"));
        let step = |place: u64| {
            let class = place % 2;
            let numbers = [due(place), class, 1 + place / 2 % 2, 7, number as u64];
            // A text of three bytes where there is room for five.
            [&numbers.map(u64::to_le_bytes).concat()[..], &3_u64.to_le_bytes(), b"abc??"].concat()
        };
        fs::write(&file, (0..steps).map(step).collect::<Vec<_>>().concat())?;
        Ok(StepFile { file, count: steps })
    };
    Ok(MixWork {
        classes: classes(),
        fields: vec![
            field("id", StepKind::Integer, 8),
            field("sum", StepKind::Integer, 8),
            field("client", StepKind::Integer, 8),
            field("note", StepKind::VaryingText, 13),
        ],
        clients,
        steps: (1..=files).map(file).collect::<Result<_>>()?,
        patience_ns: 20_000_000_000,
        ..MixWork::default()
    })
}

fn classes() -> Vec<MixClass> {
    let statement = |text: &[&str], parameters: &[usize]| MixStatement {
        text: text.iter().map(|piece| (*piece).to_owned()).collect(),
        parameters: parameters.iter().map(|field| MixValue::Field(*field)).collect(),
        ..MixStatement::default()
    };
    let add = ["UPDATE account SET balance = balance + ", " WHERE id = 1 + 0 * ", ""];
    let subtract = ["UPDATE account SET balance = balance - ", " WHERE id = 2 + 0 * ", ""];
    let insert = ["INSERT INTO moved VALUES(", ", ", ", ", ")"];
    let moves = MixClass {
        name: "move".into(),
        transaction: Some(Purpose::Write),
        statements: vec![
            statement(&add, &[1, 0]),
            statement(&subtract, &[1, 0]),
            statement(&insert, &[0, 2, 3]),
        ],
        ..MixClass::default()
    };
    let look = MixClass {
        name: "look".into(),
        transaction: None,
        statements: vec![statement(&["SELECT balance FROM account WHERE id = ", ""], &[0])],
        ..MixClass::default()
    };
    vec![moves, look]
}

/// A trial of a mix between two tables that are empty but for two accounts.
pub(super) fn run(script: &Script, make: impl FnOnce(&Path) -> Result<MixWork>) -> Result<Trial> {
    script.run_changed(&[(&CREATE, None)], |job, folder| {
        let check = (!script.contender.engine.harness).then(|| script.without_table(CHECK));
        job.tests.push(Test { id: "2".into(), setup: Vec::new(), work: Work::Mix(make(folder)?), check });
        Ok(())
    })
}

/// Each class of the sample must report this number of operations, and as many durations.
pub(super) fn did(trial: &Trial, wanted: [u64; 2]) -> Result<()> {
    finished(trial)?;
    let sample = &trial.samples[1];
    let names: Vec<&str> = sample.classes.iter().map(|class| class.class.as_str()).collect();
    ensure!(names == ["move", "look"], "the classes are {names:?}");
    for (class, wanted) in sample.classes.iter().zip(wanted) {
        let timed = class.response.histogram()?.map_or(0, |histogram| histogram.len());
        ensure!(
            (class.done, timed, class.failed, class.acknowledged) == (wanted, wanted, 0, wanted),
            "class {} says {} done, {timed} timed, {} failed and {} acknowledged, and there were {wanted}",
            class.class,
            class.done,
            class.failed,
            class.acknowledged
        );
    }
    let all: u64 = wanted.iter().sum();
    ensure!(sample.operations == all, "the sample says {} operations of {all}", sample.operations);
    Ok(())
}

pub(super) fn row(numbers: &[i64]) -> Vec<Vec<Value>> {
    vec![numbers.iter().map(|number| Value::Integer(*number)).collect()]
}

fn every_step(script: &Script) -> Result<()> {
    let trial = run(script, |folder| mix(folder, CLIENTS, CLIENTS as usize, STEPS, |_| 0))?;
    let moved = u64::from(CLIENTS) * STEPS / 2;
    did(&trial, [moved, moved])?;
    // The clients have the numbers 1, 2 and 3.
    let moved = moved as i64;
    answered(&trial, 2, &row(&[0, moved, moved, moved * 2]))
}

fn shared(script: &Script) -> Result<()> {
    // A step every two milliseconds.
    let trial = run(script, |folder| mix(folder, CLIENTS, 1, STEPS, |place| 2_000_000 * (place + 1)))?;
    let moved = STEPS / 2;
    did(&trial, [moved, moved])?;
    for class in &trial.samples[1].classes {
        for (name, response) in [("service", &class.service), ("wait", &class.wait), ("late", &class.late)] {
            let timed = response.histogram()?.map_or(0, |histogram| histogram.len());
            ensure!(timed == moved, "class {} has {timed} durations of `{name}`, of {moved}", class.class);
        }
    }
    let least = 2_000_000 * STEPS;
    let took = trial.samples[1].section.nanoseconds;
    ensure!(took >= least, "the last step was due after {least} ns, and the section took {took} ns");
    let moved = moved as i64;
    answered(&trial, 2, &row(&[0, moved, moved, moved]))
}

fn sessions(script: &Script) -> Result<()> {
    // Ten sessions of four steps, one every four milliseconds.
    let due = |place| if place % 4 == 0 { 1_000_000 * (place + 1) } else { 0 };
    let mut trial =
        run(script, |folder| Ok(MixWork { session: Some(4), ..mix(folder, CLIENTS, 1, STEPS, due)? }))?;
    finished(&trial)?;
    let classes = &mut trial.samples[1].classes;
    let connect = classes.pop().filter(|class| class.class == CONNECT);
    let connect = connect.with_context(|| format!("the last class is not {CONNECT}"))?;
    for (name, response) in
        [("response", &connect.response), ("wait", &connect.wait), ("late", &connect.late)]
    {
        let timed = response.histogram()?.map_or(0, |histogram| histogram.len());
        ensure!(timed == STEPS / 4 && connect.done == timed, "{CONNECT} has {timed} durations of `{name}`");
    }
    let moved = STEPS / 2;
    did(&trial, [moved, moved])?;
    let moved = moved as i64;
    answered(&trial, 2, &row(&[0, moved, moved, moved]))
}

fn processes(script: &Script) -> Result<()> {
    let make = |folder: &Path| {
        Ok(MixWork { part: ALL_CLIENTS, ..mix(folder, CLIENTS, CLIENTS as usize, STEPS, |_| 0)? })
    };
    let trial = run(script, make)?;
    let moved = u64::from(CLIENTS) * STEPS / 2;
    did(&trial, [moved, moved])?;
    let moved = moved as i64;
    answered(&trial, 2, &row(&[0, moved, moved, moved * 2]))
}

fn shared_by_processes(script: &Script) -> Result<()> {
    let make = |folder: &Path| {
        Ok(MixWork { part: ALL_CLIENTS, ..mix(folder, CLIENTS, 1, STEPS, |place| 2_000_000 * (place + 1))? })
    };
    let trial = run(script, make)?;
    let moved = STEPS / 2;
    did(&trial, [moved, moved])?;
    let moved = moved as i64;
    answered(&trial, 2, &row(&[0, moved, moved, moved]))
}

fn timed(script: &Script) -> Result<()> {
    let lasts = TimeWindow { duration_ns: 1_200_000_000, warm_up_ns: 100_000_000 };
    let make = |folder: &Path| {
        Ok(MixWork { lasts: Some(lasts), ..mix(folder, CLIENTS, CLIENTS as usize, STEPS, |_| 0)? })
    };
    let trial = run(script, make)?;
    finished(&trial)?;
    let sample = &trial.samples[1];
    ensure!(
        sample.section.nanoseconds == lasts.duration_ns,
        "the section took {} ns and not {}",
        sample.section.nanoseconds,
        lasts.duration_ns
    );
    let ends: Vec<u64> = sample.ticks.iter().map(|tick| tick.ended_ns).collect();
    ensure!(ends == [1_000_000_000, lasts.duration_ns], "the ticks end at {ends:?}");
    let done = |classes: &[dyno_protocol::Class]| classes.iter().map(|class| class.done).sum::<u64>();
    let in_ticks: u64 = sample.ticks.iter().map(|tick| done(&tick.classes)).sum();
    ensure!(
        sample.operations > 0 && in_ticks == sample.operations && done(&sample.classes) == in_ticks,
        "{} operations, {in_ticks} of them in ticks, {} in classes",
        sample.operations,
        done(&sample.classes)
    );
    if script.contender.engine.harness {
        return Ok(());
    }
    // More was done than was counted: while the clients warmed up, and at the end.
    let answer = &trial.answers[1].kept;
    let count = |place: usize| match answer.first().and_then(|row| row.get(place)) {
        Some(Value::Integer(count)) => *count,
        _ => -1,
    };
    let counted = sample.classes[0].done as i64;
    ensure!(
        count(0) == 0 && count(1) >= counted && count(1) == count(2),
        "{counted} moves are counted, and the tables say {answer:?}"
    );
    Ok(())
}

fn crowded(script: &Script) -> Result<()> {
    // All move between the same two accounts, in one order and in the other: some engines end one of two that wait for
    // each other, and it tries again. A server may take a second to detect such a deadlock, so the operations are few.
    let trial = run(script, |folder| {
        let mut mix = mix(folder, 4, 4, 4, |_| 0)?;
        mix.classes[0].statements[0].text[1] = " WHERE id = ".into();
        mix.classes[0].statements[1].text[1] = " WHERE id = 3 - ".into();
        Ok(mix)
    })?;
    did(&trial, [8, 8])?;
    answered(&trial, 2, &row(&[0, 8, 8, 20]))
}

fn paused(script: &Script) -> Result<()> {
    const PAUSE: u64 = 5_000_000;
    let trial = run(script, |folder| {
        let mut mix = mix(folder, CLIENTS, CLIENTS as usize, 4, |_| 0)?;
        // Between two statements, and before the commit.
        mix.classes[0].pauses = [1, 3].map(|before| Pause { before, nanoseconds: PAUSE }).into();
        Ok(mix)
    })?;
    let moved = u64::from(CLIENTS) * 2;
    did(&trial, [moved, moved])?;
    let times = trial.samples[1].classes[0].response.histogram()?.context("nothing was timed")?;
    // A histogram of three digits keeps a time to a thousandth.
    ensure!(
        times.min() >= 2 * PAUSE / 1000 * 999,
        "an operation with two pauses of {PAUSE} ns took {} ns",
        times.min()
    );
    let moved = moved as i64;
    answered(&trial, 2, &row(&[0, moved, moved, moved * 2]))
}

fn refused(script: &Script) -> Result<()> {
    let trial = run(script, |folder| {
        let mut mix = mix(folder, 2, 2, STEPS, |_| 0)?;
        mix.classes[1].statements[0].text[0] = "INSERT INTO account VALUES(1, ".into();
        mix.classes[1].statements[0].text[1] = ")".into();
        Ok(mix)
    })?;
    failed(&trial, Some("2"), &["client ", "look"])?;
    ensure!(trial.samples.len() == 1, "a mix that failed has a sample");
    Ok(())
}
