//! Key-value work: the models `kv-put`, `kv-get`, `kv-scan`, `kv-range` and `kv-delete`, and mixes on stores. What
//! settles stores (`kv-settle`) is [`Session::settle`](crate::Session::settle).
//!
//! An engine says what one operation is. The loops over operations are the skeleton's (`work/kv.rs`): they are compiled
//! for each engine, so that nothing stands between two operations but an [`OperationTimer`](crate::OperationTimer), which
//! costs nothing in a trial without latency.

use anyhow::{Error, Result};
use dyno_protocol::Reads;

/// A store of keys and values that a session has opened. Integer keys are handed over in 8 bytes, the most
/// significant first, in both directions.
pub trait KeyValue {
    /// Looks up. It may keep what lookups share: a prepared statement, and of those in one transaction all that is theirs.
    type Reader<'r>: Lookup
    where
        Self: 'r;
    /// An open transaction, or what stands for one in an engine that has none.
    type Transaction<'t>: Transaction
    where
        Self: 't;

    /// Checks that the store can have keys of this length, in bytes; the error says what to do. Called outside the
    /// clock.
    fn check(&self, _length: usize) -> Result<()> {
        Ok(())
    }

    /// Begins lookups, within the clock, and with [`Reads::One`] the transaction or snapshot that they share; dropping the
    /// reader ends it. With [`Reads::Each`] a lookup leaves nothing open behind it: it begins and ends a transaction, if
    /// the engine has no reads without, and a range has a separate iterator.
    ///
    /// A client of a mix begins a reader for each lookup and for each transaction that reads. So the store keeps what the
    /// engine's manual advises to use again.
    fn reader(&mut self, lookups: Lookups, reads: Reads) -> Result<Self::Reader<'_>>;

    /// Begins writes, within the clock: makes what all transactions of a section share, such as prepared statements.
    fn prepare(&mut self, _writes: Writes) -> Result<()> {
        Ok(())
    }

    /// Begins a transaction.
    fn begin(&mut self) -> Result<Self::Transaction<'_>>;

    /// Hands every pair to `visit`, in the order of the keys where the store keeps one. It is timed with a `visit`
    /// that adds lengths, and called outside the clock with one that takes checksums.
    fn scan(&mut self, visit: impl FnMut(&[u8], &[u8])) -> Result<()>;

    /// The number of pairs written or deleted, if the engine counts them. Called outside the clock.
    fn written(&self) -> Option<u64> {
        None
    }

    /// Returns true if what is put can be read back: of the harness it cannot.
    fn keeps(&self) -> bool {
        true
    }

    /// Returns true if an operation that failed so, with other clients at work, may succeed if it is tried again.
    fn is_retryable(&self, _error: &Error) -> bool {
        false
    }
}

/// The kind of lookups that a reader serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookups {
    /// Single keys.
    Get,
    /// Ranges of at most this many pairs.
    Range(u64),
}

/// The writes of a test and their transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writes {
    /// The kind of each operation.
    pub kind: WriteKind,
    /// The number of operations in a transaction; none: all of them.
    pub per_commit: Option<u64>,
}

/// The kind of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteKind {
    /// It puts a key that is not there.
    Insert,
    /// It puts a key that is there.
    Overwrite,
    /// It deletes a key that is there.
    Delete,
}

/// Lookups.
pub trait Lookup {
    /// Hands the value of a key to `read`. None where the key is not there.
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>>;

    /// Hands the values of pairs in the order of their keys to `visit`: from the first key that is not less than this
    /// one, as many as the reader is for.
    fn range(&mut self, from: &[u8], visit: impl FnMut(&[u8])) -> Result<()>;
}

/// An open transaction. One that is dropped is not committed.
pub trait Transaction {
    /// The store within it, which is opened once and may borrow the transaction; where it need not, it is the transaction
    /// itself.
    type Store<'s>: Write
    where
        Self: 's;

    /// Opens the store.
    fn store(&mut self) -> Result<Self::Store<'_>>;

    /// Commits.
    fn commit(self) -> Result<()>;
}

/// Writes.
pub trait Write {
    /// Hands the value of a key to `read`, for a transaction that changes what it has read. None where the key is not there.
    /// In an engine without transactions it is what has been committed.
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>>;

    /// Puts a pair.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Deletes a key, which is there.
    fn delete(&mut self, key: &[u8]) -> Result<()>;
}

impl<W: Write> Write for &mut W {
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        (**self).get(key, read)
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        (**self).put(key, value)
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> Result<()> {
        (**self).delete(key)
    }
}

/// The store of an engine that has none.
#[derive(Debug)]
pub enum NoStore {}

impl KeyValue for NoStore {
    type Reader<'r> = NoStore;
    type Transaction<'t> = NoStore;

    fn reader(&mut self, _: Lookups, _: Reads) -> Result<NoStore> {
        match *self {}
    }

    fn begin(&mut self) -> Result<NoStore> {
        match *self {}
    }

    fn scan(&mut self, _: impl FnMut(&[u8], &[u8])) -> Result<()> {
        match *self {}
    }
}

impl Lookup for NoStore {
    fn get<T>(&mut self, _: &[u8], _: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        match *self {}
    }

    fn range(&mut self, _: &[u8], _: impl FnMut(&[u8])) -> Result<()> {
        match *self {}
    }
}

impl Transaction for NoStore {
    type Store<'s> = &'s mut NoStore;

    fn store(&mut self) -> Result<&mut NoStore> {
        match *self {}
    }

    fn commit(self) -> Result<()> {
        match self {}
    }
}

impl Write for NoStore {
    fn get<T>(&mut self, _: &[u8], _: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        match *self {}
    }

    fn put(&mut self, _: &[u8], _: &[u8]) -> Result<()> {
        match *self {}
    }

    fn delete(&mut self, _: &[u8]) -> Result<()> {
        match *self {}
    }
}
