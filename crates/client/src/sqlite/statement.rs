//! A statement that is prepared once and executed many times.

use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

use anyhow::Result;
use dyno_sqlite::Api;
use dyno_sqlite::api::{DONE, OK, ROW, STATIC, Stmt, TRANSIENT};

use super::connection::{Connection, bytes};

/// A prepared statement. Values that are bound must stay as they are until the next binding.
pub struct Statement<'a> {
    connection: &'a Connection,
    api: &'a Api,
    /// Prepared and not yet finalized.
    statement: *mut Stmt,
    values: PhantomData<&'a [u8]>,
}

impl<'a> Statement<'a> {
    /// Prepares one statement.
    pub fn new(connection: &'a Connection, sql: &CStr) -> Result<Statement<'a>> {
        let mut statement = ptr::null_mut();
        // SAFETY: the connection is open and the text ends in NUL.
        let code = unsafe {
            (connection.api().prepare_v2)(connection.raw(), sql.as_ptr(), -1, &mut statement, ptr::null_mut())
        };
        if code != OK || statement.is_null() {
            return Err(connection.error(code).into());
        }
        Ok(Statement { connection, api: connection.api(), statement, values: PhantomData })
    }

    /// Binds text to the parameter of a number from 1, without a copy.
    #[inline]
    pub fn bind_text(&self, parameter: c_int, text: &'a [u8]) -> Result<()> {
        // SAFETY: the statement is prepared, and the text outlives it by the type's lifetime.
        unsafe { self.bind(parameter, text, STATIC) }
    }

    /// Binds text of which SQLite makes a copy.
    #[inline]
    pub fn bind_copy(&self, parameter: c_int, text: &[u8]) -> Result<()> {
        // SAFETY: the statement is prepared, and the text is copied before the call ends.
        unsafe { self.bind(parameter, text, TRANSIENT) }
    }

    /// # Safety
    /// The text stays as long as the last argument tells SQLite.
    #[inline]
    unsafe fn bind(&self, parameter: c_int, text: &[u8], keep: *const c_void) -> Result<()> {
        let (start, length) = (text.as_ptr().cast(), text.len() as c_int);
        // SAFETY: as the caller promises.
        let code = unsafe { (self.api.bind_text)(self.statement, parameter, start, length, keep) };
        self.expect(code, OK)
    }

    /// Binds bytes without a copy.
    #[inline]
    pub fn bind_blob(&self, parameter: c_int, blob: &'a [u8]) -> Result<()> {
        // SAFETY: as with text.
        let code = unsafe {
            (self.api.bind_blob)(self.statement, parameter, blob.as_ptr().cast(), blob.len() as c_int, STATIC)
        };
        self.expect(code, OK)
    }

    /// Binds a whole number.
    #[inline]
    pub fn bind_integer(&self, parameter: c_int, number: i64) -> Result<()> {
        // SAFETY: the statement is prepared.
        let code = unsafe { (self.api.bind_int64)(self.statement, parameter, number) };
        self.expect(code, OK)
    }

    /// Executes a statement that returns no row, and makes it ready to be executed again.
    #[inline]
    pub fn execute(&mut self) -> Result<()> {
        // SAFETY: the statement is prepared.
        let code = unsafe { (self.api.step)(self.statement) };
        // SAFETY: as above.
        let reset = unsafe { (self.api.reset)(self.statement) };
        if code != DONE {
            return Err(self.connection.error(reset).into());
        }
        Ok(())
    }

    /// Goes to the next row; whether there is one. After the last, the statement is ready to be executed
    /// again.
    #[inline]
    pub fn step(&mut self) -> Result<bool> {
        // SAFETY: the statement is prepared.
        let code = unsafe { (self.api.step)(self.statement) };
        if code == ROW {
            return Ok(true);
        }
        self.reset();
        self.expect(code, DONE)?;
        Ok(false)
    }

    /// Makes it ready to be executed again before its last row was reached.
    #[inline]
    pub fn reset(&mut self) {
        // SAFETY: the statement is prepared. The result is that of the last step, which was looked at.
        unsafe { (self.api.reset)(self.statement) };
    }

    /// The bytes of a column of the current row, text or blob, as they lie in SQLite's memory: while they are lent,
    /// the statement cannot go on.
    #[inline]
    pub fn column(&self, column: c_int) -> &[u8] {
        let api = self.api;
        // SAFETY: there is a current row; the bytes stay until the next step or reset.
        unsafe {
            let start = (api.column_blob)(self.statement, column).cast();
            bytes(start, (api.column_bytes)(self.statement, column))
        }
    }

    /// A column of the current row as a whole number.
    #[inline]
    pub fn integer(&self, column: c_int) -> i64 {
        // SAFETY: there is a current row.
        unsafe { (self.api.column_int64)(self.statement, column) }
    }

    /// The type of a column of the current row, as SQLite numbers it.
    pub fn kind(&self, column: c_int) -> c_int {
        // SAFETY: there is a current row.
        unsafe { (self.api.column_type)(self.statement, column) }
    }

    /// The statement as the library knows it, prepared while this is not dropped.
    pub fn raw(&self) -> *mut Stmt {
        self.statement
    }

    #[inline]
    fn expect(&self, code: c_int, wanted: c_int) -> Result<()> {
        if code == wanted { Ok(()) } else { Err(self.connection.error(code).into()) }
    }
}

impl Drop for Statement<'_> {
    fn drop(&mut self) {
        // SAFETY: it is finalized once. The result repeats that of the last step.
        unsafe { (self.api.finalize)(self.statement) };
    }
}

/// A name as it stands in a statement.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
