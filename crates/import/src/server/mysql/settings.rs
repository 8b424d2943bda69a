//! The settings of an import's session. A server may be set to check or report less than an import needs.

use anyhow::{Context, Result};
use dyno_client::Sql;
use dyno_client::mysql::Connection;

/// A value that does not fit is an error, or within LOAD DATA LOCAL a warning; and 0 is stored as 0
/// and not replaced by the next AUTO_INCREMENT value.
pub const MODE: &str =
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO'";

/// The warnings of a statement that a session keeps, at least: the load is judged by them, and a server may be set to keep
/// none.
const WARNINGS: u64 = 64;

/// Keys are checked, a change of a value is reported also where the server calls it a note, and queries return all rows.
const CHECKS: [(&str, &str); 4] = [
    ("foreign_key_checks", "1"),
    ("unique_checks", "1"),
    ("sql_notes", "1"),
    ("sql_select_limit", "18446744073709551615"),
];

/// Settings that not every server has, or lets a session change: a TIMESTAMP of a new table takes NULL unless it says NOT
/// NULL; MariaDB checks what CHECK says, and reports a key that comes twice; a list of columns is not cut; and messages have
/// the words by which dyno finds the row.
const IF_KNOWN: [&str; 5] = [
    "explicit_defaults_for_timestamp = 1",
    "check_constraint_checks = 1",
    "old_mode = TRIM(BOTH ',' FROM REPLACE(REPLACE(@@old_mode, 'NO_DUP_KEY_WARNINGS_WITH_IGNORE', ''), ',,', ','))",
    "group_concat_max_len = 1048576",
    "lc_messages = 'en_US'",
];

/// Gives a session these settings.
///
/// # Errors
/// The server refuses one without which a load cannot be judged.
pub fn set(connection: &Connection) -> Result<()> {
    connection.rows(MODE)?;
    keep_warnings(connection)?;
    for (name, value) in CHECKS {
        // Some servers let few users change settings, so one that is right stays as it is.
        if connection.value(&format!("SELECT @@SESSION.{name}"))?.as_deref() != Some(value) {
            connection.rows(&format!("SET SESSION {name} = {value}"))?;
        }
    }
    for setting in IF_KNOWN {
        let _ = connection.rows(&format!("SET SESSION {setting}"));
    }
    Ok(())
}

/// Has the session keep warnings. MySQL 9.7 lets users set this only with the privilege SESSION_VARIABLES_ADMIN, so it stays
/// as it is where it suffices.
fn keep_warnings(connection: &Connection) -> Result<()> {
    let kept = connection.value("SELECT @@SESSION.max_error_count")?;
    if kept.and_then(|kept| kept.parse().ok()).is_none_or(|kept: u64| kept < WARNINGS) {
        let set = connection.rows(&format!("SET SESSION max_error_count = {WARNINGS}"));
        set.with_context(|| {
            format!("the server is set to keep fewer than {WARNINGS} warnings, by which dyno judges a load")
        })?;
    }
    Ok(())
}
