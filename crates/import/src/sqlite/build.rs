//! A new database whose table is written page by page: SQLite says how its schema reads, and makes the indexes.

use anyhow::{Context, Result};
use sqlite_pages::{Database, Object, PageSize, Pages};

use super::connection::Connection;
use super::place::Fresh;
use super::{FRESH, Sqlite, interruptible, schema, set};
use crate::error::Input;
use crate::fill::Filled;
use crate::pipeline::Watch;
use crate::table::Table;
use crate::target::Existing;

/// Bytes of a page: SQLite's own default.
const PAGE: u32 = 4096;

/// A row of the schema as SQLite writes it.
struct Described {
    name: String,
    sql: String,
}

impl Sqlite {
    /// Writes the table to a file that is nobody's database yet, then lets SQLite make the indexes.
    pub(super) fn write_pages(
        &self,
        fresh: &Fresh,
        table: &Table,
        watch: &dyn Watch,
        fill: &dyn Fn(&Pages) -> Result<Filled>,
    ) -> Result<()> {
        let (described, version) = self.describe(table).input()?;
        let size = PageSize::new(PAGE).context("SQLite has no pages of this size")?;
        let database = Database::new(fresh.file(), size);
        let filled = fill(database.pages())?;
        let root = filled.tree.finish(database.pages())?;
        let (name, sql) = (&described.name, Some(described.sql.as_str()));
        database.finish(&[Object { kind: "table", name, table: name, root, sql }], version)?;
        let indexes = schema::statements(table, Existing::Create).after;
        if indexes.is_empty() {
            return Ok(());
        }
        let connection = Connection::open(&self.api, fresh.path())?;
        set(&connection, &FRESH)?;
        interruptible(&connection, watch, || {
            for sql in indexes {
                watch.doing("making indexes");
                connection
                    .execute(&sql)
                    .with_context(|| format!("cannot execute {sql}; nothing was loaded"))?;
            }
            Ok(())
        })?;
        connection.close()
    }

    /// How the schema's row of the table reads, and SQLite's version number. A database in memory tells, which
    /// refuses what no database would take, such as too many columns.
    fn describe(&self, table: &Table) -> Result<(Described, u32)> {
        let connection = Connection::open(&self.api, ":memory:".as_ref())?;
        let sql = schema::create(table);
        connection.execute(&sql).with_context(|| format!("cannot execute {sql}"))?;
        let rows = connection.rows("SELECT name, sql FROM sqlite_schema")?;
        let mut values = rows.into_iter().flatten().map(Option::unwrap_or_default);
        let described =
            Described { name: values.next().unwrap_or_default(), sql: values.next().unwrap_or_default() };
        let version = connection.value("SELECT sqlite_version()")?.unwrap_or_default();
        connection.close()?;
        // 3.46.1 is 3046001.
        let number = version.split('.').filter_map(|part| part.parse::<u32>().ok());
        Ok((described, number.chain([0, 0]).take(3).fold(0, |number, part| number * 1000 + part)))
    }
}
