//! A prepared statement.

use std::ffi::{c_int, c_uint, c_ulong};
use std::{ptr, slice};

use anyhow::{Error, Result, bail, ensure};
use dyno_protocol::Sink;

use super::api::{Api, Bind, Field, LONGLONG, NO_DATA, STRING, Stmt};
use super::column::Kind;
use super::connection::{Connection, ServerError};
use crate::text::text;

/// A prepared statement, closed when dropped.
pub struct Statement<'c> {
    connection: &'c Connection,
    api: &'c Api,
    /// Not null, and of a connection that is open for as long.
    stmt: *mut Stmt,
}

impl<'c> Statement<'c> {
    /// Prepares one.
    pub fn prepare(connection: &'c Connection, sql: &str) -> Result<Statement<'c>> {
        let api = connection.api();
        // SAFETY: the connection is open.
        let stmt = unsafe { (api.stmt_init)(connection.raw()) };
        ensure!(!stmt.is_null(), "there is no memory for a statement");
        let statement = Statement { connection, api, stmt };
        // SAFETY: text and length belong together.
        let code = unsafe { (statement.api.stmt_prepare)(stmt, sql.as_ptr().cast(), sql.len() as c_ulong) };
        statement.check(code)?;
        Ok(statement)
    }

    /// Sets an attribute, which is a number.
    pub(super) fn set(&self, attribute: c_int, value: c_uint) -> Result<()> {
        let value: *const c_uint = &value;
        // SAFETY: the attribute takes a pointer to a number and copies it.
        self.check(unsafe { (self.api.stmt_attr_set)(self.stmt, attribute, value.cast()) }.into())
    }

    /// Refuses another number of values than the statement has parameters.
    pub(super) fn check_parameters(&self, values: usize) -> Result<()> {
        // SAFETY: it is prepared.
        let parameters = unsafe { (self.api.stmt_param_count)(self.stmt) };
        ensure!(parameters as usize == values, "the statement has {parameters} parameters and not {values}");
        Ok(())
    }

    /// Binds the parameters to the addresses from which every execution reads their values.
    ///
    /// # Safety
    /// There is one bind for each parameter, and its buffers outlive the last execution.
    pub(super) unsafe fn bind(&self, binds: &mut [Bind]) -> Result<()> {
        // SAFETY: as the caller promises; the library copies the list.
        self.check(unsafe { (self.api.stmt_bind_param)(self.stmt, binds.as_mut_ptr()) }.into())
    }

    /// Executes it with the values that lie there now.
    #[inline]
    pub(super) fn execute(&self) -> Result<()> {
        // SAFETY: it is prepared, and what it is bound to is there.
        self.check(unsafe { self.connection.execute_statement(self.stmt) })
    }

    /// Executes a query for whole numbers in one column and fetches them.
    pub fn count<S: Sink>(&self, sink: &mut S) -> Result<()> {
        self.execute()?;
        // SAFETY: it has been executed.
        let columns = unsafe { (self.api.stmt_field_count)(self.stmt) };
        ensure!(columns == 1, "the query has {columns} columns where one count is expected");
        let mut value = 0_i64;
        let place: *mut i64 = &mut value;
        let mut bind = Bind::new(LONGLONG, place.cast(), ptr::null());
        // SAFETY: there is one column; the number and what is bound to it outlive the fetching. It is read
        // through the pointer that the library was given.
        unsafe {
            self.check((self.api.stmt_bind_result)(self.stmt, &mut bind).into())?;
            loop {
                match (self.api.stmt_fetch)(self.stmt) {
                    0 => sink.integer(place.read()),
                    NO_DATA => return Ok(()),
                    1 => return Err(self.error()),
                    _ => bail!("the count is larger than a number of 64 bits"),
                }
                sink.end_row();
            }
        }
    }

    /// The types of the columns of its result; empty if it returns no rows.
    pub(super) fn kinds(&self) -> Result<Vec<Kind>> {
        // SAFETY: it is prepared; the columns are read before the result that describes them is freed.
        unsafe {
            let result = (self.api.stmt_result_metadata)(self.stmt);
            if result.is_null() {
                return Ok(Vec::new());
            }
            let count = (self.api.num_fields)(result) as usize;
            let fields = slice::from_raw_parts((self.api.fetch_fields)(result), count);
            let kinds = fields.iter().map(Field::values).collect();
            (self.api.free_result)(result);
            Ok(kinds)
        }
    }

    /// Binds the columns of its result to the addresses to which every fetch writes.
    ///
    /// # Safety
    /// There is one bind for each column, and its buffers outlive the last fetch.
    #[inline]
    pub(super) unsafe fn bind_result(&self, binds: &mut [Bind]) -> Result<()> {
        // SAFETY: as the caller promises; the library copies the list.
        self.check(unsafe { (self.api.stmt_bind_result)(self.stmt, binds.as_mut_ptr()) }.into())
    }

    /// Takes all rows of the result from the connection.
    #[inline]
    pub(super) fn store(&self) -> Result<()> {
        // SAFETY: it has been executed.
        self.check(unsafe { self.connection.store_statement(self.stmt) })
    }

    /// Goes to the next row: 0, [`NO_DATA`], `TRUNCATED`, or that something is wrong.
    #[inline]
    pub(super) fn fetch(&self) -> c_int {
        // SAFETY: it has been executed, and what its result is bound to is there.
        unsafe { (self.api.stmt_fetch)(self.stmt) }
    }

    /// A value of the current row that is longer than the room it was given.
    #[cold]
    pub(super) fn long(&self, column: c_uint, length: c_ulong) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length as usize];
        let (mut fetched, mut is_null) = (0, 0);
        let mut bind = Bind::result(STRING, bytes.as_mut_ptr().cast(), length, &mut fetched, &mut is_null);
        // SAFETY: there is a row, and the buffer has `length` bytes.
        self.check(unsafe { (self.api.stmt_fetch_column)(self.stmt, &mut bind, column, 0) })?;
        Ok(bytes)
    }

    /// Lets go of a result.
    #[inline]
    pub(super) fn free_result(&self) -> Result<()> {
        // SAFETY: it has been executed.
        self.check(unsafe { (self.api.stmt_free_result)(self.stmt) }.into())
    }

    #[inline]
    fn check(&self, code: c_int) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.error()) }
    }

    #[cold]
    pub(super) fn error(&self) -> Error {
        // SAFETY: the statement is there, and the strings are copied before the next call.
        let error = unsafe {
            ServerError {
                number: (self.api.stmt_errno)(self.stmt),
                state: text((self.api.stmt_sqlstate)(self.stmt)),
                message: text((self.api.stmt_error)(self.stmt)),
            }
        };
        error.explain()
    }
}

impl Drop for Statement<'_> {
    fn drop(&mut self) {
        // SAFETY: it is not used after this.
        unsafe { (self.api.stmt_close)(self.stmt) };
    }
}
