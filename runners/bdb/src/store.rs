//! A store: a database, its lookups and its transactions.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use anyhow::{Error, Result, ensure};
use dyno_runner::{KeyValue, Lookup, Lookups, Reads, Transaction, Write, Writes};

use crate::api::{self, Cursor, Db, Dbt, Txn};
use crate::bulk::Bulk;
use crate::databases::Databases;
use crate::error::BdbError;

/// The memory that a scan fills with a call, in bytes: as large as the largest page that a database can have.
const SCAN_BYTES: u32 = 64 << 10;

/// An open store.
pub struct Store<'s> {
    pub databases: &'s Databases,
    /// Open as long as the databases.
    pub db: *mut Db,
    /// The buffer of values that are looked up, and its length; null while there is none. Where threads share the
    /// environment, the library hands out no memory of its own.
    value: Cell<(*mut c_void, u32)>,
    /// The memory that cursors fill; the current reader takes it.
    bulk: Cell<Bulk>,
}

impl<'s> Store<'s> {
    /// One of some databases.
    pub fn new(databases: &'s Databases, db: *mut Db) -> Store<'s> {
        Store { databases, db, value: Cell::new((ptr::null_mut(), 0)), bulk: Cell::default() }
    }
}

impl Drop for Store<'_> {
    fn drop(&mut self) {
        // SAFETY: the library took it from `malloc`, or there is none; it is not used after this.
        unsafe { nix::libc::free(self.value.get().0) };
    }
}

/// Lookups: each outside of transactions and each range with a separate cursor; or all in one transaction, if there
/// are any, which keeps a lock on every page that it has read, with one cursor.
pub struct Reader<'r> {
    store: &'r Store<'r>,
    reads: Reads,
    /// Open, or null.
    transaction: *mut Txn,
    /// Open, or null.
    cursor: *mut Cursor,
    /// The memory that the cursor fills.
    bulk: Bulk,
    /// The number of pairs in a range.
    length: u64,
}

/// A transaction. Without an environment there is none: each operation is then done at once, and nothing is committed.
pub struct Writer<'w> {
    store: &'w Store<'w>,
    /// Open, or null.
    transaction: *mut Txn,
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
        let transaction = if reads == Reads::One { self.databases.begin()? } else { ptr::null_mut() };
        let (cursor, bulk) = (ptr::null_mut(), self.bulk.take());
        let mut reader = Reader { store: self, reads, transaction, cursor, bulk, length: 0 };
        if let Lookups::Range(length) = lookups {
            reader.length = length;
            reader.make_room()?;
            if reads == Reads::One {
                reader.open_cursor()?;
            }
        }
        Ok(reader)
    }

    fn prepare(&mut self, writes: Writes) -> Result<()> {
        ensure!(
            self.databases.has_transactions() || writes.per_commit == Some(1),
            "without an environment Berkeley DB has no transactions: ask for per_commit=1, or for \
             environment=transactional"
        );
        Ok(())
    }

    #[inline]
    fn begin(&mut self) -> Result<Writer<'_>> {
        let transaction = self.databases.begin()?;
        Ok(Writer { store: self, transaction })
    }

    fn is_retryable(&self, error: &Error) -> bool {
        error.downcast_ref::<BdbError>().is_some_and(BdbError::is_retryable)
    }

    fn scan(&mut self, mut visit: impl FnMut(&[u8], &[u8])) -> Result<()> {
        let mut reader = self.reader(Lookups::Get, Reads::Each)?;
        reader.open_cursor()?;
        reader.bulk.make_room(SCAN_BYTES);
        let mut key = Dbt::EMPTY;
        // SAFETY: there is a cursor, and `NEXT` wants no key.
        while unsafe { reader.fill(&mut key, api::NEXT)? } {
            reader.bulk.pairs().for_each(|(key, value)| visit(key, value));
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// Makes room for a page of the database, below which the library refuses to fill memory.
    fn make_room(&mut self) -> Result<()> {
        let Store { databases, db, .. } = *self.store;
        let mut page = 0;
        // SAFETY: the database is open, and the number outlives the call.
        databases.check(unsafe { Db::get_pagesize(db, &mut page) })?;
        self.bulk.make_room(page);
        Ok(())
    }

    fn open_cursor(&mut self) -> Result<()> {
        let Store { databases, db, .. } = *self.store;
        // SAFETY: the database is open.
        databases.check(unsafe { Db::cursor(db, self.transaction, &mut self.cursor, 0) })
    }

    fn close_cursor(&mut self) {
        let cursor = std::mem::replace(&mut self.cursor, ptr::null_mut());
        if !cursor.is_null() {
            // SAFETY: the cursor is open and not used after this. It has changed nothing that could fail to be written.
            unsafe { Cursor::close(cursor) };
        }
    }

    /// Fills the memory with pairs from where the cursor is moved to, and leaves the cursor at the last of them.
    /// True if there is a pair.
    ///
    /// # Safety
    /// There is a cursor, and `key` holds a key where `to` wants one.
    #[inline]
    unsafe fn fill(&mut self, key: &mut Dbt, to: u32) -> Result<bool> {
        loop {
            let mut pairs = self.bulk.dbt();
            // SAFETY: as the caller promises; the memory is the reader's.
            match unsafe { Cursor::get(self.cursor, key, &mut pairs, to | api::MULTIPLE_KEY) } {
                0 => return Ok(true),
                api::NOTFOUND => return Ok(false),
                // The cursor has not moved.
                api::BUFFER_SMALL => self.bulk.make_room(pairs.size.max(2 * self.bulk.bytes())),
                code => return Err(self.store.databases.error(code)),
            }
        }
    }
}

impl Lookup for Reader<'_> {
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        // SAFETY: the transaction is open or null.
        unsafe { get(self.store, self.transaction, key, 0, read) }
    }

    #[inline]
    fn range(&mut self, from: &[u8], mut visit: impl FnMut(&[u8])) -> Result<()> {
        let mut left = usize::try_from(self.length)?;
        if self.cursor.is_null() {
            self.open_cursor()?;
        }
        let (mut key, mut to) = (Dbt::of(from), api::SET_RANGE);
        // SAFETY: there is a cursor, and the key is the one to look for.
        while left > 0 && unsafe { self.fill(&mut key, to)? } {
            let visited = self.bulk.pairs().take(left).map(|(_, value)| visit(value)).count();
            left -= visited;
            // The next range is likely to take as many bytes, and one call then fetches them.
            if left > 0 && self.bulk.bytes() < SCAN_BYTES {
                self.bulk.make_room(2 * self.bulk.bytes());
            }
            (key, to) = (Dbt::EMPTY, api::NEXT);
        }
        if self.reads == Reads::Each {
            self.close_cursor();
        }
        Ok(())
    }
}

/// Looks a key up, in a transaction or in none.
///
/// # Safety
/// The transaction is open or null.
#[inline]
unsafe fn get<T>(
    store: &Store,
    transaction: *mut Txn,
    key: &[u8],
    how: u32,
    read: impl FnOnce(&[u8]) -> T,
) -> Result<Option<T>> {
    let (databases, (data, size)) = (store.databases, store.value.get());
    let mut value = if databases.is_shared { Dbt::growing(data, size) } else { Dbt::EMPTY };
    let mut key = Dbt::of(key);
    // SAFETY: the database is open; the value is the library's own memory, or the store's, until the next call.
    unsafe {
        let code = Db::get(store.db, transaction, &mut key, &mut value, how);
        if databases.is_shared {
            store.value.set((value.data, value.size));
        }
        match code {
            0 => Ok(Some(read(value.bytes()))),
            api::NOTFOUND => Ok(None),
            code => Err(databases.error(code)),
        }
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.close_cursor();
        self.store.bulk.set(std::mem::take(&mut self.bulk));
        if !self.transaction.is_null() {
            // SAFETY: the transaction is open, its cursor is closed, and it is not used after this. It has changed
            // nothing.
            unsafe { Txn::abort(self.transaction) };
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
    fn commit(mut self) -> Result<()> {
        let transaction = std::mem::replace(&mut self.transaction, ptr::null_mut());
        if transaction.is_null() {
            return Ok(());
        }
        // SAFETY: the transaction is open and not used after this.
        self.store.databases.check(unsafe { Txn::commit(transaction, 0) })
    }
}

impl Write for Writer<'_> {
    /// A read locks for writing, as the manual advises: two that have only read could not both go on.
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        let how = if self.transaction.is_null() { 0 } else { api::RMW };
        // SAFETY: the transaction is open, or there is none.
        unsafe { get(self.store, self.transaction, key, how, read) }
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let Store { databases, db, .. } = *self.store;
        let (mut key, mut value) = (Dbt::of(key), Dbt::of(value));
        // SAFETY: database and transaction are open; the library copies both.
        databases.check(unsafe { Db::put(db, self.transaction, &mut key, &mut value, 0) })
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> Result<()> {
        let Store { databases, db, .. } = *self.store;
        let mut key = Dbt::of(key);
        // SAFETY: database and transaction are open.
        databases.check(unsafe { Db::del(db, self.transaction, &mut key, 0) })
    }
}

impl Drop for Writer<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.transaction.is_null() {
            // SAFETY: the transaction is open and not used after this.
            unsafe { Txn::abort(self.transaction) };
        }
    }
}
