//! Removes the tables that killed imports leave in PostgreSQL. Their names are used by dyno only. An import holds an
//! advisory lock on its table's name as long as it lives, so a name that can be locked is that of a dead import.

use anyhow::Result;
use dyno_client::Sql;
use dyno_client::postgres::Connection;
use dyno_protocol::Value;

use super::super::common::{STAGED, said_kept};
use super::statements::quoted;

/// The first number of dyno's advisory locks; the second is the name's hash.
const LOCKS: u32 = 0x6479_6e6f;

/// Marks a name as one of an import that lives, until the connection ends.
pub fn hold(connection: &Connection, name: &str) -> Result<()> {
    connection.rows(&format!("SELECT pg_advisory_lock({LOCKS}, hashtext('{name}'))")).map(drop)
}

/// Drops the tables of dead imports of this user. Returns their names, and sentences on those that the server does not
/// drop.
pub fn clean(connection: &Connection) -> Result<(Vec<String>, Vec<String>)> {
    let rows = connection.rows(&format!(
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relkind = 'r' AND c.relname ~ '^{STAGED}[0-9a-f]{{16}}$' \
         AND pg_get_userbyid(c.relowner) = current_user ORDER BY 1, 2"
    ))?;
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    for row in rows {
        let [Value::Text(schema), Value::Text(name)] = &row[..] else { continue };
        let ask = |what: &str| connection.value(&format!("SELECT {what}({LOCKS}, hashtext('{name}'))"));
        if ask("pg_try_advisory_lock")?.as_deref() == Some("1") {
            let dropped =
                connection.rows(&format!("DROP TABLE IF EXISTS {}.{}", quoted(schema), quoted(name)));
            ask("pg_advisory_unlock")?;
            match dropped {
                Ok(_) => removed.push(name.clone()),
                Err(error) => kept.push(said_kept(name, &error)),
            }
        }
    }
    Ok((removed, kept))
}
