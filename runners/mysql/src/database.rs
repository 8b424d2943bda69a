//! The trial's own database: how it is made and removed.

use anyhow::{Error, Result, anyhow};
use dyno_client::Sql;
use dyno_client::mysql::{Connection, ServerError};
use dyno_protocol::Value;

/// Error: the user may not do that with a database.
const DATABASE_ACCESS_DENIED: u32 = 1044;
/// Error code: the connection to end does not exist.
const NO_SUCH_THREAD: u32 = 1094;
/// Makes the trial's database and works in it from then on.
///
/// Texts are in utf8mb4 and compare by the engine's own rules for it (the setting `collation_server`
/// where its character set is that one), which MySQL's users live with: letters that differ by case
/// are equal, unlike in the other engines.
pub fn make(connection: &Connection, name: &str) -> Result<()> {
    let (charset, collation) =
        (connection.value("SELECT @@character_set_server")?, connection.value("SELECT @@collation_server")?);
    let collate = match (charset.as_deref(), collation) {
        (Some("utf8mb4"), Some(collation)) => format!(" COLLATE {collation}"),
        _ => String::new(),
    };
    let create = connection.rows(&format!("CREATE DATABASE `{name}` CHARACTER SET utf8mb4{collate}"));
    create.map(drop).map_err(|error| explain(error, "make", name))
}

fn number(error: &Error) -> Option<u32> {
    error.downcast_ref().map(|error: &ServerError| error.number)
}

/// Removes a database if it is there. Where a runner that was killed has left a statement running in
/// it, that is ended first: it would hold the tables for as long as it runs.
pub fn remove(connection: &Connection, name: &str) -> Result<()> {
    let dropped = (|| {
        for row in connection.rows("SHOW PROCESSLIST")? {
            if let (Some(Value::Integer(id)), Some(Value::Text(database))) = (row.first(), row.get(3))
                && database == name
            {
                kill(connection, *id)?;
            }
        }
        connection.rows(&format!("DROP DATABASE IF EXISTS `{name}`"))
    })();
    dropped.map(drop).map_err(|error| explain(error, "remove", name))
}

fn kill(connection: &Connection, id: i64) -> Result<()> {
    match connection.rows(&format!("KILL {id}")) {
        Err(error) if number(&error) != Some(NO_SUCH_THREAD) => Err(error),
        _ => Ok(()),
    }
}

fn explain(error: Error, what: &str, name: &str) -> Error {
    match number(&error) {
        Some(DATABASE_ACCESS_DENIED) => anyhow!(
            "cannot {what} the database {name}: {error}; dyno works in a database of its own, so let an \
             administrator run: GRANT ALL ON `dyno\\_%`.* TO the user"
        ),
        _ => error.context(format!("cannot {what} the database {name}")),
    }
}
