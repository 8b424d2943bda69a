//! The runner for PostgreSQL and whatever speaks its protocol: loads libpq and calls it directly.
//!
//! The package's library finds, loads and calls libpq. The rest of a server's runner is
//! [`dyno_runner::server`].

use std::collections::BTreeMap;
use std::env;
use std::process::ExitCode;
use std::rc::Rc;

use anyhow::{Context, Result};
use dyno_protocol::{Hello, Job, PROTOCOL, Server};
use dyno_runner::server::{Client, Engine, Trial};
use dyno_runner_postgres::api::Api;
use dyno_runner_postgres::connection::{Connection, ServerError};
use dyno_runner_postgres::load::Way;
use dyno_runner_postgres::settings::Settings;
use dyno_runner_postgres::{database, library};

/// Variables that libpq may read: where it finds a password that the job does not bring.
const KEPT: [&str; 2] = ["PGPASSWORD", "PGPASSFILE"];

/// A server as libpq reaches it.
struct Postgres {
    api: Rc<Api>,
    /// The engine's name, for messages.
    engine: String,
    server: Server,
    settings: Settings,
    way: Way,
}

impl Postgres {
    fn connect_to(&self, database: &str) -> Result<Connection> {
        database::connect(&self.api, &self.server, database, self.way)
    }
}

impl Engine for Postgres {
    type Client = Connection;

    fn new(job: &Job, server: &Server) -> Result<Postgres> {
        dyno_runner::expect(job, "postgres", &["rust"])?;
        let way = dyno_runner::variant(job, &Way::ALL)?;
        let settings = Settings::parse(&job.settings, &job.read_back)?;
        forget_environment();
        let api = Rc::new(library::LIBPQ.load(&job.build, Api::resolve)?);
        Ok(Postgres { api, engine: job.engine.clone(), server: server.clone(), settings, way })
    }

    fn connect(&self) -> Result<Connection> {
        self.connect_to(database::maintenance(&self.server))
    }

    fn make(&self, maintenance: &Connection) -> Result<()> {
        database::make(maintenance, &self.engine, &self.server, &self.settings.locale)
    }

    fn enter(&self, _maintenance: Connection) -> Result<Connection> {
        let connection = self.connect_to(&self.server.scratch)?;
        self.settings.apply(&connection)?;
        Ok(connection)
    }

    fn remove(&self, maintenance: &Connection) -> Result<()> {
        database::remove(maintenance, &self.server.scratch)
    }

    fn hello(&self, connection: &Connection) -> Result<Hello> {
        let version = connection.value("SELECT version()")?.unwrap_or_default();
        Ok(Hello {
            protocol: PROTOCOL,
            runner: concat!("postgres ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: engine_version(connection, &version)?,
            driver_version: format!("libpq {}", library::version(connection.api())),
            build: identity(connection, version),
            settings: self.settings.in_force(connection)?,
        })
    }

    fn database_bytes(&self, connection: &Connection) -> Result<u64> {
        match connection.value("SELECT pg_database_size(current_database())") {
            Ok(bytes) => Ok(bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)),
            // What only speaks the protocol may have no such function; its files are out of reach too.
            Err(error) if error.is::<ServerError>() => Ok(0),
            Err(error) => Err(error),
        }
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
    dyno_runner::run::<Trial<Postgres>>()
}
