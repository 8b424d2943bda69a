//! Rows into a table and out of it: the models `insert-rows`, `bulk-load` and `scan`.

use std::pin::pin;

use anyhow::Result;
use bytes::Bytes;
use dyno_protocol::{FieldKind, RowCollector};
use dyno_runner::mix::Value as Cell;
use dyno_runner::server::{Client, Lines};
use dyno_runner::{
    ANY_ROWS, Answer, Extent, Failure, Load, Rows, Scan, Visit, column_list, in_transactions, insert,
    insert_text,
};
use dyno_runner_crates::texts;
use futures_util::future::try_join_all;
use futures_util::{SinkExt, StreamExt};
use tokio_postgres::Statement;

use crate::values::{Parameter, read};
use crate::{Session, said};

/// Rows whose answers are awaited together in a pipeline.
const PIPELINE: u64 = 1000;
/// Bytes handed to the library at once in a COPY.
const BUFFER: usize = 1 << 16;

/// The ways of loading rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// COPY FROM STDIN by `copy_in`.
    Copy,
    /// Prepared inserts whose futures are polled together, which makes the library send them in a pipeline.
    Pipeline,
    /// Prepared inserts, one by one.
    Insert,
}

impl Variant {
    /// The names of the variants, the usual one first.
    pub const ALL: [(&str, Variant); 3] =
        [("copy", Variant::Copy), ("pipeline", Variant::Pipeline), ("insert", Variant::Insert)];
}

impl Rows for Session {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        let prepare = |_| self.prepare_insert(load);
        insert(&*self, load.into(), 1, prepare, |statement, rows| {
            let cells = self.cells(load, rows.start);
            self.runtime.block_on(self.client.execute_raw(&*statement, cells)).map_err(said)?;
            Ok(())
        })
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        match self.variant {
            Variant::Copy => self.copy(load),
            Variant::Pipeline => self.pipeline(load),
            Variant::Insert => self.insert_rows(load),
        }
    }

    fn scan(&mut self, scan: &Scan, answer: &mut Answer) -> Result<()> {
        Client::execute(self, scan.sql, answer).map(drop)
    }

    fn read_rows(&mut self, table: &str, columns: &[(&str, FieldKind)], visit: &mut Visit) -> Result<()> {
        let names = column_list(columns.iter().map(|(name, _)| *name));
        let sql = format!("SELECT {names} FROM {table}");
        self.runtime.block_on(async {
            let none: [Parameter; 0] = [];
            let mut rows = pin!(self.client.query_raw(&sql, none).await.map_err(said)?);
            while let Some(row) = rows.next().await {
                let (row, mut collector) = (row.map_err(said)?, RowCollector::default());
                (0..columns.len()).try_for_each(|column| read(&row, column, &mut collector))?;
                dyno_protocol::Sink::end_row(&mut collector);
                let texts = texts(&collector.rows[0], columns)?;
                visit(&texts.iter().map(String::as_bytes).collect::<Vec<_>>())?;
            }
            Ok(())
        })
    }
}

impl Session {
    fn prepare_insert(&self, load: &Load) -> Result<Statement> {
        let sql = insert_text(load.table, load.names(), 1, |number| format!("${number}"));
        self.runtime.block_on(self.client.prepare(&sql)).map_err(said)
    }

    /// The cells of a row as parameters.
    fn cells<'a>(&self, load: &'a Load, row: u64) -> impl ExactSizeIterator<Item = Parameter<'a>> + use<'a> {
        let cells: Vec<_> = load.cells(load.rows.get(row)).map(|cell| Parameter(Cell::Text(cell))).collect();
        cells.into_iter()
    }

    fn pipeline(&self, load: &Load) -> Result<u64, Failure> {
        let statement = self.prepare_insert(load)?;
        in_transactions(self, load.into(), |rows| {
            let mut start = rows.start;
            while start < rows.end {
                let stop = start + load.turns.take_calls(rows.end - start, PIPELINE)?;
                while start < stop {
                    let end = stop.min(start + PIPELINE);
                    let inserts =
                        (start..end).map(|row| self.client.execute_raw(&statement, self.cells(load, row)));
                    self.runtime.block_on(try_join_all(inserts)).map_err(said)?;
                    start = end;
                }
            }
            Ok(rows.end - rows.start)
        })
    }

    fn copy(&self, load: &Load) -> Result<u64, Failure> {
        let sql = format!("COPY {} ({}) FROM STDIN", load.table, column_list(load.names()));
        let statement = self.runtime.block_on(self.client.prepare(&sql)).map_err(said)?;
        // `finish` does not wait for the end of a transaction; but the server sends what `finish` reads when it has committed.
        // An error of the commit itself comes after that and is not reported here: the check after the load finds that rows
        // are missing.
        let extent = Extent { each: ANY_ROWS, ..load.into() };
        in_transactions(self, extent, |rows| {
            let mut lines = Lines::new(load, load.rows.slice(rows));
            let copied = self.runtime.block_on(async {
                let mut sink = pin!(self.client.copy_in::<_, Bytes>(&statement).await?);
                let mut buffer = vec![0; BUFFER];
                loop {
                    match lines.read(&mut buffer) {
                        0 => return sink.finish().await,
                        length => sink.send(Bytes::copy_from_slice(&buffer[..length])).await?,
                    }
                }
            });
            Ok(copied.map_err(said)?)
        })
    }
}
