//! The checks of stores: what was put is what is found, in the order of the keys.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail, ensure};
use dyno_lab::trial::Trial;
use dyno_plan::truth::{self, Order};
use dyno_protocol::{Cells, Commits, KeyKind, Pairs, Reads, Store, Test, Work};

use super::duty::{Duty, Needs};
use super::script::{Script, answered, failed, finished};

/// Every check with the duty that it looks at.
pub const ALL: [Duty; 10] = [
    (
        "pairs that are put are there, by integer keys and by blobs",
        Needs::Stored(&["kv-put", "kv-get"]),
        puts,
    ),
    ("keys that are absent are not found", Needs::Stored(&["kv-put", "kv-get"]), absent),
    ("a scan meets the keys in order", Needs::Stored(&["kv-put", "kv-scan"]), scans),
    ("ranges begin at their key and end with the store", Needs::Stored(&["kv-put", "kv-range"]), ranges),
    (
        "lookups in one transaction find what those by themselves do",
        Needs::Stored(&["kv-put", "kv-get", "kv-range"]),
        reads,
    ),
    ("what is settled is there", Needs::Stored(&["kv-put", "kv-delete", "kv-settle"]), settles),
    ("new values replace old ones", Needs::Stored(&["kv-put", "kv-get"]), overwrites),
    ("keys that are deleted are gone, timed or not", Needs::Stored(&["kv-put", "kv-delete"]), deletes),
    ("every operation is in the latency", Needs::Models(&["kv-put", "kv-get"]), latency),
    ("the runner reports keys that are cut short", Needs::Models(&["kv-put"]), truncated_keys),
];

const COUNT: u64 = 503;
const VALUE: u64 = 20;
/// The number of pairs of a range.
const LENGTH: u64 = 100;

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
        Work::KvGet { store: self.store.clone(), pairs: self.pairs(), present: true, reads: Reads::Each }
    }

    fn range(&self, reads: Reads) -> Result<(Work, truth::Rows)> {
        let (store, keys) = (self.store.clone(), self.starts.clone());
        let met = Order::new(&self.keys)?.ranges(self.starts.count, LENGTH, &self.values)?;
        Ok((Work::KvRange { store, keys, length: LENGTH, reads }, met))
    }

    /// The work that fills the store, and the contents that it must leave.
    fn filled(&self) -> Result<(Work, truth::Rows)> {
        Ok((self.put(), truth::store(&self.keys, &self.values)?))
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
        let get = Work::KvGet { store: input.store.clone(), pairs, present: false, reads: Reads::Each };
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
    agrees(script, |input| Ok(vec![input.filled()?, input.range(Reads::Each)?]))?;
    Ok(())
}

fn reads(script: &Script) -> Result<()> {
    agrees(script, |input| {
        let (store, pairs) = (input.store.clone(), input.pairs());
        let get = Work::KvGet { store, pairs, present: true, reads: Reads::One };
        // Writes after it show that nothing of the transaction is left open.
        let delete = Work::KvDelete {
            store: input.store.clone(),
            keys: input.keys.clone(),
            commits: Commits::default(),
        };
        Ok(vec![
            input.filled()?,
            (get, truth::found(COUNT, VALUE)),
            input.range(Reads::One)?,
            (delete, truth::empty()),
        ])
    })?;
    Ok(())
}

/// Both stores at once, the first of which is then empty.
fn settles(script: &Script) -> Result<()> {
    let mut right = Vec::new();
    let trial = script.run_tests(|folder| {
        let inputs = KINDS.map(|kind| Input::write(folder, kind));
        let [first, second] = inputs;
        let (first, second) = (first?, second?);
        let stores = vec![first.store.clone(), second.store.clone()];
        let settle = || Work::KvSettle { stores: stores.clone() };
        let (store, keys) = (first.store.clone(), first.keys.clone());
        let delete = Work::KvDelete { store, keys, commits: Commits::default() };
        let ((put, one), (other_put, other)) = (first.filled()?, second.filled()?);
        let both = |one: &truth::Rows| [one.as_slice(), other.as_slice()].concat();
        let all = [
            (put, one.clone()),
            (other_put, other.clone()),
            (settle(), both(&one)),
            (delete, truth::empty()),
            (settle(), both(&truth::empty())),
            (settle(), both(&truth::empty())),
        ];
        let (works, answers) = all.into_iter().unzip();
        right = answers;
        Ok(tests(works))
    })?;
    finished(&trial)?;
    (1..).zip(&right).try_for_each(|(number, rows)| answered(&trial, number, rows))
}

fn overwrites(script: &Script) -> Result<()> {
    agrees(script, |input| {
        let pairs = Pairs { keys: input.keys.clone(), values: Some(input.new_values.clone()) };
        let commits = Commits { per_commit: Some(1), timed: Some(50) };
        let put = Work::KvPut { store: input.store.clone(), pairs: pairs.clone(), overwrite: true, commits };
        let get = Work::KvGet { store: input.store.clone(), pairs, present: true, reads: Reads::Each };
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
