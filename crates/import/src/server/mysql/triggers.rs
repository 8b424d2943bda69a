//! The triggers of a table. A server has to list them only to users with the privilege TRIGGER; MariaDB 10.11 lists them to
//! some others too.

use anyhow::Result;
use dyno_client::Sql;
use dyno_client::mysql::Connection;

use super::catalog::literal;

/// The session's account as the server writes it in lists of privileges: 'user'@'host'.
const GRANTEE: &str = "CONCAT(QUOTE(LEFT(CURRENT_USER(), CHAR_LENGTH(CURRENT_USER()) - 1 \
    - CHAR_LENGTH(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))), '@', QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))";

/// The triggers of a table, as far as the server shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triggers {
    /// It lists some.
    Listed,
    /// It lists none to a user to whom it lists all.
    Absent,
    /// It lists none, and may list none to this user. A privilege that the user has by a role is in no list, so it counts
    /// as none.
    Hidden,
}

impl Triggers {
    /// Asks for the triggers of a table.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn of(connection: &Connection, table: &str) -> Result<Triggers> {
        let name = literal(table);
        let granted = |list: &str, condition: &str| {
            format!(
                "EXISTS (SELECT 1 FROM information_schema.{list} \
                 WHERE privilege_type = 'TRIGGER' AND grantee = {GRANTEE}{condition})"
            )
        };
        let of_table = format!(" AND table_schema = DATABASE() AND table_name = {name}");
        let found = connection.value(&format!(
            "SELECT CASE WHEN EXISTS (SELECT 1 FROM information_schema.triggers \
             WHERE event_object_schema = DATABASE() AND event_object_table = {name}) THEN 'listed' \
             WHEN {} OR {} OR {} THEN 'absent' ELSE 'hidden' END",
            granted("user_privileges", ""),
            granted("schema_privileges", " AND DATABASE() LIKE table_schema"),
            granted("table_privileges", &of_table),
        ))?;
        Ok(match found.as_deref() {
            Some("listed") => Triggers::Listed,
            Some("absent") => Triggers::Absent,
            _ => Triggers::Hidden,
        })
    }
}

/// The sentence for triggers that the server may hide, and that are gone when their table is replaced.
pub fn said_hidden(table: &str) -> String {
    format!(
        "The server may hide triggers from a user without the privilege TRIGGER, so {table} may have some that dyno does not \
         name; --replace drops these, too."
    )
}
