//! A server that sqlx reaches.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use dyno_protocol::{Build, Hello, Job, PROTOCOL};
use dyno_runner::server::Access;

use crate::VERSION;
use crate::flavour::{Options, Remote};
use crate::session::Session;
use crate::variant::Variant;

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
