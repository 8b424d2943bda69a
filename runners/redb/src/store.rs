//! A store: a table, its lookups and its transactions, for both kinds of keys.

use anyhow::{Result, ensure};
use dyno_runner::{KeyValue, Lookup, Lookups, Reads, Transaction, Write};
use redb::{ReadOnlyTable, ReadableDatabase, ReadableTable, Table, WriteTransaction};

use crate::Shared;
use crate::kind::{Blob, Integer, Kind};

/// An open store.
pub struct Store<'s> {
    pub shared: &'s Shared,
    pub name: String,
    pub is_integer: bool,
}

/// Lookups: each in a separate transaction, or all in one.
pub struct Reader<'r> {
    store: &'r Store<'r>,
    /// The state that all share; none: nothing.
    shared: Option<Open>,
    /// The number of pairs in a range.
    length: usize,
}

/// The table for reading, with its transaction.
enum Open {
    Integer(Reading<Integer>),
    Blob(Reading<Blob>),
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
        = Reader<'r>
    where
        Self: 'r;
    type Transaction<'t>
        = Writer<'t>
    where
        Self: 't;

    fn reader(&mut self, lookups: Lookups, reads: Reads) -> Result<Reader<'_>> {
        let length = if let Lookups::Range(length) = lookups { length as usize } else { 0 };
        let shared = if reads == Reads::One { Some(self.open()?) } else { None };
        Ok(Reader { store: self, shared, length })
    }

    #[inline]
    fn begin(&mut self) -> Result<Writer<'_>> {
        let open = self.shared.begin()?;
        Ok(Writer { store: self, open })
    }

    fn scan(&mut self, visit: impl FnMut(&[u8], &[u8])) -> Result<()> {
        match self.open()? {
            Open::Integer(table) => scan::<Integer>(&table, visit),
            Open::Blob(table) => scan::<Blob>(&table, visit),
        }
    }
}

impl Store<'_> {
    /// Begins a transaction for reading and opens the table in it.
    #[inline]
    fn open(&self) -> Result<Open> {
        let open = self.shared.database.begin_read()?;
        Ok(match self.is_integer {
            true => Open::Integer(open.open_table(Integer::table(&self.name))?),
            false => Open::Blob(open.open_table(Blob::table(&self.name))?),
        })
    }
}

impl Reader<'_> {
    /// Hands over the table that all lookups share, or one for this lookup alone.
    #[inline]
    fn with<T>(&self, lookup: impl FnOnce(&Open) -> Result<T>) -> Result<T> {
        match &self.shared {
            Some(open) => lookup(open),
            None => lookup(&self.store.open()?),
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
fn range<K: Kind>(
    table: &Reading<K>,
    from: &[u8],
    length: usize,
    mut visit: impl FnMut(&[u8]),
) -> Result<()> {
    for pair in table.range(K::decode(from)?..)?.take(length) {
        visit(pair?.1.value());
    }
    Ok(())
}

impl Lookup for Reader<'_> {
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        self.with(|open| match open {
            Open::Integer(table) => get::<Integer, T>(table, key, read),
            Open::Blob(table) => get::<Blob, T>(table, key, read),
        })
    }

    #[inline]
    fn range(&mut self, from: &[u8], visit: impl FnMut(&[u8])) -> Result<()> {
        self.with(|open| match open {
            Open::Integer(table) => range::<Integer>(table, from, self.length, visit),
            Open::Blob(table) => range::<Blob>(table, from, self.length, visit),
        })
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
