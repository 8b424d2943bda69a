//! The runner for MariaDB, MySQL and whatever speaks their protocol: loads the client library and calls
//! it directly. One code path serves all engines.
//!
//! The client is [`dyno_client::mysql`], and the rest of a server's runner [`dyno_runner::server`]. `session` is a
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
use dyno_client::mysql::{self, Api};
use dyno_protocol::{Hello, Job, PROTOCOL, Server};
use dyno_runner::server::{Access, Scratch};

use session::Session;
use variant::Variant;

/// A server as the client library reaches it.
struct MySql {
    api: Arc<Api>,
    server: Server,
    variant: Variant,
}

impl MySql {
    fn connect_by(&self, server: &Server) -> Result<Session> {
        let connection = mysql::connect(&self.api, server, self.variant == Variant::LoadData)?;
        Ok(Session { connection, variant: self.variant })
    }
}

impl Access for MySql {
    type Session = Session;

    fn new(job: &Job, server: &Server) -> Result<MySql> {
        dyno_runner::expect(job, "mysql", &["rust"])?;
        let variant = dyno_runner::variant(job, &Variant::ALL)?;
        let api = Arc::new(mysql::load(&job.build)?);
        Ok(MySql { api, server: server.clone(), variant })
    }

    fn connect(&self) -> Result<Session> {
        self.connect_by(&self.server)
    }

    fn connect_to(&self, database: Option<&str>) -> Result<Session> {
        self.connect_by(&Server { database: database.map(str::to_owned), ..self.server.clone() })
    }

    fn hello(&self, session: &Session) -> Hello {
        let connection = &session.connection;
        let encryption = connection.cipher().unwrap_or_else(|| "none".to_owned());
        Hello {
            protocol: PROTOCOL,
            runner: concat!("mysql ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: String::new(),
            driver_version: mysql::version(connection.api()),
            build: BTreeMap::from([
                ("library".to_owned(), vec![mysql::file(connection.api())]),
                ("encryption".to_owned(), vec![encryption]),
            ]),
            settings: Vec::new(),
            read_back: Vec::new(),
        }
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Scratch<MySql>>()
}
