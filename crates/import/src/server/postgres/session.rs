//! The sessions of an import, as another connection sees them: the holders of the lock that one waits for, and its end.

use std::sync::Arc;

use anyhow::Result;
use dyno_client::Sql;
use dyno_client::postgres::{Api, Connection};
use dyno_protocol::Server;

use super::{catalog, open};
use crate::server::watched::Watched;

/// The server's process of a connection, which another one watches.
pub struct ImportSession<'a> {
    pub api: &'a Arc<Api>,
    pub server: &'a Server,
    /// The process's number.
    pub id: String,
}

impl Watched for ImportSession<'_> {
    type Other = Connection;

    fn connect(&self) -> Result<Connection> {
        open(self.api, self.server)
    }

    fn end(&self, other: &Connection) -> Result<()> {
        other.rows(&format!("SELECT pg_cancel_backend({})", self.id)).map(drop)
    }

    fn holders(&self, other: &Connection) -> Result<Option<Vec<String>>> {
        // https://www.postgresql.org/docs/current/functions-info.html: a prepared transaction has the process 0.
        let holders = catalog::texts(
            other,
            &format!(
                "SELECT DISTINCT CASE WHEN pid = 0 THEN 'a prepared transaction' \
                 ELSE 'process ' || pid || coalesce(' of ' || usename, '') \
                 || coalesce(' (' || nullif(application_name, '') || ')', '') END \
                 FROM unnest(pg_blocking_pids({})) AS blocking (pid) LEFT JOIN pg_stat_activity USING (pid)",
                self.id
            ),
        )?;
        Ok((!holders.is_empty()).then_some(holders))
    }
}
