//! Values as literals in the text of a statement.

use std::ffi::c_ulong;
use std::io::Write;

use anyhow::{Result, ensure};

use super::connection::Connection;

impl Connection {
    /// Appends a text as a literal, escaped by the library (`mysql_real_escape_string`).
    ///
    /// # Errors
    /// The server's `sql_mode` has NO_BACKSLASH_ESCAPES, with which MySQL's library escapes nothing so.
    #[inline]
    pub fn quote_text(&self, text: &[u8], sql: &mut Vec<u8>) -> Result<()> {
        sql.push(b'\'');
        let start = sql.len();
        // The most that the function writes: each byte twice, and a NUL byte.
        sql.reserve(2 * text.len() + 1);
        // SAFETY: the connection is open, the text has this length, and there is room for all that is written.
        let written = unsafe {
            let to = sql.as_mut_ptr().add(start).cast();
            (self.api().real_escape_string)(self.raw(), to, text.as_ptr().cast(), text.len() as c_ulong)
        };
        ensure!(
            written <= 2 * text.len() as c_ulong,
            "the client library cannot escape a text: the server's sql_mode has NO_BACKSLASH_ESCAPES"
        );
        // SAFETY: the function has written this many bytes.
        unsafe { sql.set_len(start + written as usize) };
        sql.push(b'\'');
        Ok(())
    }

    /// Appends bytes as a literal.
    #[inline]
    pub fn quote_blob(&self, bytes: &[u8], sql: &mut Vec<u8>) {
        sql.extend_from_slice(b"X'");
        for byte in bytes {
            // Writing to memory cannot fail.
            let _ = write!(sql, "{byte:02x}");
        }
        sql.push(b'\'');
    }
}
