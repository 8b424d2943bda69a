//! Rows out of a query, and into a table by a prepared INSERT: rusqlite has no other way of loading.

use anyhow::{Result, bail};
use dyno_protocol::{FieldKind, Sink};
use dyno_runner::{
    Answer, Failure, Load, Rows, Scan, TransactionControl, Visit, column_list, insert, insert_text,
};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, params_from_iter};

use crate::{Client, said};

/// A parameter that is not copied.
pub struct Parameter<'a>(pub ValueRef<'a>);

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(self.0))
    }
}

/// Executes a statement with parameters, and reads every value of every row.
pub fn fetch<'p, S: Sink>(
    statement: &mut Statement,
    parameters: impl Iterator<Item = Parameter<'p>>,
    sink: &mut S,
) -> Result<()> {
    let columns = statement.column_count();
    let mut rows = statement.query(params_from_iter(parameters)).map_err(said)?;
    while let Some(row) = rows.next().map_err(said)? {
        for column in 0..columns {
            match row.get_ref(column).map_err(said)? {
                ValueRef::Null => sink.null(),
                ValueRef::Integer(number) => sink.integer(number),
                ValueRef::Real(number) => sink.real(number),
                ValueRef::Text(text) => sink.text(text),
                ValueRef::Blob(bytes) => sink.blob(bytes),
            }
        }
        sink.end_row();
    }
    Ok(())
}

/// Prepares a statement, executes it once and reads its rows.
pub fn execute<S: Sink>(connection: &Connection, sql: &str, sink: &mut S) -> Result<()> {
    fetch(&mut connection.prepare(sql).map_err(said)?, [].into_iter(), sink)
}

impl TransactionControl for &Client {
    fn begin(&mut self) -> Result<()> {
        self.connection.execute("BEGIN", []).map_err(said).map(drop)
    }

    fn commit(&mut self) -> Result<()> {
        self.connection.execute("COMMIT", []).map_err(said).map(drop)
    }
}

impl Rows for Client {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        let client = &*self;
        let prepare = |rows| {
            let sql = insert_text(load.table, load.names(), rows, |number| format!("?{number}"));
            client.connection.prepare(&sql).map_err(said)
        };
        insert(client, load.into(), 1, prepare, |statement, rows| {
            let cells = rows.flat_map(|row| load.cells(load.rows.get(row)));
            let cells = params_from_iter(cells.map(|cell| Parameter(ValueRef::Text(cell))));
            statement.execute(cells).map_err(said)?;
            Ok(())
        })
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        self.insert_rows(load)
    }

    fn scan(&mut self, scan: &Scan, answer: &mut Answer) -> Result<()> {
        execute(&self.connection, scan.sql.to_str()?, answer)
    }

    fn read_rows(&mut self, table: &str, columns: &[(&str, FieldKind)], visit: &mut Visit) -> Result<()> {
        let names = column_list(columns.iter().map(|(name, _)| *name));
        let mut query = self.connection.prepare(&format!("SELECT {names} FROM {table}")).map_err(said)?;
        let mut rows = query.query([]).map_err(said)?;
        let mut cells: Vec<Vec<u8>> = vec![Vec::new(); columns.len()];
        while let Some(row) = rows.next().map_err(said)? {
            for (place, (cell, (name, kind))) in cells.iter_mut().zip(columns).enumerate() {
                cell.clear();
                match (row.get_ref(place).map_err(said)?, kind) {
                    (ValueRef::Text(text), FieldKind::Text) => cell.extend_from_slice(text),
                    (ValueRef::Integer(number), FieldKind::Integer) => {
                        cell.extend_from_slice(number.to_string().as_bytes());
                    }
                    _ => bail!("a value of the column {name} is stored as another type"),
                }
            }
            visit(&cells.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}
