//! The models `insert-rows`, `bulk-load` and `scan`.
//!
//! SQLite has no loading of its own: its manual's way is one prepared statement within a transaction.
//! The variant `multirow` puts many rows into each statement, which spares calls and costs bindings.

use std::ops::Range;

use anyhow::{Result, bail};
use dyno_protocol::Column;
use dyno_runner::{Answer, Failure, Load, Rows, Scan, Visit};
use dyno_sqlite::api::TEXT;

use crate::Sqlite;
use crate::connection::Connection;
use crate::prepared::{Prepared, Transactions, quoted, text};

/// Rows in a statement of the variant `multirow`, where the limit on parameters allows.
const ROWS: usize = 50;
/// The most parameters that a statement has by default (`SQLITE_MAX_VARIABLE_NUMBER` before 3.32).
const PARAMETERS: usize = 999;

impl Rows for Sqlite {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        self.load(load, 1)
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        self.load(load, if self.multirow { ROWS } else { 1 })
    }

    fn scan(&mut self, scan: &Scan, answer: &mut Answer) -> Result<()> {
        self.connection.execute(scan.sql, answer)
    }

    fn read_rows(&mut self, table: &str, columns: &[Column], visit: &mut Visit) -> Result<()> {
        let sql = format!("SELECT {} FROM {}", names(columns), quoted(table));
        let query = Prepared::new(&self.connection, &text(sql)?)?;
        let mut row: Vec<Vec<u8>> = vec![Vec::new(); columns.len()];
        while query.next()? {
            for ((place, cell), column) in (0..).zip(&mut row).zip(columns) {
                if query.kind(place) != TEXT {
                    bail!("a value of the column {} is not stored as text", column.name);
                }
                cell.clear();
                cell.extend_from_slice(query.column(place));
            }
            visit(&row.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

impl Sqlite {
    /// Inserts by statements of `together` rows each, and what is left by statements of one.
    fn load(&mut self, load: &Load, together: usize) -> Result<u64, Failure> {
        let connection = &self.connection;
        let before = connection.total_changes();
        let together = together.min(PARAMETERS / load.columns.len()).max(1) as u64;
        let whole = load.rows.len() / together * together;
        let mut transactions = Transactions::new(connection, load.per_commit)?;
        insert(connection, load, 0..whole, together, &mut transactions)?;
        insert(connection, load, whole..load.rows.len(), 1, &mut transactions)?;
        transactions.finish()?;
        Ok(connection.total_changes() - before)
    }
}

/// Inserts a range of the rows, a multiple of `together`, by statements of so many rows.
fn insert(
    connection: &Connection,
    load: &Load,
    range: Range<u64>,
    together: u64,
    transactions: &mut Transactions,
) -> Result<(), Failure> {
    if range.is_empty() {
        return Ok(());
    }
    let statement = Prepared::new(connection, &text(sql(load, together as usize))?)?;
    let rows = load.rows.slice(range.clone());
    for (group, first) in rows.groups(together).zip(range.step_by(together as usize)) {
        let mut operation = || {
            let cells = group.iter().flat_map(|row| load.cells(row));
            for (place, cell) in (1..).zip(cells) {
                statement.bind_text(place, cell)?;
            }
            transactions.before()?;
            statement.execute()?;
            transactions.after(group.len())
        };
        operation().map_err(|error| Failure::at(first, error))?;
    }
    Ok(())
}

fn sql(load: &Load, rows: usize) -> String {
    let row = format!("({})", vec!["?"; load.columns.len()].join(","));
    format!("INSERT INTO {}({}) VALUES{}", quoted(load.table), names(load.columns), vec![row; rows].join(","))
}

fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| quoted(&column.name)).collect::<Vec<_>>().join(",")
}
