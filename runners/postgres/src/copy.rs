//! Rows to the server by COPY … FROM STDIN.

use std::ffi::{CStr, c_int};
use std::ptr;

use anyhow::{Result, bail};

use crate::api::COPY_IN;
use crate::connection::Connection;

/// Most bytes that libpq is handed at once, far from the limit of its number for them.
const LARGEST: usize = 1 << 20;
/// What the server is told, and writes into its log, when it is to take back what it was sent.
const GIVEN_UP: &CStr = c"dyno has given up";

/// A COPY that waits for data.
pub struct Copy<'a>(&'a Connection);

impl Copy<'_> {
    /// Sends bytes, cut anywhere.
    ///
    /// # Errors
    /// The connection is lost. What the server refuses it tells at the end.
    #[inline]
    pub fn put(&self, bytes: &[u8]) -> Result<()> {
        let Copy(connection) = self;
        for bytes in bytes.chunks(LARGEST) {
            let (start, length) = (bytes.as_ptr().cast(), bytes.len() as c_int);
            // SAFETY: the connection is open; libpq copies or sends the bytes before it returns.
            if unsafe { (connection.api().put_copy_data)(connection.raw(), start, length) } != 1 {
                return Err(connection.trouble());
            }
        }
        Ok(())
    }
}

/// Executes a COPY … FROM STDIN whose data `write` sends, and returns how many rows came to the table.
/// Where `write` fails, so does the COPY, and the error is that of `write`.
pub fn copy_in(
    connection: &Connection,
    sql: &CStr,
    write: impl FnOnce(&Copy<'_>) -> Result<()>,
) -> Result<u64> {
    let (api, raw) = (connection.api(), connection.raw());
    // SAFETY: the connection is open, and the texts end in NUL; each result is one of this statement and
    // cleared once.
    unsafe {
        if (api.send_query)(raw, sql.as_ptr()) == 0 {
            return Err(connection.trouble());
        }
        let result = (api.get_result)(raw);
        if (api.result_status)(result) != COPY_IN {
            connection.end(connection.changed(result))?;
            bail!("it is no COPY … FROM STDIN");
        }
        (api.clear)(result);
        let written = write(&Copy(connection));
        let reason = if written.is_ok() { ptr::null() } else { GIVEN_UP.as_ptr() };
        let outcome = match (api.put_copy_end)(raw, reason) {
            1 => connection.end(connection.changed((api.get_result)(raw))),
            _ => Err(connection.trouble()),
        };
        written.and(outcome)
    }
}
