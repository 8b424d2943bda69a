//! The checks of mixes on stores of keys and values: what clients put is there, whole, and each was asked once.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use dyno_protocol::{
    KeyKind, MixClass, MixRows, MixStatement, MixValue, MixWork, Purpose, StepField, StepFile, StepKind,
    Store, StoreCount, StoreDoes, StoreInvariant, Test, Value, Work,
};

use super::duty::{Duty, Needs};
use super::script::{Script, answered, finished};

/// Every check with the duty that it looks at.
pub const ALL: [Duty; 2] = [
    ("clients of a store do all of their steps, each once", Needs::StoreClients, every_step),
    ("what breaks an invariant of a store is counted", Needs::StoreClients, broken),
];

const CLIENTS: u64 = 3;
/// Steps of each client, a quarter of each class.
const STEPS: u64 = 40;
/// The number of letters of a value, all alike.
const LETTERS: u64 = 6;

/// Puts, gets, ranges, and values that are read and put back changed. `key` is of a client's step.
fn mix(folder: &Path, key: impl Fn(u64, u64) -> u64) -> Result<MixWork> {
    let statement = |does, parameters: &[usize]| MixStatement {
        text: vec![" ".to_owned(); parameters.len() + 1],
        parameters: parameters.iter().map(|field| MixValue::Field(*field)).collect(),
        keeps: None,
        does: Some(does),
    };
    let class = |name: &str, transaction, statements| MixClass {
        name: name.to_owned(),
        transaction,
        statements,
        ..MixClass::default()
    };
    let read = MixStatement {
        keeps: Some(MixRows { columns: 1, ..MixRows::default() }),
        ..statement(StoreDoes::Get, &[1])
    };
    let file = |client: u64| -> Result<StepFile> {
        let file = folder.join(format!("{client}.steps"));
        let step = |place: u64| {
            // The first step puts the key that others read.
            let numbers = [0, place % 4, key(client, place), key(client, 0), 5];
            let letter = b'a' + (client % 26) as u8;
            [&numbers.map(u64::to_le_bytes).concat()[..], &[letter; LETTERS as usize]].concat()
        };
        fs::write(&file, (0..STEPS).map(step).collect::<Vec<_>>().concat())?;
        Ok(StepFile { file, count: STEPS })
    };
    let field = |name: &str, kind, bytes| StepField { name: name.to_owned(), kind, bytes };
    Ok(MixWork {
        classes: vec![
            class("put", None, vec![statement(StoreDoes::Put, &[0, 3])]),
            class("get", None, vec![read.clone()]),
            class("range", None, vec![statement(StoreDoes::Range, &[1, 2])]),
            class("change", Some(Purpose::Write), vec![read, statement(StoreDoes::Put, &[1, 3])]),
        ],
        fields: vec![
            field("key", StepKind::Integer, 8),
            field("first", StepKind::Integer, 8),
            field("length", StepKind::Integer, 8),
            field("value", StepKind::Text, LETTERS),
        ],
        clients: CLIENTS as u32,
        steps: (0..CLIENTS).map(file).collect::<Result<_>>()?,
        patience_ns: 20_000_000_000,
        store: Some(Store { name: "records".into(), key: KeyKind::Integer }),
        ..MixWork::default()
    })
}

/// Does a mix, and expects this number of violations of each invariant, and all steps in their classes.
fn holds(script: &Script, key: impl Fn(u64, u64) -> u64, invariants: Vec<(StoreCount, i64)>) -> Result<()> {
    let says = |place: usize| format!("invariant {place}");
    let numbered = invariants.iter().zip(1..);
    let numbered = numbered.map(|((counts, _), place)| StoreInvariant { says: says(place), counts: *counts });
    let trial = script.run_tests(|folder| {
        let mix = MixWork { invariants: numbered.collect(), ..mix(folder, key)? };
        Ok(vec![Test { id: "1".into(), setup: Vec::new(), work: Work::Mix(mix), check: None }])
    })?;
    finished(&trial)?;
    for class in &trial.samples[0].classes {
        let wanted = CLIENTS * STEPS / 4;
        ensure!(
            (class.done, class.failed) == (wanted, 0),
            "class {} says {} done and {} failed, and there were {wanted}",
            class.class,
            class.done,
            class.failed
        );
    }
    let row = |((_, broken), place): (&(StoreCount, i64), usize)| {
        vec![Value::Integer(place as i64), Value::Text(says(place)), Value::Integer(*broken)]
    };
    answered(&trial, 1, &invariants.iter().zip(1..).map(row).collect::<Vec<_>>())
}

/// The numbers from 1 on, of which each client has every third.
fn in_turns(client: u64, place: u64) -> u64 {
    1 + client + CLIENTS * (place / 4)
}

fn every_step(script: &Script) -> Result<()> {
    let last = (CLIENTS * STEPS / 4) as i64;
    let step = CLIENTS as i64;
    holds(
        script,
        in_turns,
        vec![
            (StoreCount::Torn { times: LETTERS }, 0),
            (StoreCount::Missing { from: 1, to: last }, 0),
            (StoreCount::Gaps { from: 1, below: 1000, step }, 0),
        ],
    )
}

fn broken(script: &Script) -> Result<()> {
    let last = (CLIENTS * STEPS / 4) as i64;
    let step = CLIENTS as i64;
    // The second client puts its third number outside the range that the invariant covers.
    let key = |client, place| if (client, place) == (1, 8) { 5000 } else { in_turns(client, place) };
    holds(
        script,
        key,
        vec![
            // Twelve times one letter would be whole; it is six times.
            (StoreCount::Torn { times: 2 * LETTERS }, last),
            (StoreCount::Missing { from: 1, to: last }, 1),
            (StoreCount::Gaps { from: 1, below: 1000, step }, 1),
        ],
    )
}
