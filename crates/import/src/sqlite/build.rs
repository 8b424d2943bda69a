//! A database whose pages dyno writes. SQLite only says how its schema reads.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use anyhow::{Context, Error, Result, ensure};
use sqlite_pages::{Database, Object, PageSize, Pages};

use super::connection::Connection;
use super::place::NewDatabase;
use super::{Sqlite, schema};
use crate::building::folder;
use crate::error::{Input, shown};
use crate::fill::{Filled, write_index};
use crate::pipeline::ImportObserver;
use crate::safety::Reached;
use crate::table::Table;
use crate::target::{Existing, PageTarget};

/// Bytes of a page: SQLite's own default.
const PAGE: u32 = 4096;

/// A row of the schema as SQLite writes it.
struct Described {
    kind: String,
    name: String,
    /// None for the index that a primary key makes.
    sql: Option<String>,
}

impl PageTarget for Sqlite {
    fn row_number(&self, table: &Table) -> Option<usize> {
        schema::row_number(table)
    }

    fn folder(&self) -> PathBuf {
        folder(&self.place).to_owned()
    }

    fn build(
        &mut self,
        table: &Table,
        watch: &dyn ImportObserver,
        fill: &dyn Fn(&Pages) -> Result<Filled>,
        seal: &dyn Fn() -> Result<()>,
    ) -> Result<Reached> {
        if !self.is_fresh {
            return self.load_by_transfer(table, watch, fill, seal);
        }
        let fresh = NewDatabase::unnamed(&self.place, self.rights)?;
        fresh.write_behind(|| self.write_pages(fresh.file(), table, watch, fill)).map_err(reported)?;
        self.finish(fresh, watch, seal)
    }
}

impl Sqlite {
    /// Writes the table and its indexes to a file that no program uses as a database yet.
    pub(super) fn write_pages(
        &self,
        file: &File,
        table: &Table,
        watch: &dyn ImportObserver,
        fill: &dyn Fn(&Pages) -> Result<Filled>,
    ) -> Result<()> {
        let (described, version) = self.describe(table).input()?;
        let size = PageSize::new(PAGE).context("SQLite has no pages of this size")?;
        let database = Database::new(file, size);
        let pages = database.pages();
        let filled = fill(pages)?;
        let mut roots = vec![filled.tree.finish(pages)?];
        for (entries, row) in filled.indexes.into_iter().zip(&described[1..]) {
            watch.doing("making indexes");
            let unique = if row.sql.is_none() { table.primary_key.len() } else { 0 };
            roots.push(write_index(entries, pages, watch, unique)?);
        }
        ensure!(
            roots.len() == described.len(),
            "SQLite makes other indexes than dyno, which is a fault of dyno"
        );
        let objects: Vec<Object> = described
            .iter()
            .zip(roots)
            .map(|(row, root)| {
                let (kind, name, sql) = (row.kind.as_str(), row.name.as_str(), row.sql.as_deref());
                Object { kind, name, table: &described[0].name, root, sql }
            })
            .collect();
        Ok(database.finish(&objects, version)?)
    }

    /// The rows of the schema, the table's first, and SQLite's version number. They come from a database in memory,
    /// which refuses a table that no database would take, such as one with too many columns.
    fn describe(&self, table: &Table) -> Result<(Vec<Described>, u32)> {
        let connection = Connection::in_memory(&self.api)?;
        let statements = self.schema(table, Existing::Create);
        for sql in statements.before.iter().chain(&statements.after) {
            connection.execute(sql).with_context(|| format!("cannot execute {}", shown(sql)))?;
        }
        let rows = connection.rows("SELECT type, name, sql FROM sqlite_schema ORDER BY rowid")?;
        let described = rows.into_iter().map(|row| {
            let mut values = row.into_iter();
            let mut next = || values.next().flatten();
            Described { kind: next().unwrap_or_default(), name: next().unwrap_or_default(), sql: next() }
        });
        let described = described.collect();
        let version = connection.value("SELECT sqlite_version()")?.unwrap_or_default();
        connection.close()?;
        // 3.46.1 is 3046001.
        let number = version.split('.').filter_map(|part| part.parse::<u32>().ok());
        Ok((described, number.chain([0, 0]).take(3).fold(0, |number, part| number * 1000 + part)))
    }
}

/// An error of the page writer, with what people ask first where the disk is full.
pub(super) fn reported(error: Error) -> Error {
    let is_full = |cause: &io::Error| cause.kind() == ErrorKind::StorageFull;
    match error.chain().any(|cause| cause.downcast_ref().is_some_and(is_full)) {
        true => error.context("the disk is full; nothing was loaded"),
        false => error,
    }
}
