//! The sessions of an import, as another connection sees them: the holders of the lock that one waits for, and its end.

use std::sync::Arc;

use anyhow::Result;
use dyno_client::Sql;
use dyno_client::mysql::{self, Api, Connection};
use dyno_protocol::Server;

use super::catalog::text;
use crate::server::watched::Watched;

/// A connection of this import, which another one watches.
pub struct ImportSession<'a> {
    pub api: &'a Arc<Api>,
    pub server: &'a Server,
    /// The server's number of the connection.
    pub id: String,
    /// That of the import's first connection.
    pub first: String,
}

impl Watched for ImportSession<'_> {
    type Other = Connection;

    fn connect(&self) -> Result<Connection> {
        mysql::connect(self.api, self.server, false)
    }

    fn end(&self, other: &Connection) -> Result<()> {
        other.rows(&format!("KILL QUERY {}", self.id)).map(drop)
    }

    fn holders(&self, other: &Connection) -> Result<Option<Vec<String>>> {
        let ImportSession { id, first, .. } = self;
        let holders = |query: &str| -> Vec<String> {
            let rows = other.rows(query).unwrap_or_default();
            rows.into_iter().flatten().map(text).collect()
        };
        let said = "CONCAT('connection ', id, ' of ', user)";
        let of = "information_schema.processlist";
        // Of rows: https://mariadb.com/kb/en/innodb_lock_waits-sys-schema-table/, which MySQL has, too.
        let of_rows = holders(&format!(
            "SELECT DISTINCT {said} FROM {of} JOIN sys.innodb_lock_waits ON blocking_pid = id WHERE waiting_pid = {id}"
        ));
        if !of_rows.is_empty() {
            return Ok(Some(of_rows));
        }
        let waits = format!("SELECT 1 FROM {of} WHERE id = {id} AND state LIKE 'Waiting for%lock'");
        if other.value(&waits)?.is_none() {
            return Ok(None);
        }
        // MySQL names the holders; MariaDB does so where performance_schema is on.
        let of_table = holders(&format!(
            "SELECT DISTINCT {said} FROM {of} JOIN sys.schema_table_lock_waits ON blocking_pid = id \
             WHERE waiting_pid = {id} AND blocking_pid <> {id}"
        ));
        if !of_table.is_empty() {
            return Ok(Some(of_table));
        }
        let open = holders(&format!(
            "SELECT CONCAT('another program (connection ', id, ' of ', user, ' has an open transaction)') FROM {of} \
             JOIN information_schema.innodb_trx ON trx_mysql_thread_id = id WHERE id NOT IN ({id}, {first})"
        ));
        Ok(Some(open))
    }
}
