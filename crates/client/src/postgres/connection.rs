//! An open connection, and the statement that is executed once.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::Arc;
use std::{ptr, slice};

use anyhow::{Error, Result, anyhow, bail};
use dyno_protocol::Sink;

use super::api::{
    Api, COMMAND_OK, CONNECTION_OK, Conn, DIAG_CONTEXT, DIAG_DETAIL, DIAG_HINT, DIAG_PRIMARY, DIAG_SQLSTATE,
    EMPTY_QUERY, FATAL_ERROR, PgResult, TUPLES_OK,
};
use super::errors::ServerError;
use super::values::put;
use crate::text::text;
use crate::{Sql, WaitForSocket};

/// A connection to one database, closed when dropped.
pub struct Connection {
    api: Arc<Api>,
    /// Open, and used by one thread.
    conn: *mut Conn,
    /// The number of statements that have been prepared under a name.
    names: Cell<u32>,
    /// Waits for the server's answers; none where the library does it.
    wait: Option<WaitForSocket>,
}

// SAFETY: libpq lets any thread use a connection, if only one does at a time; nothing else has a part of it, and the
// library's functions may be called from any thread.
unsafe impl Send for Connection {}

impl Connection {
    /// Connects with libpq's keywords and their values; the first `dbname` may be a connection string. The error is
    /// libpq's own message, in which no password stands.
    pub fn open(api: Arc<Api>, options: &[(CString, CString)]) -> Result<Connection> {
        let list = |part: fn(&(CString, CString)) -> &CString| -> Vec<*const c_char> {
            let texts = options.iter().map(|option| part(option).as_ptr());
            texts.chain([ptr::null()]).collect()
        };
        let (names, values) = (list(|(name, _)| name), list(|(_, value)| value));
        // SAFETY: both lists end in a null pointer, and their strings outlive the call.
        let conn = unsafe { (api.connectdb_params)(names.as_ptr(), values.as_ptr(), 1) };
        if conn.is_null() {
            bail!("libpq has no memory for a connection");
        }
        let connection = Connection { api, conn, names: Cell::new(0), wait: None };
        // SAFETY: the pointer is a connection, open or not, until it is finished.
        if unsafe { (connection.api.status)(conn) } != CONNECTION_OK {
            bail!("{}", connection.message());
        }
        // SAFETY: the connection is open; the function does nothing with what it is given.
        unsafe { (connection.api.set_notice_receiver)(conn, ignore, ptr::null_mut()) };
        Ok(connection)
    }

    /// Takes the result of a command that returns no rows, and how many rows it changed.
    ///
    /// # Safety
    /// The result is one of this connection, or null; it is cleared.
    #[inline]
    pub(super) unsafe fn changed(&self, result: *mut PgResult) -> Result<u64> {
        // SAFETY: as the caller promises.
        unsafe { self.done(result, |result| count((self.api.cmd_tuples)(result))) }
    }

    /// Takes the result of a command that returns no rows, and what `read` finds in it.
    ///
    /// # Safety
    /// The result is one of this connection, or null; it is cleared.
    #[inline]
    pub(super) unsafe fn done<T>(
        &self,
        result: *mut PgResult,
        read: impl FnOnce(*mut PgResult) -> T,
    ) -> Result<T> {
        let api = &*self.api;
        // SAFETY: as the caller promises.
        unsafe {
            let outcome = match (api.result_status)(result) {
                COMMAND_OK => Ok(read(result)),
                status => Err(self.error(result, status)),
            };
            (api.clear)(result);
            outcome
        }
    }

    /// Takes the result of a query, every value of every row.
    ///
    /// # Safety
    /// The result is one of this connection, or null; it is cleared.
    #[inline]
    pub(super) unsafe fn fetched<S: Sink>(&self, result: *mut PgResult, sink: &mut S) -> Result<u64> {
        let api = &*self.api;
        // SAFETY: as the caller promises.
        unsafe {
            if (api.result_status)(result) != TUPLES_OK {
                return self.changed(result);
            }
            self.fetch(result, sink);
            (api.clear)(result);
            Ok(0)
        }
    }

    /// The end of a statement, whose first result came to `outcome`.
    #[inline]
    pub(super) fn end<T>(&self, outcome: Result<T>) -> Result<T> {
        // SAFETY: the connection is open, and a statement is under way on it.
        let next = unsafe { self.next_result() };
        if next.is_null() && outcome.is_ok() { outcome } else { self.drain(next, outcome) }
    }

    /// Clears the results after the first. The first failure among all is the outcome: what a statement that commits
    /// itself violates at its commit, the server reports after the statement's success (PostgreSQL's manual, 55.2.3,
    /// Sync). Without a failure there were several statements in the text.
    #[cold]
    fn drain<T>(&self, mut next: *mut PgResult, mut outcome: Result<T>) -> Result<T> {
        let api = &*self.api;
        // SAFETY: each result is one of this connection and cleared once. A COPY would give results
        // without end.
        unsafe {
            while !next.is_null() {
                let status = (api.result_status)(next);
                let ends = matches!(status, COMMAND_OK | TUPLES_OK | EMPTY_QUERY | FATAL_ERROR);
                if status == FATAL_ERROR && outcome.is_ok() {
                    outcome = Err(self.error(next, status));
                }
                (api.clear)(next);
                next = if ends { self.next_result() } else { ptr::null_mut() };
            }
        }
        // The server may report why it ends a connection before it does so.
        // SAFETY: the connection is there, open or not.
        match outcome {
            Err(_) if unsafe { (api.status)(self.conn) } != CONNECTION_OK => Err(self.trouble()),
            Err(error) => Err(error),
            Ok(_) => bail!("there is more than one statement in it: give each a separate entry"),
        }
    }

    /// Puts every row of a result into the sink.
    ///
    /// # Safety
    /// The result holds rows.
    #[inline]
    unsafe fn fetch<S: Sink>(&self, result: *const PgResult, sink: &mut S) {
        let api = &*self.api;
        // SAFETY: as the caller promises; rows and columns are counted before they are read, and a value
        // is used before the result is cleared.
        unsafe {
            let (rows, columns) = ((api.ntuples)(result), (api.nfields)(result));
            for row in 0..rows {
                for column in 0..columns {
                    let length = (api.getlength)(result, row, column);
                    if length == 0 && (api.getisnull)(result, row, column) != 0 {
                        sink.null();
                        continue;
                    }
                    let start = (api.getvalue)(result, row, column).cast();
                    let value = slice::from_raw_parts(start, length as usize);
                    put(value, (api.ftype)(result, column), sink);
                }
                sink.end_row();
            }
        }
    }

    /// The server's version as a number, as 150018 for 15.18.
    pub fn server_version(&self) -> i32 {
        // SAFETY: the connection is open.
        unsafe { (self.api.server_version)(self.conn) }
    }

    /// True if the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        // SAFETY: the connection is open.
        unsafe { (self.api.ssl_in_use)(self.conn) != 0 }
    }

    /// The function that waits for the server's answers, if libpq does not.
    #[inline]
    pub(super) fn wait(&self) -> Option<WaitForSocket> {
        self.wait
    }

    pub(super) fn set_wait(&mut self, wait: Option<WaitForSocket>) {
        self.wait = wait;
    }

    /// The library in use.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// A name that no prepared statement of the connection has.
    pub(super) fn new_name(&self) -> CString {
        self.names.set(self.names.get() + 1);
        CString::new(format!("dyno_{}", self.names.get())).unwrap_or_default()
    }

    /// The connection as the library knows it, open while this is not dropped.
    pub(super) fn raw(&self) -> *mut Conn {
        self.conn
    }

    /// libpq's message on the connection, in one line.
    fn message(&self) -> String {
        // SAFETY: the pointer is a connection, and the string is copied before the next call.
        let message = unsafe { text((self.api.error_message)(self.conn)) };
        let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ")
    }

    /// libpq's error for a call that did not even reach the server.
    #[cold]
    pub(super) fn trouble(&self) -> Error {
        // SAFETY: no result is looked at.
        unsafe { self.error(ptr::null(), FATAL_ERROR) }
    }

    /// The error of a statement whose result is not of the expected kinds.
    ///
    /// # Safety
    /// The result is one of this connection that has not been cleared, or null.
    #[cold]
    pub(super) unsafe fn error(&self, result: *const PgResult, status: c_int) -> Error {
        // SAFETY: the connection is open.
        if unsafe { (self.api.status)(self.conn) } != CONNECTION_OK {
            return anyhow!(
                "the connection to the server is lost: {}. If the server has crashed or was stopped, its log \
                 says why",
                self.message().trim_end_matches('.')
            );
        }
        if status == EMPTY_QUERY && !result.is_null() {
            return anyhow!("there is no statement in it, only a comment");
        }
        if status != FATAL_ERROR {
            // A COPY waits for data that do not exist; the connection cannot be used after it.
            return anyhow!(
                "it is a statement that exchanges data with the client (COPY …), which no statement of a suite \
                 can: the model bulk-load does"
            );
        }
        let field = |code| {
            // SAFETY: as the caller promises; an absent field is a null pointer.
            let field = unsafe { (self.api.result_error_field)(result, code) };
            // SAFETY: a present one is a string that lives as long as the result.
            (!field.is_null()).then(|| unsafe { text(field) })
        };
        let Some(code) = field(DIAG_SQLSTATE) else { return anyhow!("{}", self.message()) };
        let parts = [DIAG_PRIMARY, DIAG_DETAIL, DIAG_HINT].into_iter().filter_map(field);
        let message = parts.collect::<Vec<_>>().join(" ");
        ServerError { code, message, context: field(DIAG_CONTEXT).unwrap_or_default() }.into()
    }
}

impl Sql for Connection {
    #[inline]
    fn execute<S: Sink>(&self, sql: &CStr, sink: &mut S) -> Result<u64> {
        let api = &*self.api;
        // As PQexec, which drops results where there is more than one.
        // SAFETY: the connection is open, and the text ends in NUL.
        unsafe {
            if (api.send_query)(self.conn, sql.as_ptr()) == 0 {
                return Err(self.trouble());
            }
            self.end(self.fetched(self.next_result(), sink))
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: the pointer is a connection, open or not, and not used after this.
        unsafe { (self.api.finish)(self.conn) };
    }
}

/// Drops notices, such as that a table to drop does not exist: they are no errors.
unsafe extern "C" fn ignore(_: *mut c_void, _: *const PgResult) {}

/// The number of rows that libpq gives as text; empty for statements that change none.
///
/// # Safety
/// `text` ends in NUL.
#[inline]
unsafe fn count(text: *const c_char) -> u64 {
    // SAFETY: as the caller promises.
    let digits = unsafe { CStr::from_ptr(text) }.to_bytes();
    digits.iter().fold(0, |count, digit| count * 10 + u64::from(digit.wrapping_sub(b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_rows_are_counted_from_text() {
        let read = |text: &CStr| unsafe { count(text.as_ptr()) };
        assert_eq!((read(c"34105"), read(c"")), (34_105, 0));
    }
}
