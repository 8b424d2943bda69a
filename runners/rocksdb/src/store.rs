//! A store: a column family, its lookups and its writes.

use std::ptr;

use anyhow::Result;
use dyno_runner::{KeyValue, Lookup, Lookups, Transaction, Write, Writes};

use crate::api::{Batch, Family, Iter, WriteOptions};
use crate::database::Database;

/// An open store.
pub struct Store<'s> {
    database: &'s Database,
    /// Open as long as the database.
    family: *mut Family,
    /// How writes commit.
    commits: Commits,
    /// The writes of one commit; empty between commits.
    batch: *mut Batch,
}

/// How writes commit.
#[derive(Debug, Clone, Copy)]
enum Commits {
    /// Each by itself: a batch of one would be no other.
    Alone,
    /// Those of a transaction as one batch.
    Batch,
}

/// Lookups, with an iterator where ranges are read.
pub struct Reader<'r> {
    store: &'r Store<'r>,
    /// There, or null.
    iterator: *mut Iter,
    /// How many pairs a range has.
    length: u64,
}

/// Writes until a commit.
pub struct Writer<'w> {
    store: &'w Store<'w>,
    /// Where writes are collected; null where each is done at once.
    batch: *mut Batch,
    /// How writes are done at once.
    options: *mut WriteOptions,
}

impl<'s> Store<'s> {
    /// Opens one, and makes it where it is missing.
    pub fn open(database: &'s Database, name: &str) -> Result<Store<'s>> {
        let family = database.store(name)?;
        // SAFETY: it takes nothing.
        let batch = unsafe { (database.api.writebatch_create)() };
        Ok(Store { database, family, commits: Commits::Alone, batch })
    }
}

impl Drop for Store<'_> {
    fn drop(&mut self) {
        // SAFETY: the batch is not used after this.
        unsafe { (self.database.api.writebatch_destroy)(self.batch) };
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

    fn reader(&mut self, lookups: Lookups) -> Result<Reader<'_>> {
        let mut reader = Reader { store: self, iterator: ptr::null_mut(), length: 0 };
        if let Lookups::Range(length) = lookups {
            reader.length = length;
            reader.open_iterator();
        }
        Ok(reader)
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
        let reader = self.reader(Lookups::Range(0))?;
        let (database, iterator) = (reader.store.database, reader.iterator);
        let api = &database.api;
        // SAFETY: the iterator is valid where it is read, and is not moved meanwhile.
        unsafe {
            (api.iter_seek_to_first)(iterator);
            while (api.iter_valid)(iterator) != 0 {
                visit(database.key(iterator), database.value(iterator));
                (api.iter_next)(iterator);
            }
        }
        reader.check()
    }
}

impl Reader<'_> {
    fn open_iterator(&mut self) {
        let Store { database, family, .. } = *self.store;
        // SAFETY: database and family are open.
        self.iterator = unsafe { (database.api.create_iterator_cf)(database.db, database.read, family) };
    }

    /// Whether the iterator has met an error, of which it otherwise shows no more than an end.
    #[inline]
    fn check(&self) -> Result<()> {
        let database = self.store.database;
        let mut error = ptr::null_mut();
        // SAFETY: the iterator is there.
        unsafe { (database.api.iter_get_error)(self.iterator, &mut error) };
        database.check(error)
    }
}

impl Lookup for Reader<'_> {
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        let Store { database, family, .. } = *self.store;
        let (api, mut error) = (&database.api, ptr::null_mut());
        // SAFETY: the database is open; the value is read before it is given back, once.
        unsafe {
            let (start, length) = (key.as_ptr(), key.len());
            let value = (api.get_pinned_cf)(database.db, database.read, family, start, length, &mut error);
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
    fn range(&mut self, from: &[u8], mut visit: impl FnMut(&[u8])) -> Result<()> {
        if self.iterator.is_null() {
            self.open_iterator();
        }
        let (database, iterator) = (self.store.database, self.iterator);
        let (api, mut left) = (&database.api, self.length);
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
        }
        // An error ends a range before its time.
        if left > 0 { self.check() } else { Ok(()) }
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        if !self.iterator.is_null() {
            // SAFETY: the iterator is not used after this.
            unsafe { (self.store.database.api.iter_destroy)(self.iterator) };
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
        Reader { store: self.store, iterator: ptr::null_mut(), length: 0 }.get(key, read)
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
