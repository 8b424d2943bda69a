//! Key-value work: the models `kv-put`, `kv-get`, `kv-scan`, `kv-range` and `kv-delete`.
//!
//! The calls are generic over [`Watch`], so that a trial without latency has nothing between two
//! operations, and one with it has two readings of the clock.

use anyhow::{Result, bail};
use dyno_protocol::Store;

use crate::Failure;
use crate::cells::Slice;
use crate::latency::Watch;

/// What a driver does with keys and values. Every call but [`KeyValue::open_store`] and
/// [`KeyValue::value`] is a timed section.
pub trait KeyValue {
    /// Opens a store before the clock starts, making it where it is missing. The calls that follow
    /// are about this store until the next call of this.
    fn open_store(&mut self, _store: &Store) -> Result<()> {
        bail!("this runner has no stores of keys and values")
    }

    /// Puts pairs: new keys, or with `overwrite` keys that are there. `per_commit` operations make a
    /// transaction; none: all of them. Returns how many were put.
    fn put<W: Watch>(&mut self, _put: &Put, _watch: &mut W) -> Result<u64, Failure> {
        Err(Failure::unsupported("kv-put"))
    }

    /// Gets the value of each key, and reads its length.
    fn get<W: Watch>(&mut self, _keys: Slice, _watch: &mut W) -> Result<Found, Failure> {
        Err(Failure::unsupported("kv-get"))
    }

    /// Hands every pair to `visit`, in the order of the keys where the store keeps one. Integer keys are
    /// handed over in 8 bytes, the most significant first. It is timed with a `visit` that adds lengths,
    /// and called outside the clock with one that takes checksums.
    fn scan_pairs(&mut self, _visit: impl FnMut(&[u8], &[u8])) -> Result<(), Failure> {
        Err(Failure::unsupported("kv-scan"))
    }

    /// From each of the keys, visits up to `length` pairs in the order of the keys.
    fn range<W: Watch>(&mut self, _keys: Slice, _length: u64, _watch: &mut W) -> Result<Found, Failure> {
        Err(Failure::unsupported("kv-range"))
    }

    /// Deletes each key. Returns how many were deleted.
    fn delete<W: Watch>(&mut self, _delete: &Delete, _watch: &mut W) -> Result<u64, Failure> {
        Err(Failure::unsupported("kv-delete"))
    }

    /// Whether what is put can be read back: of the harness it cannot.
    fn keeps(&self) -> bool {
        true
    }

    /// Outside the clock: the value of one key as it is stored.
    fn value(&mut self, _key: &[u8]) -> Result<Option<Vec<u8>>> {
        bail!("this runner cannot read a value back")
    }
}

/// Pairs to put.
#[derive(Debug, Clone, Copy)]
pub struct Put<'a> {
    /// The keys.
    pub keys: Slice<'a>,
    /// The values, as many.
    pub values: Slice<'a>,
    /// Whether the keys are there already.
    pub overwrite: bool,
    /// How many operations make a transaction; none: all of them.
    pub per_commit: Option<u64>,
}

/// Keys to delete.
#[derive(Debug, Clone, Copy)]
pub struct Delete<'a> {
    /// The keys, each of which is there.
    pub keys: Slice<'a>,
    /// How many operations make a transaction; none: all of them.
    pub per_commit: Option<u64>,
}

/// What lookups found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Found {
    /// How many values were there.
    pub count: u64,
    /// The sum of their lengths, in bytes.
    pub bytes: u64,
}

impl Found {
    /// Adds a value of this length.
    #[inline]
    pub fn add(&mut self, length: usize) {
        self.count += 1;
        self.bytes += length as u64;
    }
}
