//! Settings: any parameter of PostgreSQL, and `lc_collate` and `lc_ctype` of the trial's database.
//!
//! What is not in force already is set for the session, if the server lets it be. All are read back
//! after that; what is asked and what is in force are compared by dyno, which cannot know that `6GB` and
//! `6144MB` are one value, because a bare number is in units that only the server knows. So a value that
//! means the one asked for is told in the spelling in which it was asked.

use anyhow::{Error, Result, anyhow, ensure};
use dyno_protocol::{InForce, Setting};

use dyno_runner_postgres::connection::{Connection, ServerError};
use dyno_runner_postgres::scratch::Locale;

use crate::units;

/// What bears on speed or safety and is told whether it was asked for or not.
const ALWAYS: [&str; 16] = [
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "wal_level",
    "data_checksums",
    "shared_buffers",
    "work_mem",
    "maintenance_work_mem",
    "max_wal_size",
    "checkpoint_timeout",
    "jit",
    "max_parallel_workers_per_gather",
    "autovacuum",
    "server_encoding",
    "default_transaction_isolation",
];

/// What is fixed when a database is made, with the columns of `pg_database` that tell it: `SHOW` has not
/// known these since PostgreSQL 16.
const LOCALE: [(&str, &str); 2] = [("lc_collate", "datcollate"), ("lc_ctype", "datctype")];

/// Error code: there is nothing of that name.
const UNDEFINED_OBJECT: &str = "42704";
/// Error codes: only the server's start or its configuration can set it, or only an administrator. That
/// it is not in force as asked is dyno's to tell.
const NOT_HERE: [&str; 2] = ["55P02", "42501"];

/// The settings of a job.
#[derive(Debug)]
pub struct Settings<'a> {
    asked: &'a [Setting],
    /// What the database is to be made with.
    pub locale: Locale,
}

impl Settings<'_> {
    /// Takes the settings asked for apart and refuses what cannot be a setting of PostgreSQL.
    pub fn parse(asked: &[Setting]) -> Result<Settings<'_>> {
        let mut locale = Locale { collate: "C".to_owned(), ctype: "C".to_owned() };
        for Setting { name, value } in asked {
            ensure!(
                is_name(name),
                "'{name}' cannot be a setting of PostgreSQL: it is not the name of a parameter"
            );
            ensure!(!value.contains('\0'), "the value of the setting '{name}' holds a NUL byte");
            match name.as_str() {
                "lc_collate" => locale.collate.clone_from(value),
                "lc_ctype" => locale.ctype.clone_from(value),
                _ => {}
            }
        }
        Ok(Settings { asked, locale })
    }

    /// Sets what is not in force yet, for this session only.
    pub fn apply(&self, connection: &Connection) -> Result<()> {
        for setting in self.asked.iter().filter(|setting| !is_locale(&setting.name)) {
            if means(connection, setting, &show(connection, &setting.name)?) {
                continue;
            }
            let sql = format!("SET {} = '{}'", identifier(&setting.name), setting.value.replace('\'', "''"));
            match connection.rows(&sql) {
                Err(error) if code(&error).is_some_and(|code| NOT_HERE.contains(&code)) => {}
                outcome => outcome.map(drop).map_err(|error| {
                    error.context(format!("PostgreSQL refuses the setting '{}'", setting.name))
                })?,
            }
        }
        Ok(())
    }

    /// Reads back what was asked for and what matters in any case.
    pub fn in_force(&self, connection: &Connection) -> Result<Vec<InForce>> {
        let mut settings: Vec<InForce> = Vec::new();
        // Of a setting named twice the last is in force.
        for setting in self.asked.iter().rev().filter(|setting| !is_locale(&setting.name)) {
            if settings.iter().all(|known| known.name != setting.name) {
                let found = show(connection, &setting.name)?;
                let value = if means(connection, setting, &found) { setting.value.clone() } else { found };
                settings.push(InForce { name: setting.name.clone(), value });
            }
        }
        settings.reverse();
        for name in ALWAYS {
            if settings.iter().all(|known| known.name != name) {
                let value = if_told(show(connection, name))?;
                settings.extend(value.map(|value| InForce { name: name.to_owned(), value }));
            }
        }
        for (name, column) in LOCALE {
            let sql = format!("SELECT {column} FROM pg_database WHERE datname = current_database()");
            let value = if_told(connection.value(&sql))?.flatten();
            settings.extend(value.map(|value| InForce { name: name.to_owned(), value }));
        }
        Ok(settings)
    }
}

fn is_locale(name: &str) -> bool {
    LOCALE.iter().any(|(known, _)| *known == name)
}

/// Whether it is a name that can stand in a statement: letters, digits, `_`, and dots between parts.
fn is_name(name: &str) -> bool {
    name.split('.').all(|part| {
        let mut letters = part.bytes();
        letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
    })
}

/// `work_mem` as `"work_mem"`, `a.b` as `"a"."b"`: so no name is taken for a word of the language.
fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('.', "\".\""))
}

fn code(error: &Error) -> Option<&str> {
    error.downcast_ref().map(|error: &ServerError| error.code.as_str())
}

/// The value of a setting in the server's own spelling.
fn show(connection: &Connection, name: &str) -> Result<String> {
    match connection.value(&format!("SHOW {}", identifier(name))) {
        Ok(value) => Ok(value.unwrap_or_default()),
        Err(error) if code(&error) == Some(UNDEFINED_OBJECT) => Err(error.context(format!(
            "unknown setting '{name}' (see https://www.postgresql.org/docs/current/runtime-config.html, or leave \
             it out)"
        ))),
        Err(error) => Err(error.context(format!("the server does not tell its setting '{name}'"))),
    }
}

/// What a server that has no such thing refuses is left out; that the server is lost is an error.
fn if_told<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is::<ServerError>() => Ok(None),
        Err(error) => Err(anyhow!("cannot read the settings back: {error:#}")),
    }
}

/// Whether a value found is the one asked for.
fn means(connection: &Connection, asked: &Setting, found: &str) -> bool {
    if asked.value.eq_ignore_ascii_case(found) {
        return true;
    }
    // What speaks the protocol and has no such view tells its values in their only spelling.
    let query = format!("SELECT unit FROM pg_settings WHERE lower(name) = lower('{}')", asked.name);
    let unit = connection.value(&query).ok().flatten();
    units::are_equal(&asked.value, found, unit.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &str, value: &str) -> Setting {
        Setting { name: name.into(), value: value.into() }
    }

    #[test]
    fn the_locale_belongs_to_the_database() {
        let list = [asked("lc_collate", "de_DE.UTF-8"), asked("work_mem", "64MB")];
        let settings = Settings::parse(&list).unwrap();
        assert_eq!(settings.locale, Locale { collate: "de_DE.UTF-8".into(), ctype: "C".into() });
    }

    #[test]
    fn names_stand_in_statements_as_names() {
        assert_eq!(identifier("work_mem"), "\"work_mem\"");
        assert_eq!(identifier("auto_explain.log_min_duration"), "\"auto_explain\".\"log_min_duration\"");
        for bad in ["", "a b", "x\"y", "1a", "a.", "a=b"] {
            assert!(Settings::parse(&[asked(bad, "1")]).is_err(), "{bad}");
        }
    }
}
