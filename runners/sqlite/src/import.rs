//! The model `import-file`: the ways of getting records into a table that the ladder of `suites/import.toml` climbs.

use std::ffi::CStr;

use anyhow::{Context, Result};
use dyno_client::sqlite::{Connection, Parameter, Statement, quoted};
use dyno_protocol::FieldKind;
use dyno_runner::{Answer, Extent, Failure, Import, in_transactions, insert, whole_number};

use crate::text::{PARAMETERS, ROWS, insert_text, names};
use crate::transactions::Transactions;

/// The ways in which records become rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
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
    /// As `Typed`, into a new file from which SQLite takes the rows whole.
    Transfer,
    /// As pages of such a file, written without SQLite.
    Pages,
    /// The same, in a thread for each processor.
    PagesParallel,
    /// Such a file, which is finished before the clock starts and then copied.
    Floor,
}

impl Variant {
    /// That of a job; the usual one where the job names none that is about imports.
    pub fn of(variant: Option<&str>) -> Variant {
        match variant {
            Some("text") => Variant::Text,
            Some("prepared") => Variant::Prepared,
            Some("typed") => Variant::Typed,
            Some("multirow") => Variant::Multirow,
            Some("beside") => Variant::Beside,
            Some("transfer") => Variant::Transfer,
            Some("pages") => Variant::Pages,
            Some("pages-parallel") => Variant::PagesParallel,
            Some("floor") => Variant::Floor,
            _ => Variant::NoCopy,
        }
    }
}

/// Imports by one of the ways that fill a table of an open database. Returns how many records were inserted.
pub fn import(connection: &Connection, import: &Import, variant: Variant) -> Result<u64, Failure> {
    let before = connection.total_changes();
    match variant {
        Variant::Text => by_texts(connection, import)?,
        Variant::Prepared => by_statements(connection, import, 1, |field, _| Ok(Parameter::Copied(field)))?,
        Variant::NoCopy => by_statements(connection, import, 1, |field, _| Ok(Parameter::Text(field)))?,
        Variant::Typed
        | Variant::Beside
        | Variant::Transfer
        | Variant::Pages
        | Variant::PagesParallel
        | Variant::Floor => by_statements(connection, import, 1, typed)?,
        Variant::Multirow => by_statements(connection, import, ROWS, |field, _| Ok(Parameter::Text(field)))?,
    }
    Ok(connection.total_changes() - before)
}

/// Formats, compiles and executes a statement for each record.
fn by_texts(connection: &Connection, import: &Import) -> Result<(), Failure> {
    let columns = import.columns.iter().map(|column| column.name.as_str());
    let head = format!("INSERT INTO {}({}) VALUES(", quoted(import.table), names(columns)).into_bytes();
    let mut sql = head.clone();
    let mut answer = Answer::new();
    let mut reader = import.reader();
    in_transactions(Transactions::new(connection)?, import.into(), |records| {
        let count = records.end - records.start;
        for record in records {
            sql.truncate(head.len());
            for field in reader.expect()? {
                sql.push(b'\'');
                put_quoted(field, &mut sql);
                sql.extend_from_slice(b"',");
            }
            sql.pop();
            sql.extend_from_slice(b")\0");
            let text = CStr::from_bytes_with_nul(&sql).context("a field holds a NUL byte");
            let executed = text.and_then(|text| connection.execute(text, &mut answer));
            executed.map_err(|error| Failure::at(record, error))?;
        }
        Ok(count)
    })?;
    Ok(())
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

/// Executes prepared statements, each for up to a fixed number of records.
#[inline]
fn by_statements<'a>(
    connection: &Connection,
    import: &Import<'a>,
    together: usize,
    parameter: impl Fn(&'a [u8], FieldKind) -> Result<Parameter<'a>>,
) -> Result<(), Failure> {
    let width = import.columns.len();
    let transaction = import.per_commit.unwrap_or(u64::MAX) as usize;
    let group = together.min(PARAMETERS / width).min(transaction).max(1);
    let extent = Extent { each: group as u64, ..import.into() };
    let prepare =
        |records| Statement::new(connection, &insert_text(import.table, import.names(), records as usize)?);
    let mut reader = import.reader();
    let mut pending: Vec<Parameter> = Vec::with_capacity(group * width);
    let transactions = Transactions::new(connection)?;
    insert(transactions, extent, group as u64, prepare, |statement, records| {
        if group == 1 {
            let fields = reader.expect()?.iter().zip(import.columns);
            let run = statement.try_run(fields.map(|(field, column)| parameter(field, column.kind)));
            return Ok(run?);
        }
        pending.clear();
        for record in records {
            for (field, column) in reader.expect()?.iter().zip(import.columns) {
                let parameter = parameter(field, column.kind);
                pending.push(parameter.map_err(|error| Failure::at(record, error))?);
            }
        }
        Ok(statement.run(pending.iter().copied())?)
    })?;
    Ok(())
}

/// A field as what it is.
#[inline]
fn typed(field: &[u8], kind: FieldKind) -> Result<Parameter<'_>> {
    match kind {
        FieldKind::Text => Ok(Parameter::Text(field)),
        FieldKind::Integer => whole_number(field).map(Parameter::Integer),
    }
}
