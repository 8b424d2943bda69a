//! The runner for tokio-postgres. <https://docs.rs/tokio-postgres>
//!
//! Each session has a runtime of the current thread, which works while a call waits: what a client does is done by its
//! thread alone, and no other thread wakes up for it.

mod mix;
mod parameter_types;
mod rows;
mod values;

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::iter::empty;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Error, Result, ensure};
use dyno_protocol::{Build, Hello, Job, MixWork, PROTOCOL, RowCollector, Secret, Server, Sink, Value};
use dyno_runner::server::{Access, Client, Scratch};
use dyno_runner::{Answer, JobSql, NoStore};
use dyno_runner_crates::postgres;
use futures_util::StreamExt;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::Type;
use tokio_postgres::{Config, NoTls, RowStream, Statement};

use mix::Statements;
use parameter_types::ParameterTypes;
use rows::Variant;
use values::{Parameter, read};

/// The error of a call: the server's own words and code where it has some.
fn said(error: tokio_postgres::Error) -> Error {
    match error.as_db_error() {
        Some(server) => postgres::server_error(
            server.code().code(),
            [Some(server.message()), server.detail(), server.hint()],
        ),
        None if error.is_closed() || is_io(&error) => postgres::lost(error),
        None => Error::from(error),
    }
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(|cause| cause.is::<std::io::Error>())
}

/// A server as tokio-postgres reaches it.
struct Postgres {
    server: Server,
    config: Config,
    variant: Variant,
    types: Arc<ParameterTypes>,
}

/// A connection, and the runtime that works for it.
pub struct Session {
    runtime: Runtime,
    client: tokio_postgres::Client,
    variant: Variant,
    /// The types of parameters of statements that are not prepared.
    types: Arc<ParameterTypes>,
}

impl Access for Postgres {
    type Session = Session;

    fn new(job: &Job, server: &Server) -> Result<Postgres> {
        dyno_runner::expect(job, "postgres", &["tokio-postgres"])?;
        ensure!(job.build != Build::Bundled, "PostgreSQL is a server and has no bundled build");
        let variant = dyno_runner::variant(job, &Variant::ALL)?;
        Ok(Postgres { server: server.clone(), config: config(server)?, variant, types: Arc::default() })
    }

    fn connect(&self) -> Result<Session> {
        self.connect_to(self.server.database.as_deref())
    }

    fn connect_to(&self, database: Option<&str>) -> Result<Session> {
        let database = database.unwrap_or(&self.server.user);
        let mut config = self.config.clone();
        config.dbname(database);
        let runtime = Builder::new_current_thread().enable_all().build().context("cannot make a runtime")?;
        let connected = runtime.block_on(config.connect(NoTls));
        let (client, connection) = connected.map_err(said).with_context(|| {
            format!("cannot connect to the database '{database}' of {}", self.server.host)
        })?;
        // The call that finds the connection ended reports the reason.
        runtime.spawn(async move { connection.await.ok() });
        Ok(Session { runtime, client, variant: self.variant, types: self.types.clone() })
    }

    fn hello(&self, _: &Session) -> Hello {
        Hello {
            protocol: PROTOCOL,
            runner: concat!("tokio-postgres ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: String::new(),
            driver_version: concat!("tokio-postgres ", env!("DYNO_TOKIO_POSTGRES")).to_owned(),
            build: BTreeMap::from([("encryption".to_owned(), vec!["none".to_owned()])]),
            settings: Vec::new(),
            read_back: Vec::new(),
        }
    }
}

/// The part of a connection's options that is the same for all databases of a server.
fn config(server: &Server) -> Result<Config> {
    let (patience, application) = postgres::options("tokio-postgres", &server.options)?;
    let mut config = Config::new();
    config.host(&server.host).user(&server.user).application_name(application);
    patience.map(|patience| config.connect_timeout(patience));
    server.port.map(|port| config.port(port));
    server.password.as_ref().map(Secret::reveal).map(|password| config.password(password));
    Ok(config)
}

/// Reads every value of every row. Returns how many rows the statement changed.
async fn drain<S: Sink>(rows: RowStream, sink: &mut S) -> Result<u64> {
    let mut rows = pin!(rows);
    let mut fetched = false;
    while let Some(row) = rows.next().await {
        let row = row.map_err(said)?;
        fetched = true;
        for column in 0..row.len() {
            read(&row, column, sink)?;
        }
        sink.end_row();
    }
    let changed = rows.rows_affected().unwrap_or(0);
    Ok(if fetched { 0 } else { changed })
}

impl Session {
    /// Executes a prepared statement with values for its parameters.
    fn fetch<'p, S: Sink>(
        &self,
        statement: &Statement,
        parameters: impl ExactSizeIterator<Item = Parameter<'p>>,
        sink: &mut S,
    ) -> Result<u64> {
        self.runtime.block_on(async {
            drain(self.client.query_raw(statement, parameters).await.map_err(said)?, sink).await
        })
    }

    /// Executes a text with values of these types for its parameters. The server parses and executes it in one round
    /// trip; without the types the library would prepare it, execute it and close it.
    fn text<'p, S: Sink>(
        &self,
        sql: &str,
        parameters: impl Iterator<Item = (Parameter<'p>, Type)>,
        sink: &mut S,
    ) -> Result<u64> {
        self.runtime.block_on(async {
            drain(self.client.query_typed_raw(sql, parameters).await.map_err(said)?, sink).await
        })
    }
}

impl Client for Session {
    fn execute(&self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        self.text(sql.to_str()?, empty(), answer)
    }

    /// By the simple protocol, which prepares nothing.
    fn command(&self, sql: &CStr) -> Result<()> {
        self.runtime.block_on(self.client.batch_execute(sql.to_str()?)).map_err(said)
    }
}

impl JobSql for Session {
    fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>> {
        let mut collector = RowCollector::default();
        self.text(sql, empty(), &mut collector)?;
        Ok(collector.rows)
    }

    fn code(error: &Error) -> Option<String> {
        postgres::code(error).map(str::to_owned)
    }
}

impl dyno_runner::Session for Session {
    type Store<'s> = NoStore;
    type Prepared<'s> = Statements<'s>;

    fn prepare(&mut self, mix: &MixWork) -> Result<Statements<'_>> {
        Statements::prepare(self, mix)
    }

    fn execute(&mut self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        Client::execute(self, sql, answer)
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Scratch<Postgres>>()
}
