//! The models `kv-put`, `kv-get`, `kv-scan`, `kv-range`, `kv-delete` and `kv-settle`, with their loops over operations.

use std::hint::black_box;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use dyno_protocol::{self as protocol, Commits, Model, Pairs, Reads, Sample, Store, Value};

use super::{explain, timed};
use crate::clock::Clock;
use crate::kv::{KeyValue, Lookup, Lookups, WriteKind, Writes};
use crate::latency::{Latency, Unwatched};
use crate::transactions::{Delete, Operations, Put, in_transactions};
use crate::trial::Bench;
use crate::{Engine, Failure, Session, Turns, Watch};
use dyno_inputs::{Cells, Slice, StoreDigest};

/// How many of the values are compared after the clock.
const COMPARED: u64 = 1000;
/// How many operations make a transaction after the clock: few transactions, and with pages of 4 KiB at most some 100 MB
/// where an engine keeps in memory what an open one has changed or locked.
const UNTIMED: u64 = 16_384;

/// What lookups found.
#[derive(Default)]
struct Found {
    /// How many values were there.
    count: u64,
    /// The sum of their lengths, in bytes.
    bytes: u64,
}

impl Found {
    /// Adds a value of this length.
    #[inline]
    fn add(&mut self, length: usize) {
        self.count += 1;
        self.bytes += length as u64;
    }
}

pub fn put<E: Engine>(
    store: &Store,
    pairs: &Pairs,
    overwrite: bool,
    commits: &Commits,
    bench: &mut Bench<E>,
) -> Result<Sample> {
    let (keys, values) = (load(&pairs.keys)?, load_values(pairs)?);
    let timed = timed(commits, keys.len());
    let part = |range: Range<u64>| Put { keys: keys.slice(range.clone()), values: values.slice(range) };
    let (put, rest) = (part(0..timed), part(timed..keys.len()));
    let kind = if overwrite { WriteKind::Overwrite } else { WriteKind::Insert };
    let sample = write(store, [&put, &rest], Writes { kind, per_commit: commits.per_commit }, "pair", bench)?;
    let bytes = put.keys.bytes().len() + put.values.bytes().len();
    Ok(Sample { bytes: bytes as u64, ..sample })
}

pub fn delete<E: Engine>(
    store: &Store,
    keys: &protocol::Cells,
    commits: &Commits,
    bench: &mut Bench<E>,
) -> Result<Sample> {
    let keys = load(keys)?;
    let timed = timed(commits, keys.len());
    let (delete, rest) = (Delete(keys.slice(0..timed)), Delete(keys.slice(timed..keys.len())));
    let writes = Writes { kind: WriteKind::Delete, per_commit: commits.per_commit };
    let sample = write(store, [&delete, &rest], writes, "key", bench)?;
    Ok(Sample { bytes: delete.0.bytes().len() as u64, ..sample })
}

/// Does operations within the clock, and the rest of them after it.
fn write<E: Engine>(
    store: &Store,
    [timed, rest]: [&impl Operations; 2],
    writes: Writes,
    what: &str,
    bench: &mut Bench<E>,
) -> Result<Sample> {
    let mut store = bench.session.store(store)?;
    let count = timed.count();
    let unfit = |error| explain(Failure::at(0, error), what, count);
    store.check(timed.longest()).map_err(unfit)?;
    let class = if writes.kind == WriteKind::Delete { Model::KvDelete } else { Model::KvPut };
    let before = store.written();
    let (done, sample) = watched(
        &bench.clock,
        bench.latency.then_some(class),
        &mut store,
        count,
        |store, watch, turns| write_all(store, timed, writes, watch, turns),
        |store, watch, turns| write_all(store, timed, writes, watch, turns),
    )?;
    done.map_err(|failure| explain(failure, what, count))?;
    if let Some((before, after)) = before.zip(store.written()) {
        let done = after - before;
        ensure!(done == count, "{done} of {count} operations changed the store: the driver lost some");
    }
    if rest.count() > 0 {
        let done = write_all(
            &mut store,
            rest,
            Writes { per_commit: Some(UNTIMED), ..writes },
            &mut Unwatched,
            Turns::default(),
        );
        done.map_err(|failure| explain(failure, &format!("{what} (after the clock)"), rest.count()))?;
    }
    Ok(Sample { operations: count, rows: count, ..sample })
}

fn write_all<K: KeyValue, W: Watch>(
    store: &mut K,
    operations: &impl Operations,
    writes: Writes,
    watch: &mut W,
    turns: Turns,
) -> Result<(), Failure> {
    store.prepare(writes)?;
    in_transactions(store, operations, writes.per_commit, watch, turns)
}

pub fn get<E: Engine>(
    store: &Store,
    pairs: &Pairs,
    present: bool,
    reads: Reads,
    bench: &mut Bench<E>,
) -> Result<Sample> {
    let keys = load(&pairs.keys)?;
    let mut store = bench.session.store(store)?;
    let all = keys.all();
    store.check(all.width()).map_err(|error| explain(Failure::at(0, error), "key", keys.len()))?;
    let (found, sample) = watched(
        &bench.clock,
        bench.latency.then_some(Model::KvGet),
        &mut store,
        keys.len(),
        |store, watch, turns| get_all(store, all, reads, watch, turns),
        |store, watch, turns| get_all(store, all, reads, watch, turns),
    )?;
    let found = found.map_err(|failure| explain(failure, "key", keys.len()))?;
    if present && store.keeps() {
        compare(&keys, &load_values(pairs)?, &mut store)?;
    }
    drop(store);
    tell(&found, bench);
    Ok(Sample { operations: keys.len(), rows: found.count, bytes: found.bytes, ..sample })
}

fn get_all<K: KeyValue, W: Watch>(
    store: &mut K,
    keys: Slice,
    reads: Reads,
    watch: &mut W,
    turns: Turns,
) -> Result<Found, Failure> {
    let mut reader = store.reader(Lookups::Get, reads)?;
    let mut found = Found::default();
    let mut start = 0;
    while start < keys.len() {
        let end = start + turns.take(keys.len() - start)?;
        for (index, key) in (start..).zip(keys.slice(start..end).iter()) {
            let length = watch.operation(|| reader.get(key, <[u8]>::len));
            if let Some(length) = length.map_err(|error| Failure::at(index, error))? {
                found.add(length);
            }
        }
        start = end;
    }
    Ok(found)
}

/// A sample of the values, evenly spaced, as they are stored beside what they should be.
fn compare(keys: &Cells, values: &Cells, store: &mut impl KeyValue) -> Result<()> {
    let step = (keys.len() / COMPARED).max(1);
    let mut reader = store.reader(Lookups::Get, Reads::One)?;
    for place in (0..keys.len()).step_by(step as usize) {
        let is_same = reader.get(keys.all().get(place), |stored| stored == values.all().get(place))?;
        ensure!(
            is_same == Some(true),
            "the value of key {} of {} is not the one that was put",
            place + 1,
            keys.len()
        );
    }
    Ok(())
}

pub fn scan<E: Engine>(store: &Store, bench: &mut Bench<E>) -> Result<Sample> {
    let mut store = bench.session.store(store)?;
    let (found, sample) = bench.clock.time_in_turns(1, |_| {
        let mut found = Found::default();
        let visited = store.scan(|key, value| {
            black_box(key);
            found.add(value.len());
        });
        visited.map(|()| found)
    })?;
    let found = found?;
    Ok(Sample { operations: found.count, rows: found.count, bytes: found.bytes, ..sample })
}

pub fn range<E: Engine>(
    store: &Store,
    keys: &protocol::Cells,
    length: u64,
    reads: Reads,
    bench: &mut Bench<E>,
) -> Result<Sample> {
    let keys = load(keys)?;
    let mut store = bench.session.store(store)?;
    let all = keys.all();
    store.check(all.width()).map_err(|error| explain(Failure::at(0, error), "range", keys.len()))?;
    let (found, sample) = watched(
        &bench.clock,
        bench.latency.then_some(Model::KvRange),
        &mut store,
        keys.len(),
        |store, watch, turns| range_all(store, all, (length, reads), watch, turns),
        |store, watch, turns| range_all(store, all, (length, reads), watch, turns),
    )?;
    let found = found.map_err(|failure| explain(failure, "range", keys.len()))?;
    let met = values_met(&mut store, all, length)?;
    drop(store);
    let [count, bytes] = [found.count, found.bytes].map(|number| Value::Integer(number as i64));
    bench.answer.row(&[count, bytes, Value::Integer(met.into())]);
    Ok(Sample { operations: keys.len(), rows: found.count, bytes: found.bytes, ..sample })
}

fn range_all<K: KeyValue, W: Watch>(
    store: &mut K,
    keys: Slice,
    (length, reads): (u64, Reads),
    watch: &mut W,
    turns: Turns,
) -> Result<Found, Failure> {
    let mut reader = store.reader(Lookups::Range(length), reads)?;
    let mut found = Found::default();
    let mut start = 0;
    while start < keys.len() {
        let end = start + turns.take(keys.len() - start)?;
        for (index, key) in (start..).zip(keys.slice(start..end).iter()) {
            let visited = watch.operation(|| reader.range(key, |value| found.add(value.len())));
            visited.map_err(|error| Failure::at(index, error))?;
        }
        start = end;
    }
    Ok(found)
}

/// The same ranges once more, after the clock: one checksum over all values in the order met. A range that begins at the
/// wrong key, or goes on in the wrong order, finds as many and as long ones.
fn values_met(store: &mut impl KeyValue, keys: Slice, length: u64) -> Result<u32> {
    let mut met = crc32fast::Hasher::new();
    let mut reader = store.reader(Lookups::Range(length), Reads::One)?;
    for key in keys.iter() {
        reader.range(key, |value| met.update(value))?;
    }
    Ok(met.finalize())
}

pub fn settle<E: Engine>(stores: &[Store], bench: &mut Bench<E>) -> Result<Sample> {
    let Bench { session, clock, .. } = bench;
    let (settled, sample) = clock.time_in_turns(1, |_| session.settle(stores))?;
    settled?;
    Ok(Sample { operations: 1, ..sample })
}

/// The digest of each store that the test was about.
pub fn digests<E: Engine>(stores: &[Store], bench: &mut Bench<E>) -> Result<()> {
    bench.answer.begin(true);
    for store in stores {
        let mut digest = StoreDigest::default();
        bench.session.store(store)?.scan(|key, value| digest.add(key, value))?;
        bench.answer.row(&digest.answer());
    }
    Ok(())
}

/// The count and one checksum over all keys in the order in which a scan meets them.
pub fn order<E: Engine>(store: &Store, bench: &mut Bench<E>) -> Result<()> {
    let mut count = 0;
    let mut keys = crc32fast::Hasher::new();
    bench.session.store(store)?.scan(|key, _| {
        count += 1;
        keys.update(key);
    })?;
    bench.answer.begin(true);
    bench.answer.row(&[Value::Integer(count), Value::Integer(keys.finalize().into())]);
    Ok(())
}

/// What one section came to: without, or for a class of operations with a clock around each of them.
fn watched<K, T>(
    clock: &Clock,
    class: Option<Model>,
    store: &mut K,
    of: u64,
    plain: impl FnOnce(&mut K, &mut Unwatched, Turns) -> Result<T, Failure>,
    watching: impl FnOnce(&mut K, &mut Latency, Turns) -> Result<T, Failure>,
) -> Result<(Result<T, Failure>, Sample)> {
    let Some(class) = class else {
        return clock.time_in_turns(of, |turns| plain(store, &mut Unwatched, turns));
    };
    let mut watch = Latency::default();
    let (result, sample) = clock.time_in_turns(of, |turns| watching(store, &mut watch, turns))?;
    Ok((result, Sample { classes: vec![watch.class(class.name())], ..sample }))
}

fn tell<E: Engine>(found: &Found, bench: &mut Bench<E>) {
    bench.answer.row(&[Value::Integer(found.count as i64), Value::Integer(found.bytes as i64)]);
}

fn load(cells: &protocol::Cells) -> Result<Cells> {
    Cells::load(Path::new(&cells.file), cells.count, cells.bytes)
}

fn load_values(pairs: &Pairs) -> Result<Cells> {
    let values = pairs.values.as_ref().context("the job gives no values for these keys")?;
    ensure!(values.count == pairs.keys.count, "the job gives another number of values than of keys");
    load(values)
}
