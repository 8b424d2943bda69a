//! Prepared inserts: executed one by one, or sent through a pipeline.

use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;

use anyhow::{Context, Result, bail};
use dyno_protocol::{FieldKind, FileColumn};
use dyno_runner::server::insert_text;
use dyno_runner::{Failure, quote, whole_number};

use crate::api::{Conn, PIPELINE_SYNC};
use crate::connection::Connection;
use crate::library;

/// Rows in a pipeline before their results are read.
pub const PIPELINE: u64 = 1000;
/// The format of a value that is its bytes: a text's need no NUL byte at the end, a number's are four, the
/// most significant first.
const BINARY: c_int = 1;
/// The format of results.
const TEXT_FORMAT: c_int = 0;
/// The types of parameters, `pg_type.dat`.
const TEXT: c_uint = 25;
const INTEGER: c_uint = 23;

/// A prepared INSERT with room for its values, which are texts that live as long as `'v`.
pub struct Statement<'v> {
    name: CString,
    values: Vec<*const c_char>,
    lengths: Vec<c_int>,
    formats: Vec<c_int>,
    /// What values point to that are numbers.
    numbers: Vec<[u8; 4]>,
    texts: PhantomData<&'v [u8]>,
}

impl<'v> Statement<'v> {
    /// Prepares one for so many rows.
    pub fn prepare<'a>(
        connection: &Connection,
        table: &str,
        columns: impl ExactSizeIterator<Item = (&'a str, FieldKind)> + Clone,
        rows: u64,
    ) -> Result<Statement<'v>> {
        let names = columns.clone().map(|(name, _)| name);
        let sql = CString::new(insert_text(table, names, rows, |number| format!("${number}")))?;
        let cells = rows as usize * columns.len();
        let name = connection.new_name();
        // Said, because a column of another type would take a text's bytes for something else.
        let types: Vec<c_uint> = columns.map(|(_, kind)| type_of(kind)).collect();
        connection.prepare(&name, &sql, &types.repeat(rows as usize))?;
        Ok(Statement {
            name,
            values: vec![ptr::null(); cells],
            lengths: vec![0; cells],
            formats: vec![BINARY; cells],
            numbers: vec![[0; 4]; cells],
            texts: PhantomData,
        })
    }

    /// Takes the text at a place where it lies.
    #[inline]
    pub fn bind_text(&mut self, place: usize, text: &'v [u8]) {
        self.values[place] = text.as_ptr().cast();
        self.lengths[place] = text.len() as c_int;
    }

    /// Takes the fields of a record, the one at a place among those of the statement.
    #[inline]
    pub fn bind_fields(
        &mut self,
        record: usize,
        fields: &[&'v [u8]],
        columns: &[FileColumn],
    ) -> Result<()> {
        for ((place, field), column) in (record * columns.len()..).zip(fields).zip(columns) {
            match column.kind {
                FieldKind::Text => self.bind_text(place, field),
                FieldKind::Integer => {
                    self.numbers[place] = whole_number::<i32>(field)?.to_be_bytes();
                    self.values[place] = self.numbers[place].as_ptr().cast();
                    self.lengths[place] = 4;
                }
            }
        }
        Ok(())
    }

    /// Executes it with the values that it took, which are still there.
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
    fn send(&mut self, connection: &Connection) -> Result<()> {
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
    /// Prepares a statement with parameters of these types; one without a name takes the place of the last.
    pub fn prepare(&self, name: &CStr, sql: &CStr, types: &[c_uint]) -> Result<()> {
        // SAFETY: the connection is open, and the texts end in NUL.
        let result = unsafe {
            let count = types.len() as c_int;
            let result = (self.api().prepare)(self.raw(), name.as_ptr(), sql.as_ptr(), count, types.as_ptr());
            self.done(result, |_| ())
        };
        result.with_context(|| format!("cannot prepare {}", quote(&sql.to_string_lossy())))
    }
}

/// libpq's pipeline mode, since PostgreSQL 14.
pub struct Pipeline<'a> {
    connection: &'a Connection,
    enter: unsafe extern "C" fn(*mut Conn) -> c_int,
    exit: unsafe extern "C" fn(*mut Conn) -> c_int,
    sync: unsafe extern "C" fn(*mut Conn) -> c_int,
}

impl<'a> Pipeline<'a> {
    /// That of a connection.
    ///
    /// # Errors
    /// The library is too old.
    pub fn of(connection: &'a Connection) -> Result<Pipeline<'a>> {
        let api = connection.api();
        match (api.enter_pipeline_mode, api.exit_pipeline_mode, api.pipeline_sync) {
            (Some(enter), Some(exit), Some(sync)) => Ok(Pipeline { connection, enter, exit, sync }),
            _ => bail!(
                "libpq {} has no pipeline mode: install that of PostgreSQL 14 or later",
                library::version(api)
            ),
        }
    }

    /// Sends rows by a call each, of which `bind` gives the statement the values, then reads their results.
    /// libpq takes in what the server answers meanwhile, so that neither waits for the other for ever.
    pub fn insert<'v>(
        &self,
        statement: &mut Statement<'v>,
        rows: Range<u64>,
        mut bind: impl FnMut(&mut Statement<'v>, u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (api, raw) = (self.connection.api(), self.connection.raw());
        let done = |code: c_int| if code == 1 { Ok(()) } else { Err(self.connection.trouble()) };
        // SAFETY: the connection is open; each result is one of this pipeline and cleared once.
        unsafe {
            done((self.enter)(raw))?;
            for row in rows.clone() {
                bind(statement, row)?;
                statement.send(self.connection)?;
            }
            done((self.sync)(raw))?;
            for row in rows {
                let outcome = self.connection.done((api.get_result)(raw), |_| ());
                self.connection.end(outcome).map_err(|error| Failure::at(row, error))?;
            }
            let last = (api.get_result)(raw);
            if (api.result_status)(last) != PIPELINE_SYNC {
                return Err(self.connection.trouble().into());
            }
            (api.clear)(last);
            done((self.exit)(raw))?;
        }
        Ok(())
    }
}
