//! A store: a keyspace, its lookups and its writes.

use anyhow::{Result, ensure};
use dyno_runner::{KeyValue, Lookup, Lookups, Reads, Transaction, Write, Writes};
use fjall::{Database, Keyspace, OwnedWriteBatch as Batch, PersistMode, Readable, Snapshot};

/// The longest key, in bytes: fjall writes the length in 16 bits.
const LONGEST_KEY: usize = 65_535;

/// An open store.
pub struct Store<'s> {
    pub database: &'s Database,
    pub keyspace: Keyspace,
    /// The event for which a commit waits; none: nothing.
    pub persist: Option<PersistMode>,
    /// True if what commits together is one batch. If not, each operation is a separate write, which syncs nothing.
    pub batches: bool,
}

/// Lookups.
pub struct Reader<'r> {
    keyspace: &'r Keyspace,
    /// The state that all of them see; none: each sees the newest.
    snapshot: Option<Snapshot>,
    /// The number of pairs in a range.
    length: usize,
}

/// Writes until a commit.
pub struct Writer<'w> {
    store: &'w Store<'w>,
    batch: Option<Batch>,
}

impl KeyValue for Store<'_> {
    type Reader<'r>
        = Reader<'r>
    where
        Self: 'r;
    type Transaction<'t>
        = Writer<'t>
    where
        Self: 't;

    fn check(&self, length: usize) -> Result<()> {
        ensure!(
            length <= LONGEST_KEY,
            "the key has {length} bytes, and fjall takes keys of up to {LONGEST_KEY}: use shorter ones or another \
             engine"
        );
        Ok(())
    }

    fn reader(&mut self, lookups: Lookups, reads: Reads) -> Result<Reader<'_>> {
        let length = if let Lookups::Range(length) = lookups { length as usize } else { 0 };
        let snapshot = (reads == Reads::One).then(|| self.database.snapshot());
        Ok(Reader { keyspace: &self.keyspace, snapshot, length })
    }

    fn prepare(&mut self, writes: Writes) -> Result<()> {
        // A single write needs no batch but where the journal is to be synced with it.
        self.batches = writes.per_commit != Some(1) || self.persist == Some(PersistMode::SyncAll);
        Ok(())
    }

    #[inline]
    fn begin(&mut self) -> Result<Writer<'_>> {
        let batch = self.batches.then(|| self.database.batch().durability(self.persist));
        Ok(Writer { store: self, batch })
    }

    fn scan(&mut self, mut visit: impl FnMut(&[u8], &[u8])) -> Result<()> {
        for pair in self.keyspace.iter() {
            let (key, value) = pair.into_inner()?;
            visit(&key, &value);
        }
        Ok(())
    }
}

impl Lookup for Reader<'_> {
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        let found = match &self.snapshot {
            Some(snapshot) => snapshot.get(self.keyspace, key)?,
            None => self.keyspace.get(key)?,
        };
        Ok(found.map(|value| read(&value)))
    }

    #[inline]
    fn range(&mut self, from: &[u8], mut visit: impl FnMut(&[u8])) -> Result<()> {
        let pairs = match &self.snapshot {
            Some(snapshot) => snapshot.range(self.keyspace, from..),
            None => self.keyspace.range(from..),
        };
        for pair in pairs.take(self.length) {
            visit(&pair.value()?);
        }
        Ok(())
    }
}

impl Transaction for Writer<'_> {
    type Store<'s>
        = &'s mut Self
    where
        Self: 's;

    #[inline]
    fn store(&mut self) -> Result<&mut Self> {
        Ok(self)
    }

    #[inline]
    fn commit(self) -> Result<()> {
        if let Some(batch) = self.batch {
            batch.commit()?;
        }
        Ok(())
    }
}

impl Write for Writer<'_> {
    /// A database as it is opened here has batches and no transactions: it is what has been committed.
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        Ok(self.store.keyspace.get(key)?.map(|value| read(&value)))
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        match &mut self.batch {
            Some(batch) => batch.insert(&self.store.keyspace, key, value),
            None => self.store.keyspace.insert(key, value)?,
        }
        Ok(())
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> Result<()> {
        match &mut self.batch {
            Some(batch) => batch.remove(&self.store.keyspace, key),
            None => self.store.keyspace.remove(key)?,
        }
        Ok(())
    }
}
