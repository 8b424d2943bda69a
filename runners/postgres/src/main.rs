//! The runner for PostgreSQL and whatever speaks its protocol: loads libpq and calls it directly.
//!
//! The client is [`dyno_client::postgres`], and the rest of a server's runner [`dyno_runner::server`]. `session` is a
//! connection: `load` puts rows into tables by it, `import` the records of a file. `database` makes and removes the
//! trial's own database, `settings` sets parameters and reads them back, `units` knows that 6GB are 6144MB.

mod database;
mod import;
mod load;
mod mix;
mod session;
mod settings;
mod units;

use std::collections::BTreeMap;
use std::env;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use dyno_client::Sql;
use dyno_client::postgres::{self, Api, Connection, ServerError};
use dyno_protocol::{Hello, Job, PROTOCOL, Server};
use dyno_runner::server::{Access, Scratch};

use load::Variant;
use session::Session;
use settings::Settings;

/// Variables that libpq may read: where it finds a password that the job does not bring.
const KEPT: [&str; 2] = ["PGPASSWORD", "PGPASSFILE"];

/// A server as libpq reaches it.
struct Postgres {
    api: Arc<Api>,
    /// The engine's name, for messages.
    engine: String,
    server: Server,
    settings: Settings,
    variant: Variant,
}

impl Postgres {
    fn connect_to(&self, database: &str) -> Result<Session> {
        let connection = postgres::connect(&self.api, &self.server, database)?;
        Ok(Session { connection, variant: self.variant })
    }
}

impl Access for Postgres {
    type Session = Session;

    fn new(job: &Job, server: &Server) -> Result<Postgres> {
        dyno_runner::expect(job, "postgres", &["rust"])?;
        let variant = dyno_runner::variant(job, &Variant::ALL)?;
        let settings = Settings::parse(&job.settings, &job.read_back)?;
        forget_environment();
        let api = Arc::new(postgres::load(&job.build)?);
        Ok(Postgres { api, engine: job.engine.clone(), server: server.clone(), settings, variant })
    }

    fn connect(&self) -> Result<Session> {
        self.connect_to(postgres::maintenance(&self.server))
    }

    fn make(&self, maintenance: &Session) -> Result<()> {
        database::make(&maintenance.connection, &self.engine, &self.server, &self.settings.locale)
    }

    fn enter(&self, _maintenance: Session) -> Result<Session> {
        self.enter_again()
    }

    fn enter_again(&self) -> Result<Session> {
        let session = self.connect_to(&self.server.scratch)?;
        self.settings.apply(&session)?;
        Ok(session)
    }

    fn remove(&self, maintenance: &Session) -> Result<()> {
        database::remove(&maintenance.connection, &self.server.scratch)
    }

    fn hello(&self, session: &Session) -> Result<Hello> {
        let connection = &session.connection;
        let version = connection.value("SELECT version()")?.unwrap_or_default();
        Ok(Hello {
            protocol: PROTOCOL,
            runner: concat!("postgres ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: engine_version(connection, &version)?,
            driver_version: format!("libpq {}", postgres::version(connection.api())),
            build: identity(connection, version),
            settings: self.settings.in_force(session)?,
        })
    }

    fn database_bytes(&self, session: &Session) -> Result<u64> {
        match session.connection.value("SELECT pg_database_size(current_database())") {
            Ok(bytes) => Ok(bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)),
            // An engine that only speaks the protocol may have no such function; its files are out of reach too.
            Err(error) if error.is::<ServerError>() => Ok(0),
            Err(error) => Err(error),
        }
    }
}

/// libpq takes options that it is not given from variables of the environment. Where to connect and how is the
/// job's to say alone: PGHOSTADDR would lead to another server, PGOPTIONS to other settings.
fn forget_environment() {
    let names = env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| name.to_str().is_some_and(|name| name.starts_with("PG"))) {
        if !KEPT.iter().any(|kept| name == *kept) {
            // SAFETY: the runner has one thread, so no other thread reads the environment meanwhile.
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

/// Versions and options that distinguish this server and client from any other.
fn identity(connection: &Connection, version: String) -> BTreeMap<String, Vec<String>> {
    let encryption = if connection.is_encrypted() { "TLS" } else { "none" };
    BTreeMap::from([
        ("version".to_owned(), vec![version]),
        ("library".to_owned(), vec![postgres::file(connection.api())]),
        ("encryption".to_owned(), vec![encryption.to_owned()]),
    ])
}

fn main() -> ExitCode {
    dyno_runner::run::<Scratch<Postgres>>()
}
