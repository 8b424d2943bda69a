//! dyno's connection to a server on trial.

use anyhow::Result;
use dyno_client::{Sql, mysql, postgres};
use dyno_protocol::Value;

/// A connection to a server.
pub enum Link {
    /// PostgreSQL's.
    Postgres(postgres::Connection),
    /// MySQL's.
    MySql(mysql::Connection),
}

impl Link {
    /// The rows that a statement returns.
    pub fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>> {
        match self {
            Link::Postgres(connection) => connection.rows(sql),
            Link::MySql(connection) => connection.rows(sql),
        }
    }

    /// Executes statements in turn.
    pub fn execute(&self, statements: &[String]) -> Result<()> {
        statements.iter().try_for_each(|sql| self.rows(sql).map(drop))
    }
}
