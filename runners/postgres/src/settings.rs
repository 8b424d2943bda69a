//! Settings: any parameter of PostgreSQL, and `lc_collate` and `lc_ctype` of the trial's database.
//!
//! A bare number is in units that only the server knows.

use anyhow::{Error, Result};
use dyno_client::Sql;
use dyno_client::postgres::ServerError;
use dyno_protocol::{InForce, Setting};
use dyno_runner::server::{self, Asked, Parameters, check_names, if_reported};

use crate::database::Locale;
use crate::session::Session;
use crate::units;

/// Settings that are fixed when a database is made, with the columns of `pg_database` that hold them: `SHOW` has not
/// known these since PostgreSQL 16.
const LOCALE: [(&str, &str); 2] = [("lc_collate", "datcollate"), ("lc_ctype", "datctype")];

/// Error code: there is nothing of that name.
const UNDEFINED_OBJECT: &str = "42704";
/// Error codes: only the server's start or its configuration can set it, or only an administrator.
const NOT_HERE: [&str; 2] = ["55P02", "42501"];

/// The settings of a job.
#[derive(Debug)]
pub struct Settings {
    asked: Asked,
    /// Settings that are read back though the job does not set them.
    read_back: Vec<String>,
    /// The locale with which the database is created.
    pub locale: Locale,
}

impl Settings {
    /// Takes the settings asked for apart and refuses what cannot be a setting of PostgreSQL.
    pub fn parse(asked: &[Setting], read_back: &[String]) -> Result<Settings> {
        check_names(asked, Session::TITLE)?;
        let mut locale = Locale { collate: "C".to_owned(), ctype: "C".to_owned() };
        for Setting { name, value } in asked {
            match name.as_str() {
                "lc_collate" => locale.collate.clone_from(value),
                "lc_ctype" => locale.ctype.clone_from(value),
                _ => {}
            }
        }
        let asked = asked.iter().filter(|setting| !is_locale(&setting.name)).cloned().collect();
        Ok(Settings { asked: Asked::new(asked), read_back: read_back.to_vec(), locale })
    }

    /// Sets what is not in force yet, for this session only.
    pub fn apply(&self, session: &Session) -> Result<()> {
        self.asked.apply(session)
    }

    /// Reads back what was asked for, what the job wants read back, and the locale.
    pub fn in_force(&self, session: &Session) -> Result<Vec<InForce>> {
        let mut settings = server::in_force(session, self.asked.all().iter(), &self.read_back)?;
        for (name, column) in LOCALE {
            let sql = format!("SELECT {column} FROM pg_database WHERE datname = current_database()");
            let value = if_reported::<Session, _>(session.connection.value(&sql))?.flatten();
            settings.extend(value.map(|value| InForce { name: name.to_owned(), value }));
        }
        Ok(settings)
    }
}

impl Parameters for Session {
    const TITLE: &str = "PostgreSQL";

    fn show(&self, name: &str) -> Result<String> {
        match self.connection.value(&format!("SHOW {}", identifier(name))) {
            Ok(value) => Ok(value.unwrap_or_default()),
            Err(error) if code(&error) == Some(UNDEFINED_OBJECT) => Err(error.context(format!(
                "unknown setting '{name}' (see https://www.postgresql.org/docs/current/runtime-config.html, or \
                 leave it out)"
            ))),
            Err(error) => Err(error.context(format!("the server does not tell its setting '{name}'"))),
        }
    }

    fn set(&self, Setting { name, value }: &Setting) -> Result<()> {
        self.connection.rows(&format!("SET {} = '{}'", identifier(name), value.replace('\'', "''"))).map(drop)
    }

    fn is_not_the_sessions(refusal: &ServerError) -> bool {
        NOT_HERE.contains(&refusal.code.as_str())
    }

    fn means(&self, asked: &Setting, found: &str) -> bool {
        if asked.value.eq_ignore_ascii_case(found) {
            return true;
        }
        // Engines that speak the protocol and lack this view report values in their only spelling.
        let query = format!("SELECT unit FROM pg_settings WHERE lower(name) = lower('{}')", asked.name);
        let unit = self.connection.value(&query).ok().flatten();
        units::are_equal(&asked.value, found, unit.as_deref())
    }
}

fn is_locale(name: &str) -> bool {
    LOCALE.iter().any(|(known, _)| *known == name)
}

/// `work_mem` as `"work_mem"`, `a.b` as `"a"."b"`: so no name is taken for a word of the language.
fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('.', "\".\""))
}

fn code(error: &Error) -> Option<&str> {
    error.downcast_ref().map(|error: &ServerError| error.code.as_str())
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
        let settings = Settings::parse(&list, &[]).unwrap();
        assert_eq!(settings.locale, Locale { collate: "de_DE.UTF-8".into(), ctype: "C".into() });
    }

    #[test]
    fn names_stand_in_statements_as_names() {
        assert_eq!(identifier("work_mem"), "\"work_mem\"");
        assert_eq!(identifier("auto_explain.log_min_duration"), "\"auto_explain\".\"log_min_duration\"");
        assert!(Settings::parse(&[asked("a b", "1")], &[]).is_err());
    }
}
