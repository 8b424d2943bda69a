//! A client's connection.

use std::cell::RefCell;
use std::ffi::CStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, Result, bail};
use dyno_protocol::{RowCollector, Sink, Value};
use dyno_runner::server::Client;
use dyno_runner::{Answer, JobSql};
use dyno_runner_crates::sqlite::Opening;
use futures_util::StreamExt;
use sqlx::{AssertSqlSafe, Connection, Either, Execute};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::flavour::{Flavour, Options};
use crate::variant::Variant;

/// A client's connection, and the runtime that works for it.
pub struct Session<D: Flavour> {
    /// The runtime, of the current thread.
    pub runtime: Runtime,
    /// None while the database is left alone.
    connection: RefCell<Option<D::Connection>>,
    options: Options<D>,
    /// The way of loading rows.
    pub variant: Variant,
    /// Where there is no server: the settings of the database.
    pub opening: Option<Arc<Opening>>,
}

impl<D: Flavour> Session<D> {
    /// Connects.
    ///
    /// # Errors
    /// There is no connection to be had.
    pub fn new(options: Options<D>, patience: Option<Duration>, variant: Variant) -> Result<Session<D>> {
        let runtime = Builder::new_current_thread().enable_all().build().context("cannot make a runtime")?;
        let connection = runtime.block_on(async {
            let connecting = D::Connection::connect_with(&options);
            let Some(patience) = patience else { return connecting.await.map_err(D::said) };
            match timeout(patience, connecting).await {
                Ok(connected) => connected.map_err(D::said),
                Err(_) => bail!("no answer came within {} s", patience.as_secs()),
            }
        })?;
        let connection = RefCell::new(Some(connection));
        Ok(Session { runtime, connection, options, variant, opening: None })
    }

    /// The same connection with settings, which are those of a database without a server.
    pub fn with(self, opening: &Arc<Opening>) -> Result<Session<D>> {
        let session = Session { opening: Some(opening.clone()), ..self };
        opening.settings.apply(&session)?;
        Ok(session)
    }

    /// Closes the connection, and leaves the database alone until it is opened again.
    ///
    /// # Errors
    /// The database reports one.
    pub fn disconnect(&self) -> Result<()> {
        match self.connection.borrow_mut().take() {
            Some(connection) => self.runtime.block_on(connection.close()).map_err(D::said),
            None => Ok(()),
        }
    }

    /// Opens the connection again.
    ///
    /// # Errors
    /// There is no connection to be had.
    pub fn reconnect(&self) -> Result<()> {
        let connected = self.runtime.block_on(D::Connection::connect_with(&self.options));
        self.connection.replace(Some(connected.map_err(D::said)?));
        Ok(())
    }

    /// Does something with the connection.
    pub fn with_connection<T>(&self, what: impl AsyncFnOnce(&mut D::Connection) -> Result<T>) -> Result<T> {
        let mut connection = self.connection.borrow_mut();
        let connection = connection.as_mut().context("the connection is closed: this is an error in dyno")?;
        self.runtime.block_on(what(connection))
    }

    /// Executes a statement and reads every value of every row. Returns how many rows it changed.
    #[inline]
    pub fn fetch<'q, E: 'q + Execute<'q, D>, S: Sink>(&self, what: E, sink: &mut S) -> Result<u64> {
        self.with_connection(async |connection| {
            let mut steps = D::execute(connection, what);
            let (mut changed, mut fetched) = (0, false);
            while let Some(step) = steps.next().await {
                match step.map_err(D::said)? {
                    Either::Left(outcome) => changed += D::changed(&outcome),
                    Either::Right(row) => {
                        D::read(&row, sink)?;
                        sink.end_row();
                        fetched = true;
                    }
                }
            }
            Ok(if fetched { 0 } else { changed })
        })
    }

    /// Executes a text as it is: not prepared, and by PostgreSQL's simple protocol.
    #[inline]
    pub fn text<S: Sink>(&self, sql: &str, sink: &mut S) -> Result<u64> {
        self.fetch(sqlx::raw_sql(AssertSqlSafe(sql)), sink)
    }

    /// Executes a text that returns no rows, such as BEGIN: what `begin` and `commit` of sqlx send.
    pub fn command(&self, sql: &'static str) -> Result<()> {
        self.fetch(sqlx::raw_sql(sql), &mut Answer::new()).map(drop)
    }
}

impl<D: Flavour> Client for Session<D> {
    fn execute(&self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        self.text(sql.to_str()?, answer)
    }
}

impl<D: Flavour> JobSql for Session<D> {
    fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>> {
        let mut collector = RowCollector::default();
        self.text(sql, &mut collector)?;
        Ok(collector.rows)
    }

    fn code(error: &Error) -> Option<String> {
        D::code(error)
    }
}
