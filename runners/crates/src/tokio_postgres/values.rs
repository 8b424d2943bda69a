//! Values by PostgreSQL's binary formats: the library decodes a column to the type that a program names, and a suite's
//! columns are of any type.

use std::error::Error;

use anyhow::{Result, bail};
use bytes::{BufMut, BytesMut};
use dyno_protocol::Sink;
use dyno_runner::mix::Value;
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
    let Raw(Some((kind, raw))) = row.try_get(column)? else {
        sink.null();
        return Ok(());
    };
    match kind {
        Type::INT8 => sink.integer(i64::from_be_bytes(raw.try_into()?)),
        Type::INT4 => sink.integer(i32::from_be_bytes(raw.try_into()?).into()),
        Type::INT2 => sink.integer(i16::from_be_bytes(raw.try_into()?).into()),
        Type::OID => sink.integer(u32::from_be_bytes(raw.try_into()?).into()),
        Type::BOOL => sink.integer((raw != [0]).into()),
        Type::FLOAT8 => sink.real(f64::from_be_bytes(raw.try_into()?)),
        Type::FLOAT4 => sink.real(f32::from_be_bytes(raw.try_into()?).into()),
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => sink.text(raw),
        Type::BYTEA => sink.blob(raw),
        Type::NUMERIC => numeric(raw, sink)?,
        Type::VOID => sink.text(b""),
        other => bail!("a column is of the type {other}, which this runner does not read"),
    }
    Ok(())
}

/// A numeric: whole where it has no fraction to show. Its digits are those of the base 10,000.
fn numeric<S: Sink>(raw: &[u8], sink: &mut S) -> Result<()> {
    let words: Vec<i16> = raw.chunks_exact(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]])).collect();
    let [_, weight, sign, scale, digits @ ..] = words.as_slice() else { bail!("a numeric is cut off") };
    let digit =
        |place: i32| usize::try_from(place).ok().and_then(|place| digits.get(place)).copied().unwrap_or(0);
    let weight = i32::from(*weight);
    let mut text = String::from(match *sign as u16 {
        0x0000 => "",
        0x4000 => "-",
        0xD000 => return Ok(sink.text(b"inf")),
        0xF000 => return Ok(sink.text(b"-inf")),
        _ => return Ok(sink.text(b"NaN")),
    });
    text += "0";
    (0..=weight).for_each(|place| text += &format!("{:04}", digit(place)));
    if *scale == 0
        && let Ok(number) = text.parse()
    {
        return Ok(sink.integer(number));
    }
    text += ".";
    (weight + 1..=weight + i32::from(*scale).div_euclid(4) + 1)
        .for_each(|place| text += &format!("{:04}", digit(place)));
    Ok(sink.real(text.parse()?))
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

#[cfg(test)]
mod tests {
    use dyno_protocol::{RowCollector, Value};

    use super::*;

    fn read_numeric(words: &[i16]) -> Value {
        let raw: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let mut collector = RowCollector::default();
        numeric(&raw, &mut collector).unwrap();
        collector.end_row();
        collector.rows[0][0].clone()
    }

    /// The words are those that a server sends: the number of digits, the weight of the first, sign, scale, digits.
    #[test]
    fn a_numeric_is_read_by_its_digits() {
        assert_eq!(read_numeric(&[0, 0, 0, 0]), Value::Integer(0));
        assert_eq!(read_numeric(&[2, 1, 0, 0, 1, 5]), Value::Integer(10_005));
        assert_eq!(read_numeric(&[1, 1, 0x4000, 0, 12]), Value::Integer(-120_000));
        assert_eq!(read_numeric(&[2, 0, 0, 4, 3, 2500]), Value::Real(3.25));
        assert_eq!(read_numeric(&[1, -2, 0x4000, 8, 5]), Value::Real(-0.00000005));
        assert_eq!(read_numeric(&[0, 0, 0xC000_u16 as i16, 0]), Value::Text("NaN".into()));
    }
}
