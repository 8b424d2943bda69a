//! The parts that runners for client libraries of Rust share, by engine: how a job's URL is read, what an error says, and
//! how values are read by their types.

use anyhow::{Result, ensure};
use dyno_protocol::{FieldKind, Value};
use dyno_runner::{JobSql, Visit, column_list};

pub mod mysql;
pub mod postgres;
pub mod sqlite;

/// The statements that a connection keeps prepared: all of a mix. By default libraries keep 32 or 100, and then prepare
/// others anew, or close those that a client still uses.
pub const KEPT_STATEMENTS: usize = usize::MAX;

/// Refuses a mode of encryption that asks for TLS or prefers it: the drivers have none here.
///
/// # Errors
/// It is another one than plain text.
pub fn refuse_encryption(option: &str, mode: &str) -> Result<()> {
    let plain = if option == "sslmode" { "disable" } else { "DISABLED" };
    let of_urls = if mode == "prefer" { ", the mode of a URL that names none," } else { "" };
    ensure!(
        mode.eq_ignore_ascii_case(plain),
        "{option}={mode}{of_urls} asks for an encrypted connection, and this runner has no TLS: write {option}={plain}, or \
         name another driver"
    );
    Ok(())
}

/// Shows every row of a table to `visit`.
///
/// # Errors
/// The database refuses to be read, or a value is stored as another type than that of its column.
pub fn read_rows(
    session: &impl JobSql,
    table: &str,
    columns: &[(&str, FieldKind)],
    visit: &mut Visit,
) -> Result<()> {
    let names = column_list(columns.iter().map(|(name, _)| *name));
    for row in session.rows(&format!("SELECT {names} FROM {table}"))? {
        let texts = texts(&row, columns)?;
        visit(&texts.iter().map(String::as_bytes).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// The values of a row as texts, if each is stored as its column's kind.
///
/// # Errors
/// A value is stored as another type.
pub fn texts(row: &[Value], columns: &[(&str, FieldKind)]) -> Result<Vec<String>> {
    let text = |(value, (name, kind)): (&Value, &(&str, FieldKind))| {
        let text = match (value, kind) {
            (Value::Text(text), FieldKind::Text) => Some(text.clone()),
            (Value::Integer(number), FieldKind::Integer) => Some(number.to_string()),
            _ => None,
        };
        ensure!(text.is_some(), "a value of the column {name} is stored as another type");
        Ok(text.unwrap_or_default())
    };
    row.iter().zip(columns).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_another_kind_names_its_column() {
        let columns = [("n", FieldKind::Integer), ("t", FieldKind::Text)];
        let row = [Value::Integer(7), Value::Text("x".into())];
        assert_eq!(texts(&row, &columns).unwrap(), ["7", "x"]);
        let error = texts(&[Value::Null], &columns).unwrap_err().to_string();
        assert_eq!(error, "a value of the column n is stored as another type");
    }
}
