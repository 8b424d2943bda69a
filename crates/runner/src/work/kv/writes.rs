//! `kv-put` and `kv-delete`.

use std::ops::Range;

use anyhow::{Result, ensure};
use dyno_protocol::{self as protocol, Commits, Model, Pairs, Sample, Store};

use super::{load, load_values, watched};
use crate::kv::{KeyValue, WriteKind, Writes};
use crate::latency::NoTimer;
use crate::test_context::TestContext;
use crate::transactions::{Delete, Operations, Put, in_transactions};
use crate::work::{explain, timed};
use crate::{Engine, Failure, OperationTimer, Session, Slices};

/// The number of operations of a transaction after the clock: few transactions, and with pages of 4 KiB at most some
/// 100 MB where an engine keeps in memory what an open one has changed or locked.
const UNTIMED: u64 = 16_384;

pub fn put<E: Engine>(
    store: &Store,
    pairs: &Pairs,
    overwrite: bool,
    commits: &Commits,
    bench: &mut TestContext<E>,
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
    bench: &mut TestContext<E>,
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
    bench: &mut TestContext<E>,
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
            &mut NoTimer,
            Slices::default(),
        );
        done.map_err(|failure| explain(failure, &format!("{what} (after the clock)"), rest.count()))?;
    }
    Ok(Sample { operations: count, rows: count, ..sample })
}

fn write_all<K: KeyValue, W: OperationTimer>(
    store: &mut K,
    operations: &impl Operations,
    writes: Writes,
    watch: &mut W,
    turns: Slices,
) -> Result<(), Failure> {
    store.prepare(writes)?;
    in_transactions(store, operations, writes.per_commit, watch, turns)
}
