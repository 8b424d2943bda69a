//! The work on stores of keys and values.

use anyhow::{Result, bail, ensure};
use dyno_protocol::{Cells, Commits, Pairs, Reads, Store, Work};
use dyno_suite::{Model, Test, Transaction};

use super::{Amount, Prepared, Preparer};
use crate::arrays::ArrayFile;
use crate::truth::{self, Order, Rows};

impl Preparer<'_> {
    pub(super) fn pairs(
        &mut self,
        test: &Test,
        store: Store,
        key_bytes: u64,
        value_bytes: u64,
    ) -> Result<Prepared> {
        let name = store.name.clone();
        let count = self.arrays.count(&name)?;
        let amount = |count, width| Amount { count, bytes: count * width, unit: "operations" };
        let both = key_bytes + value_bytes;
        let commits = Commits::default();
        let reads = if test.transaction == Transaction::One { Reads::One } else { Reads::Each };
        let keys = self.arrays.cells(&name, ArrayFile::Keys)?;
        if matches!(test.model, Model::KvPut | Model::KvDelete) && !self.written.contains(&store) {
            self.written.push(store.clone());
        }
        let prepared = match test.model {
            Model::KvPut => {
                let part = if test.overwrite { ArrayFile::NewValues } else { ArrayFile::Values };
                self.values.insert(name.clone(), part);
                let values = self.arrays.cells(&name, part)?;
                let answer = truth::store(&keys, &values)?;
                let pairs = Pairs { keys, values: Some(values) };
                let work = Work::KvPut { store, pairs, overwrite: test.overwrite, commits };
                Prepared::new(work, answer, amount(count, both))
            }
            Model::KvGet if test.absent => {
                let absent = self.arrays.cells(&name, ArrayFile::Absent)?;
                let keys = self.looked_up(test, absent)?;
                let count = keys.count;
                let pairs = Pairs { keys, values: None };
                let work = Work::KvGet { store, pairs, present: false, reads };
                Prepared::new(work, truth::found(0, 0), amount(count, key_bytes))
            }
            Model::KvGet => {
                let part = self.values.get(&name).copied().unwrap_or(ArrayFile::Values);
                let values = self.arrays.cells(&name, part)?;
                let (keys, values) = (self.looked_up(test, keys)?, self.looked_up(test, values)?);
                let count = keys.count;
                let pairs = Pairs { keys, values: Some(values) };
                let work = Work::KvGet { store, pairs, present: true, reads };
                Prepared::new(work, truth::found(count, value_bytes), amount(count, both))
            }
            Model::KvScan => {
                let answer = self.order(&name)?.scan();
                Prepared::new(Work::KvScan { store }, answer, amount(count, both))
            }
            Model::KvRange => {
                let length = test.length.unwrap_or(1);
                let starts = self.arrays.cells(&name, ArrayFile::Starts(length))?;
                let part = self.values.get(&name).copied().unwrap_or(ArrayFile::Values);
                let values = self.arrays.cells(&name, part)?;
                let answer = self.order(&name)?.ranges(starts.count, length, &values)?;
                let amount = amount(starts.count, both * length);
                Prepared::new(Work::KvRange { store, keys: starts, length, reads }, answer, amount)
            }
            Model::KvDelete => {
                self.values.remove(&name);
                let work = Work::KvDelete { store, keys, commits };
                Prepared::new(work, truth::empty(), amount(count, key_bytes))
            }
            other => bail!("the model {} takes no pairs", other.name()),
        };
        Ok(prepared)
    }

    /// The work that settles all stores that have been written to.
    pub(super) fn settle(&mut self) -> Result<Prepared> {
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
        let amount = Amount { count: 1, bytes: 0, unit: "operations" };
        Ok(Prepared::new(Work::KvSettle { stores }, answer, amount))
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
