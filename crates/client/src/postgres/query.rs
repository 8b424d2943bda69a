//! Statements that are prepared once and executed many times with values of any type, for their rows.

use std::ffi::{CString, c_char, c_int};
use std::io::Write;
use std::ptr;

use anyhow::Result;
use dyno_protocol::Sink;

use super::connection::Connection;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// A prepared statement whose values are sent as text, so that the server gives each the type that its place asks for.
pub struct Query<'c> {
    connection: &'c Connection,
    name: CString,
    /// The values, each with a NUL byte at its end; NULL has none.
    values: Vec<Vec<u8>>,
    /// The addresses of the values.
    pointers: Vec<*const c_char>,
}

impl<'c> Query<'c> {
    /// Prepares a statement with this number of parameters.
    ///
    /// # Errors
    /// The server refuses it.
    pub fn prepare(connection: &'c Connection, sql: &str, parameters: usize) -> Result<Query<'c>> {
        let name = connection.new_name();
        connection.prepare(&name, &CString::new(sql)?, &[])?;
        let pointers = vec![ptr::null(); parameters];
        Ok(Query { connection, name, values: vec![Vec::new(); parameters], pointers })
    }

    /// Sets the parameter at a place, from 0, to NULL.
    #[inline]
    pub fn set_null(&mut self, place: usize) {
        self.values[place].clear();
    }

    /// Sets the parameter at a place, from 0, to a whole number.
    #[inline]
    pub fn set_integer(&mut self, place: usize, number: i64) {
        self.set_text(place, itoa::Buffer::new().format(number).as_bytes());
    }

    /// Sets the parameter at a place, from 0, to a real number.
    #[inline]
    pub fn set_real(&mut self, place: usize, number: f64) {
        let value = &mut self.values[place];
        value.clear();
        // Writing to memory cannot fail.
        let _ = write!(value, "{number}\0");
    }

    /// Sets the parameter at a place, from 0, to bytes.
    #[inline]
    pub fn set_blob(&mut self, place: usize, bytes: &[u8]) {
        let value = &mut self.values[place];
        value.clear();
        value.extend_from_slice(b"\\x");
        value.extend(hexadecimal(bytes));
        value.push(0);
    }

    /// Sets the parameter at a place to a text, which holds no NUL byte.
    #[inline]
    pub fn set_text(&mut self, place: usize, text: &[u8]) {
        let value = &mut self.values[place];
        value.clear();
        value.extend_from_slice(text);
        value.push(0);
    }

    /// Executes it with the values that were set and puts every value of every row into the sink. Returns how many
    /// rows it changed.
    ///
    /// # Errors
    /// The server's message.
    #[inline]
    pub fn run<S: Sink>(&mut self, sink: &mut S) -> Result<u64> {
        for (pointer, value) in self.pointers.iter_mut().zip(&self.values) {
            *pointer = if value.is_empty() { ptr::null() } else { value.as_ptr().cast() };
        }
        let (count, none): (_, *const c_int) = (self.pointers.len() as c_int, ptr::null());
        let api = self.connection.api();
        // SAFETY: the connection is open; there are as many values as parameters, each ended by a NUL byte or NULL.
        unsafe {
            let (raw, values) = (self.connection.raw(), self.pointers.as_ptr());
            if self.connection.wait().is_none() {
                let result = (api.exec_prepared)(raw, self.name.as_ptr(), count, values, none, none, 0);
                return self.connection.fetched(result, sink);
            }
            // As PQexecPrepared does, but the connection waits for the result itself.
            if (api.send_query_prepared)(raw, self.name.as_ptr(), count, values, none, none, 0) == 0 {
                return Err(self.connection.trouble());
            }
            self.connection.end(self.connection.fetched(self.connection.next_result(), sink))
        }
    }
}

/// The digits of bytes, two for each.
pub(super) fn hexadecimal(bytes: &[u8]) -> impl Iterator<Item = u8> {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]))
}

/// True if the transaction may succeed when it is repeated: the server could not serialize it, ended a deadlock, or
/// gave up the wait for a lock (PostgreSQL's manual, appendix A).
pub fn is_retryable(code: &str) -> bool {
    matches!(code, "40001" | "40P01" | "55P03")
}
