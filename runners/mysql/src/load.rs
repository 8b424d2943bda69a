//! Rows into a table: the models `insert-rows`, `bulk-load` and `scan`.

use std::ffi::{c_uint, c_ulong, c_void};
use std::ptr;

use anyhow::{Context, Result};
use dyno_protocol::FieldKind;
use dyno_runner::server::{Lines, in_transactions, insert, insert_text, rows_per_statement};
use dyno_runner::{Answer, Failure, Import, Load, Rows, Scan, Slice, Visit};

use crate::api::{ATTR_ARRAY_SIZE, Bind, STRING};
use crate::connection::Connection;
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
    /// Inserts by a statement's text each.
    Text,
}

impl Way {
    /// The names of the variants, the usual one first.
    pub const ALL: [(&str, Way); 5] = [
        ("load-data", Way::LoadData),
        ("multirow", Way::MultiRow),
        ("insert", Way::Insert),
        ("text", Way::Text),
        ("array", Way::Array),
    ];
}

impl Rows for Connection {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        self.insert(load, 1)
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        match self.way {
            Way::LoadData => self.load_data(load),
            Way::Array => self.array(load),
            Way::MultiRow => self.insert(load, together(load)),
            Way::Insert => self.insert(load, 1),
            Way::Text => Err(Failure::unsupported("bulk-load by this variant")),
        }
    }

    fn scan(&mut self, scan: &Scan, answer: &mut Answer) -> Result<()> {
        Statement::prepare(self, scan.sql.to_str()?)?.count(answer)
    }

    fn read_rows(&mut self, table: &str, columns: &[(&str, FieldKind)], visit: &mut Visit) -> Result<()> {
        self.read(table, columns, visit)
    }

    fn import(&mut self, import: &Import) -> Result<u64, Failure> {
        self.import_file(import)
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
        let statement =
            Statement::prepare(connection, &insert_text(load.table, load.names(), rows, |_| "?".to_owned()))?;
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
        let statement =
            Statement::prepare(connection, &insert_text(load.table, load.names(), 1, |_| "?".to_owned()))?;
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
        let prepare = |rows| RowInsert::prepare(self, load, rows);
        insert(self, load.into(), group, prepare, |statement, rows| {
            statement.execute(load.rows.slice(rows).bytes())?;
            Ok(self.check_warnings()?)
        })
    }

    /// One prepared insert, for many rows at once.
    fn array(&self, load: &Load) -> Result<u64, Failure> {
        let prepare = |rows| ArrayInsert::prepare(self, load, rows);
        insert(self, load.into(), together(load), prepare, |statement, rows| {
            statement.execute(load, load.rows.slice(rows))?;
            Ok(self.check_warnings()?)
        })
    }

    /// LOAD DATA LOCAL INFILE of lines that are made of the rows.
    fn load_data(&self, load: &Load) -> Result<u64, Failure> {
        let sql = infile::load_text(load.table, "", load.names())?;
        in_transactions(self, load.into(), |rows| {
            let mut lines = Lines::new(load, load.rows.slice(rows));
            Ok(infile::load_rows(self, &sql, |buffer| Ok(lines.read(buffer)))?)
        })
    }
}

/// How many rows one statement of several takes.
fn together(load: &Load) -> u64 {
    rows_per_statement(load.into(), load.columns.len())
}
