//! Rows to the server by COPY … FROM STDIN.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use anyhow::{Result, bail};

use super::api::COPY_IN;
use super::connection::Connection;

/// Most bytes that libpq is handed at once, far from the limit of its number for them.
const LARGEST: usize = 1 << 20;
/// The reason for abandoning a COPY, which the server writes into its log.
const GIVEN_UP: &CStr = c"dyno has given up";

/// A COPY that waits for data. One that is dropped before it is finished is given up: the server takes all
/// of it back.
pub struct Copy<'a> {
    connection: &'a Connection,
    is_ended: bool,
}

impl<'a> Copy<'a> {
    /// Begins a COPY … FROM STDIN.
    ///
    /// # Errors
    /// The server refuses the statement, or it is another one.
    pub fn begin(connection: &'a Connection, sql: &CStr) -> Result<Copy<'a>> {
        let (api, raw) = (connection.api(), connection.raw());
        // SAFETY: the connection is open, and the text ends in NUL; the result is one of this statement and
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
        }
        Ok(Copy { connection, is_ended: false })
    }

    /// Sends bytes, cut anywhere.
    ///
    /// # Errors
    /// The connection is lost. Rows that the server refuses are reported at the end.
    #[inline]
    pub fn put(&self, bytes: &[u8]) -> Result<()> {
        let connection = self.connection;
        for bytes in bytes.chunks(LARGEST) {
            let (start, length) = (bytes.as_ptr().cast(), bytes.len() as c_int);
            // SAFETY: the connection is open; libpq copies or sends the bytes before it returns.
            if unsafe { (connection.api().put_copy_data)(connection.raw(), start, length) } != 1 {
                return Err(connection.trouble());
            }
        }
        Ok(())
    }

    /// Ends it, and returns how many rows came to the table.
    ///
    /// # Errors
    /// The server refuses it; then no row came.
    pub fn finish(mut self) -> Result<u64> {
        self.end(ptr::null())
    }

    /// Ends it, with a reason where it failed.
    fn end(&mut self, reason: *const c_char) -> Result<u64> {
        self.is_ended = true;
        let (connection, api, raw) = (self.connection, self.connection.api(), self.connection.raw());
        // SAFETY: the connection is open and in the midst of a COPY; the reason is null or ends in NUL.
        unsafe {
            match (api.put_copy_end)(raw, reason) {
                1 => connection.end(connection.changed((api.get_result)(raw))),
                _ => Err(connection.trouble()),
            }
        }
    }
}

impl Drop for Copy<'_> {
    fn drop(&mut self) {
        if !self.is_ended {
            // The error is the one that was asked for.
            let _ = self.end(GIVEN_UP.as_ptr());
        }
    }
}

/// Executes a COPY … FROM STDIN whose data `write` sends, and returns how many rows came to the table.
/// If `write` fails, so does the COPY, and the error is that of `write`.
pub fn copy_in(
    connection: &Connection,
    sql: &CStr,
    write: impl FnOnce(&Copy<'_>) -> Result<()>,
) -> Result<u64> {
    let copy = Copy::begin(connection, sql)?;
    write(&copy)?;
    copy.finish()
}
