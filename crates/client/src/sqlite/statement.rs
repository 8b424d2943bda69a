//! A statement that is prepared once and executed many times.

use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

use anyhow::{Context, Result, ensure};
use dyno_protocol::Sink;
use dyno_sqlite::Api;
use dyno_sqlite::api::{DONE, OK, ROW, STATIC, Stmt, TRANSIENT};

use super::connection::Connection;
use super::execute::bytes;

/// A prepared statement.
pub struct Statement<'c> {
    connection: &'c Connection,
    api: &'c Api,
    /// Prepared and not yet finalized.
    statement: *mut Stmt,
    /// The number of its parameters.
    parameters: c_int,
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy)]
pub enum Parameter<'v> {
    /// SQL NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Real(f64),
    /// Text, which SQLite reads where it lies.
    Text(&'v [u8]),
    /// Text of which SQLite makes a copy.
    Copied(&'v [u8]),
    /// Bytes, which SQLite reads where they lie.
    Blob(&'v [u8]),
}

impl<'c> Statement<'c> {
    /// Prepares one statement.
    pub fn new(connection: &'c Connection, sql: &CStr) -> Result<Statement<'c>> {
        let (api, mut statement) = (connection.api(), ptr::null_mut());
        // SAFETY: the connection is open or null and the text ends in NUL.
        let code =
            unsafe { (api.prepare_v2)(connection.raw(), sql.as_ptr(), -1, &mut statement, ptr::null_mut()) };
        if code != OK || statement.is_null() {
            return Err(connection.error(code).into());
        }
        // SAFETY: the statement is prepared.
        let parameters = unsafe { (api.bind_parameter_count)(statement) };
        Ok(Statement { connection, api, statement, parameters })
    }

    /// Executes a statement that returns no row, with a value for each of its parameters, and makes it ready to be
    /// executed again.
    #[inline]
    pub fn run<'v>(&mut self, values: impl IntoIterator<Item = Parameter<'v>>) -> Result<()> {
        self.try_run(values.into_iter().map(Ok))
    }

    /// The same with values that may be errors: the first error ends the call.
    #[inline]
    pub fn try_run<'v>(&mut self, values: impl IntoIterator<Item = Result<Parameter<'v>>>) -> Result<()> {
        self.bind(values)?;
        // SAFETY: the statement is prepared, and the values are there.
        let code = unsafe { (self.api.step)(self.statement) };
        // SAFETY: as above.
        let reset = unsafe { (self.api.reset)(self.statement) };
        if code != DONE {
            return Err(self.connection.error(reset).into());
        }
        Ok(())
    }

    /// Executes a statement and puts every value of every row into the sink.
    #[inline]
    pub fn fetch<'v, S: Sink>(
        &mut self,
        values: impl IntoIterator<Item = Parameter<'v>>,
        sink: &mut S,
    ) -> Result<()> {
        self.bind(values.into_iter().map(Ok))?;
        // SAFETY: the statement is prepared, the values are there, and a row has as many columns as it has.
        unsafe {
            let mut code = (self.api.step)(self.statement);
            if code == ROW {
                let columns = (self.api.column_count)(self.statement);
                while code == ROW {
                    self.connection.fetch(self.statement, columns, sink);
                    code = (self.api.step)(self.statement);
                }
            }
            let reset = (self.api.reset)(self.statement);
            if code == DONE { Ok(()) } else { Err(self.connection.error(reset).into()) }
        }
    }

    /// Executes a query with a value for each of its parameters.
    #[inline]
    pub fn query<'q>(&'q mut self, values: impl IntoIterator<Item = Parameter<'q>>) -> Result<Rows<'q>> {
        self.bind(values.into_iter().map(Ok))?;
        Ok(Rows {
            connection: self.connection,
            api: self.api,
            statement: self.statement,
            is_ended: false,
            borrowed: PhantomData,
        })
    }

    /// Binds all parameters. Buffers bound before may have been freed, so every value is bound again.
    #[inline]
    fn bind<'v>(&mut self, values: impl IntoIterator<Item = Result<Parameter<'v>>>) -> Result<()> {
        let (api, statement) = (self.api, self.statement);
        let mut place = 0;
        // Not a `for`: cells of several rows come from nested iterators, which are quicker from within.
        values.into_iter().try_for_each(|value| -> Result<()> {
            place += 1;
            // SAFETY: the statement is prepared, and does not run again before its parameters have been bound anew; what
            // is not copied is there until then.
            let code = unsafe {
                match value? {
                    Parameter::Null => (api.bind_null)(statement, place),
                    Parameter::Integer(number) => (api.bind_int64)(statement, place, number),
                    Parameter::Real(number) => (api.bind_double)(statement, place, number),
                    Parameter::Text(text) => self.bind_text(place, text, STATIC)?,
                    Parameter::Copied(text) => self.bind_text(place, text, TRANSIENT)?,
                    Parameter::Blob(blob) => {
                        let (start, length) = (blob.as_ptr().cast(), length(blob)?);
                        (api.bind_blob)(statement, place, start, length, STATIC)
                    }
                }
            };
            if code == OK { Ok(()) } else { Err(self.connection.error(code).into()) }
        })?;
        ensure!(place == self.parameters, "it has {} parameters and got {place} values", self.parameters);
        Ok(())
    }

    /// # Safety
    /// The text stays valid as long as the last argument promises SQLite.
    #[inline]
    unsafe fn bind_text(&self, place: c_int, text: &[u8], keep: *const c_void) -> Result<c_int> {
        let (start, length) = (text.as_ptr().cast(), length(text)?);
        // SAFETY: as the caller promises.
        Ok(unsafe { (self.api.bind_text)(self.statement, place, start, length, keep) })
    }

    /// The statement as the library knows it, prepared while this is not dropped.
    pub fn raw(&self) -> *mut Stmt {
        self.statement
    }
}

impl Drop for Statement<'_> {
    fn drop(&mut self) {
        // SAFETY: it is finalized once. The result repeats that of the last step.
        unsafe { (self.api.finalize)(self.statement) };
    }
}

/// The rows of a query, one after another. When they are dropped the statement is ready to be executed again.
pub struct Rows<'q> {
    connection: &'q Connection,
    api: &'q Api,
    /// Prepared, and used by this value alone.
    statement: *mut Stmt,
    is_ended: bool,
    borrowed: PhantomData<&'q mut Stmt>,
}

impl Rows<'_> {
    /// Goes to the next row; whether there is one.
    #[inline]
    pub fn step(&mut self) -> Result<bool> {
        if self.is_ended {
            return Ok(false);
        }
        // SAFETY: the statement is prepared, and the values of its parameters are there.
        let code = unsafe { (self.api.step)(self.statement) };
        if code == ROW {
            return Ok(true);
        }
        self.end();
        if code == DONE { Ok(false) } else { Err(self.connection.error(code).into()) }
    }

    #[inline]
    fn end(&mut self) {
        self.is_ended = true;
        // SAFETY: the statement is prepared. The result is that of the last step, which was looked at.
        unsafe { (self.api.reset)(self.statement) };
    }

    /// The bytes of a column of the current row, text or blob, as they lie in SQLite's memory: while they are lent,
    /// the query cannot go on.
    #[inline]
    pub fn column(&self, column: c_int) -> &[u8] {
        // SAFETY: the statement is prepared, and without a row there are no bytes; they stay until the next step or reset.
        unsafe {
            let start = (self.api.column_blob)(self.statement, column).cast();
            bytes(start, (self.api.column_bytes)(self.statement, column))
        }
    }

    /// A column of the current row as a whole number.
    #[inline]
    pub fn integer(&self, column: c_int) -> i64 {
        // SAFETY: the statement is prepared; without a row the number is 0.
        unsafe { (self.api.column_int64)(self.statement, column) }
    }

    /// The type of a column of the current row, as SQLite numbers it.
    pub fn kind(&self, column: c_int) -> c_int {
        // SAFETY: the statement is prepared; without a row the type is that of NULL.
        unsafe { (self.api.column_type)(self.statement, column) }
    }
}

impl Drop for Rows<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.is_ended {
            self.end();
        }
    }
}

/// The length of a value. SQLite takes one that is negative for a text that ends in NUL.
#[inline]
fn length(value: &[u8]) -> Result<c_int> {
    c_int::try_from(value.len()).context("it is longer than SQLite can take")
}

/// A name as it stands in a statement.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dyno_protocol::Build;
    use dyno_sqlite::load;

    use super::*;

    #[test]
    fn values_are_bound_anew_for_every_execution() {
        let connection = Connection::open(Arc::new(load(&Build::Bundled).unwrap()), c":memory:").unwrap();
        connection.rows(c"CREATE TABLE t(a, b)").unwrap();
        let mut insert = Statement::new(&connection, c"INSERT INTO t VALUES(?, ?)").unwrap();
        for number in 1..=3 {
            let text = number.to_string().into_bytes();
            insert.run([Parameter::Integer(number), Parameter::Text(&text)]).unwrap();
        }
        let said = insert.run([Parameter::Integer(4)]).unwrap_err().to_string();
        assert_eq!(said, "it has 2 parameters and got 1 values");
        let said = insert.run([Parameter::Integer(4); 3]).unwrap_err().to_string();
        assert!(said.contains("SQLite error 25"), "{said}");
        assert!(insert.try_run([Err(anyhow::anyhow!("no value"))]).is_err());
        let mut query = Statement::new(&connection, c"SELECT a, b FROM t WHERE b >= ? ORDER BY a").unwrap();
        for _ in 0..2 {
            let mut rows = query.query([Parameter::Copied(b"2")]).unwrap();
            assert!(rows.step().unwrap());
            assert_eq!((rows.integer(0), rows.column(1)), (2, b"2".as_slice()));
        }
        let mut rows = query.query([Parameter::Blob(b"2")]).unwrap();
        assert!(!rows.step().unwrap() && !rows.step().unwrap() && rows.column(0).is_empty());
    }
}
