//! A store: a named database of the environment, its lookups and its transactions.

use std::ptr;

use anyhow::{Error, Result, anyhow};
use dyno_runner::{KeyValue, Lookup, Lookups, Reads, Transaction, Write};

use crate::api::{self, Cursor, Dbi, Txn, Val};
use crate::environment::{Environment, Keys};

/// An open store.
pub struct Store<'s> {
    pub environment: &'s Environment,
    pub dbi: Dbi,
    pub keys: Keys,
}

/// A transaction for reading, with a cursor where ranges are read. Each lookup that is to have one of its own renews
/// it, and resets it once it has read.
pub struct Reader<'r> {
    store: &'r Store<'r>,
    /// Open, or reset.
    transaction: *mut Txn,
    reads: Reads,
    /// Open, or null.
    cursor: *mut Cursor,
    /// The number of pairs in a range.
    length: u64,
}

/// A transaction for writing.
pub struct Writer<'w> {
    store: &'w Store<'w>,
    /// Open; null once it is committed.
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
        let transaction = self.environment.begin(api::RDONLY)?;
        let mut reader = Reader { store: self, transaction, reads, cursor: ptr::null_mut(), length: 0 };
        if let Lookups::Range(length) = lookups {
            reader.length = length;
            reader.open_cursor()?;
        }
        reader.end();
        Ok(reader)
    }

    #[inline]
    fn begin(&mut self) -> Result<Writer<'_>> {
        let transaction = self.environment.begin(0)?;
        Ok(Writer { store: self, transaction })
    }

    fn scan(&mut self, mut visit: impl FnMut(&[u8], &[u8])) -> Result<()> {
        let keys = self.keys;
        let mut reader = self.reader(Lookups::Range(0), Reads::One)?;
        let (mut key, mut value) = (Val::EMPTY, Val::EMPTY);
        let mut number = [0; 8];
        // SAFETY: the cursor stands on a pair until its next step.
        unsafe {
            let mut there = reader.step(&mut key, &mut value, api::FIRST)?;
            while there {
                visit(keys.decode(key.bytes(), &mut number), value.bytes());
                there = reader.step(&mut key, &mut value, api::NEXT)?;
            }
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// Begins what one lookup needs.
    #[inline]
    fn begin(&mut self) -> Result<()> {
        if self.reads == Reads::One {
            return Ok(());
        }
        let environment = self.store.environment;
        // SAFETY: the transaction is reset, and the cursor is null or was opened in it.
        unsafe {
            environment.check((environment.api.txn_renew)(self.transaction))?;
            if self.cursor.is_null() {
                return Ok(());
            }
            environment.check((environment.api.cursor_renew)(self.transaction, self.cursor))
        }
    }

    /// Ends it.
    #[inline]
    fn end(&mut self) {
        if self.reads == Reads::Each {
            // SAFETY: the transaction is open, and nothing that was read in it is in use.
            unsafe { (self.store.environment.api.txn_reset)(self.transaction) };
        }
    }

    fn open_cursor(&mut self) -> Result<()> {
        let Store { environment, dbi, .. } = *self.store;
        // SAFETY: the transaction is open.
        environment.check(unsafe { (environment.api.cursor_open)(self.transaction, dbi, &mut self.cursor) })
    }

    /// Moves the cursor. Whether there is a pair, which `key` and `value` then are.
    ///
    /// # Safety
    /// There is a cursor, and `key` holds a key where `to` wants one.
    #[inline]
    unsafe fn step(&mut self, key: &mut Val, value: &mut Val, to: i32) -> Result<bool> {
        let environment = self.store.environment;
        // SAFETY: as the caller promises.
        match unsafe { (environment.api.cursor_get)(self.cursor, key, value, to) } {
            0 => Ok(true),
            api::NOTFOUND => Ok(false),
            code => Err(environment.error(code)),
        }
    }
}

impl Lookup for Reader<'_> {
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        self.begin()?;
        // SAFETY: the transaction is open, and one for reading changes nothing.
        let found = unsafe { get(self.store, self.transaction, key, read) };
        self.end();
        found
    }

    #[inline]
    fn range(&mut self, from: &[u8], mut visit: impl FnMut(&[u8])) -> Result<()> {
        let mut number = 0;
        let (mut key, mut value) = (self.store.keys.encode(from, &mut number)?, Val::EMPTY);
        let mut left = self.length;
        self.begin()?;
        // SAFETY: there is a cursor, as the reader is for ranges, and the key is the one to look for.
        unsafe {
            let mut there = left > 0 && self.step(&mut key, &mut value, api::SET_RANGE)?;
            while there {
                visit(value.bytes());
                left -= 1;
                there = left > 0 && self.step(&mut key, &mut value, api::NEXT)?;
            }
        }
        self.end();
        Ok(())
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let api = &self.store.environment.api;
        // SAFETY: both are open or null, the cursor is closed before the transaction ends, and neither is used after
        // this.
        unsafe {
            if !self.cursor.is_null() {
                (api.cursor_close)(self.cursor);
            }
            (api.txn_abort)(self.transaction);
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
        let environment = self.store.environment;
        let transaction = std::mem::replace(&mut self.transaction, ptr::null_mut());
        // SAFETY: the transaction is open and not used after this.
        environment.check(unsafe { (environment.api.txn_commit)(transaction) })
    }
}

/// Looks a key up.
///
/// # Safety
/// The transaction is open, and changes nothing while the value is read.
#[inline]
unsafe fn get<T>(
    store: &Store,
    transaction: *mut Txn,
    key: &[u8],
    read: impl FnOnce(&[u8]) -> T,
) -> Result<Option<T>> {
    let Store { environment, dbi, keys } = *store;
    let mut number = 0;
    let (mut sought, mut value) = (keys.encode(key, &mut number)?, Val::EMPTY);
    // SAFETY: as the caller promises.
    unsafe {
        match (environment.api.get)(transaction, dbi, &mut sought, &mut value) {
            0 => Ok(Some(read(value.bytes()))),
            api::NOTFOUND => Ok(None),
            code => Err(unfit(environment, code, key)),
        }
    }
}

impl Write for Writer<'_> {
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        // SAFETY: the transaction is open and this thread's, which now reads.
        unsafe { get(self.store, self.transaction, key, read) }
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let Store { environment, dbi, keys } = *self.store;
        let mut number = 0;
        let (mut sought, mut value) = (keys.encode(key, &mut number)?, Val::of(value));
        // SAFETY: the transaction is open; LMDB copies both.
        match unsafe { (environment.api.put)(self.transaction, dbi, &mut sought, &mut value, 0) } {
            0 => Ok(()),
            code => Err(unfit(environment, code, key)),
        }
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> Result<()> {
        let Store { environment, dbi, keys } = *self.store;
        let mut number = 0;
        let mut sought = keys.encode(key, &mut number)?;
        // SAFETY: the transaction is open; without duplicates no value is needed.
        match unsafe { (environment.api.del)(self.transaction, dbi, &mut sought, ptr::null_mut()) } {
            0 => Ok(()),
            code => Err(unfit(environment, code, key)),
        }
    }
}

impl Drop for Writer<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.transaction.is_null() {
            // SAFETY: the transaction is open and not used after this.
            unsafe { (self.store.environment.api.txn_abort)(self.transaction) };
        }
    }
}

/// The error of one key.
#[cold]
fn unfit(environment: &Environment, code: i32, key: &[u8]) -> Error {
    if code == api::BAD_VALSIZE {
        let longest = environment.longest_key();
        return anyhow!(
            "the key has {} bytes, and LMDB, as this library was compiled, takes keys of 1 to {longest}: use \
             shorter ones or another engine (LMDB error {code})",
            key.len()
        );
    }
    environment.error(code)
}
