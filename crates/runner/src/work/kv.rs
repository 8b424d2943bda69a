//! The models `kv-put`, `kv-get`, `kv-scan`, `kv-range` and `kv-delete`.

use std::hint::black_box;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use dyno_protocol::{self as protocol, Commits, Pairs, Sample, Store, Value};

use super::{explain, timed};
use crate::cells::Cells;
use crate::clock::Clock;
use crate::kv::{Delete, Found, Put};
use crate::latency::{Latency, Unwatched};
use crate::trial::Bench;
use crate::{Driver, Failure, StoreDigest, Watch};

/// How many of the values are compared after the clock.
const COMPARED: u64 = 1000;

pub fn put<D: Driver>(
    store: &Store,
    pairs: &Pairs,
    overwrite: bool,
    commits: &Commits,
    bench: &mut Bench<D>,
) -> Result<Sample> {
    let (keys, values) = (load(&pairs.keys)?, load_values(pairs)?);
    let timed = timed(commits, keys.len());
    let part = |range: std::ops::Range<u64>, per_commit| Put {
        keys: keys.slice(range.clone()),
        values: values.slice(range),
        overwrite,
        per_commit,
    };
    let put = part(0..timed, commits.per_commit);
    let rest = part(timed..keys.len(), None);
    bench.driver.open_store(store)?;
    let (done, sample) = watched(bench, |driver, watch| driver.put(&put, watch), |d, w| d.put(&put, w));
    let done = done.map_err(|failure| explain(failure, "pair", timed))?;
    ensure!(done == timed, "{done} pairs were put and {timed} were to be: the driver lost some");
    if !rest.keys.is_empty() {
        let result = bench.driver.put(&rest, &mut Unwatched);
        result.map_err(|failure| explain(failure, "pair (after the clock)", rest.keys.len()))?;
    }
    let bytes = put.keys.bytes().len() + put.values.bytes().len();
    Ok(Sample { operations: done, rows: done, bytes: bytes as u64, ..sample })
}

pub fn get<D: Driver>(store: &Store, pairs: &Pairs, present: bool, bench: &mut Bench<D>) -> Result<Sample> {
    let keys = load(&pairs.keys)?;
    bench.driver.open_store(store)?;
    let all = keys.all();
    let (found, sample) = watched(bench, |driver, watch| driver.get(all, watch), |d, w| d.get(all, w));
    let found = found.map_err(|failure| explain(failure, "key", keys.len()))?;
    if present && bench.driver.keeps() {
        compare(&keys, &load_values(pairs)?, &mut bench.driver)?;
    }
    tell(found, bench);
    Ok(Sample { operations: keys.len(), rows: found.count, bytes: found.bytes, ..sample })
}

/// A sample of the values, evenly spaced, as they are stored beside what they should be.
fn compare<D: Driver>(keys: &Cells, values: &Cells, driver: &mut D) -> Result<()> {
    let step = (keys.len() / COMPARED).max(1);
    for place in (0..keys.len()).step_by(step as usize) {
        let stored = driver.value(keys.all().get(place))?;
        ensure!(
            stored.as_deref() == Some(values.all().get(place)),
            "the value of key {} of {} is not the one that was put",
            place + 1,
            keys.len()
        );
    }
    Ok(())
}

pub fn scan<D: Driver>(store: &Store, bench: &mut Bench<D>) -> Result<Sample> {
    bench.driver.open_store(store)?;
    let Bench { driver, clock, .. } = bench;
    let (found, sample) = clock.time(|| {
        let mut found = Found::default();
        let visited = driver.scan_pairs(|key, value| {
            black_box(key);
            found.add(value.len());
        });
        visited.map(|()| found)
    });
    let found = found.map_err(|failure| failure.error)?;
    Ok(Sample { operations: found.count, rows: found.count, bytes: found.bytes, ..sample })
}

pub fn range<D: Driver>(
    store: &Store,
    keys: &protocol::Cells,
    length: u64,
    bench: &mut Bench<D>,
) -> Result<Sample> {
    let keys = load(keys)?;
    bench.driver.open_store(store)?;
    let all = keys.all();
    let (found, sample) =
        watched(bench, |driver, watch| driver.range(all, length, watch), |d, w| d.range(all, length, w));
    let found = found.map_err(|failure| explain(failure, "range", keys.len()))?;
    tell(found, bench);
    Ok(Sample { operations: keys.len(), rows: found.count, bytes: found.bytes, ..sample })
}

pub fn delete<D: Driver>(
    store: &Store,
    keys: &protocol::Cells,
    commits: &Commits,
    bench: &mut Bench<D>,
) -> Result<Sample> {
    let keys = load(keys)?;
    let timed = timed(commits, keys.len());
    let delete = Delete { keys: keys.slice(0..timed), per_commit: commits.per_commit };
    let rest = Delete { keys: keys.slice(timed..keys.len()), per_commit: None };
    bench.driver.open_store(store)?;
    let (done, sample) =
        watched(bench, |driver, watch| driver.delete(&delete, watch), |d, w| d.delete(&delete, w));
    let done = done.map_err(|failure| explain(failure, "key", timed))?;
    ensure!(done == timed, "{done} keys were deleted and {timed} were to be");
    if !rest.keys.is_empty() {
        let result = bench.driver.delete(&rest, &mut Unwatched);
        result.map_err(|failure| explain(failure, "key (after the clock)", rest.keys.len()))?;
    }
    Ok(Sample { operations: done, rows: done, bytes: delete.keys.bytes().len() as u64, ..sample })
}

/// The digest of the store that the test was about.
pub fn digest<D: Driver>(bench: &mut Bench<D>) -> Result<()> {
    let mut digest = StoreDigest::default();
    let read = bench.driver.scan_pairs(|key, value| digest.add(key, value));
    read.map_err(|failure| failure.error)?;
    bench.answer.begin(true);
    bench.answer.row(&digest.answer());
    Ok(())
}

/// The count and one checksum over all keys in the order in which a scan meets them.
pub fn order<D: Driver>(bench: &mut Bench<D>) -> Result<()> {
    let mut count = 0;
    let mut keys = crc32fast::Hasher::new();
    let read = bench.driver.scan_pairs(|key, _| {
        count += 1;
        keys.update(key);
    });
    read.map_err(|failure| failure.error)?;
    bench.answer.begin(true);
    bench.answer.row(&[Value::Integer(count), Value::Integer(keys.finalize().into())]);
    Ok(())
}

/// What one section came to, without or with a clock around each operation.
fn watched<D: Driver, T>(
    bench: &mut Bench<D>,
    plain: impl FnOnce(&mut D, &mut Unwatched) -> Result<T, Failure>,
    watching: impl FnOnce(&mut D, &mut Latency) -> Result<T, Failure>,
) -> (Result<T, Failure>, Sample) {
    let Bench { driver, clock, latency, .. } = bench;
    if !*latency {
        return time(clock, driver, &mut Unwatched, plain);
    }
    let mut watch = Latency::default();
    let (result, sample) = time(clock, driver, &mut watch, watching);
    (result, Sample { latency: watch.counts(), ..sample })
}

fn time<D, W: Watch, T>(
    clock: &Clock,
    driver: &mut D,
    watch: &mut W,
    work: impl FnOnce(&mut D, &mut W) -> T,
) -> (T, Sample) {
    clock.time(|| work(driver, watch))
}

fn tell<D: Driver>(found: Found, bench: &mut Bench<D>) {
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
