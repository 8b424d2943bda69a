//! PostgreSQL for every driver: the options of a URL, errors, and the values of its types.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::from_utf8;
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use dyno_protocol::Sink;

use crate::refuse_encryption;

/// Seconds to wait for a connection where the URL does not say.
const PATIENCE: u64 = 10;
/// Options of a URL, by libpq's names.
const OPTIONS: [&str; 3] = ["sslmode", "connect_timeout", "application_name"];
/// Errors after which another try may succeed: a serialization failure, a deadlock, a lock that was not available.
const MAY_PASS: [&str; 3] = ["40001", "40P01", "55P03"];
/// The server was stopped by its administrator.
const SHUTDOWN: &str = "57P01";

/// The numbers of types, as in `pg_type`.
mod oid {
    pub const BOOL: u32 = 16;
    pub const BYTEA: u32 = 17;
    pub const NAME: u32 = 19;
    pub const INT8: u32 = 20;
    pub const INT2: u32 = 21;
    pub const INT4: u32 = 23;
    pub const TEXT: u32 = 25;
    pub const OID: u32 = 26;
    pub const FLOAT4: u32 = 700;
    pub const FLOAT8: u32 = 701;
    pub const UNKNOWN: u32 = 705;
    pub const BPCHAR: u32 = 1042;
    pub const VARCHAR: u32 = 1043;
    pub const NUMERIC: u32 = 1700;
    pub const VOID: u32 = 2278;
}

/// An error of the server, with its code.
#[derive(Debug, thiserror::Error)]
#[error("{message} (PostgreSQL error {code})")]
struct ReportedError {
    code: String,
    message: String,
}

/// The error of a call, by the server's own words: its message, the detail and the hint.
pub fn server_error(code: &str, words: [Option<&str>; 3]) -> Error {
    let message = words.into_iter().flatten().collect::<Vec<_>>().join(" ");
    if code == SHUTDOWN {
        return lost(message);
    }
    ReportedError { code: code.to_owned(), message }.into()
}

/// The error of a call that found no connection.
pub fn lost(error: impl Display) -> Error {
    anyhow!(
        "the connection to the server is lost: {error}. If the server has crashed or was stopped, its log says why"
    )
}

/// The code of an error of the server.
pub fn code(error: &Error) -> Option<&str> {
    error.downcast_ref().map(|error: &ReportedError| error.code.as_str())
}

/// Returns true if another try may succeed.
pub fn is_retryable(error: &Error) -> bool {
    code(error).is_some_and(|code| MAY_PASS.contains(&code))
}

/// The time to wait for a connection, if there is a limit, and the name of the application. The drivers have no TLS here:
/// an option that asks for it, or leaves it to the server, is refused.
///
/// # Errors
/// An option is unknown or asks for TLS.
pub fn options<'o>(
    driver: &str,
    options: &'o BTreeMap<String, String>,
) -> Result<(Option<Duration>, &'o str)> {
    let option = |name: &str| options.get(name).map(String::as_str);
    if let Some(unknown) = options.keys().find(|name| !OPTIONS.contains(&name.as_str())) {
        bail!("the URL has the option '{unknown}', and a connection of {driver} has {}", OPTIONS.join(", "));
    }
    refuse_encryption("sslmode", option("sslmode").unwrap_or("disable"))?;
    let patience = match option("connect_timeout") {
        Some(text) => text
            .parse()
            .ok()
            .with_context(|| format!("the option connect_timeout is in seconds, not '{text}'"))?,
        None => PATIENCE,
    };
    // As in libpq, 0 is no limit.
    let patience = (patience > 0).then(|| Duration::from_secs(patience));
    Ok((patience, option("application_name").unwrap_or("dyno")))
}

/// Reads a value in the binary format of its type.
///
/// # Errors
/// Its type is one that no suite has.
#[inline]
pub fn read<S: Sink>(kind: u32, raw: &[u8], sink: &mut S) -> Result<()> {
    match kind {
        oid::INT8 => sink.integer(i64::from_be_bytes(raw.try_into()?)),
        oid::INT4 => sink.integer(i32::from_be_bytes(raw.try_into()?).into()),
        oid::INT2 => sink.integer(i16::from_be_bytes(raw.try_into()?).into()),
        oid::OID => sink.integer(u32::from_be_bytes(raw.try_into()?).into()),
        oid::BOOL => sink.integer((raw != [0]).into()),
        oid::FLOAT8 => sink.real(f64::from_be_bytes(raw.try_into()?)),
        oid::FLOAT4 => sink.real(f32::from_be_bytes(raw.try_into()?).into()),
        oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME | oid::UNKNOWN => sink.text(raw),
        oid::BYTEA => sink.blob(raw),
        oid::NUMERIC => numeric(raw, sink)?,
        oid::VOID => sink.text(b""),
        other => {
            bail!("a column is of the type with the number {other}, which this runner does not read")
        }
    }
    Ok(())
}

/// Reads a value in the text format, in which the simple protocol sends them.
///
/// # Errors
/// It is not what its type says.
#[inline]
pub fn read_text<S: Sink>(kind: u32, raw: &[u8], sink: &mut S) -> Result<()> {
    match kind {
        oid::INT8 | oid::INT4 | oid::INT2 | oid::OID => sink.integer(from_utf8(raw)?.parse()?),
        oid::BOOL => sink.integer((raw == b"t").into()),
        oid::FLOAT8 | oid::FLOAT4 => sink.real(from_utf8(raw)?.parse()?),
        oid::NUMERIC => match (raw, from_utf8(raw)?) {
            (b"Infinity", _) => sink.text(b"inf"),
            (b"-Infinity", _) => sink.text(b"-inf"),
            (b"NaN", _) => sink.text(raw),
            (_, text) => match text.parse() {
                Ok(number) => sink.integer(number),
                Err(_) => sink.real(text.parse()?),
            },
        },
        oid::BYTEA => sink.blob(&hexadecimal(raw)?),
        _ => sink.text(raw),
    }
    Ok(())
}

/// The bytes of a bytea, which the server writes as `\x` and their hexadecimal digits.
fn hexadecimal(raw: &[u8]) -> Result<Vec<u8>> {
    let digits = raw.strip_prefix(b"\\x").context("a bytea is not in the hexadecimal format")?;
    let byte = |pair: &[u8]| Ok(u8::from_str_radix(from_utf8(pair)?, 16)?);
    digits.chunks(2).map(byte).collect()
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

    #[test]
    fn texts_are_read_as_their_types() {
        let read = |kind, text: &str| {
            let mut collector = RowCollector::default();
            read_text(kind, text.as_bytes(), &mut collector).unwrap();
            collector.end_row();
            collector.rows[0][0].clone()
        };
        assert_eq!(read(oid::INT4, "-7"), Value::Integer(-7));
        assert_eq!(read(oid::BOOL, "t"), Value::Integer(1));
        assert_eq!(read(oid::FLOAT8, "1"), Value::Real(1.0));
        assert_eq!(read(oid::NUMERIC, "12"), Value::Integer(12));
        assert_eq!(read(oid::NUMERIC, "12.50"), Value::Real(12.5));
        assert_eq!(read(oid::NUMERIC, "-Infinity"), Value::Text("-inf".into()));
        assert_eq!(read(oid::BYTEA, "\\x00ff"), Value::Blob { blob: "00ff".into() });
    }

    #[test]
    fn a_demand_for_encryption_is_refused() {
        let with = |name: &str, value: &str| {
            let all = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            options("x", &all).map(|(patience, _)| patience).map_err(|error| error.to_string())
        };
        for mode in ["require", "verify-ca", "verify-full"] {
            assert!(with("sslmode", mode).unwrap_err().contains("has no TLS"));
        }
        for mode in ["allow", "prefer"] {
            assert!(with("sslmode", mode).unwrap_err().contains("write sslmode=disable"));
        }
        assert_eq!(with("sslmode", "disable"), Ok(Some(Duration::from_secs(PATIENCE))));
        assert_eq!(with("connect_timeout", "0"), Ok(None));
        assert!(with("sslmod", "require").unwrap_err().contains("the option 'sslmod'"));
    }
}
