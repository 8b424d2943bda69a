//! LOAD DATA LOCAL INFILE with rows in memory.

use std::ffi::{CStr, CString};

use anyhow::{Error, Result, anyhow};
use dyno_protocol::RowCollector;

use super::connection::{Connection, ServerError};
use super::errors::NO_LOCAL;
use super::infile;
use crate::Sql;

/// Executes a LOAD DATA LOCAL INFILE, whatever its file's name, and returns how many rows came to the
/// table. `fill` puts the next bytes into the memory that it is given and returns how many, 0 at the end.
/// If it fails, the error is that of `fill`, and the server may have taken the rows before: only a
/// transaction takes them back.
pub fn load<F: FnMut(&mut [u8]) -> Result<usize>>(
    connection: &Connection,
    sql: &CStr,
    fill: F,
) -> Result<u64> {
    let load = || connection.execute(sql, &mut RowCollector::default());
    // SAFETY: the connection is open.
    unsafe { infile::serve((connection.api(), connection.raw()), fill, load) }
}

/// The statement for [`load_rows`], with the clause that says what stands between fields.
pub fn load_text<'a>(table: &str, fields: &str, names: impl Iterator<Item = &'a str>) -> Result<CString> {
    let names = names.collect::<Vec<_>>().join(", ");
    let sql =
        format!("LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET utf8mb4 {fields}({names})");
    Ok(CString::new(sql)?)
}

/// The same as [`load`], and an error where the server has changed what it was sent: because it cannot stop a client
/// that sends, it takes what does not fit with a warning, also in strict mode.
pub fn load_rows<F: FnMut(&mut [u8]) -> Result<usize>>(
    connection: &Connection,
    sql: &CStr,
    fill: F,
) -> Result<u64> {
    let loaded = load(connection, sql, fill).map_err(explain_refusal)?;
    connection.check_warnings()?;
    Ok(loaded)
}

fn explain_refusal(error: Error) -> Error {
    match error.downcast_ref::<ServerError>() {
        Some(refusal) if NO_LOCAL.contains(&refusal.number) => anyhow!(
            "the server refuses LOAD DATA LOCAL: {refusal}; let an administrator run SET GLOBAL local_infile = \
             ON, or load by another variant, as +multirow"
        ),
        _ => error,
    }
}
