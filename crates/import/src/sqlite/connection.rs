//! A SQLite database as an import wants it: it waits for others that have it locked, its values are texts, and its
//! errors say what people do about them.

use std::ffi::{CString, c_int};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, Result};
use dyno_client::sqlite::api::{BUSY, FULL, OK};
use dyno_client::sqlite::{self, Api, Interrupter, SqliteError, Statement};
use dyno_protocol::Value;

/// How long to wait for others that have the database locked.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection, closed when dropped.
pub struct Connection(sqlite::Connection);

impl Connection {
    /// Opens a file, making it where it is missing.
    pub fn open(api: &Arc<Api>, path: &Path) -> Result<Connection> {
        use std::os::unix::ffi::OsStrExt;
        let name = CString::new(path.as_os_str().as_bytes()).context("the path holds a zero byte")?;
        let connection = sqlite::Connection::open(api.clone(), &name).map_err(advise)?;
        connection.wait_for_locks(PATIENCE);
        Ok(Connection(connection))
    }

    /// The client.
    pub fn client(&self) -> &sqlite::Connection {
        &self.0
    }

    /// Executes a statement that returns nothing of interest.
    pub fn execute(&self, sql: &str) -> Result<()> {
        self.rows(sql).map(drop)
    }

    /// The rows of a query, each value as text.
    pub fn rows(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let sql = CString::new(sql).context("a name holds a zero byte")?;
        let rows = self.0.rows(&sql).map_err(advise)?;
        Ok(rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect())
    }

    /// The first value of a query's first row.
    pub fn value(&self, sql: &str) -> Result<Option<String>> {
        Ok(self.rows(sql)?.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
    }

    /// Prepares a statement.
    pub fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        let sql = CString::new(sql).context("a name holds a zero byte")?;
        Statement::new(&self.0, &sql).map_err(advise)
    }

    /// An error for a code that is not OK.
    pub fn check(&self, code: c_int) -> Result<()> {
        if code == OK { Ok(()) } else { Err(advise(self.0.error(code).into())) }
    }

    /// What can interrupt this connection from another thread.
    pub fn interrupter(&self) -> Interrupter {
        self.0.interrupter()
    }

    /// Closes the database.
    pub fn close(self) -> Result<()> {
        self.0.close().context("cannot close the database")
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Integer(number) => Some(number.to_string()),
        Value::Real(number) => Some(number.to_string()),
        Value::Text(text) => Some(text),
        Value::Blob { blob } => Some(blob),
    }
}

/// Says what happened, for codes that people meet.
fn advise(error: Error) -> Error {
    let code = error.downcast_ref().map(|error: &SqliteError| error.code & 0xff);
    error.context(match code {
        Some(BUSY) => "another program has the database locked; nothing was loaded",
        Some(FULL) => "the disk is full; nothing was loaded",
        _ => "SQLite refuses",
    })
}
