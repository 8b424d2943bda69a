//! The runner for PostgreSQL and whatever speaks its protocol: loads libpq and calls it directly.
//!
//! The client is [`dyno_client::postgres`], and the rest of a server's runner [`dyno_runner::server`]. `session` is a
//! connection: `load` puts rows into tables by it, `import` the records of a file.

mod import;
mod load;
mod mix;
mod session;
mod variant;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use dyno_client::postgres::{self, Api};
use dyno_protocol::{Hello, Job, PROTOCOL, Server};
use dyno_runner::server::{Access, Scratch};

use session::Session;
use variant::Variant;

/// A server as libpq reaches it.
struct Postgres {
    api: Arc<Api>,
    server: Server,
    variant: Variant,
}

impl Access for Postgres {
    type Session = Session;

    fn new(job: &Job, server: &Server) -> Result<Postgres> {
        dyno_runner::expect(job, "postgres", &["rust"])?;
        let variant = dyno_runner::variant(job, &Variant::ALL)?;
        let api = Arc::new(postgres::load(&job.build)?);
        Ok(Postgres { api, server: server.clone(), variant })
    }

    fn connect(&self) -> Result<Session> {
        self.connect_to(self.server.database.as_deref())
    }

    fn connect_to(&self, database: Option<&str>) -> Result<Session> {
        let database = database.unwrap_or(&self.server.user);
        let connection = postgres::connect(&self.api, &self.server, database)?;
        Ok(Session { connection, variant: self.variant })
    }

    fn hello(&self, session: &Session) -> Hello {
        let connection = &session.connection;
        let encryption = if connection.is_encrypted() { "TLS" } else { "none" };
        Hello {
            protocol: PROTOCOL,
            runner: concat!("postgres ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: String::new(),
            driver_version: format!("libpq {}", postgres::version(connection.api())),
            build: BTreeMap::from([
                ("library".to_owned(), vec![postgres::file(connection.api())]),
                ("encryption".to_owned(), vec![encryption.to_owned()]),
            ]),
            settings: Vec::new(),
            read_back: Vec::new(),
        }
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Scratch<Postgres>>()
}
