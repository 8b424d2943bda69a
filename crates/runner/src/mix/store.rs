//! The operations of a mix on a store of keys and values.
//!
//! A statement outside a transaction is a lookup or a separate transaction, begun and ended for it, since what a client
//! read before must not decide what it reads now. Statements of a transaction that reads share one reader, those of one
//! that writes its store.

use std::hint::black_box;

use anyhow::{Context, Error, Result, bail};
use dyno_protocol::{MixStatement, MixValue, MixWork, Purpose, Reads, Sink, StoreDoes};

use super::attempt::{Attempt, StatementExecutor, Tried};
use super::executor::Executor;
use super::{Value, Values};
use crate::kv::{KeyValue, Lookup, Lookups, Transaction, Write, WriteKind, Writes};

/// A store with the operations of a mix.
pub struct StoreClient<K> {
    store: K,
    operations: Vec<Operation>,
}

/// The operation of one statement.
struct Operation {
    does: StoreDoes,
    parameters: Vec<MixValue>,
}

/// The length of an integer key.
const KEY: usize = 8;

impl<K: KeyValue> StoreClient<K> {
    /// Makes a store ready for a mix.
    pub fn new(mut store: K, mix: &MixWork) -> Result<StoreClient<K>> {
        store.check(KEY)?;
        let operation = |one: &MixStatement| {
            let does = one.does.context("a statement says nothing for a store: this is an error in dyno")?;
            let is_whole = one.parameters.len() == does.parameters();
            anyhow::ensure!(is_whole, "an operation lacks a parameter: this is an error in dyno");
            Ok(Operation { does, parameters: one.parameters.clone() })
        };
        let all = mix.classes.iter().flat_map(|class| &class.statements);
        let operations = all.map(operation).collect::<Result<_>>()?;
        store.prepare(Writes { kind: WriteKind::Overwrite, per_commit: per_commit(mix) })?;
        Ok(StoreClient { store, operations })
    }
}

/// The number of writes of a transaction of a mix: one, or none (no limit) where a transaction may have more.
fn per_commit(mix: &MixWork) -> Option<u64> {
    let is_put = |one: &&MixStatement| one.does == Some(StoreDoes::Put);
    let together = mix.classes.iter().filter(|class| class.transaction == Some(Purpose::Write));
    let has_many = together
        .map(|class| (class.statements.iter().filter(is_put).count(), class.loops.len(), class.rollback_if))
        .any(|(puts, loops, undone)| puts > 1 || loops > 0 || undone.is_some());
    if has_many { None } else { Some(1) }
}

impl Operation {
    /// The key, the most significant byte first.
    #[inline]
    fn key(&self, values: &Values) -> [u8; KEY] {
        whole(values.get(self.parameters[0])).to_be_bytes()
    }

    /// Puts the key and the value of an operation.
    #[inline]
    fn put(&self, values: &Values, put: impl FnOnce(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let key = self.key(values);
        match values.get(self.parameters[1]) {
            Value::Text(value) | Value::Blob(value) => put(&key, value),
            Value::Integer(number) => put(&key, &number.to_le_bytes()),
            Value::Null | Value::Real(_) => put(&key, &[]),
        }
    }
}

/// A value that is a number. The plan has looked that it is.
#[inline]
fn whole(value: Value) -> u64 {
    match value {
        Value::Integer(number) => number.unsigned_abs(),
        _ => 0,
    }
}

/// Takes a value as a row.
#[inline]
fn row<S: Sink>(sink: &mut S, value: &[u8]) {
    sink.blob(black_box(value));
    sink.end_row();
}

impl<K: KeyValue> Executor for StoreClient<K> {
    #[inline]
    fn each(&mut self, work: Attempt) -> Result<Tried> {
        work.with(self)
    }

    #[inline]
    fn transaction(&mut self, purpose: Purpose, work: Attempt) -> Result<Tried> {
        let (keeps, operations) = (self.store.keeps(), &self.operations[..]);
        if purpose == Purpose::Read {
            let lookups = self.store.reader(Lookups::Get, Reads::One)?;
            return work.with(&mut Reading { lookups, operations, keeps });
        }
        let mut transaction = self.store.begin()?;
        let tried = work.with(&mut Writing { store: transaction.store()?, operations, keeps })?;
        // A transaction that is dropped is rolled back.
        if matches!(tried, Tried::Done) {
            transaction.commit()?;
        }
        Ok(tried)
    }

    fn is_retryable(&self, error: &Error) -> bool {
        self.store.is_retryable(error)
    }
}

impl<K: KeyValue> StatementExecutor for StoreClient<K> {
    #[inline]
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()> {
        let operation = &self.operations[statement];
        match operation.does {
            StoreDoes::Get => {
                let key = operation.key(values);
                self.store.reader(Lookups::Get, Reads::Each)?.get(&key, |value| row(sink, value))?;
                Ok(())
            }
            StoreDoes::Put => {
                let mut transaction = self.store.begin()?;
                {
                    let mut store = transaction.store()?;
                    operation.put(values, |key, value| store.put(key, value))?;
                }
                transaction.commit()
            }
            StoreDoes::Range => {
                let length = whole(values.get(operation.parameters[1]));
                let key = operation.key(values);
                self.store.reader(Lookups::Range(length), Reads::Each)?.range(&key, |value| row(sink, value))
            }
        }
    }

    #[inline]
    fn keeps(&self) -> bool {
        self.store.keeps()
    }
}

/// A transaction that reads.
struct Reading<'a, L> {
    lookups: L,
    operations: &'a [Operation],
    keeps: bool,
}

impl<L: Lookup> StatementExecutor for Reading<'_, L> {
    #[inline]
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()> {
        let operation = &self.operations[statement];
        match operation.does {
            StoreDoes::Get => self.lookups.get(&operation.key(values), |value| row(sink, value)).map(drop),
            StoreDoes::Put | StoreDoes::Range => {
                bail!("a transaction that reads has other operations than GET")
            }
        }
    }

    fn keeps(&self) -> bool {
        self.keeps
    }
}

/// A transaction that writes.
struct Writing<'a, W> {
    store: W,
    operations: &'a [Operation],
    keeps: bool,
}

impl<W: Write> StatementExecutor for Writing<'_, W> {
    #[inline]
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()> {
        let operation = &self.operations[statement];
        match operation.does {
            StoreDoes::Get => self.store.get(&operation.key(values), |value| row(sink, value)).map(drop),
            StoreDoes::Put => operation.put(values, |key, value| self.store.put(key, value)),
            StoreDoes::Range => bail!("a transaction has no RANGE"),
        }
    }

    fn keeps(&self) -> bool {
        self.keeps
    }
}
