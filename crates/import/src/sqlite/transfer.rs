//! Rows for an existing table, by way of pages: dyno writes them to a temporary database that no other program sees,
//! and SQLite moves their records to the table as they are, without looking at their values.
//!
//! SQLite does so if the table has nothing by which values would have to be checked: no index, trigger, CHECK, NOT
//! NULL, default or key (`xferOptimization` in its source). SQLite's program of the statement shows whether it does.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, Result};
use sqlite_pages::Pages;

use super::Sqlite;
use super::build::reported;
use super::connection::Connection;
use super::heeding::interruptible;
use super::load::{BEGIN, in_transaction};
use super::place::Passing;
use super::schema::quoted;
use crate::building::hidden;
use crate::fill::Filled;
use crate::names::escaped;
use crate::pipeline::ImportObserver;
use crate::safety::Reached;
use crate::table::{Column, Table};
use crate::value::Kind;

/// The name of that database in statements.
const SCHEMA: &str = "dyno_pages";

/// True if SQLite moves whole records into a table with these columns.
pub fn applies(connection: &Connection, table: &str, columns: &[Column]) -> bool {
    // If this cannot be found out here, SQLite's inserts load the rows as usual.
    asked(connection, table, columns).unwrap_or(false)
}

fn asked(connection: &Connection, table: &str, columns: &[Column]) -> Result<bool> {
    // The pages that dyno writes have texts in UTF-8.
    let is_utf8 = connection.value("PRAGMA encoding")?.as_deref() == Some("UTF-8");
    let Some(columns) = bare(columns).filter(|_| is_utf8) else { return Ok(false) };
    let declared: Vec<String> =
        columns.iter().map(|column| format!("{} {}", quoted(&column.name), column.declared)).collect();
    connection.execute(&format!("ATTACH ':memory:' AS {SCHEMA}"))?;
    let (name, declared) = (quoted(table), declared.join(", "));
    connection.execute(&format!("CREATE TABLE {SCHEMA}.{name} ({declared})"))?;
    let program = connection.rows(&format!("EXPLAIN {}", statement(table)))?;
    connection.execute(&format!("DETACH {SCHEMA}"))?;
    let has = |code: &str| program.iter().any(|row| row.get(1).and_then(Option::as_deref) == Some(code));
    // The second makes a record of values: the program has it where it may come to that.
    Ok(has("RowCell") && !has("MakeRecord"))
}

/// Columns with the types that give them their affinity; None if SQLite may store a value differently from dyno.
fn bare(columns: &[Column]) -> Option<Vec<Column>> {
    let bare = columns.iter().map(|column| {
        let declared = match column.kind {
            Kind::INTEGER => "INTEGER",
            Kind::Real => "REAL",
            Kind::TEXT => "TEXT",
            _ => return None,
        };
        Some(Column { declared: declared.to_owned(), ..column.clone() })
    });
    bare.collect()
}

/// True if the file fills all columns of the table in their order, rows are not merged, and no key or index is to be
/// made.
pub fn fills(table: &Table, columns: &[Column]) -> bool {
    table.merge.is_none()
        && table.columns == columns
        && table.primary_key.is_empty()
        && table.indexes.is_empty()
}

/// The statement that moves the rows.
fn statement(table: &str) -> String {
    let name = quoted(table);
    format!("INSERT INTO main.{name} SELECT * FROM {SCHEMA}.{name}")
}

/// The statements that are executed after the settings. Were the other database attached before the transaction begins,
/// that would write in both, and SQLite commits such a one with a third journal and two more syncs.
pub fn statements(place: &Path, table: &Table) -> [String; 4] {
    let attach = format!("ATTACH 'file:{}…?mode=ro' AS {SCHEMA}", escaped(hidden(place)));
    [BEGIN.to_owned(), attach, statement(&table.name), "COMMIT".to_owned()]
}

/// The URI by which SQLite opens a file for reading only. No byte in it would have to be quoted.
fn read_only(path: &Path) -> String {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => uri.push(char::from(byte)),
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri + "?mode=ro"
}

impl Sqlite {
    /// Loads into an existing table.
    pub(super) fn load_by_transfer(
        &self,
        table: &Table,
        watch: &dyn ImportObserver,
        fill: &dyn Fn(&Pages) -> Result<Filled>,
        seal: &dyn Fn() -> Result<()>,
    ) -> Result<Reached> {
        let passing = Passing::beside(&self.place)?;
        let columns = bare(&table.columns).context("a column of another type, which is a fault of dyno")?;
        let bare = Table { columns, ..table.clone() };
        self.write_pages(passing.file(), &bare, watch, fill).map_err(reported)?;
        watch.doing("moving the rows");
        in_transaction(self.open_existing(watch)?, watch, |connection| {
            self.check_same(connection, table)?;
            passing.opened(&self.place, |path| {
                connection.execute(&format!("ATTACH '{}' AS {SCHEMA}", read_only(path)))
            })?;
            let moved = || connection.execute(&statement(&table.name));
            interruptible(connection, watch, || {
                moved().context("SQLite cannot take the rows; nothing was loaded")
            })?;
            seal()
        })
    }
}
