//! A store that keeps nothing.

use std::hint::black_box;

use anyhow::Result;
use dyno_runner::{KeyValue, Lookup, Lookups, Reads, Transaction, Write};

/// All that there is of a store, a reader and a transaction.
pub struct Nowhere;

impl KeyValue for Nowhere {
    type Reader<'r> = Nowhere;
    type Transaction<'t> = Nowhere;

    fn reader(&mut self, _: Lookups, _: Reads) -> Result<Nowhere> {
        Ok(Nowhere)
    }

    #[inline]
    fn begin(&mut self) -> Result<Nowhere> {
        Ok(Nowhere)
    }

    fn scan(&mut self, _: impl FnMut(&[u8], &[u8])) -> Result<()> {
        Ok(())
    }

    fn keeps(&self) -> bool {
        false
    }
}

impl Lookup for Nowhere {
    #[inline]
    fn get<T>(&mut self, key: &[u8], _: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        black_box(key);
        Ok(None)
    }

    #[inline]
    fn range(&mut self, from: &[u8], _: impl FnMut(&[u8])) -> Result<()> {
        black_box(from);
        Ok(())
    }
}

impl Transaction for Nowhere {
    type Store<'s> = Nowhere;

    #[inline]
    fn store(&mut self) -> Result<Nowhere> {
        Ok(Nowhere)
    }

    #[inline]
    fn commit(self) -> Result<()> {
        Ok(())
    }
}

impl Write for Nowhere {
    #[inline]
    fn get<T>(&mut self, key: &[u8], _: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        black_box(key);
        Ok(None)
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        black_box((key, value));
        Ok(())
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> Result<()> {
        black_box(key);
        Ok(())
    }
}
