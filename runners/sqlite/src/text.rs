//! The texts of statements.

use std::ffi::CString;

use anyhow::{Result, anyhow};
use dyno_client::sqlite::quoted;

/// Rows in a statement of the variant `multirow`, where the limit on parameters allows.
pub const ROWS: usize = 50;
/// The most parameters that a statement has by default (`SQLITE_MAX_VARIABLE_NUMBER` before 3.32).
pub const PARAMETERS: usize = 999;

/// `INSERT INTO "t"("a","b") VALUES(?,?),(?,?)`: a statement that takes a number of rows.
pub fn insert_text<'a>(
    table: &str,
    columns: impl ExactSizeIterator<Item = &'a str>,
    rows: usize,
) -> Result<CString> {
    let row = format!("({})", vec!["?"; columns.len()].join(","));
    text(format!("INSERT INTO {}({}) VALUES{}", quoted(table), names(columns), vec![row; rows].join(",")))
}

/// Names of columns as they stand in a statement.
pub fn names<'a>(columns: impl Iterator<Item = &'a str>) -> String {
    columns.map(quoted).collect::<Vec<_>>().join(",")
}

/// A statement's text.
pub fn text(sql: String) -> Result<CString> {
    CString::new(sql).map_err(|_| anyhow!("a name in a statement holds a NUL byte"))
}
