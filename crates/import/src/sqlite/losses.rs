//! Lists what is lost with a table that is replaced, and what else in the database uses the table.

use anyhow::{Context, Result, bail};

use super::catalog::referring;
use super::connection::Connection;
use super::schema::quoted;
use super::stale::stale;
use crate::table::Table;
use crate::target::{literal, said_losses};

/// Says what the new table will not have, and what stays in the database and depends on the old one.
///
/// # Errors
/// The database cannot be read.
pub fn said(connection: &Connection, table: &Table) -> Result<Vec<String>> {
    let mut said = said_losses(&losses(connection, table)?);
    said.extend(stale(connection, table)?);
    Ok(said)
}

/// Lists the parts of the table that the new one will not have. Indexes and triggers are made again.
fn losses(connection: &Connection, table: &Table) -> Result<Vec<String>> {
    let name = literal(&table.name);
    let values = |sql: String| -> Result<Vec<String>> {
        let rows = connection.rows(&sql)?;
        Ok(rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
    };
    let of_columns = |what: &str, condition: &str| -> Result<Option<String>> {
        let columns = values(format!(
            "SELECT name FROM pragma_table_xinfo({name}) WHERE {condition} ORDER BY pk, cid"
        ))?;
        Ok((!columns.is_empty()).then(|| format!("{what} {}", columns.join(", "))))
    };
    let listed = format!("FROM pragma_table_list WHERE schema = 'main' AND name = {name} COLLATE NOCASE");
    let mut lost: Vec<String> = Vec::new();
    let key = values(format!("SELECT name FROM pragma_table_xinfo({name}) WHERE pk > 0 ORDER BY pk"))?;
    let is_same = key
        .iter()
        .map(|name| name.to_lowercase())
        .eq(table.primary_key.iter().map(|name| name.to_lowercase()));
    if !is_same && !key.is_empty() {
        lost.push(format!("the primary key ({})", key.join(", ")));
    }
    lost.extend(of_columns("NOT NULL of", "\"notnull\" AND hidden = 0")?);
    lost.extend(of_columns("the default of", "dflt_value IS NOT NULL AND hidden = 0")?);
    lost.extend(of_columns("the generated column", "hidden IN (2, 3)")?);
    lost.extend(values(format!(
        "SELECT 'UNIQUE (' || (SELECT group_concat(name, ', ') FROM pragma_index_info(l.name)) || ')' \
         FROM pragma_index_list({name}) l WHERE origin = 'u' ORDER BY seq"
    ))?);
    lost.extend(values(format!(
        "SELECT DISTINCT 'the foreign key to ' || \"table\" FROM pragma_foreign_key_list({name})"
    ))?);
    lost.extend(values(format!("SELECT 'STRICT' {listed} AND strict"))?);
    lost.extend(values(format!("SELECT 'WITHOUT ROWID' {listed} AND wr"))?);
    let sql = connection.value(&format!(
        "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = {name} COLLATE NOCASE"
    ))?;
    let sql = sql.unwrap_or_default().to_ascii_uppercase();
    let words: Vec<&str> =
        sql.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').collect();
    for word in ["CHECK", "COLLATE", "AUTOINCREMENT"] {
        lost.extend(words.contains(&word).then(|| word.to_owned()));
    }
    Ok(lost)
}

/// Lists what else in the database uses a table.
pub struct Uses {
    table: String,
    /// Statements that views and triggers take part in, as far as SQLite compiles them.
    statements: Vec<String>,
    /// Tables with a foreign key to the table, each with the number of rows that violate one of its keys; None if the
    /// keys fit no table.
    children: Vec<(String, Option<u64>)>,
}

impl Uses {
    /// Those of a table that is about to be replaced.
    pub fn of(connection: &Connection, table: &str) -> Result<Uses> {
        let objects = connection.rows(
            "SELECT type, name FROM sqlite_schema WHERE type = 'view' \
             UNION SELECT 'table', tbl_name FROM sqlite_schema WHERE type = 'trigger'",
        )?;
        let mut statements = Vec::new();
        for row in objects {
            let [Some(kind), Some(name)] = &row[..] else { continue };
            match kind.as_str() {
                "view" => statements.push(format!("SELECT * FROM {}", quoted(name))),
                // Its own triggers must fit in any case.
                _ if name.eq_ignore_ascii_case(table) => {}
                _ => statements.extend(writes(connection, name)?),
            }
        }
        statements.retain(|sql| connection.prepare(sql).is_ok());
        let children = referring(connection, table)?.into_iter();
        let children = children.map(|child| {
            let violations = violations(connection, &child).ok();
            (child, violations)
        });
        Ok(Uses { table: table.to_owned(), statements, children: children.collect() })
    }

    /// Makes sure that they fit the table that is there now.
    ///
    /// # Errors
    /// One does not.
    pub fn check(&self, connection: &Connection) -> Result<()> {
        let own = writes(connection, &self.table)?;
        for sql in own.iter().chain(&self.statements) {
            connection.prepare(sql).map(drop).with_context(|| {
                format!(
                    "what uses {} does not fit the new table, so that {sql} would fail; nothing was loaded. Drop the \
                     trigger or view first",
                    self.table
                )
            })?;
        }
        for (child, before) in &self.children {
            let now = violations(connection, child);
            let is_worse = match (before, &now) {
                (Some(before), Ok(now)) => now > before,
                (before, _) => before.is_some(),
            };
            if is_worse {
                bail!(
                    "the foreign key of {child} to {} does not fit the new table: it needs the same key (--primary-key) \
                     and the rows that {child} refers to; nothing was loaded. --append keeps the table",
                    self.table
                );
            }
        }
        Ok(())
    }
}

/// The number of rows of a table that violate one of its foreign keys.
fn violations(connection: &Connection, table: &str) -> Result<u64> {
    let sql = format!("SELECT count(*) FROM pragma_foreign_key_check({})", literal(table));
    Ok(connection.value(&sql)?.and_then(|count| count.parse().ok()).unwrap_or_default())
}

/// Statements in which all triggers of a table take part: SQLite looks at a trigger only when one of them is compiled.
fn writes(connection: &Connection, table: &str) -> Result<[String; 3]> {
    let name = quoted(table);
    let columns = connection.rows(&format!("SELECT name FROM pragma_table_info({})", literal(table)))?;
    let columns = columns.into_iter().filter_map(|row| row.into_iter().next().flatten());
    let set: Vec<String> = columns.map(|column| format!("{0} = {0}", quoted(&column))).collect();
    Ok([
        format!("INSERT INTO {name} DEFAULT VALUES"),
        format!("DELETE FROM {name}"),
        format!("UPDATE {name} SET {}", set.join(", ")),
    ])
}
