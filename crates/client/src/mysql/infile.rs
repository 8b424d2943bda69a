//! The file that LOAD DATA LOCAL INFILE reads: rows in memory, and never a file of this machine.
//!
//! It is the server that asks the client for a file, and one that is not what it seems could ask for any. So
//! a connection refuses from the beginning, and serves nothing but rows, while they are being loaded.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::{ptr, slice};

use anyhow::{Error, Result, anyhow};
use dyno_protocol::RowCollector;

use super::api::InfileRead;
use super::connection::{Connection, ServerError};
use crate::Sql;

/// Errors: the server, or the client library, allows no LOAD DATA LOCAL.
pub const REFUSED: [u32; 4] = [1148, 3948, 3950, 4166];

/// The error message for a server that asks for a file when no rows are being loaded.
const REFUSAL: &CStr = c"dyno sends no files";
/// The error number for errors without one of MySQL's numbers.
const UNKNOWN_ERROR: c_int = 2000;

/// The source of the bytes that LOAD DATA reads.
struct File<F> {
    /// Fills memory and returns how many bytes it has put there, 0 at the end.
    fill: F,
    /// The error of the last call of `fill`.
    error: Option<Error>,
}

/// Sends no file, whatever the server asks for.
pub(super) fn refuse(connection: &Connection) {
    set(connection, read_nothing, ptr::null_mut());
}

/// Executes a LOAD DATA LOCAL INFILE, whatever its file's name, and returns how many rows came to the
/// table. `fill` puts the next bytes into the memory that it is given and returns how many, 0 at the end.
/// If it fails, the error is that of `fill`, and the server may have taken the rows before: only a
/// transaction takes them back.
pub fn load<F: FnMut(&mut [u8]) -> Result<usize>>(
    connection: &Connection,
    sql: &CStr,
    fill: F,
) -> Result<u64> {
    let mut file = File { fill, error: None };
    let pointer: *mut File<F> = &mut file;
    set(connection, read::<F>, pointer.cast());
    let loaded = connection.execute(sql, &mut RowCollector::default());
    refuse(connection);
    file.error.map_or(loaded, Err)
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

fn set(connection: &Connection, read: InfileRead, file: *mut c_void) {
    // SAFETY: the connection is there, and the functions take each other's pointers.
    unsafe {
        (connection.api().set_local_infile_handler)(connection.raw(), begin, read, end, explain, file);
    }
}

unsafe extern "C" fn begin(to: *mut *mut c_void, _name: *const c_char, file: *mut c_void) -> c_int {
    // SAFETY: the library gives a place for the pointer.
    unsafe { *to = file };
    file.is_null().into()
}

unsafe extern "C" fn read<F: FnMut(&mut [u8]) -> Result<usize>>(
    file: *mut c_void,
    buffer: *mut c_char,
    length: c_uint,
) -> c_int {
    // SAFETY: `begin` has left a pointer to a file of this type that lives while the server reads it, and
    // the library gives memory of that length.
    let (file, buffer) = unsafe {
        (&mut *file.cast::<File<F>>(), slice::from_raw_parts_mut(buffer.cast::<u8>(), length as usize))
    };
    match (file.fill)(buffer) {
        Ok(length) => length as c_int,
        Err(error) => {
            file.error = Some(error);
            -1
        }
    }
}

/// No file was begun.
unsafe extern "C" fn read_nothing(_file: *mut c_void, _buffer: *mut c_char, _length: c_uint) -> c_int {
    -1
}

unsafe extern "C" fn end(_file: *mut c_void) {}

unsafe extern "C" fn explain(_file: *mut c_void, buffer: *mut c_char, length: c_uint) -> c_int {
    let text = REFUSAL.to_bytes_with_nul();
    if text.len() <= length as usize {
        // SAFETY: the library gives memory of that length, and the text fits.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, text.len()) };
    }
    UNKNOWN_ERROR
}

fn explain_refusal(error: Error) -> Error {
    match error.downcast_ref::<ServerError>() {
        Some(refusal) if REFUSED.contains(&refusal.number) => anyhow!(
            "the server refuses LOAD DATA LOCAL: {refusal}; let an administrator run SET GLOBAL local_infile = \
             ON, or load by another variant, as +multirow"
        ),
        _ => error,
    }
}
