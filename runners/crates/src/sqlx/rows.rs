//! Rows into a table and out of it: the models `insert-rows`, `bulk-load` and `scan`.

use anyhow::Result;
use dyno_protocol::{FieldKind, RowCollector};
use dyno_runner::mix::Value;
use dyno_runner::server::Client;
use dyno_runner::{
    ANY_ROWS, Answer, Extent, Failure, Load, Rows, Scan, Visit, in_transactions, insert, insert_text,
    rows_per_statement,
};
use sqlx::{AssertSqlSafe, SqlSafeStr};

use crate::flavour::Flavour;
use crate::session::Session;
use crate::variant::Variant;

impl<D: Flavour> Rows for Session<D> {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        self.insert(load, 1)
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        match self.variant {
            Variant::Own => self.copy(load),
            Variant::MultiRow => self.insert(load, rows_per_statement(load.into(), load.columns.len())),
            Variant::Insert => self.insert(load, 1),
        }
    }

    fn scan(&mut self, scan: &Scan, answer: &mut Answer) -> Result<()> {
        Client::execute(self, scan.sql, answer).map(drop)
    }

    fn read_rows(&mut self, table: &str, columns: &[(&str, FieldKind)], visit: &mut Visit) -> Result<()> {
        dyno_runner_crates::read_rows(self, table, columns, visit)
    }
}

impl<D: Flavour> Session<D> {
    /// Loads rows by the way that the database alone has.
    fn copy(&self, load: &Load) -> Result<u64, Failure> {
        let extent = Extent { each: ANY_ROWS, ..load.into() };
        in_transactions(self, extent, |rows| {
            Ok(self.with_connection(async |connection| D::copy(connection, load, rows).await)?)
        })
    }

    /// Inserts of this number of rows each, which sqlx keeps prepared.
    fn insert(&self, load: &Load, group: u64) -> Result<u64, Failure> {
        let text = |rows| {
            let sql = insert_text(load.table, load.names(), rows, D::placeholder);
            Ok(AssertSqlSafe(sql).into_sql_str())
        };
        let extent = Extent { each: group, ..load.into() };
        insert(self, extent, group, text, |sql, rows| {
            let mut arguments = D::Arguments::default();
            for cell in rows.flat_map(|row| load.cells(load.rows.get(row))) {
                D::add(&mut arguments, Value::Text(cell), None).map_err(D::said)?;
            }
            self.fetch(sqlx::query_with(sql.clone(), arguments), &mut RowCollector::default())?;
            Ok(())
        })
    }
}
