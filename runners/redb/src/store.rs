//! A store: a table, its lookups and its transactions, for both kinds of keys.

use anyhow::{Result, ensure};
use dyno_runner::{KeyValue, Lookup, Lookups, Transaction, Write};
use redb::{ReadOnlyTable, ReadableDatabase, ReadableTable, Table, WriteTransaction};

use crate::Shared;
use crate::kind::{Blob, Integer, Kind};

/// An open store.
pub struct Store<'s> {
    pub shared: &'s Shared,
    pub name: String,
    pub is_integer: bool,
}

/// The table for reading, with its transaction.
pub enum Reader {
    Integer(ReadOnlyTable<u64, &'static [u8]>, u64),
    Blob(ReadOnlyTable<&'static [u8], &'static [u8]>, u64),
}

/// A transaction.
pub struct Writer<'w> {
    store: &'w Store<'w>,
    open: WriteTransaction,
}

/// The table within a transaction.
pub enum Writing<'t> {
    Integer(Table<'t, u64, &'static [u8]>),
    Blob(Table<'t, &'static [u8], &'static [u8]>),
}

impl KeyValue for Store<'_> {
    type Reader<'r>
        = Reader
    where
        Self: 'r;
    type Transaction<'t>
        = Writer<'t>
    where
        Self: 't;

    fn reader(&mut self, lookups: Lookups) -> Result<Reader> {
        let length = if let Lookups::Range(length) = lookups { length } else { 0 };
        let open = self.shared.database.begin_read()?;
        Ok(match self.is_integer {
            true => Reader::Integer(open.open_table(Integer::table(&self.name))?, length),
            false => Reader::Blob(open.open_table(Blob::table(&self.name))?, length),
        })
    }

    #[inline]
    fn begin(&mut self) -> Result<Writer<'_>> {
        let open = self.shared.begin()?;
        Ok(Writer { store: self, open })
    }

    fn scan(&mut self, visit: impl FnMut(&[u8], &[u8])) -> Result<()> {
        match self.reader(Lookups::Get)? {
            Reader::Integer(table, _) => scan::<Integer>(&table, visit),
            Reader::Blob(table, _) => scan::<Blob>(&table, visit),
        }
    }
}

/// A table of a kind of keys.
type Reading<K> = ReadOnlyTable<<K as Kind>::Key, &'static [u8]>;

fn scan<K: Kind>(table: &Reading<K>, mut visit: impl FnMut(&[u8], &[u8])) -> Result<()> {
    for pair in table.iter()? {
        let (key, value) = pair?;
        K::encode(key.value(), |key| visit(key, value.value()));
    }
    Ok(())
}

#[inline]
fn get<K: Kind, T>(table: &Reading<K>, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
    Ok(table.get(K::decode(key)?)?.map(|found| read(found.value())))
}

#[inline]
fn range<K: Kind>(table: &Reading<K>, from: &[u8], length: u64, mut visit: impl FnMut(&[u8])) -> Result<()> {
    for pair in table.range(K::decode(from)?..)?.take(length as usize) {
        visit(pair?.1.value());
    }
    Ok(())
}

impl Lookup for Reader {
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        match self {
            Reader::Integer(table, _) => get::<Integer, T>(table, key, read),
            Reader::Blob(table, _) => get::<Blob, T>(table, key, read),
        }
    }

    #[inline]
    fn range(&mut self, from: &[u8], visit: impl FnMut(&[u8])) -> Result<()> {
        match self {
            Reader::Integer(table, length) => range::<Integer>(table, from, *length, visit),
            Reader::Blob(table, length) => range::<Blob>(table, from, *length, visit),
        }
    }
}

impl Transaction for Writer<'_> {
    type Store<'s>
        = Writing<'s>
    where
        Self: 's;

    #[inline]
    fn store(&mut self) -> Result<Writing<'_>> {
        Ok(match self.store.is_integer {
            true => Writing::Integer(self.open.open_table(Integer::table(&self.store.name))?),
            false => Writing::Blob(self.open.open_table(Blob::table(&self.store.name))?),
        })
    }

    #[inline]
    fn commit(self) -> Result<()> {
        Ok(self.open.commit()?)
    }
}

impl Write for Writing<'_> {
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        let found = match self {
            Writing::Integer(table) => table.get(Integer::decode(key)?)?,
            Writing::Blob(table) => table.get(key)?,
        };
        Ok(found.map(|value| read(value.value())))
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        match self {
            Writing::Integer(table) => drop(table.insert(Integer::decode(key)?, value)?),
            Writing::Blob(table) => drop(table.insert(key, value)?),
        }
        Ok(())
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> Result<()> {
        let found = match self {
            Writing::Integer(table) => table.remove(Integer::decode(key)?)?.is_some(),
            Writing::Blob(table) => table.remove(key)?.is_some(),
        };
        ensure!(found, "the key is not there");
        Ok(())
    }
}
