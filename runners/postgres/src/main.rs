//! The runner for PostgreSQL and whatever speaks its protocol: loads libpq and calls it directly.
//!
//! The package's library finds, loads and calls libpq; its `connection` is the hot loop. `settings` sets
//! parameters and reads them back, `units` knows that 6GB are 6144MB.

mod settings;
mod units;

use std::collections::BTreeMap;
use std::env;
use std::ffi::CStr;
use std::process::ExitCode;

use anyhow::{Context, Result};
use dyno_protocol::{Hello, Job, PROTOCOL};
use dyno_runner::{Answer, Driver, Failure, Statements};
use dyno_runner_postgres::connection::{Connection, ServerError};
use dyno_runner_postgres::library;
use dyno_runner_postgres::scratch::Scratch;

use settings::Settings;

/// Variables that libpq may read: where it finds a password that the job does not bring.
const KEPT: [&str; 2] = ["PGPASSWORD", "PGPASSFILE"];

/// A connection to the trial's database.
struct Postgres {
    scratch: Scratch,
    changes: u64,
}

impl Driver for Postgres {
    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "postgres", &["rust"])?;
        let server = dyno_runner::server(job)?;
        let settings = Settings::parse(&job.settings)?;
        forget_environment();
        let scratch = Scratch::make(library::load(&job.build)?, server, &settings.locale)?;
        let connection = scratch.connection();
        settings.apply(connection)?;
        let version = connection.value("SELECT version()")?.unwrap_or_default();
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("postgres ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: engine_version(connection, &version)?,
            driver_version: format!("libpq {}", library::version(connection.api())),
            build: identity(connection, version),
            settings: settings.in_force(connection)?,
        };
        Ok((Postgres { scratch, changes: 0 }, hello))
    }

    fn statements(&mut self, statements: &Statements, answer: &mut Answer) -> Result<u64, Failure> {
        let connection = self.scratch.connection();
        let mut done = 0;
        for sql in statements.iter() {
            match connection.execute(sql, answer) {
                Ok(changed) => self.changes += changed,
                Err(error) => return Err(Failure { index: done, error }),
            }
            done += 1;
        }
        Ok(done)
    }

    fn query(&mut self, sql: &CStr, answer: &mut Answer) -> Result<()> {
        self.scratch.connection().execute(sql, answer).map(drop)
    }

    fn changes(&mut self) -> u64 {
        self.changes
    }

    fn database_bytes(&mut self) -> Result<Option<u64>> {
        let size = self.scratch.connection().value("SELECT pg_database_size(current_database())");
        match size {
            Ok(bytes) => Ok(bytes.and_then(|bytes| bytes.parse().ok())),
            // What only speaks the protocol may have no such function; its files are out of reach too.
            Err(error) if error.is::<ServerError>() => Ok(Some(0)),
            Err(error) => Err(error),
        }
    }

    fn close(self) -> Result<()> {
        self.scratch.remove()
    }
}

/// libpq takes what it is not told from variables of the environment. Where to connect and how is the
/// job's to say alone: PGHOSTADDR would lead to another server, PGOPTIONS to other settings.
fn forget_environment() {
    let names = env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| name.to_str().is_some_and(|name| name.starts_with("PG"))) {
        if !KEPT.iter().any(|kept| name == *kept) {
            // SAFETY: the runner has one thread, so nobody reads the environment meanwhile.
            unsafe { env::remove_var(name) };
        }
    }
}

/// PostgreSQL's version as a number, as `15.18`; of what only speaks its protocol, name and version.
fn engine_version(connection: &Connection, version: &str) -> Result<String> {
    if !version.starts_with("PostgreSQL") {
        return Ok(version.split(" (").next().unwrap_or(version).to_owned());
    }
    let version = connection.value("SHOW server_version").context("the server does not tell its version")?;
    Ok(version.unwrap_or_default().split(' ').next().unwrap_or_default().to_owned())
}

/// What tells this server and client from any other.
fn identity(connection: &Connection, version: String) -> BTreeMap<String, Vec<String>> {
    let encryption = if connection.is_encrypted() { "TLS" } else { "none" };
    BTreeMap::from([
        ("version".to_owned(), vec![version]),
        ("library".to_owned(), vec![library::file(connection.api())]),
        ("encryption".to_owned(), vec![encryption.to_owned()]),
    ])
}

fn main() -> ExitCode {
    dyno_runner::run::<Postgres>()
}
