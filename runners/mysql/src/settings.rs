//! Settings: any system variable of MariaDB or MySQL.
//!
//! What is not in force already is set for the session, if the server lets it be. All are read back
//! after that; what is asked and what is in force are compared by dyno, which cannot know that `128M` and
//! `134217728` are one value. So a value that means the one asked for is told in the spelling in which it
//! was asked.

use anyhow::{Error, Result, anyhow, ensure};
use dyno_protocol::{InForce, Setting};

use dyno_runner_mysql::connection::{Connection, ServerError};

/// What bears on speed or safety and is told, by those servers that have it, whether it was asked for or
/// not.
const ALWAYS: [&str; 21] = [
    "innodb_flush_log_at_trx_commit",
    "innodb_doublewrite",
    "sync_binlog",
    "log_bin",
    "innodb_flush_method",
    "innodb_buffer_pool_size",
    "innodb_log_file_size",
    "innodb_redo_log_capacity",
    "innodb_page_size",
    "default_storage_engine",
    "aria_group_commit",
    "transaction_isolation",
    "tx_isolation",
    "sql_mode",
    "character_set_server",
    "collation_server",
    "collation_database",
    "autocommit",
    "performance_schema",
    "query_cache_type",
    "lower_case_table_names",
];

/// Error: there is no variable of that name.
const UNKNOWN_VARIABLE: u32 = 1193;
/// Errors: the variable is the whole server's, can only be read, or is set by administrators. That it is
/// not in force as asked is dyno's to tell.
const NOT_HERE: [u32; 5] = [1227, 1228, 1229, 1238, 3530];
/// Error: a text was given for a number.
const WRONG_TYPE: u32 = 1232;

/// The settings of a job.
#[derive(Debug)]
pub struct Settings<'a> {
    asked: &'a [Setting],
}

impl Settings<'_> {
    /// Refuses what cannot be a setting of MySQL.
    pub fn parse(asked: &[Setting]) -> Result<Settings<'_>> {
        for Setting { name, value } in asked {
            ensure!(
                is_name(name),
                "'{name}' cannot be a setting of MySQL: it is not the name of a system variable"
            );
            ensure!(!value.contains('\0'), "the value of the setting '{name}' holds a NUL byte");
        }
        Ok(Settings { asked })
    }

    /// Sets what is not in force yet, for this session only.
    pub fn apply(&self, connection: &Connection) -> Result<()> {
        for setting in self.asked {
            if means(&setting.value, &show(connection, &setting.name)?) {
                continue;
            }
            match set(connection, setting) {
                Err(error) if number(&error).is_some_and(|number| NOT_HERE.contains(&number)) => {}
                outcome => outcome.map_err(|error| {
                    error.context(format!("the server refuses the setting '{}'", setting.name))
                })?,
            }
        }
        Ok(())
    }

    /// Reads back what was asked for and what matters in any case.
    pub fn in_force(&self, connection: &Connection) -> Result<Vec<InForce>> {
        let mut settings: Vec<InForce> = Vec::new();
        // Of a setting named twice the last is in force.
        for setting in self.asked.iter().rev() {
            if settings.iter().all(|known| known.name != setting.name) {
                let found = show(connection, &setting.name)?;
                let value = if means(&setting.value, &found) { setting.value.clone() } else { found };
                settings.push(InForce { name: setting.name.clone(), value });
            }
        }
        settings.reverse();
        for name in ALWAYS {
            if settings.iter().all(|known| known.name != name) {
                let value = if_told(connection.value(&format!("SELECT @@{name}")))?;
                settings.extend(
                    value.map(|value| InForce { name: name.to_owned(), value: value.unwrap_or_default() }),
                );
            }
        }
        Ok(settings)
    }
}

/// Whether it is a name that can stand in a statement: letters, digits, `_`, and dots between parts.
fn is_name(name: &str) -> bool {
    name.split('.').all(|part| {
        let mut letters = part.bytes();
        letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
    })
}

fn number(error: &Error) -> Option<u32> {
    error.downcast_ref().map(|error: &ServerError| error.number)
}

/// Sets a variable to a text or, if it takes none, to a number.
fn set(connection: &Connection, Setting { name, value }: &Setting) -> Result<()> {
    let text = value.replace('\\', "\\\\").replace('\'', "''");
    let outcome = connection.rows(&format!("SET SESSION {name} = '{text}'"));
    match (outcome, amount(value)) {
        (Err(error), Some(amount)) if number(&error) == Some(WRONG_TYPE) => {
            connection.rows(&format!("SET SESSION {name} = {amount}")).map(drop)
        }
        (outcome, _) => outcome.map(drop),
    }
}

/// The value of a setting in the server's own spelling.
fn show(connection: &Connection, name: &str) -> Result<String> {
    match connection.value(&format!("SELECT @@{name}")) {
        Ok(value) => Ok(value.unwrap_or_default()),
        Err(error) if number(&error) == Some(UNKNOWN_VARIABLE) => Err(error.context(format!(
            "unknown setting '{name}' (see https://mariadb.com/kb/en/server-system-variables/ or \
             https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html, or leave it out)"
        ))),
        Err(error) => Err(error.context(format!("the server does not tell its setting '{name}'"))),
    }
}

/// What a server that has no such variable refuses is left out; that the server is lost is an error.
fn if_told<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is::<ServerError>() => Ok(None),
        Err(error) => Err(anyhow!("cannot read the settings back: {error:#}")),
    }
}

/// Whether a value found is the one asked for.
fn means(asked: &str, found: &str) -> bool {
    asked.eq_ignore_ascii_case(found)
        || switch(asked).is_some_and(|asked| switch(found) == Some(asked))
        || amount(asked).is_some_and(|asked| amount(found) == Some(asked))
}

/// A switch, of which the server's variables read as 1 or as `ON`.
fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "true" | "1" => Some(true),
        "off" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// A number with the suffixes that the server takes on its command line: K, M, G, T for powers of 1024.
fn amount(value: &str) -> Option<i128> {
    let (digits, factor) = match value.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => (&value[..value.len() - 1], 1 << 10),
        b'm' => (&value[..value.len() - 1], 1 << 20),
        b'g' => (&value[..value.len() - 1], 1 << 30),
        b't' => (&value[..value.len() - 1], 1_i128 << 40),
        _ => (value, 1),
    };
    digits.parse::<i128>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_many_spellings() {
        assert!(means("128M", "134217728"));
        assert!(means("ON", "1") && means("0", "OFF"));
        assert!(means("myisam", "MyISAM"));
        assert!(!means("128M", "134217727") && !means("ON", "0") && !means("Aria", "InnoDB"));
        assert_eq!((amount("-1"), amount("1x"), amount("")), (Some(-1), None, None));
    }

    #[test]
    fn names_can_stand_in_statements() {
        let asked = |name: &str| [Setting { name: name.into(), value: "1".into() }];
        assert!(Settings::parse(&asked("innodb_doublewrite")).is_ok());
        for bad in ["", "a b", "a;b", "@@x", "global.", "x`"] {
            assert!(Settings::parse(&asked(bad)).is_err(), "{bad}");
        }
    }
}
