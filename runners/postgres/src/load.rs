//! Rows into a table: the models `insert-rows`, `bulk-load` and `scan`.

use std::ffi::CString;

use anyhow::{Context, Error, Result};
use dyno_client::postgres::{Pipeline, Statement, copy_in};
use dyno_protocol::FieldKind;
use dyno_runner::server::Lines;
use dyno_runner::{
    ANY_ROWS, Answer, Extent, Failure, Import, Load, Rows, Scan, Visit, column_list, in_transactions, insert,
    insert_text, quote, rows_per_statement,
};

use crate::session::Session;
use crate::variant::Variant;

/// Rows in a pipeline before their results are read.
pub const PIPELINE: u64 = 1000;

/// Bytes handed to libpq at once in a COPY.
const BUFFER: usize = 1 << 16;

impl Rows for Session {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        self.insert(load, 1)
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        match self.variant {
            Variant::Copy => self.copy(load),
            Variant::Pipeline => self.pipeline(load),
            Variant::MultiRow => self.insert(load, rows_per_statement(load.into(), load.columns.len())),
            Variant::Insert => self.insert(load, 1),
            Variant::Text | Variant::Freeze => Err(Failure::unsupported("bulk-load by this variant")),
        }
    }

    fn scan(&mut self, scan: &Scan, answer: &mut Answer) -> Result<()> {
        self.connection.query_prepared(scan.sql, answer)
    }

    fn read_rows(&mut self, table: &str, columns: &[(&str, FieldKind)], visit: &mut Visit) -> Result<()> {
        self.connection.read(table, columns, visit)
    }

    fn import(&mut self, import: &Import) -> Result<u64, Failure> {
        self.import_file(import)
    }
}

impl Session {
    /// Prepared inserts of this number of rows each.
    fn insert(&self, load: &Load, group: u64) -> Result<u64, Failure> {
        let extent = Extent { each: group, ..load.into() };
        insert(self, extent, group, self.preparer(load), |statement, rows| {
            let cells = load.rows.slice(rows);
            let cells = cells.iter().flat_map(|row| load.cells(row));
            cells.enumerate().for_each(|(place, cell)| statement.bind_text(place, cell));
            Ok(statement.execute(&self.connection)?)
        })
    }

    /// Prepared inserts, sent without waiting for the results of those before.
    fn pipeline<'a>(&self, load: &'a Load) -> Result<u64, Failure> {
        let pipeline = Pipeline::of(&self.connection)?;
        // One for each row, however many are left over.
        let mut prepared = self.preparer(load)(1)?;
        insert(
            self,
            load.into(),
            PIPELINE,
            |_| Ok(()),
            |(), rows| {
                let bind = |statement: &mut Statement<'a>, row| {
                    let cells = load.cells(load.rows.get(row)).enumerate();
                    cells.for_each(|(place, cell)| statement.bind_text(place, cell));
                    Ok(())
                };
                pipeline.execute(&mut prepared, rows, bind, Failure::at)
            },
        )
    }

    fn preparer<'a>(&self, load: &'a Load) -> impl Fn(u64) -> Result<Statement<'a>> {
        let columns = load.names().map(|name| (name, FieldKind::Text));
        move |rows| self.prepare_insert(load.table, columns.clone(), rows)
    }

    /// A prepared INSERT of this number of rows.
    pub fn prepare_insert<'a, 'v>(
        &self,
        table: &str,
        columns: impl ExactSizeIterator<Item = (&'a str, FieldKind)> + Clone,
        rows: u64,
    ) -> Result<Statement<'v>> {
        let names = columns.clone().map(|(name, _)| name);
        let sql = insert_text(table, names, rows, |number| format!("${number}"));
        let kinds: Vec<FieldKind> = columns.map(|(_, kind)| kind).collect();
        let prepared = Statement::prepare(&self.connection, &sql, &kinds.repeat(rows as usize));
        prepared.with_context(|| format!("cannot prepare {}", quote(&sql)))
    }

    /// COPY FROM STDIN, in text: the server reads its binary format no faster, and a column that is no text
    /// would take a cell's bytes for something else.
    fn copy(&self, load: &Load) -> Result<u64, Failure> {
        let sql = format!("COPY {} ({}) FROM STDIN", load.table, column_list(load.names()));
        let sql = CString::new(sql).map_err(Error::from)?;
        let mut buffer = vec![0; BUFFER];
        let extent = Extent { each: ANY_ROWS, ..load.into() };
        in_transactions(self, extent, |rows| {
            let mut lines = Lines::new(load, load.rows.slice(rows));
            let loaded = copy_in(&self.connection, &sql, |copy| {
                loop {
                    match lines.read(&mut buffer) {
                        0 => return Ok(()),
                        length => copy.put(&buffer[..length])?,
                    }
                }
            });
            Ok(loaded?)
        })
    }
}
