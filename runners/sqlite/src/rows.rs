//! The models `insert-rows`, `bulk-load` and `scan`, and reading tables back.
//!
//! SQLite has no command for loading: its manual's way is one prepared statement within a transaction.
//! The variant `multirow` puts many rows into each statement, which spares calls and costs bindings.

use anyhow::{Result, ensure};
use dyno_client::sqlite::api::{INTEGER, TEXT};
use dyno_client::sqlite::{Parameter, Statement, quoted};
use dyno_protocol::FieldKind;
use dyno_runner::{Answer, Extent, Failure, Import, Load, Rows, Scan, Visit, insert};

use crate::import::{self, Variant};
use crate::text::{PARAMETERS, ROWS, insert_text, names, text};
use crate::transactions::Transactions;
use crate::{Client, beside, floor, transfer};

impl Rows for Client {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        self.load(load, 1)
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        self.load(load, if self.opening.multirow { ROWS } else { 1 })
    }

    fn scan(&mut self, scan: &Scan, answer: &mut Answer) -> Result<()> {
        self.connection.execute(scan.sql, answer)
    }

    fn prepare_import(&mut self, import: &Import) -> Result<(), Failure> {
        if self.opening.variant == Variant::Floor { floor::prepare(self, import) } else { Ok(()) }
    }

    fn import(&mut self, import: &Import) -> Result<u64, Failure> {
        match self.opening.variant {
            Variant::Beside | Variant::Pages | Variant::PagesParallel => beside::import(self, import),
            Variant::Transfer => transfer::import(self, import),
            Variant::Floor => floor::import(self, import),
            variant => import::import(&self.connection, import, variant),
        }
    }

    fn read_rows(&mut self, table: &str, columns: &[(&str, FieldKind)], visit: &mut Visit) -> Result<()> {
        let list = names(columns.iter().map(|(name, _)| *name));
        let sql = text(format!("SELECT {list} FROM {}", quoted(table)))?;
        let mut query = Statement::new(&self.connection, &sql)?;
        let mut rows = query.query([])?;
        let mut row: Vec<Vec<u8>> = vec![Vec::new(); columns.len()];
        while rows.step()? {
            for ((place, cell), (name, kind)) in (0..).zip(&mut row).zip(columns) {
                let (stored, words) = match kind {
                    FieldKind::Text => (TEXT, "text"),
                    FieldKind::Integer => (INTEGER, "a whole number"),
                };
                ensure!(rows.kind(place) == stored, "a value of the column {name} is not stored as {words}");
                cell.clear();
                // Asked for as bytes, a number is its decimals.
                cell.extend_from_slice(rows.column(place));
            }
            visit(&row.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

impl Client {
    /// Inserts by statements of `together` rows each, and what is left of a transaction by statements of fewer.
    fn load(&mut self, load: &Load, together: usize) -> Result<u64, Failure> {
        let connection = &self.connection;
        let before = connection.total_changes();
        let extent = Extent::from(load);
        let most = together.min(PARAMETERS / load.columns.len()) as u64;
        let group = most.min(extent.transaction()).max(1);
        let extent = Extent { each: group, ..extent };
        let prepare =
            |rows| Statement::new(connection, &insert_text(load.table, load.names(), rows as usize)?);
        insert(Transactions::new(connection)?, extent, group, prepare, |statement, rows| {
            // Found by a multiplication each: an iterator over chunks divides when it begins, for every statement.
            let cells = rows.flat_map(|row| load.cells(load.rows.get(row)));
            Ok(statement.run(cells.map(Parameter::Text))?)
        })?;
        Ok(connection.total_changes() - before)
    }
}
