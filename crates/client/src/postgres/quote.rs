//! Values as literals in the text of a statement.

use anyhow::Result;

use super::connection::Connection;
use super::query::hexadecimal;

impl Connection {
    /// Appends a text as a literal, escaped by libpq (`PQescapeStringConn`).
    ///
    /// # Errors
    /// It is not valid in the connection's encoding.
    #[inline]
    pub fn quote_text(&self, text: &[u8], sql: &mut Vec<u8>) -> Result<()> {
        sql.push(b'\'');
        let start = sql.len();
        // The most that the function writes: each byte twice, and a NUL byte.
        sql.reserve(2 * text.len() + 1);
        let mut error = 0;
        // SAFETY: the connection is open, the text has this length, and there is room for all that is written.
        unsafe {
            let to = sql.as_mut_ptr().add(start).cast();
            let written =
                (self.api().escape_string)(self.raw(), to, text.as_ptr().cast(), text.len(), &mut error);
            sql.set_len(start + written);
        }
        if error != 0 {
            return Err(self.trouble());
        }
        sql.push(b'\'');
        Ok(())
    }

    /// Appends bytes as a literal.
    #[inline]
    pub fn quote_blob(&self, bytes: &[u8], sql: &mut Vec<u8>) {
        // In E'' a backslash is written twice, whatever standard_conforming_strings says.
        sql.extend_from_slice(b"E'\\\\x");
        sql.extend(hexadecimal(bytes));
        sql.extend_from_slice(b"'::bytea");
    }
}
