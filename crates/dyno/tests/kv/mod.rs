//! Jobs of key-value work made by hand, and the answers they must have, worked out from the protocol's
//! words and none of dyno's code.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dyno_engine::{Contender, Home, Registry};
use dyno_plan::{last_job, probe};
use dyno_protocol::{
    Cells, Commits, Event, Hello, Job, KeyKind, Pairs, Reads, Setting, Store, Test, Value, Work,
};
use tempfile::TempDir;

use crate::common::runner::{self, crc32};

/// Keys and values of one store, the keys in no order and different.
pub struct Data {
    store: Store,
    keys: Vec<Vec<u8>>,
    values: Vec<Vec<u8>>,
    other_values: Vec<Vec<u8>>,
    absent: Vec<Vec<u8>>,
}

impl Data {
    pub fn new(name: &str, key: KeyKind, count: u64) -> Data {
        let width = if key == KeyKind::Integer { 8 } else { 24 };
        Data::make(name, key, width, count)
    }

    /// Blob keys with values of this length.
    pub fn with_values(name: &str, length: usize, count: u64) -> Data {
        let mut data = Data::make(name, KeyKind::Blob, 24, count);
        for value in &mut data.values {
            *value = value.iter().copied().cycle().take(length).collect();
        }
        data
    }

    /// Blob keys of this width.
    pub fn with_key(name: &str, width: usize, count: u64) -> Data {
        Data::make(name, KeyKind::Blob, width, count)
    }

    fn make(name: &str, key: KeyKind, width: usize, count: u64) -> Data {
        let mut random = Random(count + width as u64);
        let mut cells = |width: usize, integer: bool| -> Vec<Vec<u8>> {
            let cell = |random: &mut Random| {
                let mut cell: Vec<u8> = (0..width).map(|_| random.byte()).collect();
                if integer {
                    cell[0] &= 0x7f;
                }
                cell
            };
            (0..count).map(|_| cell(&mut random)).collect()
        };
        let integer = key == KeyKind::Integer;
        Data {
            keys: cells(width, integer),
            absent: cells(width, integer),
            values: cells(100, false),
            other_values: cells(60, false),
            store: Store { name: name.to_owned(), key },
        }
    }
}

/// Numbers that look random (splitmix64).
struct Random(u64);

impl Random {
    fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 56) as u8
    }
}

/// An engine, or a variant of it as `bdb+hash`.
pub struct Rig {
    pub name: &'static str,
    registry: Registry,
}

impl Rig {
    /// An engine whose library is here; of another it says why it is skipped.
    pub fn find(name: &'static str) -> Option<Rig> {
        let registry = Registry::load(&Home::find().unwrap()).unwrap();
        let rig = Rig { name, registry };
        let events = rig.script("transactional").run();
        match events.last() {
            Some(Event::Failed(failed)) if failed.message.contains("apt-get install") => {
                eprintln!("SKIPPED for {name}: {}", failed.message);
                None
            }
            _ => Some(rig),
        }
    }

    /// The settings of a profile are in force, and mean this level.
    pub fn assert_in_force(&self, profile: &str, level: &str) {
        let script = self.script(profile);
        let events = script.run();
        let engine = self.registry.engine(self.name).unwrap();
        let in_force = &hello(&events).settings;
        assert_eq!(engine.differences(&script.contender.settings, in_force), [], "{}:{profile}", self.name);
        let safety = engine.safety(in_force, None, 1).unwrap();
        assert_eq!(safety.level.name(), level, "{}:{profile}", self.name);
    }

    /// An empty job.
    pub fn script(&self, profile: &str) -> Script {
        let contender = Contender::parse(&format!("{}:{profile}", self.name), &self.registry).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("db");
        fs::create_dir(&directory).unwrap();
        let job = probe(&contender, &directory);
        let command = contender.runner.command();
        let program = runner::program(Path::new(&command[0]).file_name().unwrap().to_str().unwrap());
        Script {
            job,
            contender: contender.clone(),
            folder,
            program,
            // The keys of a hash have none.
            ordered: contender.implements("kv-scan"),
            commits: Commits { per_commit: contender.per_commit, timed: None },
            model: BTreeMap::new(),
            expected: Vec::new(),
        }
    }
}

/// A job being written, and what its answers must be.
pub struct Script {
    job: Job,
    contender: Contender,
    folder: TempDir,
    program: PathBuf,
    ordered: bool,
    commits: Commits,
    model: BTreeMap<String, BTreeMap<Vec<u8>, Vec<u8>>>,
    expected: Vec<(String, Vec<Vec<Value>>)>,
}

impl Script {
    pub fn with_latency(mut self) -> Script {
        self.job.latency = true;
        self
    }

    /// The number of operations that are timed.
    pub fn timing(mut self, operations: u64) -> Script {
        self.commits.timed = Some(operations);
        self
    }

    pub fn with(mut self, name: &str, value: &str) -> Script {
        self.contender.settings.push(Setting { name: name.into(), value: value.into() });
        let tests = std::mem::take(&mut self.job.tests);
        self.job = Job { tests, ..probe(&self.contender, &self.job.directory) };
        self
    }

    pub fn directory(&self) -> &Path {
        &self.job.directory
    }

    pub fn alter(&mut self, change: impl Fn(&mut Work)) {
        self.job.tests.iter_mut().for_each(|test| change(&mut test.work));
    }

    /// The answer that each test must give.
    pub fn expected(&self) -> Vec<(String, Vec<Vec<Value>>)> {
        self.expected.clone()
    }

    /// Puts, gets, scans, ranges, overwrites, settles, deletes, and looks again.
    pub fn whole_story(&mut self, data: &Data) {
        let half = data.keys.len() / 2;
        self.put(data, false);
        self.get(data, true, Reads::Each);
        self.get(data, true, Reads::One);
        self.get(data, false, Reads::Each);
        if self.ordered {
            self.scan(data);
            self.range(data, 10, Reads::Each);
        }
        self.put(data, true);
        self.settle(data);
        if self.ordered {
            self.range(data, 1, Reads::Each);
            self.range(data, 10, Reads::One);
        }
        self.delete(data, half);
        self.get(data, false, Reads::One);
        self.settle(data);
        if self.ordered {
            self.scan(data);
        }
    }

    pub fn put(&mut self, data: &Data, overwrite: bool) {
        let values = if overwrite { &data.other_values } else { &data.values };
        let pairs = self.pairs(&data.keys, values);
        let work = Work::KvPut { store: data.store.clone(), pairs, overwrite, commits: self.commits };
        let store = self.model.entry(data.store.name.clone()).or_default();
        store.extend(data.keys.iter().cloned().zip(values.iter().cloned()));
        let digest = digest(store);
        self.test("put", work, digest);
    }

    pub fn get(&mut self, data: &Data, present: bool, reads: Reads) {
        let keys = if present { &data.keys } else { &data.absent };
        let pairs = self.pairs(keys, &data.values);
        let store = &self.model[data.store.name.as_str()];
        let found: Vec<_> = keys.iter().filter_map(|key| store.get(key)).map(Vec::len).collect();
        let answer = vec![integer(found.len()), integer(found.iter().sum())];
        self.test("get", Work::KvGet { store: data.store.clone(), pairs, present, reads }, answer);
    }

    pub fn scan(&mut self, data: &Data) {
        let keys: Vec<u8> = self.model[data.store.name.as_str()].keys().flatten().copied().collect();
        let count = self.model[data.store.name.as_str()].len();
        let answer = vec![integer(count), Value::Integer(crc32(&keys).into())];
        self.test("scan", Work::KvScan { store: data.store.clone() }, answer);
    }

    pub fn settle(&mut self, data: &Data) {
        let digest = digest(&self.model[data.store.name.as_str()]);
        self.test("settle", Work::KvSettle { stores: vec![data.store.clone()] }, digest);
    }

    pub fn range(&mut self, data: &Data, length: u64, reads: Reads) {
        let store = &self.model[data.store.name.as_str()];
        let pairs = data.keys.iter().flat_map(|key| store.range(key.clone()..).take(length as usize));
        let visited: Vec<&[u8]> = pairs.map(|(_, value)| value.as_slice()).collect();
        let values = visited.concat();
        let met = Value::Integer(crc32(&values).into());
        let answer = vec![integer(visited.len()), integer(values.len()), met];
        let keys = self.cells(&data.keys);
        self.test("range", Work::KvRange { store: data.store.clone(), keys, length, reads }, answer);
    }

    /// Deletes the first of the keys.
    pub fn delete(&mut self, data: &Data, count: usize) {
        let keys = self.cells(&data.keys[..count]);
        let work = Work::KvDelete { store: data.store.clone(), keys, commits: self.commits };
        let store = self.model.get_mut(data.store.name.as_str()).unwrap();
        data.keys[..count].iter().for_each(|key| drop(store.remove(key)));
        let digest = digest(store);
        self.test("delete", work, digest);
    }

    fn test(&mut self, what: &str, work: Work, answer: Vec<Value>) {
        let id = format!("{}-{what}", self.job.tests.len());
        self.expected.push((id.clone(), vec![answer]));
        self.job.tests.push(Test { id, setup: Vec::new(), work, check: None });
    }

    fn pairs(&self, keys: &[Vec<u8>], values: &[Vec<u8>]) -> Pairs {
        Pairs { keys: self.cells(keys), values: Some(self.cells(values)) }
    }

    fn cells(&self, cells: &[Vec<u8>]) -> Cells {
        let number = fs::read_dir(self.folder.path()).unwrap().count();
        let file = self.folder.path().join(format!("{number}.cells"));
        fs::write(&file, cells.concat()).unwrap();
        Cells { file, count: cells.len() as u64, bytes: cells[0].len() as u64 }
    }

    /// Returns the events of the runner. After an orderly end the database is opened again and must answer the same.
    pub fn run(&self) -> Vec<Event> {
        let mut events = runner::run(&self.program, &self.job);
        if let Some(Event::Hello(hello)) = events.first_mut() {
            *hello = self.contender.greeted(hello.clone()).unwrap();
        }
        let last = last_job(&self.contender, &self.job);
        if let Some(last) = last.filter(|_| events.last() == Some(&Event::Bye {})) {
            let before = answers(&events);
            let again = runner::run(&self.program, &last);
            ended(&again, &self.contender.label, "opened again");
            assert_eq!(answers(&again).len(), last.tests.len(), "{}", self.contender.label);
            for answer in answers(&again) {
                assert!(before.contains(&answer), "{}: {answer:?} of {before:?}", self.contender.label);
            }
        }
        events
    }
}

/// The job went to its end.
pub fn ended(events: &[Event], name: &str, what: &str) {
    assert_eq!(events.last(), Some(&Event::Bye {}), "{name} {what}");
}

/// The greeting of a runner.
pub fn hello(events: &[Event]) -> &Hello {
    match events.first() {
        Some(Event::Hello(hello)) => hello,
        other => panic!("it should have said hello: {other:?}"),
    }
}

/// Each test's answer.
pub fn answers(events: &[Event]) -> Vec<(String, Vec<Vec<Value>>)> {
    let answer = |event: &Event| match event {
        Event::Answer { test, rows } => Some((test.clone(), rows.clone())),
        _ => None,
    };
    events.iter().filter_map(answer).collect()
}

/// The count, and the sums of the checksums of keys, of values and of both together.
fn digest(store: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<Value> {
    let sum = |checksums: &mut dyn Iterator<Item = u32>| Value::Integer(checksums.map(i64::from).sum());
    let pairs = || store.iter();
    vec![
        integer(store.len()),
        sum(&mut pairs().map(|(key, _)| crc32(key))),
        sum(&mut pairs().map(|(_, value)| crc32(value))),
        sum(&mut pairs().map(|(key, value)| crc32(&[key.as_slice(), value].concat()))),
    ]
}

fn integer(number: usize) -> Value {
    Value::Integer(i64::try_from(number).unwrap())
}
