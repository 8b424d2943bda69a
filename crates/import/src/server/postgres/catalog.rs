//! Tables as the server describes them: their columns, and what hangs on them.

use anyhow::Result;
use dyno_client::Sql;
use dyno_client::postgres::Connection;
use dyno_protocol::Value;

use super::super::types::Spelling;
use super::statements::Place;
use crate::table::Column;

/// The names of types on this server.
pub const SPELLING: Spelling =
    Spelling { is_postgres: true, integer: "BIGINT", real: "DOUBLE PRECISION", text: "TEXT" };

/// Finds a table: a name with a point may have a schema before it.
pub fn find(connection: &Connection, name: &str) -> Result<Place> {
    if let Some((schema, table)) = name.split_once('.') {
        let literal = schema.replace('\'', "''");
        let known = format!("SELECT 1 FROM pg_namespace WHERE nspname = '{literal}'");
        if connection.value(&known)?.is_some() {
            return Ok(Place { schema: Some(schema.to_owned()), table: table.to_owned() });
        }
    }
    Ok(Place { schema: None, table: name.to_owned() })
}

/// The columns of a table that a file may fill; None if there is no such table.
pub fn existing(connection: &Connection, place: &Place) -> Result<Option<Vec<Column>>> {
    let name = place.quoted().replace('\'', "''");
    if connection.value(&format!("SELECT to_regclass('{name}')"))?.is_none() {
        return Ok(None);
    }
    let rows = connection.rows(&format!(
        "SELECT attname, CASE typtype WHEN 'd' THEN format_type(typbasetype, typtypmod) \
         ELSE format_type(atttypid, atttypmod) END, EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid \
         AND indisprimary AND attnum = ANY (indkey)) FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid \
         WHERE attrelid = '{name}'::regclass AND attnum > 0 AND NOT attisdropped \
         AND coalesce(to_jsonb(a) ->> 'attgenerated', '') = '' ORDER BY attnum"
    ))?;
    let text = |value: Option<Value>| match value {
        Some(Value::Text(text)) => text,
        _ => String::new(),
    };
    let column = |row: Vec<Value>| {
        let mut row = row.into_iter();
        let (name, declared) = (text(row.next()), text(row.next()));
        let required = row.next() == Some(Value::Integer(1));
        Column { name, kind: SPELLING.kind(&declared), declared, inferred: false, required }
    };
    Ok(Some(rows.into_iter().map(column).collect()))
}

/// Lists the parts of a table that one in its place would not have.
pub fn losses(connection: &Connection, place: &Place) -> Result<Vec<String>> {
    let table = format!("'{}'::regclass", place.quoted().replace('\'', "''"));
    let of_columns = |what: &str, condition: &str| {
        format!(
            "UNION ALL SELECT '{what} ' || string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute a \
             WHERE attrelid = {table} AND attnum > 0 AND NOT attisdropped AND {condition} HAVING count(*) > 0 "
        )
    };
    texts(
        connection,
        &format!(
            "SELECT 'index ' || indexrelid::regclass FROM pg_index WHERE indrelid = {table} \
         UNION ALL SELECT 'constraint ' || conname FROM pg_constraint WHERE conrelid = {table} \
         AND contype NOT IN ('p', 'u', 'n') \
         UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE tgrelid = {table} AND NOT tgisinternal \
         UNION ALL SELECT 'policy ' || polname FROM pg_policy WHERE polrelid = {table} \
         UNION ALL SELECT 'comments' WHERE EXISTS (SELECT FROM pg_description \
         WHERE objoid = {table} AND classoid = 'pg_class'::regclass) \
         UNION ALL SELECT 'privileges of ' || string_agg(DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' \
         ELSE grantee::regrole::text END, ' and ') FROM pg_class, aclexplode(relacl) \
         WHERE oid = {table} AND grantee <> relowner HAVING count(*) > 0 {}{}",
            of_columns(
                "NOT NULL of",
                "attnotnull AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid \
         AND indisprimary AND attnum = ANY (indkey))"
            ),
            of_columns("the default of", "(atthasdef OR coalesce(to_jsonb(a) ->> 'attidentity', '') <> '')"),
        ),
    )
}

/// The first column of a query's rows.
fn texts(connection: &Connection, sql: &str) -> Result<Vec<String>> {
    let text = |row: Vec<Value>| match row.into_iter().next() {
        Some(Value::Text(text)) => text,
        _ => String::new(),
    };
    Ok(connection.rows(sql)?.into_iter().map(text).collect())
}
