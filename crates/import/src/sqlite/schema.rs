//! Tables of SQLite: their statements, and what their columns take.

use anyhow::{Result, bail};

use super::connection::Connection;
use super::feed;
use crate::table::{Column, Table};
use crate::target::Existing;
use crate::value::Kind;

/// The most columns of a table in a SQLite that is not built for more (<https://sqlite.org/limits.html>, section 2).
pub const MOST_COLUMNS: usize = 2000;

/// The statements that are executed around the rows.
pub struct Statements {
    /// Before them.
    pub before: Vec<String>,
    /// The one that takes them.
    pub insert: String,
    /// After them.
    pub after: Vec<String>,
}

/// The form of the statement that takes the rows.
#[derive(Debug, Clone, Copy)]
pub struct Insertion {
    /// The words before INTO.
    pub verb: &'static str,
    /// True if the statement takes one row and runs for each.
    pub one_by_one: bool,
}

/// The statements that load a table.
///
/// A table that is replaced gets back what was `attached` to it, unless a new index has its name.
pub fn statements(
    table: &Table,
    existing: Existing,
    attached: &[(String, String)],
    insertion: Insertion,
) -> Statements {
    let name = quoted(&table.name);
    let columns: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
    let mut before = Vec::new();
    if existing == Existing::Replace {
        before.push(format!("DROP TABLE IF EXISTS {name}"));
    }
    if existing != Existing::Append {
        before.push(create(table));
    }
    let limit = if insertion.one_by_one { " LIMIT 1" } else { "" };
    let merge = merge(table);
    // Without it ON would be read as a join's.
    let filter = if merge.is_empty() { "" } else { " WHERE true" };
    let insert = format!(
        "{} INTO {name} ({}) SELECT * FROM {}{filter}{limit}{merge}",
        insertion.verb,
        columns.join(", "),
        feed::TABLE
    );
    let new: Vec<String> = table.indexes.iter().map(|index| index_name(table, index)).collect();
    let is_kept = |name: &String| {
        existing == Existing::Replace && !new.iter().any(|new| new.eq_ignore_ascii_case(name))
    };
    let kept = attached.iter().filter(|(name, _)| is_kept(name)).map(|(_, sql)| sql.clone());
    let after = table.indexes.iter().map(|index| {
        let columns: Vec<String> = index.iter().map(|column| quoted(column)).collect();
        format!("CREATE INDEX {} ON {name} ({})", quoted(&index_name(table, index)), columns.join(", "))
    });
    Statements { before, insert, after: after.chain(kept).collect() }
}

/// The clause after an INSERT whose rows are merged with those of the table.
fn merge(table: &Table) -> String {
    let Some(merge) = &table.merge else { return String::new() };
    let key: Vec<String> = merge.key.iter().map(|name| quoted(name)).collect();
    let set = |name: &&str| format!("{} = excluded.{}", quoted(name), quoted(name));
    let set: Vec<String> = table.updated().iter().map(set).collect();
    let done = if set.is_empty() { "NOTHING".to_owned() } else { format!("UPDATE SET {}", set.join(", ")) };
    format!(" ON CONFLICT ({}) DO {done}", key.join(", "))
}

/// The name of an index on columns of a table.
fn index_name(table: &Table, columns: &[String]) -> String {
    format!("{}_{}", table.name, columns.join("_"))
}

/// Refuses names of indexes that are taken: SQLite would refuse them when all rows are in.
pub fn check(connection: &Connection, table: &Table, existing: Existing) -> Result<()> {
    for columns in &table.indexes {
        let name = index_name(table, columns);
        let [literal, own] = [&name, &table.name].map(|name| name.replace('\'', "''"));
        // The indexes of a table that is replaced go with it.
        let stays = match existing {
            Existing::Replace => format!("AND tbl_name <> '{own}' COLLATE NOCASE"),
            _ => String::new(),
        };
        let taken = connection.value(&format!(
            "SELECT type FROM sqlite_schema WHERE name = '{literal}' COLLATE NOCASE {stays}"
        ))?;
        let Some(kind) = taken else { continue };
        let columns = columns.join(", ");
        let what = if kind == "index" { "an index".to_owned() } else { format!("a {kind}") };
        bail!(
            "the index on {columns} would be called {name}, and there is {what} of that name already: \
             leave that --index out, or drop the {kind} first"
        );
    }
    Ok(())
}

/// The statement that makes the table.
pub fn create(table: &Table) -> String {
    let is_only_key = |column: &Column| table.primary_key == [column.name.clone()];
    let mut parts: Vec<String> = table
        .columns
        .iter()
        .map(|column| {
            let key = if is_only_key(column) { " PRIMARY KEY" } else { "" };
            format!("{} {}{key}", quoted(&column.name), column.declared)
        })
        .collect();
    if table.primary_key.len() > 1 {
        let columns: Vec<String> = table.primary_key.iter().map(|name| quoted(name)).collect();
        parts.push(format!("PRIMARY KEY ({})", columns.join(", ")));
    }
    format!("CREATE TABLE {} ({})", quoted(&table.name), parts.join(", "))
}

/// The column that SQLite makes another name of the row number: the only one of the key, declared so.
pub fn row_number(table: &Table) -> Option<usize> {
    let [key] = &table.primary_key[..] else { return None };
    let is_number = |column: &Column| column.name == *key && column.declared == "INTEGER";
    table.columns.iter().position(is_number)
}

/// A name as SQLite quotes it.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A column of a type that the user names.
pub fn column(name: &str, declared: &str) -> Result<Column> {
    let (declared, kind) = match declared.to_ascii_uppercase().as_str() {
        word @ ("INTEGER" | "INT" | "BIGINT") => (word.to_owned(), Kind::INTEGER),
        word @ ("REAL" | "DOUBLE" | "FLOAT") => (word.to_owned(), Kind::Real),
        // A date is a text whose form has been checked.
        "TEXT" | "DATE" => ("TEXT".to_owned(), Kind::TEXT),
        "BOOLEAN" => ("INTEGER".to_owned(), Kind::Integer { min: 0, max: 1 }),
        other => bail!(
            "SQLite has no type '{other}' that keeps values as they are: the types are INTEGER, REAL and TEXT, and DATE, DATE(DD.MM.YYYY), REAL(,) and BOOLEAN say how they are written"
        ),
    };
    Ok(Column { name: name.to_owned(), declared, kind, inferred: false, required: false, is_key: false })
}

/// Spells an inferred type.
pub fn declare(column: &mut Column) {
    column.declared = match column.kind {
        Kind::Integer { .. } => "INTEGER",
        Kind::Real => "REAL",
        _ => "TEXT",
    }
    .to_owned();
}
