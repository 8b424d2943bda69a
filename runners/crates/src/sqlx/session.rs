//! A client's connection, and a server.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, Result, bail, ensure};
use dyno_protocol::{Build, Hello, Job, MixWork, PROTOCOL, RowCollector, Sink, Value};
use dyno_runner::server::{Access, Client};
use dyno_runner::{Answer, JobSql, NoStore};
use dyno_runner_crates::sqlite::Opening;
use futures_util::StreamExt;
use sqlx::{AssertSqlSafe, Connection, Either, Execute};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::VERSION;
use crate::flavour::{Flavour, Options, Remote};
use crate::mix::Statements;
use crate::rows::Variant;

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
    opening: Option<Arc<Opening>>,
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
}

impl<D: Flavour> Session<D> {
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

impl<D: Flavour> dyno_runner::Session for Session<D> {
    type Store<'s> = NoStore;
    type Prepared<'s> = Statements<'s, D>;

    fn prepare(&mut self, mix: &MixWork) -> Result<Statements<'_, D>> {
        Statements::prepare(self, mix)
    }

    fn execute(&mut self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        let changed = Client::execute(self, sql, answer)?;
        Ok(if self.opening.is_some() { 0 } else { changed })
    }

    /// SQLite counts them, and says the same number again after a statement that changes none.
    fn changes(&mut self) -> u64 {
        let Some(_) = self.opening else { return 0 };
        let counted = self.rows("SELECT total_changes()").unwrap_or_default();
        match counted.concat().as_slice() {
            [Value::Integer(count)] => *count as u64,
            _ => 0,
        }
    }

    /// The last connection that closes a file of SQLite copies the log into it, which is a part of what short sessions
    /// cost.
    fn step_aside(&mut self, meanwhile: &mut dyn FnMut()) -> Result<()> {
        let Some(opening) = self.opening.clone() else { return Ok(meanwhile()) };
        let connection = self.connection.borrow_mut().take();
        self.runtime.block_on(async {
            match connection {
                Some(connection) => connection.close().await.map_err(D::said),
                None => Ok(()),
            }
        })?;
        meanwhile();
        let connected = self.runtime.block_on(D::Connection::connect_with(&self.options));
        self.connection = RefCell::new(Some(connected.map_err(D::said)?));
        opening.settings.apply(self)
    }

    fn close(self) -> Result<()> {
        match self.connection.into_inner() {
            // A server that has gone does not matter any more.
            Some(connection) if self.opening.is_none() => {
                drop(self.runtime.block_on(connection.close()));
                Ok(())
            }
            Some(connection) => self.runtime.block_on(connection.close()).map_err(D::said),
            None => Ok(()),
        }
    }
}

/// A server as sqlx reaches it.
pub struct Server<D: Remote> {
    server: dyno_protocol::Server,
    options: Options<D>,
    patience: Option<Duration>,
    variant: Variant,
}

impl<D: Remote> Access for Server<D>
where
    Options<D>: Sync,
{
    type Session = Session<D>;

    fn new(job: &Job, server: &dyno_protocol::Server) -> Result<Server<D>> {
        dyno_runner::expect(job, D::SPEAKS, &["sqlx"])?;
        ensure!(job.build != Build::Bundled, "{} is a server and has no bundled build", job.engine);
        let variant = dyno_runner::variant(job, D::VARIANTS)?;
        let (options, patience) = D::options(server)?;
        Ok(Server { server: server.clone(), options, patience, variant })
    }

    fn connect(&self) -> Result<Session<D>> {
        self.connect_to(self.server.database.as_deref())
    }

    fn connect_to(&self, database: Option<&str>) -> Result<Session<D>> {
        let options = D::within(&self.options, &self.server, database);
        let connected = Session::new(options, self.patience, self.variant);
        connected.with_context(|| match database {
            Some(database) => format!("cannot connect to the database '{database}' of {}", self.server.host),
            None => format!("cannot connect to {}", self.server.host),
        })
    }

    fn hello(&self, _: &Session<D>) -> Hello {
        Hello {
            protocol: PROTOCOL,
            runner: concat!("sqlx ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: String::new(),
            driver_version: VERSION.to_owned(),
            build: BTreeMap::from([("encryption".to_owned(), vec!["none".to_owned()])]),
            settings: Vec::new(),
            read_back: Vec::new(),
        }
    }
}
