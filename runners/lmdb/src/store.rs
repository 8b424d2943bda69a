//! A store: a named database of the environment, its lookups and its transactions.

use std::cell::Cell;
use std::ptr;

use anyhow::{Error, Result, anyhow, bail};
use dyno_runner::{KeyValue, Lookup, Lookups, Reads, Transaction, Write};

use crate::api::{self, Cursor, Dbi, Txn, Val};
use crate::environment::{Environment, Keys};

/// An open store, of one client and thus of one thread.
pub struct Store<'s> {
    environment: &'s Environment,
    dbi: Dbi,
    keys: Keys,
    /// The handles of the lookups before, for the next one.
    idle: Cell<Handles>,
}

/// The handles by which a client looks up, one lookup after another: LMDB's manual advises to reset and renew them, which
/// spares their allocation.
#[derive(Clone, Copy)]
struct Handles {
    /// A transaction for reading. It is reset while no lookup is under way, and holds no snapshot then. Null before the
    /// first lookup.
    transaction: *mut Txn,
    /// A cursor in it; null before the first range.
    cursor: *mut Cursor,
}

/// Lookups: each in a separate transaction, or all in one.
pub struct Reader<'r> {
    store: &'r Store<'r>,
    handles: Handles,
    /// True from when the transaction has a snapshot until it is reset.
    is_open: bool,
    lookups: Lookups,
    reads: Reads,
}

/// A transaction for writing.
pub struct Writer<'w> {
    store: &'w Store<'w>,
    /// Open; null once it is committed.
    transaction: *mut Txn,
}

impl Handles {
    /// None yet.
    const NONE: Handles = Handles { transaction: ptr::null_mut(), cursor: ptr::null_mut() };
}

impl<'s> Store<'s> {
    /// A store of an environment.
    pub fn new(environment: &'s Environment, dbi: Dbi, keys: Keys) -> Store<'s> {
        Store { environment, dbi, keys, idle: Cell::new(Handles::NONE) }
    }
}

impl Drop for Store<'_> {
    fn drop(&mut self) {
        let (api, Handles { transaction, cursor }) = (&self.environment.api, self.idle.get());
        // SAFETY: no reader has them. The cursor is open or null and the transaction reset or null, and neither is used
        // after this.
        unsafe {
            if !cursor.is_null() {
                (api.cursor_close)(cursor);
            }
            if !transaction.is_null() {
                (api.txn_abort)(transaction);
            }
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

    #[inline]
    fn reader(&mut self, lookups: Lookups, reads: Reads) -> Result<Reader<'_>> {
        let handles = self.idle.replace(Handles::NONE);
        let mut reader = Reader { store: self, handles, is_open: false, lookups, reads };
        if reads == Reads::One {
            reader.open()?;
        }
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
    /// Gives the transaction the newest snapshot, unless it has one that all lookups share.
    #[inline]
    fn open(&mut self) -> Result<()> {
        if self.is_open {
            return Ok(());
        }
        let environment = self.store.environment;
        if self.handles.transaction.is_null() {
            self.handles.transaction = environment.begin(api::RDONLY)?;
        } else {
            // SAFETY: the transaction is reset.
            environment.check(unsafe { (environment.api.txn_renew)(self.handles.transaction) })?;
        }
        self.is_open = true;
        match self.lookups {
            Lookups::Get => Ok(()),
            Lookups::Range(_) => self.open_cursor(),
        }
    }

    /// Binds the cursor to the open transaction.
    #[inline]
    fn open_cursor(&mut self) -> Result<()> {
        let Store { environment, dbi, .. } = *self.store;
        let Handles { transaction, cursor } = &mut self.handles;
        // SAFETY: the transaction is open. The cursor is null or was opened in it, and is one for reading.
        environment.check(unsafe {
            if cursor.is_null() {
                (environment.api.cursor_open)(*transaction, dbi, cursor)
            } else {
                (environment.api.cursor_renew)(*transaction, *cursor)
            }
        })
    }

    /// Lets go of the snapshot.
    #[inline]
    fn reset(&mut self) {
        if self.is_open {
            // SAFETY: the transaction is open, and nothing that was read in it is in use.
            unsafe { (self.store.environment.api.txn_reset)(self.handles.transaction) };
            self.is_open = false;
        }
    }

    /// Ends a lookup.
    #[inline]
    fn end(&mut self) {
        if self.reads == Reads::Each {
            self.reset();
        }
    }

    /// Visits this many pairs from a key on.
    ///
    /// # Safety
    /// The reader is for ranges and its transaction is open.
    #[inline]
    unsafe fn visit(&mut self, from: &[u8], length: u64, mut visit: impl FnMut(&[u8])) -> Result<()> {
        let (mut left, mut number) = (length, 0);
        let (mut key, mut value) = (self.store.keys.encode(from, &mut number)?, Val::EMPTY);
        // SAFETY: there is a cursor, as the caller promises, and the key is the one to look for.
        unsafe {
            let mut there = left > 0 && self.step(&mut key, &mut value, api::SET_RANGE)?;
            while there {
                visit(value.bytes());
                left -= 1;
                there = left > 0 && self.step(&mut key, &mut value, api::NEXT)?;
            }
        }
        Ok(())
    }

    /// Moves the cursor. Whether there is a pair, which `key` and `value` then are.
    ///
    /// # Safety
    /// There is a cursor, and `key` holds a key where `to` wants one.
    #[inline]
    unsafe fn step(&mut self, key: &mut Val, value: &mut Val, to: i32) -> Result<bool> {
        let environment = self.store.environment;
        // SAFETY: as the caller promises.
        match unsafe { (environment.api.cursor_get)(self.handles.cursor, key, value, to) } {
            0 => Ok(true),
            api::NOTFOUND => Ok(false),
            code => Err(environment.error(code)),
        }
    }
}

impl Lookup for Reader<'_> {
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        self.open()?;
        // SAFETY: the transaction is open, and one for reading changes nothing.
        let found = unsafe { get(self.store, self.handles.transaction, key, read) };
        self.end();
        found
    }

    #[inline]
    fn range(&mut self, from: &[u8], visit: impl FnMut(&[u8])) -> Result<()> {
        let Lookups::Range(length) = self.lookups else { bail!("the reader is for single keys") };
        self.open()?;
        // SAFETY: the reader is for ranges, and the transaction is open.
        let visited = unsafe { self.visit(from, length, visit) };
        self.end();
        visited
    }
}

impl Drop for Reader<'_> {
    #[inline]
    fn drop(&mut self) {
        self.reset();
        self.store.idle.set(self.handles);
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
    let Store { environment, dbi, keys, .. } = *store;
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
        let Store { environment, dbi, keys, .. } = *self.store;
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
        let Store { environment, dbi, keys, .. } = *self.store;
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

#[cfg(test)]
mod tests;
