//! Rows into a table and back: the models `insert-rows`, `bulk-load` and `scan`.

use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::{ptr, slice};

use anyhow::{Context, Error, Result, bail, ensure};
use dyno_protocol::Column;
use dyno_runner::server::{Lines, column_list, in_transactions, insert, insert_text, rows_per_statement};
use dyno_runner::{Answer, Failure, Load, Rows, Scan, Slice, Visit, quote};

use crate::api::{COPY_IN, Conn, PIPELINE_SYNC, PgResult, SINGLE_TUPLE, TUPLES_OK};
use crate::connection::Connection;
use crate::library;

/// How many rows are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// COPY FROM STDIN.
    Copy,
    /// Prepared inserts that do not wait for each other's results.
    Pipeline,
    /// Prepared inserts of many rows each.
    MultiRow,
    /// Prepared inserts, one by one.
    Insert,
}

impl Way {
    /// The names of the variants, the usual one first.
    pub const ALL: [(&str, Way); 4] = [
        ("copy", Way::Copy),
        ("pipeline", Way::Pipeline),
        ("multirow", Way::MultiRow),
        ("insert", Way::Insert),
    ];
}

/// Bytes handed to libpq at once in a COPY.
const BUFFER: usize = 1 << 16;
/// Rows in a pipeline before their results are read.
const PIPELINE: u64 = 1000;
/// The format of a value that is its bytes, as a text's are: it needs no NUL byte at the end.
const BINARY: c_int = 1;
/// The format of results.
const TEXT_FORMAT: c_int = 0;
/// The types of text, `pg_type.dat`: text, character(n), character varying(n).
const TEXT: c_uint = 25;
const TEXTS: [c_uint; 3] = [TEXT, 1042, 1043];

impl Rows for Connection {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        self.insert(load, 1)
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        match self.way {
            Way::Copy => self.copy(load),
            Way::Pipeline => self.pipeline(load),
            Way::MultiRow => self.insert(load, rows_per_statement(load)),
            Way::Insert => self.insert(load, 1),
        }
    }

    fn scan(&mut self, scan: &Scan, answer: &mut Answer) -> Result<()> {
        self.prepare(c"", scan.sql, &[])?;
        let (none, lengths) = (ptr::null(), ptr::null());
        // SAFETY: the connection is open, and the statement has no parameters.
        unsafe {
            let name = c"".as_ptr();
            let result = (self.api().exec_prepared)(self.raw(), name, 0, none, lengths, lengths, TEXT_FORMAT);
            self.fetched(result, answer).map(drop)
        }
    }

    fn read_rows(&mut self, table: &str, columns: &[Column], visit: &mut Visit) -> Result<()> {
        let sql = CString::new(format!("SELECT {} FROM {table}", column_list(columns)))?;
        let api = self.api();
        // SAFETY: the connection is open, and the text ends in NUL; each result is one of this query and
        // cleared once.
        unsafe {
            if (api.send_query)(self.raw(), sql.as_ptr()) == 0 || (api.set_single_row_mode)(self.raw()) == 0 {
                return Err(self.trouble());
            }
            let mut first = true;
            loop {
                let result = (api.get_result)(self.raw());
                if std::mem::take(&mut first) {
                    self.check_types(result, columns)?;
                }
                match (api.result_status)(result) {
                    SINGLE_TUPLE => self.visit(result, columns, visit)?,
                    // The last one, which has no row.
                    TUPLES_OK => return self.end(self.fetched(result, &mut Answer::new())).map(drop),
                    status => return Err(self.error(result, status)),
                }
                (api.clear)(result);
            }
        }
    }
}

/// A prepared INSERT with room for its values.
struct Statement {
    name: CString,
    /// Where each cell begins in the rows of one call.
    offsets: Vec<usize>,
    values: Vec<*const c_char>,
    lengths: Vec<c_int>,
    formats: Vec<c_int>,
}

impl Statement {
    /// Prepares one for so many rows.
    fn prepare(connection: &Connection, load: &Load, rows: u64) -> Result<Statement> {
        let sql = CString::new(insert_text(load, rows, |number| format!("${number}")))?;
        let cells = rows as usize * load.columns.len();
        let name = connection.new_name();
        // Said, because a column that is no text would take a text's bytes for something else.
        connection.prepare(&name, &sql, &vec![TEXT; cells])?;
        let widths = load.columns.iter().map(|column| column.bytes as usize).cycle().take(cells);
        let mut end = 0;
        let offsets = widths.clone().map(|width| {
            end += width;
            end - width
        });
        Ok(Statement {
            offsets: offsets.collect(),
            name,
            values: vec![ptr::null(); cells],
            lengths: widths.map(|width| width as c_int).collect(),
            formats: vec![BINARY; cells],
        })
    }

    /// Takes the cells where they lie.
    #[inline]
    fn bind(&mut self, rows: &[u8]) {
        for (value, offset) in self.values.iter_mut().zip(&self.offsets) {
            *value = rows[*offset..].as_ptr().cast();
        }
    }
}

impl Connection {
    /// Prepares a statement with parameters of these types; one without a name takes the place of the last.
    fn prepare(&self, name: &CStr, sql: &CStr, types: &[c_uint]) -> Result<()> {
        // SAFETY: the connection is open, and the texts end in NUL.
        let result = unsafe {
            let count = types.len() as c_int;
            let result = (self.api().prepare)(self.raw(), name.as_ptr(), sql.as_ptr(), count, types.as_ptr());
            self.done(result, |_| ())
        };
        result.with_context(|| format!("cannot prepare {}", quote(&sql.to_string_lossy())))
    }

    /// Prepared inserts of so many rows each.
    fn insert(&self, load: &Load, group: u64) -> Result<u64, Failure> {
        let api = self.api();
        let prepare = |connection: &Connection, rows| Statement::prepare(connection, load, rows);
        insert(self, load, group, prepare, |connection, statement, rows| {
            statement.bind(rows.bytes());
            let Statement { name, values, lengths, formats, .. } = statement;
            let count = values.len() as c_int;
            let (values, lengths, formats) = (values.as_ptr(), lengths.as_ptr(), formats.as_ptr());
            // SAFETY: the connection is open; there are as many values as parameters, each where its length
            // says it is.
            unsafe {
                let raw = connection.raw();
                let result =
                    (api.exec_prepared)(raw, name.as_ptr(), count, values, lengths, formats, TEXT_FORMAT);
                Ok(connection.done(result, |_| ())?)
            }
        })
    }

    /// Prepared inserts, sent without waiting for the results of those before.
    fn pipeline(&self, load: &Load) -> Result<u64, Failure> {
        let pipeline = Pipeline::of(self)?;
        let group = PIPELINE.min(load.per_commit.unwrap_or(PIPELINE)).max(1);
        let prepare = |connection: &Connection, _| Statement::prepare(connection, load, 1);
        insert(self, load, group, prepare, |_, statement, rows| pipeline.insert(statement, rows))
    }

    /// COPY FROM STDIN, in text: the server reads its binary format no faster, and a column that is no text
    /// would take a cell's bytes for something else.
    fn copy(&self, load: &Load) -> Result<u64, Failure> {
        let sql = format!("COPY {} ({}) FROM STDIN", load.table, column_list(load.columns));
        let sql = CString::new(sql).map_err(Error::from)?;
        let mut buffer = vec![0; BUFFER];
        in_transactions(self, load, |rows| Ok(self.copy_in(&sql, Lines::new(load, rows), &mut buffer)?))
    }

    fn copy_in(&self, sql: &CStr, mut lines: Lines, buffer: &mut [u8]) -> Result<u64> {
        let (api, raw) = (self.api(), self.raw());
        // SAFETY: the connection is open, and the texts end in NUL; each result is one of this statement
        // and cleared once.
        unsafe {
            if (api.send_query)(raw, sql.as_ptr()) == 0 {
                return Err(self.trouble());
            }
            let result = (api.get_result)(raw);
            if (api.result_status)(result) != COPY_IN {
                return self.end(self.changed(result));
            }
            (api.clear)(result);
            loop {
                let length = lines.read(buffer);
                if length == 0 {
                    break;
                }
                if (api.put_copy_data)(raw, buffer.as_ptr().cast(), length as c_int) != 1 {
                    return Err(self.trouble());
                }
            }
            if (api.put_copy_end)(raw, ptr::null()) != 1 {
                return Err(self.trouble());
            }
            self.end(self.changed((api.get_result)(raw)))
        }
    }

    /// Refuses columns whose values are no text.
    ///
    /// # Safety
    /// The result is one of this connection.
    unsafe fn check_types(&self, result: *const PgResult, columns: &[Column]) -> Result<()> {
        for (place, column) in (0..).zip(columns) {
            // SAFETY: as the caller promises; of a column that is not there the type is 0.
            let kind = unsafe { (self.api().ftype)(result, place) };
            ensure!(
                kind == 0 || TEXTS.contains(&kind),
                "the column {} is not stored as text: its type has the number {kind} in pg_type",
                column.name
            );
        }
        Ok(())
    }

    /// Hands over a row.
    ///
    /// # Safety
    /// The result is one of this connection and holds one row of these columns.
    unsafe fn visit(&self, result: *const PgResult, columns: &[Column], visit: &mut Visit) -> Result<()> {
        let api = self.api();
        let mut cells = Vec::with_capacity(columns.len());
        for (place, column) in (0..).zip(columns) {
            // SAFETY: as the caller promises.
            unsafe {
                if (api.getisnull)(result, 0, place) != 0 {
                    bail!("a cell of the column {} is NULL", column.name);
                }
                let start = (api.getvalue)(result, 0, place).cast();
                cells.push(slice::from_raw_parts(start, (api.getlength)(result, 0, place) as usize));
            }
        }
        visit(&cells)
    }
}

/// libpq's pipeline mode, since PostgreSQL 14.
struct Pipeline<'a> {
    connection: &'a Connection,
    enter: unsafe extern "C" fn(*mut Conn) -> c_int,
    exit: unsafe extern "C" fn(*mut Conn) -> c_int,
    sync: unsafe extern "C" fn(*mut Conn) -> c_int,
}

impl<'a> Pipeline<'a> {
    fn of(connection: &'a Connection) -> Result<Pipeline<'a>> {
        let api = connection.api();
        match (api.enter_pipeline_mode, api.exit_pipeline_mode, api.pipeline_sync) {
            (Some(enter), Some(exit), Some(sync)) => Ok(Pipeline { connection, enter, exit, sync }),
            _ => bail!(
                "libpq {} has no pipeline mode: install that of PostgreSQL 14 or later",
                library::version(api)
            ),
        }
    }

    /// Sends the rows, each by a call, then reads their results. libpq takes in what the server answers
    /// meanwhile, so that neither waits for the other for ever.
    fn insert(&self, statement: &mut Statement, rows: Slice) -> Result<(), Failure> {
        let (api, raw) = (self.connection.api(), self.connection.raw());
        let done = |code: c_int| if code == 1 { Ok(()) } else { Err(self.connection.trouble()) };
        // SAFETY: the connection is open; there are as many values as parameters, each where its length
        // says it is, and libpq copies them; each result is one of this pipeline and cleared once.
        unsafe {
            done((self.enter)(raw))?;
            for row in rows.iter() {
                statement.bind(row);
                let Statement { name, values, lengths, formats, .. } = &*statement;
                let count = values.len() as c_int;
                let (values, lengths, formats) = (values.as_ptr(), lengths.as_ptr(), formats.as_ptr());
                let name = name.as_ptr();
                done((api.send_query_prepared)(raw, name, count, values, lengths, formats, TEXT_FORMAT))?;
            }
            done((self.sync)(raw))?;
            for place in 0..rows.len() {
                let outcome = self.connection.done((api.get_result)(raw), |_| ());
                self.connection.end(outcome).map_err(|error| Failure::at(place, error))?;
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
