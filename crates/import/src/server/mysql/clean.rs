//! Removes the tables that killed imports leave in MariaDB and MySQL. An import holds a lock of its table's name as long
//! as it lives, so a name that can be locked is that of a dead import. These servers know no owner of a table: only names
//! that dyno makes, letter by letter, are taken for its own.

use anyhow::{Result, ensure};
use dyno_client::Sql;
use dyno_client::mysql::Connection;

use super::super::common::{STAGED, said_kept};
use super::catalog::text;
use super::statements::{OLD, WITNESS, quoted};

/// Letters of a name behind its beginning. What is behind those is a second table of the same import.
const DIGITS: usize = 16;

/// Marks a name as one of an import that lives, until the connection ends.
pub fn hold(connection: &Connection, name: &str) -> Result<()> {
    let got = connection.value(&format!("SELECT GET_LOCK('{name}', 10)"))?;
    ensure!(
        got.as_deref() == Some("1"),
        "the server gives no lock of the name {name}, by which other imports see that this one lives: GET_LOCK says {}; \
         nothing was loaded. Try it again",
        got.as_deref().unwrap_or("NULL")
    );
    Ok(())
}

/// Drops the tables of dead imports. Returns their names, and sentences on those that stay.
pub fn clean(connection: &Connection) -> Result<(Vec<String>, Vec<String>)> {
    let pattern = STAGED.replace('_', "\\\\_");
    let rows = connection.rows(&format!(
        "SELECT table_name FROM information_schema.tables \
         WHERE table_schema = DATABASE() AND table_name LIKE '{pattern}%' ORDER BY 1"
    ))?;
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    for name in rows.into_iter().filter_map(|row| row.into_iter().next()).map(text) {
        let Some((own, suffix)) = parts(&name) else { continue };
        if connection.value(&format!("SELECT GET_LOCK('{own}', 0)"))?.as_deref() == Some("1") {
            let dropped = match suffix {
                // It was the user's, and another program may have changed it right before it was replaced.
                OLD => None,
                _ => Some(connection.rows(&format!("DROP TABLE IF EXISTS {}", quoted(&name)))),
            };
            connection.rows(&format!("SELECT RELEASE_LOCK('{own}')"))?;
            match dropped {
                Some(Ok(_)) => removed.push(name),
                Some(Err(error)) => kept.push(said_kept(&name, &error)),
                None => kept.push(format!(
                    "{name} is kept: an import moved this table away to replace it, and ended before it was dropped. Look \
                     at it, and drop it or rename it."
                )),
            }
        }
    }
    Ok((removed, kept))
}

/// The name under which an import loads, and what follows it in the name of a table that dyno makes.
fn parts(name: &str) -> Option<(&str, &str)> {
    let (own, suffix) = name.split_at_checked(STAGED.len() + DIGITS)?;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_own = own.strip_prefix(STAGED)?.bytes().all(is_digit) && ["", WITNESS, OLD].contains(&suffix);
    is_own.then_some((own, suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_dyno_makes_are_its_own() {
        let own = "dyno_import_0123456789abcdef";
        for suffix in ["", "_synced", "_old"] {
            assert_eq!(parts(&format!("{own}{suffix}")), Some((own, suffix)));
        }
        for suffix in ["_backup", "0", "_old2", "_Old", "ü"] {
            assert_eq!(parts(&format!("{own}{suffix}")), None, "{suffix}");
        }
        for name in ["dyno_import_", "dyno_import_0123456789ABCDEF", "dyno_import_0123456789abcdeü"] {
            assert_eq!(parts(name), None, "{name}");
        }
    }
}
