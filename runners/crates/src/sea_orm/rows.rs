//! Rows into a table: the models `insert-rows` and `bulk-load`, by SeaORM's query builder.

use std::ops::Range;
use std::str::from_utf8;

use anyhow::Result;
use dyno_protocol::FieldKind;
use dyno_runner::{Extent, Failure, Load, Rows, Visit, insert, rows_per_statement};
use sea_orm::ConnectionTrait;
use sea_orm::sea_query::{Alias, Expr, InsertStatement, Query};

use crate::{Session, said};

/// The ways of loading rows, and of asking for the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Inserts of many rows each.
    MultiRow,
    /// Inserts of one row each.
    Insert,
    /// The same as the first, with a pool that does not ask the server before each use whether the connection is there.
    Untested,
}

impl Variant {
    /// The names of the variants, the usual one first.
    pub const ALL: [(&str, Variant); 3] =
        [("multirow", Variant::MultiRow), ("insert", Variant::Insert), ("untested", Variant::Untested)];
}

impl Rows for Session {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        self.insert(load, 1)
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        match self.variant {
            Variant::Insert => self.insert(load, 1),
            _ => self.insert(load, rows_per_statement(load.into(), load.columns.len())),
        }
    }

    fn read_rows(&mut self, table: &str, columns: &[(&str, FieldKind)], visit: &mut Visit) -> Result<()> {
        dyno_runner_crates::read_rows(self, table, columns, visit)
    }
}

impl Session {
    /// Inserts of this number of rows each, which are built each time.
    fn insert(&self, load: &Load, group: u64) -> Result<u64, Failure> {
        insert(
            self,
            Extent { each: group, ..load.into() },
            group,
            |_| Ok(()),
            |(), rows| {
                let built = built(load, rows)?;
                let transaction = self.transaction.borrow();
                let done = match &*transaction {
                    Some(open) => self.runtime.block_on(open.execute(&built)),
                    None => self.runtime.block_on(self.connection.execute(&built)),
                };
                done.map_err(said)?;
                Ok(())
            },
        )
    }
}

/// An INSERT of some rows.
fn built(load: &Load, rows: Range<u64>) -> Result<InsertStatement> {
    let mut statement = Query::insert();
    statement.into_table(Alias::new(load.table)).columns(load.names().map(Alias::new));
    for row in rows {
        let cells = load.cells(load.rows.get(row));
        let cells = cells.map(|cell| Ok(Expr::val(from_utf8(cell)?))).collect::<Result<Vec<_>>>()?;
        statement.values(cells)?;
    }
    Ok(statement)
}
