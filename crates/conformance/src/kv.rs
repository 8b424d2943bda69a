//! The checks of stores: what was put is what is found, in the order of the keys.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail, ensure};
use dyno_lab::trial::Trial;
use dyno_plan::truth::{self, Order};
use dyno_protocol::{Cells, Commits, KeyKind, Pairs, Store, Test, Work};

use super::script::{Script, answered, failed, finished};
use super::{Duty, Needs};

/// Every check with the duty that it looks at.
pub const ALL: [Duty; 8] = [
    (
        "pairs that are put are there, by integer keys and by blobs",
        Needs::Stored(&["kv-put", "kv-get"]),
        puts,
    ),
    ("keys that are absent are not found", Needs::Stored(&["kv-put", "kv-get"]), absent),
    ("a scan meets the keys in order", Needs::Stored(&["kv-put", "kv-scan"]), scans),
    ("ranges begin at their key and end with the store", Needs::Stored(&["kv-put", "kv-range"]), ranges),
    ("new values replace old ones", Needs::Stored(&["kv-put", "kv-get"]), overwrites),
    ("keys that are deleted are gone, timed or not", Needs::Stored(&["kv-put", "kv-delete"]), deletes),
    ("every operation is in the latency", Needs::Models(&["kv-put", "kv-get"]), latency),
    ("the runner reports keys that are cut short", Needs::Models(&["kv-put"]), truncated_keys),
];

const COUNT: u64 = 503;
const VALUE: u64 = 20;

/// The inputs of a check.
struct Input {
    store: Store,
    keys: Cells,
    values: Cells,
    new_values: Cells,
    absent: Cells,
    starts: Cells,
}

impl Input {
    /// Keys in no order: their numbers times an odd one, which meets each once.
    fn write(folder: &Path, key: KeyKind) -> Result<Input> {
        let name = match key {
            KeyKind::Integer => "numbers",
            KeyKind::Blob => "blobs",
        };
        let tail: &[u8] = if key == KeyKind::Blob { b"and more bytes" } else { b"" };
        let own = |number: u64| -> Vec<u8> {
            let head = (number.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 1).to_be_bytes();
            [&head, tail].concat()
        };
        let cells = |what: &str, count: u64, cell: &dyn Fn(u64) -> Vec<u8>| -> Result<Cells> {
            let file = folder.join(format!("{name}.{what}"));
            let all: Vec<Vec<u8>> = (0..count).map(cell).collect();
            fs::write(&file, all.concat())?;
            Ok(Cells { file, count, bytes: all[0].len() as u64 })
        };
        let value = |mark: u8| move |number: u64| vec![(number % 251) as u8 ^ mark; VALUE as usize];
        Ok(Input {
            store: Store { name: name.into(), key },
            keys: cells("keys", COUNT, &own)?,
            values: cells("values", COUNT, &value(0))?,
            new_values: cells("new-values", COUNT, &value(0x55))?,
            absent: cells("absent", COUNT, &|number| own(number + COUNT))?,
            starts: cells("starts", 17, &own)?,
        })
    }

    fn pairs(&self) -> Pairs {
        Pairs { keys: self.keys.clone(), values: Some(self.values.clone()) }
    }

    fn put(&self) -> Work {
        let commits = Commits { per_commit: Some(100), timed: None };
        Work::KvPut { store: self.store.clone(), pairs: self.pairs(), overwrite: false, commits }
    }

    fn get(&self) -> Work {
        Work::KvGet { store: self.store.clone(), pairs: self.pairs(), present: true }
    }
}

const KINDS: [KeyKind; 2] = [KeyKind::Integer, KeyKind::Blob];

/// A trial of tests for both kinds of keys, and what their answers must be.
fn agrees(script: &Script, make: impl Fn(&Input) -> Result<Vec<(Work, truth::Rows)>>) -> Result<Trial> {
    let mut right = Vec::new();
    let trial = script.run_tests(|folder| {
        let mut works = Vec::new();
        for kind in KINDS {
            for (work, rows) in make(&Input::write(folder, kind)?)? {
                works.push(work);
                right.push(rows);
            }
        }
        Ok(tests(works))
    })?;
    finished(&trial)?;
    for (number, rows) in (1..).zip(&right) {
        answered(&trial, number, rows)?;
    }
    Ok(trial)
}

fn tests(works: Vec<Work>) -> Vec<Test> {
    let test =
        |(number, work): (usize, Work)| Test { id: number.to_string(), setup: Vec::new(), work, check: None };
    (1..).zip(works).map(test).collect()
}

pub(super) fn puts(script: &Script) -> Result<()> {
    let trial = agrees(script, |input| {
        let found = truth::found(COUNT, VALUE);
        Ok(vec![(input.put(), truth::store(&input.keys, &input.values)?), (input.get(), found)])
    })?;
    let operations: Vec<u64> = trial.samples.iter().map(|sample| sample.operations).collect();
    ensure!(operations == [COUNT; 4], "the operations are {operations:?} and should each be {COUNT}");
    Ok(())
}

fn absent(script: &Script) -> Result<()> {
    agrees(script, |input| {
        let pairs = Pairs { keys: input.absent.clone(), values: None };
        let get = Work::KvGet { store: input.store.clone(), pairs, present: false };
        Ok(vec![(input.put(), truth::store(&input.keys, &input.values)?), (get, truth::found(0, 0))])
    })?;
    Ok(())
}

fn scans(script: &Script) -> Result<()> {
    agrees(script, |input| {
        let scan = Work::KvScan { store: input.store.clone() };
        let order = Order::new(&input.keys)?.scan();
        Ok(vec![(input.put(), truth::store(&input.keys, &input.values)?), (scan, order)])
    })?;
    Ok(())
}

fn ranges(script: &Script) -> Result<()> {
    agrees(script, |input| {
        let range = Work::KvRange { store: input.store.clone(), keys: input.starts.clone(), length: 100 };
        let met = Order::new(&input.keys)?.ranges(input.starts.count, 100, VALUE);
        Ok(vec![(input.put(), truth::store(&input.keys, &input.values)?), (range, met)])
    })?;
    Ok(())
}

fn overwrites(script: &Script) -> Result<()> {
    agrees(script, |input| {
        let pairs = Pairs { keys: input.keys.clone(), values: Some(input.new_values.clone()) };
        let commits = Commits { per_commit: Some(1), timed: Some(50) };
        let put = Work::KvPut { store: input.store.clone(), pairs: pairs.clone(), overwrite: true, commits };
        let get = Work::KvGet { store: input.store.clone(), pairs, present: true };
        let (old, new) =
            (truth::store(&input.keys, &input.values)?, truth::store(&input.keys, &input.new_values)?);
        Ok(vec![(input.put(), old), (put, new), (get, truth::found(COUNT, VALUE))])
    })?;
    Ok(())
}

pub(super) fn deletes(script: &Script) -> Result<()> {
    agrees(script, |input| {
        let commits = Commits { per_commit: None, timed: Some(100) };
        let delete = Work::KvDelete { store: input.store.clone(), keys: input.keys.clone(), commits };
        Ok(vec![(input.put(), truth::store(&input.keys, &input.values)?), (delete, truth::empty())])
    })?;
    Ok(())
}

fn latency(script: &Script) -> Result<()> {
    let trial = script.run_changed(&[], |job, folder| {
        let input = Input::write(folder, KeyKind::Blob)?;
        job.tests = tests(vec![input.put(), input.get()]);
        job.latency = true;
        Ok(())
    })?;
    finished(&trial)?;
    for sample in &trial.samples {
        let [class] = &sample.classes[..] else {
            bail!("test {} has {} classes and should have one", sample.test, sample.classes.len());
        };
        let timed = class.response.histogram()?.map_or(0, |histogram| histogram.len());
        ensure!(
            (class.done, timed) == (COUNT, COUNT),
            "test {} says {} operations done and {timed} in their histogram, of {COUNT}",
            sample.test,
            class.done
        );
    }
    Ok(())
}

fn truncated_keys(script: &Script) -> Result<()> {
    let trial = script.run_tests(|folder| {
        let input = Input::write(folder, KeyKind::Blob)?;
        let bytes = fs::read(&input.keys.file)?;
        fs::write(&input.keys.file, &bytes[..bytes.len() - 3])?;
        Ok(tests(vec![input.put()]))
    })?;
    failed(&trial, Some("1"), &["blobs.keys"])?;
    ensure!(trial.samples.is_empty(), "puts that failed have a sample");
    Ok(())
}
