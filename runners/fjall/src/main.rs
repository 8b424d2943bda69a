//! The runner for fjall, by its own Rust interface.
//!
//! A store is a keyspace. What commits together is one batch. Without a number of operations to a commit, each
//! operation is a write of its own, as a batch of everything would hold all of it in memory; the journal is then
//! persisted once, at the end and within the clock. Nothing is compacted but by fjall's own choice.

mod settings;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Context, Error, Result, anyhow};
use dyno_protocol::{Hello, Job, PROTOCOL, Store};
use dyno_runner::{
    Delete, Driver, Failure, Found, KeyValue, Put, Rows, Slice, Transactions, Watch, in_transactions,
    locked_version,
};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch as Batch};

use settings::Settings;

/// The longest key, in bytes: fjall writes the length in 16 bits.
const LONGEST_KEY: usize = 65_535;

/// A database and the keyspace of the store which the test at work is about.
struct Fjall {
    database: Database,
    settings: Settings,
    keyspace: Option<Keyspace>,
}

impl Driver for Fjall {
    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "fjall", &["rust"])?;
        let settings = Settings::parse(&job.settings)?;
        let mut builder =
            Database::builder(&job.directory).manual_journal_persist(settings.persist.is_none());
        if let Some(bytes) = settings.cache {
            builder = builder.cache_size(bytes);
        }
        let database = builder.open();
        let database =
            database.with_context(|| format!("cannot open a database in {}", job.directory.display()))?;
        let version = locked_version("fjall")?;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("fjall ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: version.clone(),
            driver_version: version,
            build: BTreeMap::from([("lsm-tree".to_owned(), vec![locked_version("lsm-tree")?])]),
            settings: settings.in_force(&database),
        };
        Ok((Fjall { database, settings, keyspace: None }, hello))
    }

    fn close(self) -> Result<()> {
        drop(self);
        Ok(())
    }
}

impl Rows for Fjall {}

impl Transactions for Fjall {
    type Open = Batch;

    #[inline]
    fn begin(&mut self) -> Result<Batch> {
        Ok(self.database.batch().durability(self.settings.persist))
    }

    #[inline]
    fn commit(&mut self, batch: Batch) -> Result<()> {
        Ok(batch.commit()?)
    }
}

impl KeyValue for Fjall {
    fn open_store(&mut self, store: &Store) -> Result<()> {
        let manual = self.settings.persist.is_none();
        let options = || KeyspaceCreateOptions::default().manual_journal_persist(manual);
        let keyspace = self.database.keyspace(&store.name, options);
        self.keyspace = Some(keyspace.with_context(|| format!("cannot open the keyspace {}", store.name))?);
        Ok(())
    }

    fn put<W: Watch>(&mut self, put: &Put, watch: &mut W) -> Result<u64, Failure> {
        let keyspace = self.store(put.keys)?;
        let pair = |index| (put.keys.get(index), put.values.get(index));
        match put.per_commit {
            Some(_) => in_transactions(self, put.keys.len(), put.per_commit, watch, |_, batch, index| {
                let (key, value) = pair(index);
                batch.insert(&keyspace, key, value);
                Ok(())
            }),
            None => self.one_by_one(put.keys.len(), watch, |index| {
                let (key, value) = pair(index);
                keyspace.insert(key, value)
            }),
        }
    }

    fn get<W: Watch>(&mut self, keys: Slice, watch: &mut W) -> Result<Found, Failure> {
        let keyspace = self.store(keys)?;
        let mut found = Found::default();
        for (index, key) in (0..).zip(keys.iter()) {
            match watch.operation(|| keyspace.get(key)) {
                Ok(Some(value)) => found.add(value.len()),
                Ok(None) => {}
                Err(error) => return Err(Failure::at(index, error)),
            }
        }
        Ok(found)
    }

    fn scan_pairs(&mut self, mut visit: impl FnMut(&[u8], &[u8])) -> Result<(), Failure> {
        let keyspace = self.keyspace.as_ref().context("no store is open")?;
        for pair in keyspace.iter() {
            let (key, value) = pair.into_inner().map_err(Error::from)?;
            visit(&key, &value);
        }
        Ok(())
    }

    fn range<W: Watch>(&mut self, keys: Slice, length: u64, watch: &mut W) -> Result<Found, Failure> {
        let keyspace = self.store(keys)?;
        let mut found = Found::default();
        for (index, key) in (0..).zip(keys.iter()) {
            let visited = watch.operation(|| {
                for pair in keyspace.range(key..).take(length as usize) {
                    found.add(pair.value()?.len());
                }
                Ok(())
            });
            visited.map_err(|error: fjall::Error| Failure::at(index, error))?;
        }
        Ok(found)
    }

    fn delete<W: Watch>(&mut self, delete: &Delete, watch: &mut W) -> Result<u64, Failure> {
        let keyspace = self.store(delete.keys)?;
        let keys = delete.keys;
        match delete.per_commit {
            Some(_) => in_transactions(self, keys.len(), delete.per_commit, watch, |_, batch, index| {
                batch.remove(&keyspace, keys.get(index));
                Ok(())
            }),
            None => self.one_by_one(keys.len(), watch, |index| keyspace.remove(keys.get(index))),
        }
    }

    fn value(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let keyspace = self.keyspace.as_ref().context("no store is open")?;
        Ok(keyspace.get(key)?.map(|value| value.to_vec()))
    }
}

impl Fjall {
    /// The open store, where it can have keys of this length.
    fn store(&self, keys: Slice) -> Result<Keyspace, Failure> {
        let length = keys.iter().next().map_or(0, <[u8]>::len);
        if length > LONGEST_KEY {
            let error = anyhow!(
                "the key has {length} bytes, and fjall takes keys of up to {LONGEST_KEY}: use shorter ones or \
                 another engine"
            );
            return Err(Failure::at(0, error));
        }
        Ok(self.keyspace.clone().context("no store is open")?)
    }

    /// Writes one by one and persists the journal at the end.
    #[inline]
    fn one_by_one<W: Watch>(
        &self,
        count: u64,
        watch: &mut W,
        write: impl Fn(u64) -> fjall::Result<()>,
    ) -> Result<u64, Failure> {
        for index in 0..count {
            watch.operation(|| write(index)).map_err(|error| Failure::at(index, error))?;
        }
        if let Some(mode) = self.settings.persist {
            self.database.persist(mode).map_err(Error::from)?;
        }
        Ok(count)
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Fjall>()
}
