//! The runner for redb, by its own Rust interface.
//!
//! redb has neither reads nor writes outside of transactions. A test that only reads does so in one, begun
//! and ended within the clock; without a number of operations to a commit, all of a test make one. A store is a
//! table, one of integers has keys of type u64. `settings` is what a database and a transaction are told,
//! `kind` the two types of keys.

mod kind;
mod settings;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Context, Error, Result, ensure};
use dyno_protocol::{Hello, Job, KeyKind, PROTOCOL, Store};
use dyno_runner::{Delete, Driver, Failure, Found, KeyValue, Put, Rows, Slice, Watch};
use redb::{Database, ReadOnlyTable, ReadableDatabase, ReadableTable, Table, WriteTransaction};

use kind::{Blob, Integer, Kind};
use settings::Settings;

/// The database's name in the job's folder.
const FILE: &str = "dyno.redb";

/// A table for writing.
type Writing<'a, K> = Table<'a, <K as Kind>::Key, &'static [u8]>;

/// A database and the store which the test at work is about.
struct Redb {
    database: Database,
    settings: Settings,
    store: Store,
}

impl Driver for Redb {
    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "redb", &["rust"])?;
        let settings = Settings::parse(&job.settings)?;
        let file = job.directory.join(FILE);
        let database = settings.create(&file).with_context(|| format!("cannot make {}", file.display()))?;
        let version = dyno_runner::locked_version("redb")?;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("redb ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: version.clone(),
            driver_version: version,
            build: BTreeMap::new(),
            settings: settings.in_force(),
        };
        let store = Store { name: String::new(), key: KeyKind::Blob };
        Ok((Redb { database, settings, store }, hello))
    }

    fn close(self) -> Result<()> {
        Ok(self.database.close()?)
    }
}

impl Rows for Redb {}

/// Calls a function of the store's kind of keys.
macro_rules! of_kind {
    ($self:ident, $function:ident($($argument:expr),*)) => {
        match $self.store.key {
            KeyKind::Integer => $self.$function::<Integer, _>($($argument),*),
            KeyKind::Blob => $self.$function::<Blob, _>($($argument),*),
        }
    };
}

impl KeyValue for Redb {
    fn open_store(&mut self, store: &Store) -> Result<()> {
        self.store = store.clone();
        let transaction = self.begin()?;
        match store.key {
            KeyKind::Integer => drop(transaction.open_table(Integer::table(&store.name))?),
            KeyKind::Blob => drop(transaction.open_table(Blob::table(&store.name))?),
        }
        Ok(transaction.commit()?)
    }

    fn put<W: Watch>(&mut self, put: &Put, watch: &mut W) -> Result<u64, Failure> {
        of_kind!(self, put_all(put, watch))
    }

    fn get<W: Watch>(&mut self, keys: Slice, watch: &mut W) -> Result<Found, Failure> {
        of_kind!(self, get_all(keys, watch))
    }

    fn scan_pairs(&mut self, visit: impl FnMut(&[u8], &[u8])) -> Result<(), Failure> {
        Ok(of_kind!(self, scan_all(visit))?)
    }

    fn range<W: Watch>(&mut self, keys: Slice, length: u64, watch: &mut W) -> Result<Found, Failure> {
        of_kind!(self, range_all(keys, length, watch))
    }

    fn delete<W: Watch>(&mut self, delete: &Delete, watch: &mut W) -> Result<u64, Failure> {
        of_kind!(self, delete_all(delete, watch))
    }

    fn value(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let copy = |value: &[u8]| value.to_vec();
        Ok(match self.store.key {
            KeyKind::Integer => {
                self.table::<Integer>()?.get(Integer::decode(key)?)?.map(|found| copy(found.value()))
            }
            KeyKind::Blob => self.table::<Blob>()?.get(key)?.map(|found| copy(found.value())),
        })
    }
}

impl Redb {
    fn put_all<K: Kind, W: Watch>(&self, put: &Put, watch: &mut W) -> Result<u64, Failure> {
        self.write::<K, W>(put.keys.len(), put.per_commit, watch, |table, index| {
            table.insert(K::decode(put.keys.get(index))?, put.values.get(index))?;
            Ok(())
        })
    }

    fn delete_all<K: Kind, W: Watch>(&self, delete: &Delete, watch: &mut W) -> Result<u64, Failure> {
        self.write::<K, W>(delete.keys.len(), delete.per_commit, watch, |table, index| {
            let found = table.remove(K::decode(delete.keys.get(index))?)?;
            ensure!(found.is_some(), "the key is not there");
            Ok(())
        })
    }

    fn get_all<K: Kind, W: Watch>(&self, keys: Slice, watch: &mut W) -> Result<Found, Failure> {
        let table = self.table::<K>()?;
        let mut found = Found::default();
        for (index, key) in (0..).zip(keys.iter()) {
            let got = watch.operation(|| {
                if let Some(value) = table.get(K::decode(key)?)? {
                    found.add(value.value().len());
                }
                Ok(())
            });
            got.map_err(|error: Error| Failure::at(index, error))?;
        }
        Ok(found)
    }

    fn scan_all<K: Kind, V: FnMut(&[u8], &[u8])>(&self, mut visit: V) -> Result<()> {
        for pair in self.table::<K>()?.iter()? {
            let (key, value) = pair?;
            K::encode(key.value(), |key| visit(key, value.value()));
        }
        Ok(())
    }

    fn range_all<K: Kind, W: Watch>(
        &self,
        keys: Slice,
        length: u64,
        watch: &mut W,
    ) -> Result<Found, Failure> {
        let table = self.table::<K>()?;
        let mut found = Found::default();
        for (index, key) in (0..).zip(keys.iter()) {
            let visited = watch.operation(|| {
                for pair in table.range(K::decode(key)?..)?.take(length as usize) {
                    found.add(pair?.1.value().len());
                }
                Ok(())
            });
            visited.map_err(|error: Error| Failure::at(index, error))?;
        }
        Ok(found)
    }

    /// Writes so many to a commit.
    fn write<K: Kind, W: Watch>(
        &self,
        count: u64,
        per_commit: Option<u64>,
        watch: &mut W,
        operation: impl Fn(&mut Writing<K>, u64) -> Result<()>,
    ) -> Result<u64, Failure> {
        let each = per_commit.unwrap_or(count).max(1);
        let mut start = 0;
        while start < count {
            let end = start + each.min(count - start);
            self.transaction::<K, W>(start, end, watch, &operation)?;
            start = end;
        }
        Ok(count)
    }

    /// One transaction, of operations from `start` up to and without `end`. The first has its beginning in its
    /// latency and the last the commit. A table borrows its transaction, so it is opened for the first, for the
    /// last, and once for all between: it costs little beside a commit.
    fn transaction<K: Kind, W: Watch>(
        &self,
        start: u64,
        end: u64,
        watch: &mut W,
        operation: impl Fn(&mut Writing<K>, u64) -> Result<()>,
    ) -> Result<(), Failure> {
        let last = end - 1;
        let one = |transaction: &WriteTransaction, index| {
            operation(&mut transaction.open_table(K::table(&self.store.name))?, index)
        };
        let commit = |transaction: WriteTransaction| transaction.commit().map_err(Error::from);
        let at = |index| move |error| Failure::at(index, error);
        if start == last {
            let alone = || self.begin().and_then(|open| one(&open, start).and_then(|()| commit(open)));
            return watch.operation(alone).map_err(at(start));
        }
        let begun = || self.begin().and_then(|open| one(&open, start).map(|()| open));
        let open = watch.operation(begun).map_err(at(start))?;
        if start + 1 < last {
            let table = open.open_table(K::table(&self.store.name));
            let mut table = table.map_err(|error| at(start + 1)(error.into()))?;
            for index in start + 1..last {
                watch.operation(|| operation(&mut table, index)).map_err(at(index))?;
            }
        }
        watch.operation(|| one(&open, last).and_then(|()| commit(open))).map_err(at(last))
    }

    fn begin(&self) -> Result<WriteTransaction> {
        let mut transaction = self.database.begin_write()?;
        self.settings.apply(&mut transaction)?;
        Ok(transaction)
    }

    /// The store's table for reading, with its transaction.
    fn table<K: Kind>(&self) -> Result<ReadOnlyTable<K::Key, &'static [u8]>> {
        Ok(self.database.begin_read()?.open_table(K::table(&self.store.name))?)
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Redb>()
}
