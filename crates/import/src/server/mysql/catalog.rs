//! Tables as the server describes them: their columns, and what hangs on them.

use anyhow::{Context, Result};
use dyno_client::Sql;
use dyno_client::mysql::Connection;
use dyno_protocol::Value;

use super::super::types::Spelling;
use super::statements::quoted;
use crate::error::Input;
use crate::table::Column;
use crate::value::Kind;

/// The names of types on these servers.
pub const SPELLING: Spelling =
    Spelling { is_postgres: false, integer: "BIGINT", real: "DOUBLE", text: "LONGTEXT" };

/// The collation of the texts of a new table.
const COLLATION: &str = "COLLATION(CONVERT('' USING utf8mb4))";

/// The columns of a table that a file may fill; None if there is no such table. For NULL an AUTO_INCREMENT stores the next
/// number, and a TIMESTAMP of MariaDB that is NOT NULL stores the time, so these need a value.
pub fn existing(connection: &Connection, table: &str) -> Result<Option<Vec<Column>>> {
    let name = table.replace('\\', "\\\\").replace('\'', "''");
    let engine = connection.rows(&format!(
        "SELECT coalesce(engine, table_type) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '{name}'"
    ))?;
    let Some(engine) = engine.into_iter().next().and_then(|row| row.into_iter().next()).map(text) else {
        return Ok(None);
    };
    if engine.contains("VIEW") {
        return Err(anyhow::anyhow!("{table} is a view, and rows go to a table: --table names another"))
            .input();
    }
    if engine != "InnoDB" {
        let error = anyhow::anyhow!(
            "the table {table} is kept by {engine}, which cannot take a load back that fails half way: InnoDB can"
        );
        return Err(error).input();
    }
    let rows = connection.rows(&format!(
        "SELECT column_name, column_type, column_key = 'PRI', column_key = 'PRI' OR extra LIKE '%auto_increment%' \
         OR column_type LIKE 'timestamp%' AND is_nullable = 'NO' FROM information_schema.columns \
         WHERE table_schema = DATABASE() AND table_name = '{name}' AND extra NOT LIKE 'STORED GENERATED%' \
         AND extra NOT LIKE 'VIRTUAL GENERATED%' ORDER BY ordinal_position"
    ))?;
    let column = |row: Vec<Value>| {
        let mut row = row.into_iter().map(text);
        let (name, declared) = (row.next().unwrap_or_default(), row.next().unwrap_or_default());
        let mut is_true = || row.next().as_deref() == Some("1");
        let (is_key, required) = (is_true(), is_true());
        Column { name, kind: SPELLING.kind(&declared), declared, inferred: false, required, is_key }
    };
    Ok(Some(rows.into_iter().map(column).collect()))
}

/// The kind of values that a column takes whose type the user names and dyno does not know: the server makes such a column in
/// a temporary table and reports its type.
///
/// # Errors
/// The server makes no such column, or no such table.
pub fn declared(connection: &Connection, table: &str, declared: &str) -> Result<Kind> {
    let table = quoted(table);
    let make = |columns: &str| {
        connection.rows(&format!(
            "CREATE TEMPORARY TABLE {table} ({columns}) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
        ))
    };
    // A server may want every table to have a primary key, and AUTO_INCREMENT to be of one; and a type may make itself one.
    make(&format!("k INT PRIMARY KEY, v {declared}")).or_else(|error| {
        let others = make(&format!("v {declared}, PRIMARY KEY (v)"));
        others.or_else(|_| make(&format!("v {declared}"))).map_err(|_| error)
    })?;
    let columns = connection.rows(&format!("SHOW COLUMNS FROM {table} LIKE 'v'"));
    connection.rows(&format!("DROP TEMPORARY TABLE {table}"))?;
    let column = columns?.into_iter().next().and_then(|row| row.into_iter().nth(1)).map(text);
    Ok(SPELLING.kind(&column.context("the server does not say which type it has")?))
}

/// The foreign keys of other tables that refer to one, in words.
pub fn referring(connection: &Connection, table: &str) -> Result<Vec<String>> {
    let name = table.replace('\\', "\\\\").replace('\'', "''");
    let rows = connection.rows(&format!(
        "SELECT DISTINCT CONCAT('the foreign key ', constraint_name, ' of ', table_name) \
         FROM information_schema.key_column_usage \
         WHERE referenced_table_schema = DATABASE() AND referenced_table_name = '{name}' \
         AND NOT (table_schema = DATABASE() AND table_name = '{name}')"
    ))?;
    Ok(rows.into_iter().filter_map(|row| row.into_iter().next()).map(text).collect())
}

/// True if a column of a type that the user names needs a value, as those of [`existing`] do.
pub fn needs_value(connection: &Connection, declared: &str) -> bool {
    let lower = declared.to_ascii_lowercase().replace(')', ") ");
    let words: Vec<&str> = lower.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    let is_key = has("primary") || has("key") && !has("unique");
    if is_key || has("auto_increment") || has("serial") {
        return true;
    }
    let is_timestamp = lower.trim_start().starts_with("timestamp");
    if !is_timestamp || has("null") {
        return is_timestamp && has("not");
    }
    // Else a setting decides, which MySQL lets few users change.
    let takes_null = connection.value("SELECT @@SESSION.explicit_defaults_for_timestamp");
    !matches!(takes_null, Ok(Some(is_on)) if is_on == "1")
}

/// Lists the parts of a table that one in its place would not have.
pub fn losses(connection: &Connection, table: &str) -> Result<Vec<String>> {
    let name = table.replace('\\', "\\\\").replace('\'', "''");
    let of_table = format!("table_schema = DATABASE() AND table_name = '{name}'");
    let of_columns = |what: &str, condition: &str| {
        format!(
            "UNION ALL SELECT CONCAT('{what} ', GROUP_CONCAT(column_name ORDER BY ordinal_position SEPARATOR ', ')) \
             FROM information_schema.columns WHERE {of_table} AND {condition} HAVING COUNT(*) > 0 "
        )
    };
    let of_tables = |what: &str, list: &str, condition: &str| {
        format!(
            "UNION ALL SELECT DISTINCT {what} FROM information_schema.{list} WHERE {of_table} AND {condition} "
        )
    };
    let rows = connection.rows(&format!(
        "SELECT DISTINCT CONCAT('index ', index_name) FROM information_schema.statistics WHERE {of_table} \
         UNION ALL SELECT CONCAT(LOWER(constraint_type), ' ', constraint_name) \
         FROM information_schema.table_constraints \
         WHERE {of_table} AND constraint_type IN ('FOREIGN KEY', 'CHECK') \
         UNION ALL SELECT CONCAT('trigger ', trigger_name) FROM information_schema.triggers \
         WHERE event_object_schema = DATABASE() AND event_object_table = '{name}' {}{}{}{}{}{}{}{}",
        of_columns("NOT NULL of", "is_nullable = 'NO' AND column_key <> 'PRI'"),
        of_columns("the default of", "column_default IS NOT NULL AND column_default <> 'NULL'"),
        of_columns("what the server computes of", "extra <> ''"),
        of_columns("the collation of", &format!("collation_name <> {COLLATION}")),
        of_columns("the comments of", "column_comment <> ''"),
        of_tables("'its comment'", "tables", "table_comment <> ''"),
        of_tables("'partitions'", "partitions", "partition_name IS NOT NULL"),
        of_tables("'all history (SYSTEM VERSIONING)'", "tables", "table_type = 'SYSTEM VERSIONED'"),
    ))?;
    Ok(rows.into_iter().filter_map(|row| row.into_iter().next()).map(text).collect())
}

/// A text as a literal of these servers' SQL.
pub fn literal(text: &str) -> String {
    crate::target::literal(&text.replace('\\', "\\\\"))
}

/// A value as text.
pub fn text(value: Value) -> String {
    match value {
        Value::Text(text) => text,
        Value::Integer(number) => number.to_string(),
        Value::Blob { blob } => blob,
        _ => String::new(),
    }
}
