//! Values by the types of their columns.

use std::str::from_utf8;

use anyhow::Result;
use dyno_protocol::Sink;
use dyno_runner::mix;
use mysql_async::consts::ColumnType;
use mysql_async::{Column, Row, Value};

/// The number of the collation of what is no text.
const BYTES: u16 = 63;

/// Reads every value of a row.
///
/// # Errors
/// A text that the server sends as a number cannot be read as one.
pub fn read<S: Sink>(row: Row, sink: &mut S) -> Result<()> {
    for (place, column) in row.columns_ref().iter().enumerate() {
        match row.as_ref(place) {
            None | Some(Value::NULL) => sink.null(),
            Some(Value::Int(number)) => sink.integer(*number),
            Some(Value::UInt(number)) => match i64::try_from(*number) {
                Ok(number) => sink.integer(number),
                Err(_) => sink.real(*number as f64),
            },
            Some(Value::Float(number)) => sink.real((*number).into()),
            Some(Value::Double(number)) => sink.real(*number),
            Some(Value::Bytes(bytes)) => put(bytes, column, sink)?,
            Some(moment) => sink.text(moment.as_sql(true).trim_matches('\'').as_bytes()),
        }
    }
    sink.end_row();
    Ok(())
}

/// Reads a value that came as text.
fn put<S: Sink>(bytes: &[u8], column: &Column, sink: &mut S) -> Result<()> {
    use ColumnType::*;
    match column.column_type() {
        MYSQL_TYPE_TINY
        | MYSQL_TYPE_SHORT
        | MYSQL_TYPE_INT24
        | MYSQL_TYPE_LONG
        | MYSQL_TYPE_LONGLONG
        | MYSQL_TYPE_YEAR
        | MYSQL_TYPE_DECIMAL
        | MYSQL_TYPE_NEWDECIMAL => match from_utf8(bytes)?.parse() {
            Ok(number) => sink.integer(number),
            Err(_) => sink.real(from_utf8(bytes)?.parse()?),
        },
        MYSQL_TYPE_FLOAT | MYSQL_TYPE_DOUBLE => sink.real(from_utf8(bytes)?.parse()?),
        MYSQL_TYPE_DATE | MYSQL_TYPE_TIME | MYSQL_TYPE_DATETIME | MYSQL_TYPE_TIMESTAMP => sink.text(bytes),
        _ if column.character_set() == BYTES => sink.blob(bytes),
        _ => sink.text(bytes),
    }
    Ok(())
}

/// The value of a parameter, as the library takes it.
pub fn value(value: mix::Value) -> Value {
    match value {
        mix::Value::Null => Value::NULL,
        mix::Value::Integer(number) => Value::Int(number),
        mix::Value::Real(number) => Value::Double(number),
        mix::Value::Text(bytes) | mix::Value::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}
