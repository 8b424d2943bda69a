//! Rows into a table and back: the models `insert-rows`, `bulk-load` and `scan`.

use std::ffi::{CString, c_uint, c_ulong, c_void};
use std::{ptr, slice};

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use dyno_protocol::Column;
use dyno_runner::server::{Lines, column_list, in_transactions, insert, insert_text, rows_per_statement};
use dyno_runner::{Answer, Failure, Load, Rows, Scan, Slice, Visit};

use crate::api::{ATTR_ARRAY_SIZE, Bind, Res, STRING};
use crate::connection::{Connection, ServerError};
use crate::infile;
use crate::statement::Statement;

/// How many rows are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// LOAD DATA LOCAL INFILE.
    LoadData,
    /// One prepared insert executed for many rows at once, which MariaDB's protocol has.
    Array,
    /// Prepared inserts of many rows each.
    MultiRow,
    /// Prepared inserts, one by one.
    Insert,
}

impl Way {
    /// The names of an engine's variants, the usual one first.
    pub fn all(engine: &str) -> &'static [(&'static str, Way)] {
        const ALL: [(&str, Way); 4] = [
            ("load-data", Way::LoadData),
            ("multirow", Way::MultiRow),
            ("insert", Way::Insert),
            ("array", Way::Array),
        ];
        if engine == "mariadb" { &ALL } else { &ALL[..3] }
    }
}

impl Rows for Connection {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        self.insert(load, 1)
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        match self.way {
            Way::LoadData => self.load_data(load),
            Way::Array => self.array(load),
            Way::MultiRow => self.insert(load, rows_per_statement(load)),
            Way::Insert => self.insert(load, 1),
        }
    }

    fn scan(&mut self, scan: &Scan, answer: &mut Answer) -> Result<()> {
        Statement::prepare(self, scan.sql.to_str()?)?.count(answer)
    }

    fn read_rows(&mut self, table: &str, columns: &[Column], visit: &mut Visit) -> Result<()> {
        let sql = format!("SELECT {} FROM {table}", column_list(columns));
        // SAFETY: the connection is open; text and length belong together; the result is freed once, which
        // reads to its end.
        unsafe {
            if (self.api().real_query)(self.raw(), sql.as_ptr().cast(), sql.len() as c_ulong) != 0 {
                return Err(self.error());
            }
            let result = (self.api().use_result)(self.raw());
            if result.is_null() {
                return Err(self.error());
            }
            let outcome = self.visit_all(result, columns, visit);
            (self.api().free_result)(result);
            outcome
        }
    }
}

/// A prepared INSERT of some rows, whose cells it takes from a place of its own.
struct RowInsert {
    statement: Statement,
    cells: Vec<u8>,
    /// What the statement is bound to.
    _lengths: Vec<c_ulong>,
}

impl RowInsert {
    fn prepare(connection: &Connection, load: &Load, rows: u64) -> Result<RowInsert> {
        let statement = Statement::prepare(connection, &insert_text(load, rows, |_| "?".to_owned()))?;
        let widths = load.columns.iter().map(|column| column.bytes);
        let lengths: Vec<c_ulong> = widths.cycle().take(rows as usize * load.columns.len()).collect();
        let cells: Vec<u8> = vec![0; rows as usize * load.rows.width()];
        let mut start = 0;
        let bind = |length: &c_ulong| {
            let cell = cells.as_ptr().wrapping_add(start);
            start += *length as usize;
            Bind::new(STRING, cell.cast(), length)
        };
        let mut binds: Vec<Bind> = lengths.iter().map(bind).collect();
        // SAFETY: there is one for each parameter; the cells and the lengths keep their places.
        unsafe { statement.bind(&mut binds)? };
        Ok(RowInsert { statement, cells, _lengths: lengths })
    }

    /// Inserts as many rows as it is for.
    #[inline]
    fn execute(&mut self, rows: &[u8]) -> Result<()> {
        self.cells.copy_from_slice(rows);
        // The library reads them through the pointers that it was given.
        std::hint::black_box(&mut self.cells);
        self.statement.execute()
    }
}

/// A prepared INSERT of one row, executed for many.
struct ArrayInsert {
    statement: Statement,
    /// Where each row's cell lies, column by column.
    cells: Vec<Vec<*const c_void>>,
    /// What the statement is bound to.
    _lengths: Vec<Vec<c_ulong>>,
}

impl ArrayInsert {
    fn prepare(connection: &Connection, load: &Load, rows: u64) -> Result<ArrayInsert> {
        let statement = Statement::prepare(connection, &insert_text(load, 1, |_| "?".to_owned()))?;
        let set = statement.set(ATTR_ARRAY_SIZE, rows as c_uint);
        set.context("the client library does not insert arrays: libmariadb does")?;
        let lengths: Vec<_> = load.columns.iter().map(|column| vec![column.bytes; rows as usize]).collect();
        let cells: Vec<_> = load.columns.iter().map(|_| vec![ptr::null(); rows as usize]).collect();
        let columns = cells.iter().zip(&lengths);
        let bind = |(cells, lengths): (&Vec<*const c_void>, &Vec<c_ulong>)| {
            Bind::new(STRING, cells.as_ptr().cast(), lengths.as_ptr())
        };
        let mut binds: Vec<Bind> = columns.map(bind).collect();
        // SAFETY: there is one for each parameter; the pointers and the lengths keep their places.
        unsafe { statement.bind(&mut binds)? };
        Ok(ArrayInsert { statement, cells, _lengths: lengths })
    }

    /// Inserts as many rows as it is for, from where they lie.
    fn execute(&mut self, load: &Load, rows: Slice) -> Result<()> {
        for (place, row) in rows.iter().enumerate() {
            let mut start = 0;
            for (cells, column) in self.cells.iter_mut().zip(load.columns) {
                cells[place] = row[start..].as_ptr().cast();
                start += column.bytes as usize;
            }
        }
        std::hint::black_box(&mut self.cells);
        self.statement.execute()
    }
}

impl Connection {
    /// Prepared inserts of so many rows each.
    fn insert(&self, load: &Load, group: u64) -> Result<u64, Failure> {
        let prepare = |connection: &Connection, rows| RowInsert::prepare(connection, load, rows);
        insert(self, load, group, prepare, |connection, statement, rows| {
            statement.execute(rows.bytes())?;
            Ok(connection.check_warnings()?)
        })
    }

    /// One prepared insert, for many rows at once.
    fn array(&self, load: &Load) -> Result<u64, Failure> {
        let prepare = |connection: &Connection, rows| ArrayInsert::prepare(connection, load, rows);
        insert(self, load, rows_per_statement(load), prepare, |connection, statement, rows| {
            statement.execute(load, rows)?;
            Ok(connection.check_warnings()?)
        })
    }

    /// LOAD DATA LOCAL INFILE. Because the server cannot stop a client that sends, it takes what does not fit
    /// with a warning, also in strict mode.
    fn load_data(&self, load: &Load) -> Result<u64, Failure> {
        let sql = format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} CHARACTER SET utf8mb4 ({})",
            load.table,
            column_list(load.columns)
        );
        let sql = CString::new(sql).map_err(Error::from)?;
        in_transactions(self, load, |rows| {
            let mut lines = Lines::new(load, rows);
            let loaded = infile::load(self, &sql, |buffer| Ok(lines.read(buffer))).map_err(explain)?;
            self.check_warnings()?;
            Ok(loaded)
        })
    }

    /// Hands over every row of a result.
    ///
    /// # Safety
    /// The result is one of this connection that is being read.
    unsafe fn visit_all(&self, result: *mut Res, columns: &[Column], visit: &mut Visit) -> Result<()> {
        let api = self.api();
        // SAFETY: as the caller promises; a row has as many values and lengths as there are columns, and
        // they are used before the next row is fetched.
        unsafe {
            let fields = slice::from_raw_parts((api.fetch_fields)(result), columns.len());
            for (field, column) in fields.iter().zip(columns) {
                ensure!(
                    field.is_text(),
                    "the column {} is not stored as text: its type has the number {} in the protocol",
                    column.name,
                    field.kind
                );
            }
            let mut cells = Vec::with_capacity(columns.len());
            loop {
                let row = (api.fetch_row)(result);
                if row.is_null() {
                    break;
                }
                let values = slice::from_raw_parts(row, columns.len());
                let lengths = slice::from_raw_parts((api.fetch_lengths)(result), columns.len());
                cells.clear();
                for ((value, length), column) in values.iter().zip(lengths).zip(columns) {
                    if value.is_null() {
                        bail!("a cell of the column {} is NULL", column.name);
                    }
                    cells.push(slice::from_raw_parts(value.cast::<u8>(), *length as usize));
                }
                visit(&cells)?;
            }
            // The end of the rows, or a failure on the way.
            if (api.errno)(self.raw()) == 0 { Ok(()) } else { Err(self.error()) }
        }
    }
}

fn explain(error: Error) -> Error {
    match error.downcast_ref::<ServerError>() {
        Some(refusal) if infile::REFUSED.contains(&refusal.number) => anyhow!(
            "the server refuses LOAD DATA LOCAL: {refusal}; let an administrator run SET GLOBAL local_infile = \
             ON, or load by another variant, as +multirow"
        ),
        _ => error,
    }
}
