//! Rows to the server by COPY … FROM STDIN.

use std::ffi::{CStr, CString, c_int};
use std::ptr;

use anyhow::{Result, bail};

use crate::api::{COMMAND_OK, COPY_IN};
use crate::connection::{Connection, count};

impl Connection {
    /// Begins a COPY … FROM STDIN.
    pub fn begin_copy(&self, sql: &CStr) -> Result<()> {
        // SAFETY: the connection is open, the text ends in NUL, the result is cleared once.
        unsafe {
            let result = (self.api.exec)(self.conn, sql.as_ptr());
            let status = (self.api.result_status)(result);
            let outcome = if status == COPY_IN { Ok(()) } else { Err(self.error(result, status)) };
            (self.api.clear)(result);
            outcome
        }
    }

    /// Sends bytes of the COPY, cut anywhere.
    pub fn copy(&self, bytes: &[u8]) -> Result<()> {
        for part in bytes.chunks(1 << 20) {
            // SAFETY: the connection is open, and the bytes are copied or sent before it returns.
            let sent =
                unsafe { (self.api.put_copy_data)(self.conn, part.as_ptr().cast(), part.len() as c_int) };
            if sent != 1 {
                // The server's reason, where it has one, is the COPY's result.
                self.end_copy(None)?;
                bail!("the server takes no more rows");
            }
        }
        Ok(())
    }

    /// Ends the COPY, well or because of a failure here, and returns how many rows the server took.
    pub fn end_copy(&self, failure: Option<&str>) -> Result<u64> {
        let failure = failure.map(CString::new).transpose()?;
        let reason = failure.as_ref().map_or(ptr::null(), |failure| failure.as_ptr());
        // SAFETY: the connection is open, the reason is null or ends in NUL, and each result is cleared
        // once.
        unsafe {
            (self.api.put_copy_end)(self.conn, reason);
            let result = (self.api.get_result)(self.conn);
            let status = (self.api.result_status)(result);
            let outcome = match status {
                COMMAND_OK => Ok(count((self.api.cmd_tuples)(result))),
                _ => Err(self.error(result, status)),
            };
            (self.api.clear)(result);
            loop {
                let result = (self.api.get_result)(self.conn);
                if result.is_null() {
                    return outcome;
                }
                (self.api.clear)(result);
            }
        }
    }
}
