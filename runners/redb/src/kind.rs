//! The two kinds of keys: redb's tables have types.

use anyhow::{Context, Result};
use redb::{Key, TableDefinition, Value};

/// A kind of keys.
pub trait Kind {
    /// redb's type of it.
    type Key: Key + 'static;

    /// A key from the protocol's bytes.
    fn decode(bytes: &[u8]) -> Result<<Self::Key as Value>::SelfType<'_>>;

    /// Hands the protocol's bytes of a key to `visit`.
    fn encode(key: <Self::Key as Value>::SelfType<'_>, visit: impl FnOnce(&[u8]));

    /// The table of a store.
    fn table(name: &str) -> TableDefinition<'_, Self::Key, &'static [u8]> {
        TableDefinition::new(name)
    }
}

/// Numbers.
pub struct Integer;

/// Bytes.
pub struct Blob;

impl Kind for Integer {
    type Key = u64;

    #[inline]
    fn decode(bytes: &[u8]) -> Result<u64> {
        let bytes = bytes.try_into().context("an integer key has 8 bytes, and this one has not")?;
        Ok(u64::from_be_bytes(bytes))
    }

    #[inline]
    fn encode(key: u64, visit: impl FnOnce(&[u8])) {
        visit(&key.to_be_bytes());
    }
}

impl Kind for Blob {
    type Key = &'static [u8];

    #[inline]
    fn decode(bytes: &[u8]) -> Result<&[u8]> {
        Ok(bytes)
    }

    #[inline]
    fn encode(key: &[u8], visit: impl FnOnce(&[u8])) {
        visit(key);
    }
}
