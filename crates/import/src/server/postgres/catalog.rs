//! Tables as the server describes them: their columns, the types of these, and whether its log holds their rows.

use anyhow::{Result, anyhow};
use dyno_client::Sql;
use dyno_client::postgres::Connection;
use dyno_protocol::Value;

use super::super::types::{Spelling, several, together};
use super::statements::{Place, quoted};
use crate::error::Input;
use crate::table::Column;
use crate::value::Kind;

/// The names of types on this server.
pub const SPELLING: Spelling =
    Spelling { is_postgres: true, integer: "BIGINT", real: "DOUBLE PRECISION", text: "TEXT" };

/// Finds a table: a name with a point may have a schema before it. The schema of one that is there is always named, since
/// CREATE TABLE without a name takes the first schema of the search path, and the table may be in a later one.
pub fn find(connection: &Connection, name: &str) -> Result<Place> {
    if let Some((schema, table)) = name.split_once('.') {
        let literal = schema.replace('\'', "''");
        let known = format!("SELECT 1 FROM pg_namespace WHERE nspname = '{literal}'");
        if connection.value(&known)?.is_some() {
            return Ok(Place { schema: Some(schema.to_owned()), table: table.to_owned() });
        }
    }
    let literal = quoted(name).replace('\'', "''");
    let schema = connection.value(&format!(
        "SELECT nspname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace \
         WHERE c.oid = to_regclass('{literal}')"
    ))?;
    Ok(Place { schema, table: name.to_owned() })
}

/// Schemas of system tables.
const SYSTEM: &str = "'pg_catalog', 'information_schema', 'pg_toast'";

/// The columns of a table that a file may fill; None if there is no such table.
///
/// # Errors
/// It is a system table.
pub fn existing(connection: &Connection, place: &Place) -> Result<Option<Vec<Column>>> {
    let name = place.quoted().replace('\'', "''");
    if connection.value(&format!("SELECT to_regclass('{name}')"))?.is_none() {
        return Ok(None);
    }
    let own = connection.value(&format!(
        "SELECT nspname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace \
         WHERE c.oid = '{name}'::regclass AND nspname IN ({SYSTEM})"
    ))?;
    if let Some(schema) = own {
        let table = &place.table;
        let why = anyhow!(
            "{table} is a table of {schema}, in which the server keeps what it knows of the database: --table names another"
        );
        return Err(why).input();
    }
    let rows = connection.rows(&format!(
        "SELECT attname, format_type(atttypid, atttypmod), EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid \
         AND indisprimary AND attnum = ANY (indkey))::int::text, atttypid::text, atttypmod::text FROM pg_attribute a \
         WHERE attrelid = '{name}'::regclass AND attnum > 0 AND NOT attisdropped \
         AND coalesce(to_jsonb(a) ->> 'attgenerated', '') = '' ORDER BY attnum"
    ))?;
    let column = |row: Vec<Value>| {
        let [name, declared, is_key, oid, modifier] = texts_of(row);
        let kind = kind(connection, &oid, &modifier)?;
        let is_key = is_key == "1";
        Ok(Column { name, kind, declared, inferred: false, required: is_key, is_key })
    };
    rows.into_iter().map(column).collect::<Result<_>>().map(Some)
}

/// The kind of values that a column of a type takes which the user names and dyno does not know. Of such a type there may be many
/// spellings, with numbers in parentheses and more words behind them, so the server makes a column of it, and takes that back.
///
/// # Errors
/// The server makes no such column.
pub fn declared(connection: &Connection, table: &str, column: &str, declared: &str) -> Result<Kind> {
    let made = || -> Result<Kind> {
        connection.rows(&format!("CREATE TABLE {table} ({} {declared})", quoted(column)))?;
        let name = table.replace('\'', "''");
        let rows = connection.rows(&format!(
            "SELECT atttypid::text, atttypmod::text FROM pg_attribute \
             WHERE attrelid = '{name}'::regclass AND attnum = 1"
        ))?;
        let [oid, modifier] = texts_of(rows.into_iter().next().unwrap_or_default());
        kind(connection, &oid, &modifier)
    };
    connection.rows("BEGIN")?;
    let kind = made();
    // If both fail, the user needs the reason of the first.
    let undone = connection.rows("ROLLBACK");
    kind.and_then(|kind| undone.map(|_| kind))
}

/// The kind of values that a type takes: that of a domain, an array or a range is that of what it is made of.
fn kind(connection: &Connection, oid: &str, modifier: &str) -> Result<Kind> {
    let rows = connection.rows(&format!(
        "SELECT typtype::text, CASE typcategory WHEN 'A' THEN typelem ELSE 0 END::text, typbasetype::text, \
         typtypmod::text, typrelid::text, (SELECT rngsubtype FROM pg_range r WHERE t.oid IN (rngtypid, \
         (to_jsonb(r) ->> 'rngmultitypid')::oid))::text, format_type(oid, {modifier}) FROM pg_type t WHERE oid = {oid}"
    ))?;
    let [letter, element, base, base_modifier, relation, within, declared] =
        texts_of(rows.into_iter().next().unwrap_or_default());
    Ok(match letter.as_str() {
        "d" => kind(connection, &base, &base_modifier)?,
        "r" | "m" => several(kind(connection, &within, "-1")?),
        "c" => {
            let members = connection.rows(&format!(
                "SELECT atttypid::text, atttypmod::text FROM pg_attribute \
                 WHERE attrelid = {relation} AND attnum > 0 AND NOT attisdropped"
            ))?;
            let member = |row: Vec<Value>| {
                let [oid, modifier] = texts_of(row);
                kind(connection, &oid, &modifier)
            };
            together(&members.into_iter().map(member).collect::<Result<Vec<Kind>>>()?)
        }
        _ if element != "0" => several(kind(connection, &element, modifier)?),
        _ => SPELLING.kind(&declared),
    })
}

/// The values of a row of texts. A missing value is empty.
fn texts_of<const COUNT: usize>(row: Vec<Value>) -> [String; COUNT] {
    let mut row = row.into_iter();
    std::array::from_fn(|_| match row.next() {
        Some(Value::Text(text)) => text,
        _ => String::new(),
    })
}

/// A table, or a part of it, whose rows the server's log does not hold: the server empties one that is not logged after a
/// crash, and what becomes of the rows of one on another server is not known.
pub fn unlogged(connection: &Connection, place: &Place) -> Result<Option<String>> {
    let name = place.quoted().replace('\'', "''");
    connection.value(&format!(
        "WITH RECURSIVE parts (id) AS (SELECT '{name}'::regclass::oid \
         UNION SELECT inhrelid FROM pg_inherits JOIN parts ON inhparent = id \
         JOIN pg_class parent ON parent.oid = id AND parent.relkind = 'p') \
         SELECT relname::text FROM pg_class JOIN parts ON oid = id WHERE relpersistence <> 'p' OR relkind = 'f' \
         ORDER BY 1 LIMIT 1"
    ))
}

/// The first column of a query's rows.
pub fn texts(connection: &Connection, sql: &str) -> Result<Vec<String>> {
    let text = |row: Vec<Value>| {
        let [text] = texts_of(row);
        text
    };
    Ok(connection.rows(sql)?.into_iter().map(text).collect())
}
