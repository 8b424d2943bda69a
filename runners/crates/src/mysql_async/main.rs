//! The runner for mysql_async. <https://docs.rs/mysql_async>
//!
//! A client has one connection and a runtime of the current thread, which works while a call waits. The connection has no
//! handler for LOCAL INFILE but while rows are loaded by it: a server that asks for a file at any other time gets none.

mod mix;
mod rows;
mod values;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Error, Result, bail, ensure};
use dyno_protocol::{Build, Hello, Job, MixWork, PROTOCOL, RowCollector, Secret, Server, Sink, Value};
use dyno_runner::server::{Access, Client, Scratch};
use dyno_runner::{Answer, JobSql, NoStore};
use dyno_runner_crates::{KEPT_STATEMENTS, mysql};
use mysql_async::prelude::{Protocol, Queryable};
use mysql_async::{Conn, Opts, OptsBuilder, QueryResult};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use mix::Statements;
use rows::Variant;

/// The error of a call: the server's own words and number where it has some.
fn said(error: mysql_async::Error) -> Error {
    match error {
        mysql_async::Error::Server(said) => mysql::server_error(said.code, &said.state, &said.message),
        mysql_async::Error::Io(_)
        | mysql_async::Error::Driver(mysql_async::DriverError::ConnectionClosed) => mysql::lost(error),
        // Others show the value that they are about.
        mysql_async::Error::Driver(mysql_async::DriverError::FromValue { .. }) => {
            anyhow::anyhow!("mysql_async cannot convert a value")
        }
        error => error.into(),
    }
}

/// A server as mysql_async reaches it.
struct MySql {
    server: Server,
    patience: Option<Duration>,
    variant: Variant,
}

/// A connection, and the runtime that works for it.
pub struct Session {
    runtime: Runtime,
    connection: RefCell<Conn>,
    variant: Variant,
}

impl Access for MySql {
    type Session = Session;

    fn new(job: &Job, server: &Server) -> Result<MySql> {
        dyno_runner::expect(job, "mysql", &["mysql_async"])?;
        ensure!(job.build != Build::Bundled, "{} is a server and has no bundled build", job.engine);
        let variant = dyno_runner::variant(job, &Variant::ALL)?;
        let patience = mysql::patience("mysql_async", &server.options)?;
        Ok(MySql { server: server.clone(), patience, variant })
    }

    fn connect(&self) -> Result<Session> {
        self.connect_to(self.server.database.as_deref())
    }

    fn connect_to(&self, database: Option<&str>) -> Result<Session> {
        let runtime = Builder::new_current_thread().enable_all().build().context("cannot make a runtime")?;
        let options = options(&self.server, database);
        let connected = runtime.block_on(async {
            let connecting = Conn::new(options);
            let Some(patience) = self.patience else { return connecting.await.map_err(said) };
            match timeout(patience, connecting).await {
                Ok(connected) => connected.map_err(said),
                Err(_) => bail!("no answer came within {} s", patience.as_secs()),
            }
        });
        let connection = connected.with_context(|| format!("cannot connect to {}", self.server.host))?;
        Ok(Session { runtime, connection: RefCell::new(connection), variant: self.variant })
    }

    fn hello(&self, _: &Session) -> Hello {
        Hello {
            protocol: PROTOCOL,
            runner: concat!("mysql_async ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: String::new(),
            driver_version: concat!("mysql_async ", env!("DYNO_MYSQL_ASYNC")).to_owned(),
            build: BTreeMap::from([("encryption".to_owned(), vec!["none".to_owned()])]),
            settings: Vec::new(),
            read_back: Vec::new(),
        }
    }
}

/// The options of a connection. Without them the library would ask a server of this machine for its socket and connect anew.
fn options(server: &Server, database: Option<&str>) -> Opts {
    let options = OptsBuilder::default().user(Some(&server.user)).db_name(database).prefer_socket(false);
    let options = options.pass(server.password.as_ref().map(Secret::reveal)).client_found_rows(true);
    let options = options.stmt_cache_size(KEPT_STATEMENTS);
    // The server's own choice of collation for it, which the library's is not.
    let options = options.setup(vec!["SET NAMES utf8mb4"]);
    match server.host.strip_prefix('/') {
        Some(_) => options.socket(Some(&server.host)),
        None => options.ip_or_hostname(&server.host).tcp_port(server.port.unwrap_or(mysql::PORT)),
    }
    .into()
}

/// Reads every value of every row of all results. Returns how many rows the statement changed.
async fn drain<P: Protocol, S: Sink>(mut result: QueryResult<'_, '_, P>, sink: &mut S) -> Result<u64> {
    let mut changed = 0;
    loop {
        if result.columns_ref().is_empty() {
            changed += result.affected_rows();
        }
        let mut read = Ok(());
        let each = result.for_each(|row| {
            if read.is_ok() {
                read = values::read(row, sink);
            }
        });
        each.await.map_err(said)?;
        read?;
        // A procedure that was called may have more than one result.
        if result.is_empty() {
            return Ok(changed);
        }
    }
}

impl Session {
    /// Does something with the connection.
    fn with_connection<T>(&self, what: impl AsyncFnOnce(&mut Conn) -> Result<T>) -> Result<T> {
        let mut connection = self.connection.borrow_mut();
        self.runtime.block_on(what(&mut connection))
    }

    /// Executes a text by the text protocol.
    fn text<S: Sink>(&self, sql: &[u8], sink: &mut S) -> Result<u64> {
        self.with_connection(async |connection| {
            drain(connection.query_iter(sql).await.map_err(said)?, sink).await
        })
    }
}

impl Client for Session {
    fn execute(&self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        self.text(sql.to_bytes(), answer)
    }
}

impl JobSql for Session {
    fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>> {
        let mut collector = RowCollector::default();
        self.text(sql.as_bytes(), &mut collector)?;
        Ok(collector.rows)
    }

    fn code(error: &Error) -> Option<String> {
        mysql::number(error).map(|number| number.to_string())
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

    /// A server that has gone does not matter any more.
    fn close(self) -> Result<()> {
        drop(self.runtime.block_on(self.connection.into_inner().disconnect()));
        Ok(())
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Scratch<MySql>>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_keeps_all_statements_and_has_the_collation_of_the_server() {
        let server = Server {
            host: "h".into(),
            port: None,
            user: "u".into(),
            password: None,
            database: None,
            options: BTreeMap::new(),
            process: None,
            further: Vec::new(),
            further_processes: Vec::new(),
        };
        let options = options(&server, None);
        assert_eq!(options.stmt_cache_size(), KEPT_STATEMENTS);
        assert_eq!(options.setup(), ["SET NAMES utf8mb4"]);
    }
}
