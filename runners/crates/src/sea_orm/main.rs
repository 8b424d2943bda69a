//! The runner for SeaORM above sqlx and PostgreSQL. <https://www.sea-ql.org/SeaORM/docs/index/>
//!
//! SeaORM connects by a pool of sqlx, which here has one connection: that of the client.

mod mix;
#[path = "../sqlx/pg.rs"]
mod pg;
mod rows;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Error, Result, ensure};
use dyno_protocol::{Build, Hello, Job, MixWork, PROTOCOL, RowCollector, Server, Sink, Value};
use dyno_runner::server::{Access, Client, Scratch};
use dyno_runner::{Answer, JobSql, NoStore};
use dyno_runner_crates::postgres;
use futures_util::StreamExt;
use sea_orm::{
    DatabaseConnection, DatabaseTransaction, DbErr, RuntimeErr, SqlxPostgresConnector, TransactionTrait,
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, Either, Executor};
use tokio::runtime::{Builder, Runtime};

use mix::Statements;
use rows::Variant;

/// The error of a call: the server's own words and code where it has some.
fn said(error: DbErr) -> Error {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(ref below))
        | DbErr::Exec(RuntimeErr::SqlxError(ref below))
        | DbErr::Query(RuntimeErr::SqlxError(ref below)) => pg::explain(below),
        error => error.into(),
    }
}

/// A server as SeaORM reaches it.
struct Postgres {
    server: Server,
    options: PgConnectOptions,
    patience: Option<Duration>,
    variant: Variant,
}

/// A client: a pool of one connection, and the runtime that works for it.
pub struct Session {
    runtime: Runtime,
    connection: DatabaseConnection,
    /// The transaction that is open.
    transaction: RefCell<Option<DatabaseTransaction>>,
    variant: Variant,
}

impl Access for Postgres {
    type Session = Session;

    fn new(job: &Job, server: &Server) -> Result<Postgres> {
        dyno_runner::expect(job, "postgres", &["sea-orm"])?;
        ensure!(job.build != Build::Bundled, "PostgreSQL is a server and has no bundled build");
        let variant = dyno_runner::variant(job, &Variant::ALL)?;
        let (options, patience) = pg::options("sea-orm", server)?;
        Ok(Postgres { server: server.clone(), options, patience, variant })
    }

    fn connect(&self) -> Result<Session> {
        self.connect_to(self.server.database.as_deref())
    }

    /// The connection stays as long as the client: the job's settings are those of it.
    fn connect_to(&self, database: Option<&str>) -> Result<Session> {
        let database = database.unwrap_or(&self.server.user);
        let runtime = Builder::new_current_thread().enable_all().build().context("cannot make a runtime")?;
        let pool = PgPoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
        let pool = pool.acquire_timeout(self.patience.unwrap_or(Duration::MAX));
        let pool = pool.test_before_acquire(self.variant != Variant::Untested);
        let connected = runtime.block_on(pool.connect_with(self.options.clone().database(database)));
        let pool = connected.map_err(pg::said).with_context(|| {
            format!("cannot connect to the database '{database}' of {}", self.server.host)
        })?;
        let connection = SqlxPostgresConnector::from_sqlx_postgres_pool(pool);
        Ok(Session { runtime, connection, transaction: RefCell::new(None), variant: self.variant })
    }

    fn hello(&self, _: &Session) -> Hello {
        Hello {
            protocol: PROTOCOL,
            runner: concat!("sea-orm ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: String::new(),
            driver_version: concat!("sea-orm ", env!("DYNO_SEA_ORM"), ", sqlx ", env!("DYNO_SQLX"))
                .to_owned(),
            build: BTreeMap::from([("encryption".to_owned(), vec!["none".to_owned()])]),
            settings: Vec::new(),
            read_back: Vec::new(),
        }
    }
}

impl Session {
    /// Executes a text by the pool below: one that is there already is built by no layer.
    fn text<S: Sink>(&self, sql: &str, sink: &mut S) -> Result<u64> {
        let pool = self.connection.get_postgres_connection_pool();
        self.runtime.block_on(async {
            let mut connection = pool.acquire().await.map_err(pg::said)?;
            let mut steps = connection.fetch_many(sqlx::raw_sql(AssertSqlSafe(sql)));
            let (mut changed, mut fetched) = (0, false);
            while let Some(step) = steps.next().await {
                match step.map_err(pg::said)? {
                    Either::Left(outcome) => changed += outcome.rows_affected(),
                    Either::Right(row) => {
                        pg::read(&row, sink)?;
                        sink.end_row();
                        fetched = true;
                    }
                }
            }
            Ok(if fetched { 0 } else { changed })
        })
    }

    fn begin(&self) -> Result<()> {
        let begun = self.runtime.block_on(self.connection.begin()).map_err(said)?;
        self.transaction.replace(Some(begun));
        Ok(())
    }

    fn commit(&self) -> Result<()> {
        match self.transaction.take() {
            Some(open) => self.runtime.block_on(open.commit()).map_err(said),
            None => Ok(()),
        }
    }

    fn rollback(&self) -> Result<()> {
        match self.transaction.take() {
            Some(open) => self.runtime.block_on(open.rollback()).map_err(said),
            None => Ok(()),
        }
    }
}

impl Client for Session {
    fn execute(&self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        self.text(sql.to_str()?, answer)
    }

    fn command(&self, sql: &CStr) -> Result<()> {
        match sql.to_bytes() {
            b"BEGIN" => self.begin(),
            b"COMMIT" => self.commit(),
            _ => self.execute(sql, &mut Answer::new()).map(drop),
        }
    }
}

impl JobSql for Session {
    fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>> {
        let mut collector = RowCollector::default();
        self.text(sql, &mut collector)?;
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

    /// A server that has gone does not matter any more.
    fn close(self) -> Result<()> {
        drop(self.runtime.block_on(self.connection.close_by_ref()));
        Ok(())
    }
}

impl Drop for Session {
    /// A transaction that is left open goes back to the pool by a task of the runtime.
    fn drop(&mut self) {
        let _within = self.runtime.enter();
        self.transaction.take();
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Scratch<Postgres>>()
}
