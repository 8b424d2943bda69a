//! Prepared statements.

use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::marker::PhantomData;
use std::ptr;

use anyhow::Result;
use dyno_protocol::{FieldKind, Sink};

use super::connection::Connection;

/// The binary format: a text needs no NUL byte at its end, and a number has four bytes, the most significant first.
const BINARY: c_int = 1;
/// The format of results.
const TEXT_FORMAT: c_int = 0;
/// The types of parameters, `pg_type.dat`.
const TEXT: c_uint = 25;
const INTEGER: c_uint = 23;

/// A prepared statement that returns no rows, with buffers for its values. It borrows texts for `'v`.
pub struct Statement<'v> {
    name: CString,
    values: Vec<*const c_char>,
    lengths: Vec<c_int>,
    formats: Vec<c_int>,
    /// The buffers of values that are numbers.
    numbers: Vec<[u8; 4]>,
    texts: PhantomData<&'v [u8]>,
}

impl<'v> Statement<'v> {
    /// Prepares a statement whose parameters are of these kinds. The server is given the kinds, because a column of
    /// another type would misread the bytes of a text.
    pub fn prepare(connection: &Connection, sql: &str, kinds: &[FieldKind]) -> Result<Statement<'v>> {
        let (sql, count) = (CString::new(sql)?, kinds.len());
        let name = connection.new_name();
        let types: Vec<c_uint> = kinds.iter().map(|kind| type_of(*kind)).collect();
        connection.prepare(&name, &sql, &types)?;
        Ok(Statement {
            name,
            values: vec![ptr::null(); count],
            lengths: vec![0; count],
            formats: vec![BINARY; count],
            numbers: vec![[0; 4]; count],
            texts: PhantomData,
        })
    }

    /// Sets the parameter at a place to a text, without a copy of it.
    #[inline]
    pub fn bind_text(&mut self, place: usize, text: &'v [u8]) {
        self.values[place] = text.as_ptr().cast();
        self.lengths[place] = text.len() as c_int;
    }

    /// Sets the parameter at a place to a number.
    #[inline]
    pub fn bind_integer(&mut self, place: usize, number: i32) {
        self.numbers[place] = number.to_be_bytes();
        self.values[place] = self.numbers[place].as_ptr().cast();
        self.lengths[place] = 4;
    }

    /// Executes it with the values that were set, which it keeps.
    #[inline]
    pub fn execute(&mut self, connection: &Connection) -> Result<()> {
        let Statement { name, values, lengths, formats, .. } = self;
        let count = values.len() as c_int;
        let (values, lengths, formats) = (values.as_ptr(), lengths.as_ptr(), formats.as_ptr());
        // SAFETY: the connection is open; there are as many values as parameters, each where its length says
        // it is.
        unsafe {
            let api = connection.api();
            let raw = connection.raw();
            let result =
                (api.exec_prepared)(raw, name.as_ptr(), count, values, lengths, formats, TEXT_FORMAT);
            connection.done(result, |_| ())
        }
    }

    /// The same without waiting for the result.
    #[inline]
    pub(super) fn send(&mut self, connection: &Connection) -> Result<()> {
        let Statement { name, values, lengths, formats, .. } = self;
        let (name, count) = (name.as_ptr(), values.len() as c_int);
        let (values, lengths, formats) = (values.as_ptr(), lengths.as_ptr(), formats.as_ptr());
        // SAFETY: as above, and libpq copies the values.
        let sent = unsafe {
            let send = connection.api().send_query_prepared;
            send(connection.raw(), name, count, values, lengths, formats, TEXT_FORMAT)
        };
        if sent == 1 { Ok(()) } else { Err(connection.trouble()) }
    }
}

fn type_of(kind: FieldKind) -> c_uint {
    match kind {
        FieldKind::Text => TEXT,
        FieldKind::Integer => INTEGER,
    }
}

impl Connection {
    /// Prepares a query without parameters, executes it and puts its rows into the sink.
    pub fn query_prepared<S: Sink>(&self, sql: &CStr, sink: &mut S) -> Result<()> {
        self.prepare(c"", sql, &[])?;
        let (none, lengths) = (ptr::null(), ptr::null());
        // SAFETY: the connection is open, and the statement has no parameters.
        unsafe {
            let name = c"".as_ptr();
            let result = (self.api().exec_prepared)(self.raw(), name, 0, none, lengths, lengths, TEXT_FORMAT);
            self.fetched(result, sink).map(drop)
        }
    }

    /// Prepares a statement with parameters of these types. A statement without a name replaces the last one without.
    pub(super) fn prepare(&self, name: &CStr, sql: &CStr, types: &[c_uint]) -> Result<()> {
        // SAFETY: the connection is open, and the texts end in NUL.
        unsafe {
            let count = types.len() as c_int;
            let result = (self.api().prepare)(self.raw(), name.as_ptr(), sql.as_ptr(), count, types.as_ptr());
            self.done(result, |_| ())
        }
    }
}
