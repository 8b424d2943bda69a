//! The models `kv-put`, `kv-get`, `kv-scan`, `kv-range`, `kv-delete` and `kv-settle`, with their loops over operations.

mod answers;
mod reads;
mod writes;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use dyno_inputs::Cells;
use dyno_protocol::{self as protocol, Model, Pairs, Sample, Store};

use crate::clock::Clock;
use crate::latency::{Latency, NoTimer};
use crate::test_context::TestContext;
use crate::{Engine, Failure, Session, Slices};

pub use answers::{digests, order};
pub use reads::{get, range, scan};
pub use writes::{delete, put};

pub fn settle<E: Engine>(stores: &[Store], bench: &mut TestContext<E>) -> Result<Sample> {
    let TestContext { session, clock, .. } = bench;
    let (settled, sample) = clock.time_in_turns(1, |_| session.settle(stores))?;
    settled?;
    Ok(Sample { operations: 1, ..sample })
}

/// The result of one section: without a class, or with a clock around each operation of a class.
fn watched<K, T>(
    clock: &Clock,
    class: Option<Model>,
    store: &mut K,
    of: u64,
    plain: impl FnOnce(&mut K, &mut NoTimer, Slices) -> Result<T, Failure>,
    watching: impl FnOnce(&mut K, &mut Latency, Slices) -> Result<T, Failure>,
) -> Result<(Result<T, Failure>, Sample)> {
    let Some(class) = class else {
        return clock.time_in_turns(of, |turns| plain(store, &mut NoTimer, turns));
    };
    let mut watch = Latency::default();
    let (result, sample) = clock.time_in_turns(of, |turns| watching(store, &mut watch, turns))?;
    Ok((result, Sample { classes: vec![watch.class(class.name())], ..sample }))
}

fn load(cells: &protocol::Cells) -> Result<Cells> {
    Cells::load(Path::new(&cells.file), cells.count, cells.bytes)
}

fn load_values(pairs: &Pairs) -> Result<Cells> {
    let values = pairs.values.as_ref().context("the job gives no values for these keys")?;
    ensure!(values.count == pairs.keys.count, "the job gives another number of values than of keys");
    load(values)
}
