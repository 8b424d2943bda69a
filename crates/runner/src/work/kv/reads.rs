//! `kv-get`, `kv-scan` and `kv-range`.

use std::hint::black_box;

use anyhow::{Result, ensure};
use dyno_inputs::{Cells, Slice};
use dyno_protocol::{self as protocol, Model, Pairs, Reads, Sample, Store, Value};

use super::{load, load_values, watched};
use crate::kv::{KeyValue, Lookup, Lookups};
use crate::test_context::TestContext;
use crate::work::explain;
use crate::{Engine, Failure, OperationTimer, Session, Slices};

/// The number of values that are compared after the clock.
const COMPARED: u64 = 1000;

/// The results of lookups.
#[derive(Default)]
struct LookupResults {
    /// The number of values that were there.
    count: u64,
    /// The sum of their lengths, in bytes.
    bytes: u64,
}

impl LookupResults {
    /// Adds a value of this length.
    #[inline]
    fn add(&mut self, length: usize) {
        self.count += 1;
        self.bytes += length as u64;
    }
}

pub fn get<E: Engine>(
    store: &Store,
    pairs: &Pairs,
    present: bool,
    reads: Reads,
    bench: &mut TestContext<E>,
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
    report(&found, bench);
    Ok(Sample { operations: keys.len(), rows: found.count, bytes: found.bytes, ..sample })
}

fn get_all<K: KeyValue, W: OperationTimer>(
    store: &mut K,
    keys: Slice,
    reads: Reads,
    watch: &mut W,
    turns: Slices,
) -> Result<LookupResults, Failure> {
    let mut reader = store.reader(Lookups::Get, reads)?;
    let mut found = LookupResults::default();
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

/// Compares a sample of the stored values, evenly spaced, with the expected ones.
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

pub fn scan<E: Engine>(store: &Store, bench: &mut TestContext<E>) -> Result<Sample> {
    let mut store = bench.session.store(store)?;
    let (found, sample) = bench.clock.time_in_turns(1, |_| {
        let mut found = LookupResults::default();
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
    bench: &mut TestContext<E>,
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

fn range_all<K: KeyValue, W: OperationTimer>(
    store: &mut K,
    keys: Slice,
    (length, reads): (u64, Reads),
    watch: &mut W,
    turns: Slices,
) -> Result<LookupResults, Failure> {
    let mut reader = store.reader(Lookups::Range(length), reads)?;
    let mut found = LookupResults::default();
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

fn report<E: Engine>(found: &LookupResults, bench: &mut TestContext<E>) {
    bench.answer.row(&[Value::Integer(found.count as i64), Value::Integer(found.bytes as i64)]);
}
