//! The model `import-file`: the ways of getting records into a table that the ladder of `suites/import.toml` climbs.

use std::ffi::CStr;

use anyhow::{Context, Result};
use dyno_client::sqlite::{Connection, Parameter, Statement, quoted};
use dyno_protocol::FieldKind;
use dyno_runner::{Answer, Failure, Import, whole_number};

use crate::text::{PARAMETERS, ROWS, insert_text, names};
use crate::transactions::Transactions;

/// How records become rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A statement's text for each record, its values in it.
    Text,
    /// A prepared statement; SQLite copies the values that are bound.
    Prepared,
    /// A prepared statement; the values are bound where they lie in the file. The usual way.
    NoCopy,
    /// The same, whole numbers being bound as such.
    Typed,
    /// Prepared statements of many rows.
    Multirow,
    /// As `Typed`, into a new file that takes the place of the database.
    Beside,
}

impl Way {
    /// The way that a variant of the driver is about.
    pub fn of(variant: Option<&str>) -> Way {
        match variant {
            Some("text") => Way::Text,
            Some("prepared") => Way::Prepared,
            Some("typed") => Way::Typed,
            Some("multirow") => Way::Multirow,
            Some("beside") => Way::Beside,
            _ => Way::NoCopy,
        }
    }
}

/// Imports by one of the ways that fill a table of an open database. Returns how many records were inserted.
pub fn import(connection: &Connection, import: &Import, way: Way) -> Result<u64, Failure> {
    let before = connection.total_changes();
    match way {
        Way::Text => by_texts(connection, import)?,
        Way::Prepared => by_statement(connection, import, |field, _| Ok(Parameter::Copied(field)))?,
        Way::NoCopy => by_statement(connection, import, |field, _| Ok(Parameter::Text(field)))?,
        Way::Typed | Way::Beside => by_statement(connection, import, typed)?,
        Way::Multirow => by_groups(connection, import)?,
    }
    Ok(connection.total_changes() - before)
}

/// Formats, compiles and executes a statement for each record.
fn by_texts(connection: &Connection, import: &Import) -> Result<(), Failure> {
    let columns = import.columns.iter().map(|column| column.name.as_str());
    let head = format!("INSERT INTO {}({}) VALUES(", quoted(import.table), names(columns)).into_bytes();
    let mut sql = head.clone();
    let mut answer = Answer::new();
    insert(connection, import, |fields| {
        sql.truncate(head.len());
        for field in fields {
            sql.push(b'\'');
            put_quoted(field, &mut sql);
            sql.extend_from_slice(b"',");
        }
        sql.pop();
        sql.extend_from_slice(b")\0");
        let text = CStr::from_bytes_with_nul(&sql).context("a field holds a NUL byte")?;
        connection.execute(text, &mut answer)
    })
}

/// A field as it stands between quotes.
#[inline]
fn put_quoted(field: &[u8], sql: &mut Vec<u8>) {
    if !field.contains(&b'\'') {
        return sql.extend_from_slice(field);
    }
    for &byte in field {
        sql.extend_from_slice(if byte == b'\'' { b"''" } else { std::slice::from_ref(&byte) });
    }
}

/// Binds and executes one prepared statement for each record.
#[inline]
fn by_statement<'a>(
    connection: &Connection,
    import: &Import<'a>,
    parameter: impl Fn(&'a [u8], FieldKind) -> Result<Parameter<'a>>,
) -> Result<(), Failure> {
    let columns = import.columns.iter().map(|column| column.name.as_str());
    let mut statement = Statement::new(connection, &insert_text(import.table, columns, 1)?)?;
    insert(connection, import, |fields| {
        let fields = fields.iter().zip(import.columns);
        statement.try_run(fields.map(|(field, column)| parameter(field, column.kind)))
    })
}

/// Reads the records, hands each to `one` and commits as the import says.
#[inline]
fn insert<'a>(
    connection: &Connection,
    import: &Import<'a>,
    mut one: impl FnMut(&[&'a [u8]]) -> Result<()>,
) -> Result<(), Failure> {
    let mut transactions = Transactions::new(connection, import.per_commit)?;
    let mut reader = import.reader();
    let mut index = 0;
    while let Some(fields) = reader.next()? {
        let mut record = || {
            transactions.before()?;
            one(fields)?;
            transactions.after(1)
        };
        record().map_err(|error| Failure::at(index, error))?;
        index += 1;
    }
    Ok(transactions.finish()?)
}

/// A field as what it is.
#[inline]
fn typed(field: &[u8], kind: FieldKind) -> Result<Parameter<'_>> {
    match kind {
        FieldKind::Text => Ok(Parameter::Text(field)),
        FieldKind::Integer => whole_number(field).map(Parameter::Integer),
    }
}

/// Binds many records to one statement and executes it; what is left over goes one by one.
fn by_groups(connection: &Connection, import: &Import) -> Result<(), Failure> {
    let width = import.columns.len();
    let transaction = import.per_commit.unwrap_or(u64::MAX) as usize;
    let together = ROWS.min(PARAMETERS / width).min(transaction).max(1);
    let columns = || import.columns.iter().map(|column| column.name.as_str());
    let mut many = Statement::new(connection, &insert_text(import.table, columns(), together)?)?;
    let mut single = Statement::new(connection, &insert_text(import.table, columns(), 1)?)?;
    let mut transactions = Transactions::new(connection, import.per_commit)?;
    let mut reader = import.reader();
    let mut pending: Vec<&[u8]> = Vec::with_capacity(together * width);
    let mut execute = |statement: &mut Statement, fields: &[&[u8]], first: u64| {
        let mut group = || {
            transactions.before()?;
            statement.run(fields.iter().map(|field| Parameter::Text(field)))?;
            transactions.after((fields.len() / width) as u64)
        };
        group().map_err(|error| Failure::at(first, error))
    };
    let mut first = 0;
    while let Some(fields) = reader.next()? {
        pending.extend_from_slice(fields);
        if pending.len() == pending.capacity() {
            execute(&mut many, &pending, first)?;
            first += together as u64;
            pending.clear();
        }
    }
    for fields in pending.chunks(width) {
        execute(&mut single, fields, first)?;
        first += 1;
    }
    Ok(transactions.finish()?)
}
