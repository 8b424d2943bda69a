//! SQLite as a key-value store: one table a store, statements prepared once.
//!
//! Each lookup is a transaction of its own, as a program's would be that shares its database: what that
//! costs is the price of SQLite's locks, which the profile decides.

use std::ffi::c_int;
use std::hint::black_box;

use anyhow::{Context, Result};
use dyno_client::sqlite::{Connection, Statement, quoted};
use dyno_protocol::{KeyKind, Store};
use dyno_runner::{Delete, Failure, Found, KeyValue, Put, Slice, Watch};

use crate::Sqlite;
use crate::text::text;
use crate::transactions::Transactions;

impl KeyValue for Sqlite {
    fn open_store(&mut self, store: &Store) -> Result<()> {
        let kind = match store.key {
            KeyKind::Integer => "INTEGER",
            KeyKind::Blob => "BLOB",
        };
        let tail = if self.without_rowid { " WITHOUT ROWID" } else { "" };
        let table = quoted(&store.name);
        let sql = format!("CREATE TABLE IF NOT EXISTS {table}(k {kind} PRIMARY KEY, v BLOB){tail}");
        self.connection.rows(&text(sql)?).with_context(|| format!("cannot make the table {}", store.name))?;
        self.store = Some(store.clone());
        Ok(())
    }

    fn put<W: Watch>(&mut self, put: &Put, watch: &mut W) -> Result<u64, Failure> {
        let (connection, table, key) = self.parts()?;
        let sql = match put.overwrite {
            false => format!("INSERT INTO {table}(k, v) VALUES(?1, ?2)"),
            true => format!("UPDATE {table} SET v = ?2 WHERE k = ?1"),
        };
        let before = connection.total_changes();
        let mut statement = Statement::new(connection, &text(sql)?)?;
        let mut transactions = Transactions::new(connection, put.per_commit)?;
        for (index, (own, value)) in (0..).zip(put.keys.iter().zip(put.values.iter())) {
            let mut operation = || {
                transactions.before()?;
                bind(&statement, key, own)?;
                statement.bind_blob(2, value)?;
                statement.execute()?;
                transactions.after(1)
            };
            watch.operation(&mut operation).map_err(|error| Failure::at(index, error))?;
        }
        transactions.finish()?;
        Ok(connection.total_changes() - before)
    }

    fn get<W: Watch>(&mut self, keys: Slice, watch: &mut W) -> Result<Found, Failure> {
        let (connection, table, key) = self.parts()?;
        let mut query = Statement::new(connection, &text(format!("SELECT v FROM {table} WHERE k = ?1"))?)?;
        let mut found = Found::default();
        for (index, own) in (0..).zip(keys.iter()) {
            let mut operation = || {
                bind(&query, key, own)?;
                if query.step()? {
                    found.add(query.column(0).len());
                    query.reset();
                }
                Ok(())
            };
            watch.operation(&mut operation).map_err(|error: anyhow::Error| Failure::at(index, error))?;
        }
        Ok(found)
    }

    fn scan_pairs(&mut self, mut visit: impl FnMut(&[u8], &[u8])) -> Result<(), Failure> {
        let (connection, table, key) = self.parts()?;
        let mut query = Statement::new(connection, &text(format!("SELECT k, v FROM {table} ORDER BY k"))?)?;
        while query.step()? {
            match key {
                KeyKind::Integer => visit(&query.integer(0).to_be_bytes(), query.column(1)),
                KeyKind::Blob => visit(query.column(0), query.column(1)),
            }
        }
        Ok(())
    }

    fn range<W: Watch>(&mut self, keys: Slice, length: u64, watch: &mut W) -> Result<Found, Failure> {
        let (connection, table, key) = self.parts()?;
        let sql = format!("SELECT k, v FROM {table} WHERE k >= ?1 ORDER BY k LIMIT {length}");
        let mut query = Statement::new(connection, &text(sql)?)?;
        let mut found = Found::default();
        for (index, own) in (0..).zip(keys.iter()) {
            let mut operation = || {
                bind(&query, key, own)?;
                while query.step()? {
                    match key {
                        KeyKind::Integer => _ = black_box(query.integer(0)),
                        KeyKind::Blob => _ = black_box(query.column(0)),
                    }
                    found.add(query.column(1).len());
                }
                Ok(())
            };
            watch.operation(&mut operation).map_err(|error: anyhow::Error| Failure::at(index, error))?;
        }
        Ok(found)
    }

    fn delete<W: Watch>(&mut self, delete: &Delete, watch: &mut W) -> Result<u64, Failure> {
        let (connection, table, key) = self.parts()?;
        let before = connection.total_changes();
        let mut statement = Statement::new(connection, &text(format!("DELETE FROM {table} WHERE k = ?1"))?)?;
        let mut transactions = Transactions::new(connection, delete.per_commit)?;
        for (index, own) in (0..).zip(delete.keys.iter()) {
            let mut operation = || {
                transactions.before()?;
                bind(&statement, key, own)?;
                statement.execute()?;
                transactions.after(1)
            };
            watch.operation(&mut operation).map_err(|error| Failure::at(index, error))?;
        }
        transactions.finish()?;
        Ok(connection.total_changes() - before)
    }

    fn value(&mut self, own: &[u8]) -> Result<Option<Vec<u8>>> {
        let (connection, table, key) = self.parts()?;
        let mut query = Statement::new(connection, &text(format!("SELECT v FROM {table} WHERE k = ?1"))?)?;
        // A copy, because what is bound must outlive the statement.
        bind(&query, key, own)?;
        Ok(if query.step()? { Some(query.column(0).to_vec()) } else { None })
    }
}

impl Sqlite {
    /// The connection, and the open store's table and kind of key.
    fn parts(&self) -> Result<(&Connection, String, KeyKind)> {
        let store = self.store.as_ref().context("no store is open")?;
        Ok((&self.connection, quoted(&store.name), store.key))
    }
}

#[inline]
fn bind<'a>(statement: &Statement<'a>, key: KeyKind, own: &'a [u8]) -> Result<()> {
    const FIRST: c_int = 1;
    match (key, own.first_chunk()) {
        (KeyKind::Integer, Some(bytes)) => statement.bind_integer(FIRST, i64::from_be_bytes(*bytes)),
        _ => statement.bind_blob(FIRST, own),
    }
}
