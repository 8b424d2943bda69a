//! A connection, and the statement that is executed once.

use std::ffi::{CStr, c_int, c_uint};
use std::sync::Arc;
use std::{ptr, slice};

use anyhow::{Error, Result, anyhow, bail};
use dyno_protocol::{Sink, Value};

use super::api::{Api, Mysql, Res};
use super::column::put;
use super::errors::LOST;
use super::waiting::WaitingCalls;
use super::{infile, library};
use crate::Sql;
use crate::text::text;

/// A connection to a server, closed when dropped.
pub struct Connection {
    api: Arc<Api>,
    /// Open once `connect` has succeeded, and used by one thread.
    mysql: *mut Mysql,
    /// Calls whose wait is left to a function; none where the library waits.
    waiting: Option<WaitingCalls>,
}

// SAFETY: both libraries let any thread use a connection, if only one does at a time; nothing else has a part of it,
// and their functions may be called from any thread.
unsafe impl Send for Connection {}

/// The error of a failed call, from the server or from the library.
#[derive(Debug, thiserror::Error)]
#[error("{message} (error {number}, {state})")]
pub struct ServerError {
    /// MySQL's number.
    pub number: u32,
    /// The five letters of the SQL standard.
    pub state: String,
    /// The message.
    pub message: String,
}

impl Connection {
    /// A connection that is to be opened.
    pub(super) fn new(api: Arc<Api>) -> Result<Connection> {
        // SAFETY: null asks for a new connection.
        let mysql = unsafe { (api.init)(ptr::null_mut()) };
        if mysql.is_null() {
            bail!("{} has no memory for a connection", library::version(&api));
        }
        let connection = Connection { api, mysql, waiting: None };
        // SAFETY: the pointer is a connection.
        unsafe { infile::refuse(&connection.api, mysql) };
        Ok(connection)
    }

    /// Sets an option that is a string.
    pub(super) fn set_text(&self, option: c_int, value: &CStr) -> Result<()> {
        // SAFETY: the option takes a string and copies it.
        self.set(option, unsafe { (self.api.options)(self.mysql, option, value.as_ptr().cast()) })
    }

    /// Sets an option that is a number.
    pub(super) fn set_number(&self, option: c_int, value: c_uint) -> Result<()> {
        let value: *const c_uint = &value;
        // SAFETY: the option takes a pointer to a number and copies it. Of those that are a single byte
        // the value is 0 or 1, which a little-endian machine has in the first one.
        self.set(option, unsafe { (self.api.options)(self.mysql, option, value.cast()) })
    }

    fn set(&self, option: c_int, code: c_int) -> Result<()> {
        if code != 0 {
            bail!("{} does not know its option {option}", library::version(&self.api));
        }
        Ok(())
    }

    /// Sets an option that is a `size_t`.
    pub(super) fn set_size(&self, option: c_int, value: usize) -> Result<()> {
        let value: *const usize = &value;
        // SAFETY: the option takes a pointer to a size and copies it.
        self.set(option, unsafe { (self.api.options)(self.mysql, option, value.cast()) })
    }

    /// Puts every row of a result into the sink.
    ///
    /// # Safety
    /// The result is a stored one of this connection.
    #[inline]
    unsafe fn fetch<S: Sink>(&self, result: *mut Res, sink: &mut S) {
        let api = &*self.api;
        // SAFETY: as the caller promises; a row has as many values and lengths as there are columns, and
        // they are used before the next row is fetched.
        unsafe {
            let columns = (api.num_fields)(result) as usize;
            let fields = slice::from_raw_parts((api.fetch_fields)(result), columns);
            loop {
                let row = (api.fetch_row)(result);
                if row.is_null() {
                    return;
                }
                let values = slice::from_raw_parts(row, columns);
                let lengths = slice::from_raw_parts((api.fetch_lengths)(result), columns);
                for ((value, length), field) in values.iter().zip(lengths).zip(fields) {
                    if value.is_null() {
                        sink.null();
                    } else {
                        put(slice::from_raw_parts(value.cast(), *length as usize), field, sink);
                    }
                }
                sink.end_row();
            }
        }
    }

    /// The cipher of an encrypted connection.
    pub fn cipher(&self) -> Option<String> {
        // SAFETY: the connection is open; a cipher is a string that lives as long.
        unsafe {
            let cipher = (self.api.get_ssl_cipher)(self.mysql);
            (!cipher.is_null()).then(|| text(cipher)).filter(|cipher| !cipher.is_empty())
        }
    }

    /// The calls whose wait is left to a function, if the library does not wait.
    #[inline]
    pub(super) fn waiting(&self) -> Option<&WaitingCalls> {
        self.waiting.as_ref()
    }

    pub(super) fn set_waiting(&mut self, waiting: Option<WaitingCalls>) {
        self.waiting = waiting;
    }

    /// The library in use.
    pub fn api(&self) -> &Arc<Api> {
        &self.api
    }

    /// The connection as the library knows it, open while this is not dropped.
    pub(super) fn raw(&self) -> *mut Mysql {
        self.mysql
    }

    /// An error if the server took the last statement and yet found fault with its values: it may have cut
    /// them off or put others in their place.
    #[inline]
    pub fn check_warnings(&self) -> Result<()> {
        // SAFETY: the connection is open.
        match unsafe { (self.api.warning_count)(self.mysql) } {
            0 => Ok(()),
            count => Err(self.warnings(count)),
        }
    }

    #[cold]
    fn warnings(&self, count: c_uint) -> Error {
        match self.rows("SHOW WARNINGS LIMIT 1").as_deref() {
            Ok([first, ..]) => {
                let text = |place| match first.get(place) {
                    Some(Value::Text(text)) => text.clone(),
                    Some(Value::Integer(number)) => number.to_string(),
                    _ => String::new(),
                };
                anyhow!(
                    "the server took the rows with {count} warnings, so it does not hold what it was sent; the \
                     first: {} ({} {})",
                    text(2),
                    text(0).to_lowercase(),
                    text(1)
                )
            }
            _ => anyhow!("the server took the rows with {count} warnings and does not report them"),
        }
    }

    pub(super) fn server_error(&self) -> ServerError {
        // SAFETY: the pointer is a connection, open or not, and the strings are copied before the next
        // call.
        unsafe {
            ServerError {
                number: (self.api.errno)(self.mysql),
                state: text((self.api.sqlstate)(self.mysql)),
                message: text((self.api.error)(self.mysql)),
            }
        }
    }

    /// The error of the last call.
    #[cold]
    pub(super) fn error(&self) -> Error {
        self.server_error().explain()
    }
}

impl ServerError {
    /// The same as an error, with what to do where the connection is lost.
    pub fn explain(self) -> Error {
        let error = self;
        if LOST.contains(&error.number) {
            return anyhow!(
                "the connection to the server is lost: {error}. If the server has crashed or was stopped, its \
                 log says why"
            );
        }
        error.into()
    }
}

impl Sql for Connection {
    #[inline]
    fn execute<S: Sink>(&self, sql: &CStr, sink: &mut S) -> Result<u64> {
        let api = &*self.api;
        let mut changed = 0;
        // SAFETY: the connection is open; text and length belong together; each result is fetched to its
        // end and freed once.
        unsafe {
            let mut code = self.query(sql);
            loop {
                if code != 0 {
                    return Err(self.error());
                }
                let result = self.store_result();
                if !result.is_null() {
                    self.fetch(result, sink);
                    (api.free_result)(result);
                } else if (api.field_count)(self.mysql) == 0 {
                    changed += (api.affected_rows)(self.mysql);
                } else {
                    return Err(self.error());
                }
                // A procedure that was called may have more than one result.
                if (api.more_results)(self.mysql) == 0 {
                    return Ok(changed);
                }
                code = self.next_result();
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: the pointer is a connection, open or not, and not used after this.
        unsafe { (self.api.close)(self.mysql) };
    }
}

/// Error: the connection could not be encrypted.
pub const NO_ENCRYPTION: u32 = 2026;
