//! SQLite as a key-value store: one table a store, statements prepared once.
//!
//! Each lookup is a separate transaction, as a program's would be that shares its database: what that costs is the price of
//! SQLite's locks, which the profile decides. Or all are in one, between BEGIN and COMMIT.

use std::hint::black_box;

use anyhow::{Context, Result, bail};
use dyno_client::sqlite::{Connection, Parameter, Statement, quoted};
use dyno_protocol::{KeyKind, Store};
use dyno_runner::{KeyValue, Lookup, Lookups, Reads, Transaction, Write, WriteKind, Writes};

use crate::text::text;

/// A table.
pub struct Table<'s> {
    connection: &'s Connection,
    /// Its name as it stands in statements.
    name: String,
    key: KeyKind,
    prepared: Option<Prepared<'s>>,
}

/// The statements of a section of writes.
struct Prepared<'s> {
    write: Statement<'s>,
    /// `None` where each operation commits separately, which SQLite does without a statement.
    around: Option<TransactionStatements<'s>>,
}

struct TransactionStatements<'s> {
    begin: Statement<'s>,
    commit: Statement<'s>,
}

/// A query for the value of a key, or for pairs from a key on.
pub struct Reader<'r> {
    query: Statement<'r>,
    key: KeyKind,
    /// The statement that commits the shared transaction, if there is one.
    commit: Option<Statement<'r>>,
}

/// A transaction.
pub struct Writer<'w, 's> {
    prepared: &'w mut Prepared<'s>,
    key: KeyKind,
}

impl<'s> Table<'s> {
    /// Opens one, and makes it where it is missing.
    pub fn open(connection: &'s Connection, store: &Store, without_rowid: bool) -> Result<Table<'s>> {
        let kind = match store.key {
            KeyKind::Integer => "INTEGER",
            KeyKind::Blob => "BLOB",
        };
        let tail = if without_rowid { " WITHOUT ROWID" } else { "" };
        let name = quoted(&store.name);
        let sql = format!("CREATE TABLE IF NOT EXISTS {name}(k {kind} PRIMARY KEY, v BLOB){tail}");
        connection.rows(&text(sql)?).with_context(|| format!("cannot make the table {}", store.name))?;
        Ok(Table { connection, name, key: store.key, prepared: None })
    }
}

impl<'s> KeyValue for Table<'s> {
    type Reader<'r>
        = Reader<'r>
    where
        Self: 'r;
    type Transaction<'t>
        = Writer<'t, 's>
    where
        Self: 't;

    fn reader(&mut self, lookups: Lookups, reads: Reads) -> Result<Reader<'_>> {
        let name = &self.name;
        let sql = match lookups {
            Lookups::Get => format!("SELECT v FROM {name} WHERE k = ?1"),
            Lookups::Range(length) => {
                format!("SELECT k, v FROM {name} WHERE k >= ?1 ORDER BY k LIMIT {length}")
            }
        };
        let query = Statement::new(self.connection, &text(sql)?)?;
        let mut commit = None;
        if reads == Reads::One {
            commit = Some(Statement::new(self.connection, c"COMMIT")?);
            Statement::new(self.connection, c"BEGIN")?.run([])?;
        }
        Ok(Reader { query, key: self.key, commit })
    }

    fn prepare(&mut self, writes: Writes) -> Result<()> {
        let name = &self.name;
        let sql = match writes.kind {
            WriteKind::Insert => format!("INSERT INTO {name}(k, v) VALUES(?1, ?2)"),
            WriteKind::Overwrite => format!("UPDATE {name} SET v = ?2 WHERE k = ?1"),
            WriteKind::Delete => format!("DELETE FROM {name} WHERE k = ?1"),
        };
        let statement = |sql| Statement::new(self.connection, sql);
        let around = match writes.per_commit {
            Some(1) => None,
            _ => Some(TransactionStatements { begin: statement(c"BEGIN")?, commit: statement(c"COMMIT")? }),
        };
        self.prepared = Some(Prepared { write: statement(&text(sql)?)?, around });
        Ok(())
    }

    #[inline]
    fn begin(&mut self) -> Result<Writer<'_, 's>> {
        let prepared = self.prepared.as_mut().context("no writes were prepared")?;
        if let Some(around) = &mut prepared.around {
            around.begin.run([])?;
        }
        Ok(Writer { prepared, key: self.key })
    }

    fn scan(&mut self, mut visit: impl FnMut(&[u8], &[u8])) -> Result<()> {
        let sql = text(format!("SELECT k, v FROM {} ORDER BY k", self.name))?;
        let mut query = Statement::new(self.connection, &sql)?;
        let mut rows = query.query([])?;
        while rows.step()? {
            match self.key {
                KeyKind::Integer => visit(&rows.integer(0).to_be_bytes(), rows.column(1)),
                KeyKind::Blob => visit(rows.column(0), rows.column(1)),
            }
        }
        Ok(())
    }

    fn written(&self) -> Option<u64> {
        Some(self.connection.total_changes())
    }
}

impl Lookup for Reader<'_> {
    #[inline]
    fn get<T>(&mut self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        let mut rows = self.query.query([parameter(self.key, key)])?;
        Ok(if rows.step()? { Some(read(rows.column(0))) } else { None })
    }

    #[inline]
    fn range(&mut self, from: &[u8], mut visit: impl FnMut(&[u8])) -> Result<()> {
        let mut rows = self.query.query([parameter(self.key, from)])?;
        while rows.step()? {
            match self.key {
                KeyKind::Integer => _ = black_box(rows.integer(0)),
                KeyKind::Blob => _ = black_box(rows.column(0)),
            }
            visit(rows.column(1));
        }
        Ok(())
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        if let Some(commit) = &mut self.commit {
            // A transaction that has only read has nothing that could fail to be written.
            let _ = commit.run([]);
        }
    }
}

impl Transaction for Writer<'_, '_> {
    type Store<'s>
        = &'s mut Self
    where
        Self: 's;

    #[inline]
    fn store(&mut self) -> Result<&mut Self> {
        Ok(self)
    }

    #[inline]
    fn commit(self) -> Result<()> {
        match &mut self.prepared.around {
            Some(around) => around.commit.run([]),
            None => Ok(()),
        }
    }
}

impl Write for Writer<'_, '_> {
    fn get<T>(&mut self, _: &[u8], _: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        bail!("SQLite does mixes in SQL")
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.prepared.write.run([parameter(self.key, key), Parameter::Blob(value)])
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.prepared.write.run([parameter(self.key, key)])
    }
}

/// A key as the table has it.
#[inline]
fn parameter(kind: KeyKind, key: &[u8]) -> Parameter<'_> {
    match (kind, key.first_chunk()) {
        (KeyKind::Integer, Some(bytes)) => Parameter::Integer(i64::from_be_bytes(*bytes)),
        _ => Parameter::Blob(key),
    }
}
