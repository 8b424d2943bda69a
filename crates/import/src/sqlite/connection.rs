//! A SQLite database as an import wants it: it waits for others that have it locked, its values are texts, and its
//! errors say what people do about them.

use std::ffi::{CString, c_int};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, Result};
use dyno_client::sqlite::api::{BUSY, FULL, OK};
use dyno_client::sqlite::{self, Api, Interrupter, SqliteError, Statement};
use dyno_protocol::Value;

use super::locks;
use crate::error::Locked;
use crate::names::escaped;

/// A connection, closed when dropped.
pub struct Connection {
    client: sqlite::Connection,
    path: PathBuf,
    /// The time to wait for other programs that have the database locked.
    wait: Duration,
}

impl Connection {
    /// Opens a file that is there, by a path on which no link is. Of others that have it locked it waits for the end, but
    /// no longer than `wait`.
    pub fn open(api: &Arc<Api>, path: &Path, wait: Duration) -> Result<Connection> {
        use std::os::unix::ffi::OsStrExt;
        // An absolute path is never `:memory:` or a URI.
        let whole = std::path::absolute(path)?;
        let name = CString::new(whole.as_os_str().as_bytes()).context("the path holds a zero byte")?;
        let client = sqlite::Connection::open_unlinked(api.clone(), &name);
        let client = client.map_err(|error| advise(error, path, wait))?;
        client.wait_for_locks(wait);
        Ok(Connection { client, path: path.to_owned(), wait })
    }

    /// An empty database in memory.
    pub fn in_memory(api: &Arc<Api>) -> Result<Connection> {
        let client = sqlite::Connection::open(api.clone(), c":memory:")?;
        Ok(Connection { client, path: ":memory:".into(), wait: Duration::ZERO })
    }

    fn advise(&self, error: Error) -> Error {
        advise(error, &self.path, self.wait)
    }

    /// The client.
    pub fn client(&self) -> &sqlite::Connection {
        &self.client
    }

    /// The path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The time to wait for other programs that have the database locked.
    pub fn wait(&self) -> Duration {
        self.wait
    }

    /// Executes a statement that returns nothing of interest.
    pub fn execute(&self, sql: &str) -> Result<()> {
        self.rows(sql).map(drop)
    }

    /// The rows of a query, each value as text.
    pub fn rows(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let sql = CString::new(sql).context("a name holds a zero byte")?;
        let rows = self.client.rows(&sql).map_err(|error| self.advise(error))?;
        Ok(rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect())
    }

    /// The first value of a query's first row.
    pub fn value(&self, sql: &str) -> Result<Option<String>> {
        Ok(self.rows(sql)?.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
    }

    /// Prepares a statement.
    pub fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        let sql = CString::new(sql).context("a name holds a zero byte")?;
        Statement::new(&self.client, &sql).map_err(|error| self.advise(error))
    }

    /// An error for a code that is not OK.
    pub fn check(&self, code: c_int) -> Result<()> {
        if code == OK { Ok(()) } else { Err(self.advise(self.client.error(code).into())) }
    }

    /// A handle that can interrupt this connection from another thread.
    pub fn interrupter(&self) -> Interrupter {
        self.client.interrupter()
    }

    /// Closes the database.
    pub fn close(self) -> Result<()> {
        self.client.close().context("cannot close the database")
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
fn advise(error: Error, path: &Path, waited: Duration) -> Error {
    let code = error.downcast_ref().map(|error: &SqliteError| error.code & 0xff);
    match code {
        Some(BUSY) => error.context(Locked { what: escaped(path), by: locks::holders(path), waited }),
        Some(FULL) => error.context("the disk is full; nothing was loaded"),
        _ => error.context("SQLite refuses"),
    }
}
