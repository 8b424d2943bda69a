//! Rows into a table: the models `insert-rows`, `bulk-load` and `scan`.

use anyhow::{Context, Result};
use dyno_client::mysql::{ArrayInsert, CellInsert, Statement, load_data};
use dyno_protocol::FieldKind;
use dyno_runner::server::Lines;
use dyno_runner::{
    ANY_ROWS, Answer, Extent, Failure, Import, Load, Rows, Scan, Visit, in_transactions, insert, insert_text,
    quote, rows_per_statement,
};

use crate::session::Session;
use crate::variant::Variant;

impl Rows for Session {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        self.insert(load, 1)
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        match self.variant {
            Variant::LoadData => self.load_data(load),
            Variant::Array => self.array(load),
            Variant::MultiRow => self.insert(load, together(load)),
            Variant::Insert => self.insert(load, 1),
            Variant::Text => Err(Failure::unsupported("bulk-load by this variant")),
        }
    }

    fn scan(&mut self, scan: &Scan, answer: &mut Answer) -> Result<()> {
        let sql = scan.sql.to_str()?;
        let statement = Statement::prepare(&self.connection, sql);
        statement.with_context(|| format!("cannot prepare {}", quote(sql)))?.count(answer)
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
        let prepare = |rows| {
            let sql = text(load, rows);
            let widths = widths(load).cycle().take(rows as usize * load.columns.len());
            let prepared = CellInsert::prepare(&self.connection, &sql, widths.collect());
            prepared.with_context(|| format!("cannot prepare {}", quote(&sql)))
        };
        let extent = Extent { each: group, ..load.into() };
        insert(self, extent, group, prepare, |statement, rows| {
            statement.execute(load.rows.slice(rows).bytes())?;
            Ok(self.connection.check_warnings()?)
        })
    }

    /// One prepared insert, for many rows at once.
    fn array(&self, load: &Load) -> Result<u64, Failure> {
        let prepare = |rows| {
            let sql = text(load, 1);
            let prepared = ArrayInsert::prepare(&self.connection, &sql, widths(load).collect(), rows);
            prepared.with_context(|| format!("cannot prepare {}", quote(&sql)))
        };
        insert(self, load.into(), together(load), prepare, |statement, rows| {
            statement.execute(load.rows.slice(rows).iter())?;
            Ok(self.connection.check_warnings()?)
        })
    }

    /// LOAD DATA LOCAL INFILE of lines that are made of the rows.
    fn load_data(&self, load: &Load) -> Result<u64, Failure> {
        let sql = load_data::load_text(load.table, "", load.names())?;
        let extent = Extent { each: ANY_ROWS, ..load.into() };
        in_transactions(self, extent, |rows| {
            let mut lines = Lines::new(load, load.rows.slice(rows));
            Ok(load_data::load_rows(&self.connection, &sql, |buffer| Ok(lines.read(buffer)))?)
        })
    }
}

/// The number of rows in one multi-row statement.
fn together(load: &Load) -> u64 {
    rows_per_statement(load.into(), load.columns.len())
}

/// A prepared INSERT's text.
fn text(load: &Load, rows: u64) -> String {
    insert_text(load.table, load.names(), rows, |_| "?".to_owned())
}

/// The widths of the cells of a row, in bytes.
fn widths(load: &Load) -> impl Iterator<Item = u64> + Clone {
    load.columns.iter().map(|column| column.bytes)
}
