//! A statement that is prepared once and executed many times: the hot loops of rows and of keys.

use std::ffi::{CStr, CString, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

use anyhow::{Result, anyhow};
use dyno_sqlite::api::{DONE, OK, ROW, STATIC, Stmt, TRANSIENT};

use crate::connection::{Connection, bytes};

/// A prepared statement. Values that are bound must stay as they are until the next binding.
pub struct Prepared<'a> {
    connection: &'a Connection,
    /// Prepared and not yet finalized.
    statement: *mut Stmt,
    values: PhantomData<&'a [u8]>,
}

impl<'a> Prepared<'a> {
    /// Prepares one statement.
    pub fn new(connection: &'a Connection, sql: &CStr) -> Result<Prepared<'a>> {
        let mut statement = ptr::null_mut();
        // SAFETY: the connection is open and the text ends in NUL.
        let code = unsafe {
            (connection.api.prepare_v2)(connection.db, sql.as_ptr(), -1, &mut statement, ptr::null_mut())
        };
        if code != OK || statement.is_null() {
            return Err(connection.error(code));
        }
        Ok(Prepared { connection, statement, values: PhantomData })
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
        let code = unsafe { (self.connection.api.bind_text)(self.statement, parameter, start, length, keep) };
        self.expect(code, OK)
    }

    /// Binds bytes without a copy.
    #[inline]
    pub fn bind_blob(&self, parameter: c_int, blob: &'a [u8]) -> Result<()> {
        // SAFETY: as with text.
        let code = unsafe {
            (self.connection.api.bind_blob)(
                self.statement,
                parameter,
                blob.as_ptr().cast(),
                blob.len() as c_int,
                STATIC,
            )
        };
        self.expect(code, OK)
    }

    /// Binds a whole number.
    #[inline]
    pub fn bind_integer(&self, parameter: c_int, number: i64) -> Result<()> {
        // SAFETY: the statement is prepared.
        let code = unsafe { (self.connection.api.bind_int64)(self.statement, parameter, number) };
        self.expect(code, OK)
    }

    /// Executes a statement that returns no row, and makes it ready to be executed again.
    #[inline]
    pub fn execute(&mut self) -> Result<()> {
        // SAFETY: the statement is prepared.
        let code = unsafe { (self.connection.api.step)(self.statement) };
        // SAFETY: as above.
        let reset = unsafe { (self.connection.api.reset)(self.statement) };
        if code != DONE {
            return Err(self.connection.error(reset));
        }
        Ok(())
    }

    /// Goes to the next row; whether there is one. After the last, the statement is ready to be executed
    /// again.
    #[inline]
    pub fn next(&mut self) -> Result<bool> {
        // SAFETY: the statement is prepared.
        let code = unsafe { (self.connection.api.step)(self.statement) };
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
        unsafe { (self.connection.api.reset)(self.statement) };
    }

    /// The bytes of a column of the current row, text or blob, as they lie in SQLite's memory: while they are lent,
    /// the statement cannot go on.
    #[inline]
    pub fn column(&self, column: c_int) -> &[u8] {
        let api = &self.connection.api;
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
        unsafe { (self.connection.api.column_int64)(self.statement, column) }
    }

    /// The type of a column of the current row, as SQLite numbers it.
    pub fn kind(&self, column: c_int) -> c_int {
        // SAFETY: there is a current row.
        unsafe { (self.connection.api.column_type)(self.statement, column) }
    }

    #[inline]
    fn expect(&self, code: c_int, wanted: c_int) -> Result<()> {
        if code == wanted { Ok(()) } else { Err(self.connection.error(code)) }
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        // SAFETY: it is finalized once. The result repeats that of the last step.
        unsafe { (self.connection.api.finalize)(self.statement) };
    }
}

/// Transactions of so many operations each.
pub struct Transactions<'a> {
    begin: Prepared<'a>,
    commit: Prepared<'a>,
    /// None where each operation commits by itself, which SQLite does without being told.
    size: Option<u64>,
    /// Operations until the commit.
    left: u64,
}

impl<'a> Transactions<'a> {
    /// `per_commit` operations make a transaction; none: all of them.
    pub fn new(connection: &'a Connection, per_commit: Option<u64>) -> Result<Transactions<'a>> {
        let size = per_commit.unwrap_or(u64::MAX);
        Ok(Transactions {
            begin: Prepared::new(connection, c"BEGIN")?,
            commit: Prepared::new(connection, c"COMMIT")?,
            size: Some(size).filter(|&size| size > 1),
            left: 0,
        })
    }

    /// Before an operation.
    #[inline]
    pub fn before(&mut self) -> Result<()> {
        if let Some(size) = self.size.filter(|_| self.left == 0) {
            self.begin.execute()?;
            self.left = size;
        }
        Ok(())
    }

    /// After so many operations in one statement.
    #[inline]
    pub fn after(&mut self, operations: u64) -> Result<()> {
        if self.size.is_some() {
            self.left = self.left.saturating_sub(operations);
            if self.left == 0 {
                self.commit.execute()?;
            }
        }
        Ok(())
    }

    /// After the last one.
    pub fn finish(mut self) -> Result<()> {
        if self.left > 0 { self.commit.execute() } else { Ok(()) }
    }
}

/// Rows in a statement of the variant `multirow`, where the limit on parameters allows.
pub const ROWS: usize = 50;
/// The most parameters that a statement has by default (`SQLITE_MAX_VARIABLE_NUMBER` before 3.32).
pub const PARAMETERS: usize = 999;

/// `INSERT INTO "t"("a","b") VALUES(?,?),(?,?)`: a statement that takes so many rows.
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

/// A name as it stands in a statement. Suites allow letters, digits and `_` only.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A statement's text.
pub fn text(sql: String) -> Result<CString> {
    CString::new(sql).map_err(|_| anyhow!("a name in a statement holds a NUL byte"))
}
