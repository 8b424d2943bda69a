//! The work on stores of keys and values.

use anyhow::{Result, bail, ensure};
use dyno_protocol::{Cells, Commits, Pairs, Reads, Store, Work};
use dyno_record::AmountRecord;
use dyno_suite::{Model, Test, Transaction};

use super::{PreparedWork, Preparer};
use crate::arrays::ArrayFile;
use crate::truth::{self, Order, Rows};

impl Preparer<'_> {
    pub(super) fn pairs(
        &mut self,
        test: &Test,
        store: Store,
        key_bytes: u64,
        value_bytes: u64,
    ) -> Result<PreparedWork> {
        if matches!(test.model, Model::KvPut | Model::KvDelete) && !self.written.contains(&store) {
            self.written.push(store.clone());
        }
        match test.model {
            Model::KvPut => self.put(test, store, key_bytes + value_bytes),
            Model::KvGet if test.absent => self.get_absent(test, store, key_bytes),
            Model::KvGet => self.get(test, store, key_bytes, value_bytes),
            Model::KvScan => {
                let count = self.arrays.count(&store.name)?;
                let answer = self.order(&store.name)?.scan();
                let amount = operations(count, key_bytes + value_bytes);
                Ok(PreparedWork::new(Work::KvScan { store }, answer, amount))
            }
            Model::KvRange => self.range(test, store, key_bytes + value_bytes),
            Model::KvDelete => {
                self.values.remove(&store.name);
                let keys = self.arrays.cells(&store.name, ArrayFile::Keys)?;
                let amount = operations(self.arrays.count(&store.name)?, key_bytes);
                let work = Work::KvDelete { store, keys, commits: Commits::default() };
                Ok(PreparedWork::new(work, truth::empty(), amount))
            }
            other => bail!("the model {} takes no pairs", other.name()),
        }
    }

    fn put(&mut self, test: &Test, store: Store, pair_bytes: u64) -> Result<PreparedWork> {
        let part = if test.overwrite { ArrayFile::NewValues } else { ArrayFile::Values };
        self.values.insert(store.name.clone(), part);
        let keys = self.arrays.cells(&store.name, ArrayFile::Keys)?;
        let values = self.arrays.cells(&store.name, part)?;
        let answer = truth::store(&keys, &values)?;
        let amount = operations(self.arrays.count(&store.name)?, pair_bytes);
        let pairs = Pairs { keys, values: Some(values) };
        let work = Work::KvPut { store, pairs, overwrite: test.overwrite, commits: Commits::default() };
        Ok(PreparedWork::new(work, answer, amount))
    }

    fn get_absent(&mut self, test: &Test, store: Store, key_bytes: u64) -> Result<PreparedWork> {
        let absent = self.arrays.cells(&store.name, ArrayFile::Absent)?;
        let keys = self.looked_up(test, absent)?;
        let amount = operations(keys.count, key_bytes);
        let pairs = Pairs { keys, values: None };
        let work = Work::KvGet { store, pairs, present: false, reads: reads(test) };
        Ok(PreparedWork::new(work, truth::found(0, 0), amount))
    }

    fn get(&mut self, test: &Test, store: Store, key_bytes: u64, value_bytes: u64) -> Result<PreparedWork> {
        let keys = self.arrays.cells(&store.name, ArrayFile::Keys)?;
        let values = self.arrays.cells(&store.name, self.current_values(&store))?;
        let (keys, values) = (self.looked_up(test, keys)?, self.looked_up(test, values)?);
        let (answer, amount) =
            (truth::found(keys.count, value_bytes), operations(keys.count, key_bytes + value_bytes));
        let pairs = Pairs { keys, values: Some(values) };
        let work = Work::KvGet { store, pairs, present: true, reads: reads(test) };
        Ok(PreparedWork::new(work, answer, amount))
    }

    fn range(&mut self, test: &Test, store: Store, pair_bytes: u64) -> Result<PreparedWork> {
        let length = test.length.unwrap_or(1);
        let starts = self.arrays.cells(&store.name, ArrayFile::Starts(length))?;
        let values = self.arrays.cells(&store.name, self.current_values(&store))?;
        let answer = self.order(&store.name)?.ranges(starts.count, length, &values)?;
        let amount = operations(starts.count, pair_bytes * length);
        let work = Work::KvRange { store, keys: starts, length, reads: reads(test) };
        Ok(PreparedWork::new(work, answer, amount))
    }

    /// The values that a store holds after the tests so far.
    fn current_values(&self, store: &Store) -> ArrayFile {
        self.values.get(&store.name).copied().unwrap_or(ArrayFile::Values)
    }

    /// The work that settles all stores that have been written to.
    pub(super) fn settle(&mut self) -> Result<PreparedWork> {
        let stores = self.written.clone();
        ensure!(!stores.is_empty(), "nothing has been written that could be settled: put pairs before");
        let mut answer = Rows::new();
        for store in &stores {
            answer.extend(match self.values.get(&store.name).copied() {
                Some(part) => {
                    let keys = self.arrays.cells(&store.name, ArrayFile::Keys)?;
                    truth::store(&keys, &self.arrays.cells(&store.name, part)?)?
                }
                None => truth::empty(),
            });
        }
        let amount = AmountRecord::new(1, 0, "operations");
        Ok(PreparedWork::new(Work::KvSettle { stores }, answer, amount))
    }

    /// Those of the cells that the test looks up, or whose keys it does.
    fn looked_up(&mut self, test: &Test, all: Cells) -> Result<Cells> {
        match &test.lookups {
            Some(count) => {
                self.arrays.counted(count.get_ref()).and_then(|count| self.arrays.spread(all, count))
            }
            None => Ok(all),
        }
    }

    /// The order of a store's keys, sorted once.
    fn order(&mut self, name: &str) -> Result<&Order> {
        if !self.orders.contains_key(name) {
            let order = Order::new(&self.arrays.cells(name, ArrayFile::Keys)?)?;
            self.orders.insert(name.to_owned(), order);
        }
        Ok(&self.orders[name])
    }
}

fn operations(count: u64, width: u64) -> AmountRecord {
    AmountRecord::new(count, count * width, "operations")
}

/// True if all lookups of a test share one transaction.
fn reads(test: &Test) -> Reads {
    if test.transaction == Transaction::One { Reads::One } else { Reads::Each }
}
