//! A store: a column family, its lookups and its writes.

use std::ptr;

use anyhow::Result;
use dyno_runner::{KeyValue, Lookup, Lookups, Reads, Transaction, Write, Writes};

use crate::api::{Batch, Family, Iter, ReadOptions, Snapshot, WriteOptions};
use crate::database::Database;

/// An open store.
pub struct Store<'s> {
    database: &'s Database,
    /// Open as long as the database.
    family: *mut Family,
    /// The way in which writes commit.
    commits: Commits,
    /// The writes of one commit; empty between commits.
    batch: *mut Batch,
    /// The options of reads that share a snapshot, which is set for each that begins.
    of_snapshots: *mut ReadOptions,
}

/// The way in which writes commit.
#[derive(Debug, Clone, Copy)]
enum Commits {
    /// One by one: a batch of one would be no other.
    Alone,
    /// Those of a transaction as one batch.
    Batch,
}

/// Lookups. Each sees the newest state and each range has a separate iterator; or all see one and ranges share an
/// iterator.
pub struct Reader<'r> {
    store: &'r Store<'r>,
    /// The state that all see; none where each sees the newest.
    snapshot: Option<Shared<'r>>,
    /// The number of pairs in a range.
    length: u64,
}

/// A snapshot with what is read by it.
struct Shared<'r> {
    database: &'r Database,
    snapshot: *const Snapshot,
    /// Those of the store.
    options: *mut ReadOptions,
    /// There, or null.
    iterator: *mut Iter,
}

/// Writes until a commit.
pub struct Writer<'w> {
    store: &'w Store<'w>,
    /// The batch in which writes are collected; null where each is done at once.
    batch: *mut Batch,
    /// The options of writes that are done at once.
    options: *mut WriteOptions,
}

impl<'s> Store<'s> {
    /// Opens one, and makes it where it is missing.
    pub fn open(database: &'s Database, name: &str) -> Result<Store<'s>> {
        let (api, family) = (&database.api, database.store(name)?);
        // SAFETY: they take nothing.
        let (batch, of_snapshots) = unsafe { ((api.writebatch_create)(), (api.readoptions_create)()) };
        Ok(Store { database, family, commits: Commits::Alone, batch, of_snapshots })
    }
}

impl Drop for Store<'_> {
    fn drop(&mut self) {
        let api = &self.database.api;
        // SAFETY: neither is used after this.
        unsafe {
            (api.writebatch_destroy)(self.batch);
            (api.readoptions_destroy)(self.of_snapshots);
        }
    }
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

    fn reader(&mut self, lookups: Lookups, reads: Reads) -> Result<Reader<'_>> {
        let length = if let Lookups::Range(length) = lookups { Some(length) } else { None };
        let mut snapshot = (reads == Reads::One).then(|| Shared::new(self.database, self.of_snapshots));
        if let (Some(shared), Some(_)) = (&mut snapshot, length) {
            shared.iterator = self.iterator(shared.options);
        }
        Ok(Reader { store: self, snapshot, length: length.unwrap_or(0) })
    }

    fn prepare(&mut self, writes: Writes) -> Result<()> {
        self.commits = match writes.per_commit {
            Some(1) => Commits::Alone,
            _ => Commits::Batch,
        };
        Ok(())
    }

    #[inline]
    fn begin(&mut self) -> Result<Writer<'_>> {
        let batch = match self.commits {
            Commits::Alone => ptr::null_mut(),
            Commits::Batch => self.batch,
        };
        Ok(Writer { options: self.database.durable(), store: self, batch })
    }

    fn scan(&mut self, mut visit: impl FnMut(&[u8], &[u8])) -> Result<()> {
        let database = self.database;
        let (api, iterator) = (&database.api, self.iterator(database.read));
        // SAFETY: the iterator is valid where it is read, is not moved meanwhile, and is destroyed once.
        unsafe {
            (api.iter_seek_to_first)(iterator);
            while (api.iter_valid)(iterator) != 0 {
                visit(database.key(iterator), database.value(iterator));
                (api.iter_next)(iterator);
            }
            let checked = check(database, iterator);
            (api.iter_destroy)(iterator);
            checked
        }
    }
}

impl Store<'_> {
    /// An iterator, which is to be destroyed.
    #[inline]
    fn iterator(&self, options: *const ReadOptions) -> *mut Iter {
        // SAFETY: database, family and options are there.
        unsafe { (self.database.api.create_iterator_cf)(self.database.db, options, self.family) }
    }

    /// Visits this many pairs from a key on.
    ///
    /// # Safety
    /// The iterator is there and is the store's.
    #[inline]
    unsafe fn visit(
        &self,
        iterator: *mut Iter,
        from: &[u8],
        length: u64,
        mut visit: impl FnMut(&[u8]),
    ) -> Result<()> {
        let (database, mut left) = (self.database, length);
        let api = &database.api;
        // SAFETY: the iterator is valid where it is read, and is not moved meanwhile.
        unsafe {
            (api.iter_seek)(iterator, from.as_ptr(), from.len());
            while left > 0 && (api.iter_valid)(iterator) != 0 {
                visit(database.value(iterator));
                left -= 1;
                if left > 0 {
                    (api.iter_next)(iterator);
                }
            }
            // An error ends a range before its time.
            if left > 0 { check(database, iterator) } else { Ok(()) }
        }
    }
}

/// True if an iterator has met an error, of which it otherwise shows no more than an end.
///
/// # Safety
/// The iterator is there.
#[inline]
unsafe fn check(database: &Database, iterator: *mut Iter) -> Result<()> {
    let mut error = ptr::null_mut();
    // SAFETY: as the caller promises.
    unsafe { (database.api.iter_get_error)(iterator, &mut error) };
    database.check(error)
}

impl<'r> Shared<'r> {
    /// The newest state, which is read by these options from now on.
    fn new(database: &'r Database, options: *mut ReadOptions) -> Shared<'r> {
        let api = &database.api;
        // SAFETY: the database is open and the options are there; the snapshot is given back once.
        unsafe {
            let snapshot = (api.create_snapshot)(database.db);
            (api.readoptions_set_snapshot)(options, snapshot);
            Shared { database, snapshot, options, iterator: ptr::null_mut() }
        }
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        let api = &self.database.api;
        // SAFETY: neither is used after this, nor are the options before they get another snapshot.
        unsafe {
            if !self.iterator.is_null() {
                (api.iter_destroy)(self.iterator);
            }
            (api.release_snapshot)(self.database.db, self.snapshot);
        }
    }
}

impl Lookup for Reader<'_> {
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        let Store { database, family, .. } = *self.store;
        let options = self.snapshot.as_ref().map_or(database.read, |shared| shared.options);
        let (api, mut error) = (&database.api, ptr::null_mut());
        // SAFETY: the database is open; the value is read before it is given back, once.
        unsafe {
            let (start, length) = (key.as_ptr(), key.len());
            let value = (api.get_pinned_cf)(database.db, options, family, start, length, &mut error);
            if value.is_null() {
                return database.check(error).map(|()| None);
            }
            let mut length = 0;
            let start = (api.pinnableslice_value)(value, &mut length);
            let found = read(if length == 0 { &[] } else { std::slice::from_raw_parts(start, length) });
            (api.pinnableslice_destroy)(value);
            Ok(Some(found))
        }
    }

    #[inline]
    fn range(&mut self, from: &[u8], visit: impl FnMut(&[u8])) -> Result<()> {
        if let Some(shared) = &self.snapshot {
            // SAFETY: the reader is for ranges, so there is an iterator.
            return unsafe { self.store.visit(shared.iterator, from, self.length, visit) };
        }
        let database = self.store.database;
        let iterator = self.store.iterator(database.read);
        // SAFETY: the iterator was just made and is not used after it is destroyed.
        unsafe {
            let visited = self.store.visit(iterator, from, self.length, visit);
            (database.api.iter_destroy)(iterator);
            visited
        }
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
        let database = self.store.database;
        match self.store.commits {
            Commits::Alone => Ok(()),
            // SAFETY: the batch is there.
            Commits::Batch => unsafe { database.write(self.batch) },
        }
    }
}

impl Write for Writer<'_> {
    /// RocksDB as it is opened has batches and no transactions: it is what has been committed.
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        Reader { store: self.store, snapshot: None, length: 0 }.get(key, read)
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let Store { database, family, .. } = *self.store;
        let (api, mut error) = (&database.api, ptr::null_mut());
        let (key, key_length, value, length) = (key.as_ptr(), key.len(), value.as_ptr(), value.len());
        // SAFETY: database and batch are there and copy both.
        unsafe {
            if !self.batch.is_null() {
                (api.writebatch_put_cf)(self.batch, family, key, key_length, value, length);
                return Ok(());
            }
            (api.put_cf)(database.db, self.options, family, key, key_length, value, length, &mut error);
        }
        database.check(error)
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> Result<()> {
        let Store { database, family, .. } = *self.store;
        let (api, mut error) = (&database.api, ptr::null_mut());
        let (key, length) = (key.as_ptr(), key.len());
        // SAFETY: database and batch are there and copy the key.
        unsafe {
            if !self.batch.is_null() {
                (api.writebatch_delete_cf)(self.batch, family, key, length);
                return Ok(());
            }
            (api.delete_cf)(database.db, self.options, family, key, length, &mut error);
        }
        database.check(error)
    }
}

impl Drop for Writer<'_> {
    /// A batch that was not written is emptied.
    #[inline]
    fn drop(&mut self) {
        if !self.batch.is_null() {
            // SAFETY: the batch is there.
            unsafe { (self.store.database.api.writebatch_clear)(self.batch) };
        }
    }
}
