//! Values by PostgreSQL's binary formats: the library decodes a column to the type that a program names, and a suite's
//! columns are of any type.

use std::error::Error;

use anyhow::Result;
use bytes::{BufMut, BytesMut};
use dyno_protocol::Sink;
use dyno_runner::mix::Value;
use dyno_runner_crates::postgres;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

type Outcome<T> = std::result::Result<T, Box<dyn Error + Sync + Send>>;

/// A value as it came, with its type.
struct Raw<'a>(Option<(Type, &'a [u8])>);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Outcome<Raw<'a>> {
        Ok(Raw(Some((kind.clone(), raw))))
    }

    fn from_sql_null(_: &Type) -> Outcome<Raw<'a>> {
        Ok(Raw(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Reads a value of a row.
///
/// # Errors
/// Its type is one that no suite has.
pub fn read<S: Sink>(row: &Row, column: usize, sink: &mut S) -> Result<()> {
    match row.try_get(column)? {
        Raw(Some((kind, raw))) => postgres::read(kind.oid(), raw, sink),
        Raw(None) => Ok(sink.null()),
    }
}

/// A parameter, encoded as the type that the server infers for it.
#[derive(Debug)]
pub struct Parameter<'a>(pub Value<'a>);

impl ToSql for Parameter<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Outcome<IsNull> {
        match (self.0, kind) {
            (Value::Null, _) => return Ok(IsNull::Yes),
            (Value::Integer(number), &Type::INT8) => out.put_i64(number),
            (Value::Integer(number), &Type::INT4) => out.put_i32(number.try_into()?),
            (Value::Integer(number), &Type::INT2) => out.put_i16(number.try_into()?),
            (Value::Integer(number), &Type::FLOAT8) => out.put_f64(number as f64),
            (Value::Real(number), &Type::FLOAT8) => out.put_f64(number),
            (Value::Real(number), &Type::FLOAT4) => out.put_f32(number as f32),
            (Value::Text(text) | Value::Blob(text), kind) if takes_bytes(kind) => out.put_slice(text),
            (_, kind) => {
                return Err(format!("a value is of another type than its parameter, {kind}").into());
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn takes_bytes(kind: &Type) -> bool {
    [Type::TEXT, Type::VARCHAR, Type::BPCHAR, Type::NAME, Type::BYTEA, Type::UNKNOWN].contains(kind)
}
