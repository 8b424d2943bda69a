//! Rows into a table and out of it: the models `insert-rows`, `bulk-load` and `scan`.

use std::pin::pin;

use anyhow::{Result, ensure};
use bytes::Bytes;
use dyno_protocol::FieldKind;
use dyno_runner::server::{Client, Lines};
use dyno_runner::{
    ANY_ROWS, Answer, Extent, Failure, Load, Rows, Scan, Visit, column_list, in_transactions, insert,
    insert_text, rows_per_statement,
};
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream::poll_fn;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params, Statement, Value};
use tokio::sync::mpsc::channel;

use crate::{Session, said};

/// Bytes handed to the library at once in a LOAD DATA.
const BUFFER: usize = 1 << 16;

/// The ways of loading rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// LOAD DATA LOCAL INFILE by a handler of the connection.
    LoadData,
    /// `exec_batch`, which sends many rows at once where the server is MariaDB.
    Batch,
    /// Prepared inserts of many rows each.
    MultiRow,
    /// Prepared inserts, one by one.
    Insert,
}

impl Variant {
    /// The names of the variants, the usual one first.
    pub const ALL: [(&str, Variant); 4] = [
        ("load-data", Variant::LoadData),
        ("batch", Variant::Batch),
        ("multirow", Variant::MultiRow),
        ("insert", Variant::Insert),
    ];
}

impl Rows for Session {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        self.insert(load, 1)
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        match self.variant {
            Variant::LoadData => self.load_data(load),
            Variant::Batch => self.batch(load),
            Variant::MultiRow => self.insert(load, together(load)),
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

/// The number of rows in one call for many.
fn together(load: &Load) -> u64 {
    rows_per_statement(load.into(), load.columns.len())
}

/// The cells of some rows as parameters.
fn cells(load: &Load, rows: impl Iterator<Item = u64>) -> Params {
    let cells = rows.flat_map(|row| load.cells(load.rows.get(row)));
    Params::Positional(cells.map(|cell| Value::Bytes(cell.to_vec())).collect())
}

/// An error if the server took the rows and yet found fault with them: it may have put other values in their place.
fn check_warnings(connection: &Conn) -> Result<()> {
    let count = connection.get_warnings();
    ensure!(
        count == 0,
        "the server took the rows with {count} warnings, so it does not hold what it was sent"
    );
    Ok(())
}

impl Session {
    fn prepare_insert(&self, load: &Load, rows: u64) -> Result<Statement> {
        let sql = insert_text(load.table, load.names(), rows, |_| "?".to_owned());
        self.with_connection(async |connection| connection.prep(sql).await.map_err(said))
    }

    /// Prepared inserts of this number of rows each.
    fn insert(&self, load: &Load, group: u64) -> Result<u64, Failure> {
        let prepare = |rows| self.prepare_insert(load, rows);
        let extent = Extent { each: group, ..load.into() };
        insert(self, extent, group, prepare, |statement, rows| {
            Ok(self.with_connection(async |connection| {
                connection.exec_drop(&*statement, cells(load, rows)).await.map_err(said)?;
                check_warnings(connection)
            })?)
        })
    }

    /// One prepared insert, handed over with many rows at once.
    fn batch(&self, load: &Load) -> Result<u64, Failure> {
        let statement = self.prepare_insert(load, 1)?;
        insert(self, load.into(), together(load), |_| Ok(()), |(), rows| {
            let all: Vec<Params> = rows.map(|row| cells(load, [row].into_iter())).collect();
            Ok(self.with_connection(async |connection| {
                connection.exec_batch(&statement, all).await.map_err(said)?;
                check_warnings(connection)
            })?)
        })
    }

    /// LOAD DATA LOCAL INFILE of lines that are made of the rows while the library sends them.
    fn load_data(&self, load: &Load) -> Result<u64, Failure> {
        let sql = format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} CHARACTER SET utf8mb4 ({})",
            load.table,
            column_list(load.names())
        );
        let extent = Extent { each: ANY_ROWS, ..load.into() };
        in_transactions(self, extent, |rows| {
            let mut lines = Lines::new(load, load.rows.slice(rows));
            Ok(self.with_connection(async |connection| {
                let (send, mut receive) = channel::<Bytes>(2);
                connection.set_infile_handler(async move {
                    Ok(poll_fn(move |context| receive.poll_recv(context).map(|some| some.map(Ok))).boxed())
                });
                let lines = pin!(async move {
                    let mut buffer = vec![0; BUFFER];
                    loop {
                        let length = lines.read(&mut buffer);
                        let piece = Bytes::copy_from_slice(&buffer[..length]);
                        if length == 0 || send.send(piece).await.is_err() {
                            return;
                        }
                    }
                });
                let loaded = match select(connection.query_drop(&sql), lines).await {
                    Either::Left((loaded, _)) => loaded,
                    Either::Right(((), loading)) => loading.await,
                };
                loaded.map_err(said)?;
                check_warnings(connection)?;
                Ok(connection.affected_rows())
            })?)
        })
    }
}
