//! Advice about an engine's error, by its code.

use dyno_protocol::Failed;

use super::scratch::SET;
use crate::server::Protocol;

/// The server's error with what to do about it, where a statement of the job was refused for a reason that is known. `user` is
/// the one by whose name the runner connects.
pub fn advice(failed: &Failed, speaks: Protocol, user: &str) -> String {
    let Failed { message, code, statement, .. } = failed;
    match (speaks, code.as_str()) {
        (Protocol::Postgres, "42501") => format!(
            "{message}; dyno works in a separate database, so let an administrator run: ALTER ROLE \"{user}\" CREATEDB"
        ),
        (Protocol::MySql, "1044") => format!(
            "{message}; dyno works in a separate database, so let an administrator run: GRANT ALL ON `dyno\\_%`.* TO \
             the user"
        ),
        (Protocol::Postgres, "42704") | (Protocol::MySql, "1193") => {
            let name = statement.strip_prefix(SET).unwrap_or(statement);
            format!("{}: {message}", unknown_setting(speaks, name))
        }
        _ => message.clone(),
    }
}

/// Says of a setting that the server has none of its name.
pub fn unknown_setting(speaks: Protocol, name: &str) -> String {
    let manuals = match speaks {
        Protocol::Postgres => "https://www.postgresql.org/docs/current/runtime-config.html",
        Protocol::MySql => {
            "https://mariadb.com/kb/en/server-system-variables/ or \
             https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html"
        }
    };
    format!("unknown setting '{name}' (see {manuals}, or leave it out)")
}
