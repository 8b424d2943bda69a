//! Removes the tables that killed imports leave in MariaDB and MySQL. Their names are used by dyno only. An import
//! holds a lock of its table's name as long as it lives, so a name that can be locked is that of a dead import.

use anyhow::Result;
use dyno_client::Sql;
use dyno_client::mysql::Connection;

use super::super::common::{STAGED, said_kept};
use super::catalog::text;
use super::statements::quoted;

/// Letters of a name behind its beginning. What is behind those is a second table of the same import.
const DIGITS: usize = 16;

/// Marks a name as one of an import that lives, until the connection ends.
pub fn hold(connection: &Connection, name: &str) -> Result<()> {
    connection.rows(&format!("SELECT GET_LOCK('{name}', 10)")).map(drop)
}

/// Drops the tables of dead imports. Returns their names, and sentences on those that the server does not drop.
pub fn clean(connection: &Connection) -> Result<(Vec<String>, Vec<String>)> {
    let pattern = STAGED.replace('_', "\\\\_");
    let rows = connection.rows(&format!(
        "SELECT table_name FROM information_schema.tables \
         WHERE table_schema = DATABASE() AND table_name LIKE '{pattern}%' ORDER BY 1"
    ))?;
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    for name in rows.into_iter().filter_map(|row| row.into_iter().next()).map(text) {
        let is_digit = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let Some(own) = name.get(..STAGED.len() + DIGITS).filter(|own| is_digit(&own[STAGED.len()..])) else {
            continue;
        };
        if connection.value(&format!("SELECT GET_LOCK('{own}', 0)"))?.as_deref() == Some("1") {
            let dropped = connection.rows(&format!("DROP TABLE IF EXISTS {}", quoted(&name)));
            connection.rows(&format!("SELECT RELEASE_LOCK('{own}')"))?;
            match dropped {
                Ok(_) => removed.push(name),
                Err(error) => kept.push(said_kept(&name, &error)),
            }
        }
    }
    Ok((removed, kept))
}
