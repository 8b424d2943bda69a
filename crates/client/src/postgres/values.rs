//! Values as libpq gives them: a text, and the number of its type.

use std::ffi::c_uint;

use dyno_protocol::Sink;

use crate::number::{number, real};

/// Object identifiers of types, the same in every PostgreSQL (`pg_type.dat`).
const BOOL: c_uint = 16;
const BYTEA: c_uint = 17;
const INT8: c_uint = 20;
const INT2: c_uint = 21;
const INT4: c_uint = 23;
const OID: c_uint = 26;
const FLOAT4: c_uint = 700;
const FLOAT8: c_uint = 701;
const NUMERIC: c_uint = 1700;

/// Adds the value that a text of a type stands for.
#[inline]
pub fn put<S: Sink>(value: &[u8], kind: c_uint, sink: &mut S) {
    match kind {
        INT4 | INT8 | INT2 | NUMERIC | OID => number(value, sink),
        FLOAT8 | FLOAT4 => real(value, sink),
        BOOL => sink.integer((value == b"t").into()),
        BYTEA => match bytes(value) {
            Some(bytes) => sink.blob(&bytes),
            None => sink.blob(value),
        },
        _ => sink.text(value),
    }
}

/// The bytes of a text such as `\x00ff`, as every PostgreSQL since 9.0 spells them.
fn bytes(value: &[u8]) -> Option<Vec<u8>> {
    let digits = value.strip_prefix(b"\\x")?;
    let digit = |letter: u8| char::from(letter).to_digit(16).map(|digit| digit as u8);
    digits.chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use dyno_protocol::{RowCollector, Value};

    use super::*;

    fn read(kind: c_uint, value: &str) -> Value {
        let mut kept = RowCollector::default();
        put(value.as_bytes(), kind, &mut kept);
        kept.end_row();
        kept.first().unwrap()
    }

    #[test]
    fn values_have_the_type_of_their_column() {
        assert_eq!(read(INT4, "-7"), Value::Integer(-7));
        assert_eq!(read(NUMERIC, "24999.5000000000000000"), Value::Real(24999.5));
        assert_eq!(read(NUMERIC, "6242727547"), Value::Integer(6_242_727_547));
        assert_eq!(read(NUMERIC, "NaN"), Value::Text("NaN".into()));
        assert_eq!(read(FLOAT8, "1"), Value::Real(1.0));
        assert_eq!((read(BOOL, "t"), read(BOOL, "f")), (Value::Integer(1), Value::Integer(0)));
        assert_eq!(read(BYTEA, "\\x00ff"), Value::Blob { blob: "00ff".into() });
        assert_eq!(read(1043, "7"), Value::Text("7".into()));
    }
}
