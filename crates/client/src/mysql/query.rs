//! Statements that are prepared once and executed many times with values of any type, for their rows.

use std::ffi::{c_char, c_uint, c_ulong};

use anyhow::Result;
use dyno_protocol::Sink;

use super::api::{BLOB, Bind, DOUBLE, LONGLONG, NO_DATA, NULL, STRING, TRUNCATED};
use super::column::Kind;
use super::connection::Connection;
use super::statement::Statement;
use crate::number::number;

/// Buffer for one value of a result, in bytes. A longer value is fetched a second time into a buffer of its size.
const ROOM: usize = 256;

/// A prepared statement with room for its values and for a row of its result.
pub struct Query<'c> {
    statement: Statement<'c>,
    parameters: Vec<Value>,
    /// True if a parameter changed its type or its address since the library was last informed.
    is_moved: bool,
    columns: Vec<Column>,
}

/// The value of a parameter. The library reads it where it lies.
struct Value {
    /// Its type, as the protocol numbers it.
    kind: c_uint,
    bytes: Vec<u8>,
    length: Box<c_ulong>,
}

/// A value of a row. The library writes it where it lies.
struct Column {
    kind: Kind,
    place: Box<Place>,
}

/// The part of a bound value that the library writes.
struct Place {
    bytes: [u8; ROOM],
    length: c_ulong,
    is_null: c_char,
}

impl<'c> Query<'c> {
    /// Prepares a statement with this number of parameters.
    ///
    /// # Errors
    /// The server refuses it, or it has another number of parameters.
    pub fn prepare(connection: &'c Connection, sql: &str, parameters: usize) -> Result<Query<'c>> {
        let statement = Statement::prepare(connection, sql)?;
        statement.check_parameters(parameters)?;
        let value = || Value { kind: NULL, bytes: Vec::with_capacity(8), length: Box::new(0) };
        let parameters: Vec<Value> = std::iter::repeat_with(value).take(parameters).collect();
        let columns = statement.kinds()?;
        let place =
            |kind| Column { kind, place: Box::new(Place { bytes: [0; ROOM], length: 0, is_null: 0 }) };
        let mut columns: Vec<Column> = columns.into_iter().map(place).collect();
        let mut results: Vec<Bind> = columns.iter_mut().map(Column::bind).collect();
        if !results.is_empty() {
            // SAFETY: there is one for each column; boxes keep their places until the statement is closed.
            unsafe { statement.bind_result(&mut results)? };
        }
        let is_moved = !parameters.is_empty();
        Ok(Query { statement, parameters, is_moved, columns })
    }

    /// Takes NULL at a place, from 0.
    #[inline]
    pub fn set_null(&mut self, place: usize) {
        self.set(place, NULL, &[]);
    }

    /// Takes a number at a place, from 0.
    #[inline]
    pub fn set_integer(&mut self, place: usize, number: i64) {
        self.set(place, LONGLONG, &number.to_ne_bytes());
    }

    /// Takes any other number at a place, from 0.
    #[inline]
    pub fn set_real(&mut self, place: usize, number: f64) {
        self.set(place, DOUBLE, &number.to_ne_bytes());
    }

    /// Takes a text at a place, from 0.
    #[inline]
    pub fn set_text(&mut self, place: usize, text: &[u8]) {
        self.set(place, STRING, text);
    }

    /// Takes bytes at a place, from 0.
    #[inline]
    pub fn set_blob(&mut self, place: usize, bytes: &[u8]) {
        self.set(place, BLOB, bytes);
    }

    #[inline]
    fn set(&mut self, place: usize, kind: c_uint, bytes: &[u8]) {
        let value = &mut self.parameters[place];
        let before = (value.kind, value.bytes.as_ptr());
        value.bytes.clear();
        value.bytes.extend_from_slice(bytes);
        *value.length = bytes.len() as c_ulong;
        value.kind = kind;
        self.is_moved |= before != (kind, value.bytes.as_ptr());
    }

    /// Executes it with the values that it took and puts every value of every row into the sink.
    ///
    /// # Errors
    /// The server's message.
    #[inline]
    pub fn run<S: Sink>(&mut self, sink: &mut S) -> Result<()> {
        if self.is_moved {
            let mut binds: Vec<Bind> = self.parameters.iter().map(Value::bind).collect();
            // SAFETY: there is one bind for each parameter, and no parameter moves until they are bound again.
            unsafe { self.statement.bind(&mut binds)? };
            self.is_moved = false;
        }
        // The library reads them through the pointers that it was given.
        std::hint::black_box(&mut self.parameters);
        self.statement.execute()?;
        if self.columns.is_empty() {
            return Ok(());
        }
        // All rows come at once, so that the connection is free for the next statement whatever happens.
        self.statement.store()?;
        loop {
            match self.statement.fetch() {
                0 | TRUNCATED => self.row(sink)?,
                NO_DATA => return self.statement.free_result(),
                _ => return Err(self.statement.error()),
            }
        }
    }

    /// Puts the current row into the sink.
    #[inline]
    fn row<S: Sink>(&mut self, sink: &mut S) -> Result<()> {
        for (index, Column { kind, place }) in (0..).zip(&mut self.columns) {
            let Place { bytes, length, is_null } = &**std::hint::black_box(place);
            let mut number_of = [0; 8];
            number_of.copy_from_slice(&bytes[..8]);
            match kind {
                _ if *is_null != 0 => sink.null(),
                Kind::Integer => sink.integer(i64::from_ne_bytes(number_of)),
                Kind::Real => sink.real(f64::from_ne_bytes(number_of)),
                _ if *length as usize > ROOM => kind.put(&self.statement.long(index, *length)?, sink),
                _ => kind.put(&bytes[..*length as usize], sink),
            }
        }
        sink.end_row();
        Ok(())
    }
}

impl Kind {
    /// Adds a value that came as its bytes.
    #[inline]
    fn put<S: Sink>(self, value: &[u8], sink: &mut S) {
        match self {
            Kind::Integer | Kind::Real | Kind::Decimal => number(value, sink),
            Kind::Text => sink.text(value),
            Kind::Bytes => sink.blob(value),
        }
    }
}

impl Column {
    fn bind(&mut self) -> Bind {
        let kind = match self.kind {
            Kind::Integer => LONGLONG,
            Kind::Real => DOUBLE,
            Kind::Decimal | Kind::Text | Kind::Bytes => STRING,
        };
        let Place { bytes, length, is_null } = &mut *self.place;
        Bind::result(kind, bytes.as_mut_ptr().cast(), ROOM as c_ulong, length, is_null)
    }
}

impl Value {
    fn bind(&self) -> Bind {
        Bind::new(self.kind, self.bytes.as_ptr().cast(), &*self.length)
    }
}
