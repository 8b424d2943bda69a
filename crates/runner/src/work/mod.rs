//! The work of each model: loading its input, running it between two readings of the clock, collecting its answer.

mod import;
mod kv;
mod rows;
mod statements;

use anyhow::{Error, Result};
use dyno_protocol::{Commits, Sample, Work};

use crate::test_context::TestContext;
use crate::{Engine, Failure, Rows, Session, mix};

/// Loads the input of a test and does its work. What the timed section itself returns is in the answer.
pub fn perform<E: Engine>(work: &Work, bench: &mut TestContext<E>) -> Result<Sample> {
    match work {
        Work::Statements { file, count } => statements::perform(file, *count, bench),
        Work::Reopen {} => reopen(bench),
        Work::InsertRows(load) => rows::load(load, bench, E::Session::insert_rows),
        Work::BulkLoad(load) => rows::load(load, bench, E::Session::bulk_load),
        Work::ImportFile(work) => import::import(work, bench),
        Work::Scan { table, columns, differ, sql } => rows::scan(table, columns, *differ, sql, bench),
        Work::KvPut { store, pairs, overwrite, commits } => kv::put(store, pairs, *overwrite, commits, bench),
        Work::KvGet { store, pairs, present, reads } => kv::get(store, pairs, *present, *reads, bench),
        Work::KvScan { store } => kv::scan(store, bench),
        Work::KvRange { store, keys, length, reads } => kv::range(store, keys, *length, *reads, bench),
        Work::KvDelete { store, keys, commits } => kv::delete(store, keys, commits, bench),
        Work::KvSettle { stores } => kv::settle(stores, bench),
        Work::Mix(mix) => mix::perform(mix, bench),
    }
}

fn reopen<E: Engine>(bench: &mut TestContext<E>) -> Result<Sample> {
    let TestContext { session, clock, .. } = bench;
    let (result, sample) = clock.time_in_turns(1, |_| session.reopen())?;
    result?;
    Ok(Sample { operations: 1, ..sample })
}

/// Adds to the answer what the test left in the database, for models whose answer that is.
pub fn read_back<E: Engine>(work: &Work, bench: &mut TestContext<E>) -> Result<()> {
    match work {
        Work::InsertRows(load) | Work::BulkLoad(load) => rows::read_back(load, bench),
        Work::ImportFile(work) => import::read_back(work, bench),
        Work::KvPut { store, .. } | Work::KvDelete { store, .. } => {
            kv::digests(std::slice::from_ref(store), bench)
        }
        Work::KvSettle { stores } => kv::digests(stores, bench),
        Work::KvScan { store } => kv::order(store, bench),
        Work::Statements { .. }
        | Work::Reopen {}
        | Work::Scan { .. }
        | Work::KvGet { .. }
        | Work::KvRange { .. } => Ok(()),
        Work::Mix(mix) => match &mix.store {
            Some(store) => mix::read_back(mix, &mut bench.session.store(store)?, &mut bench.answer),
            None => Ok(()),
        },
    }
}

/// The number of operations, of `count`, that are timed.
fn timed(commits: &Commits, count: u64) -> u64 {
    commits.timed.map_or(count, |timed| timed.min(count))
}

/// A failure with the place of the operation, as `row 7 of 100`.
fn explain(failure: Failure, what: &str, count: u64) -> Error {
    match failure.index {
        Some(index) => failure.error.context(format!("{what} {} of {count}", index + 1)),
        None => failure.error,
    }
}
