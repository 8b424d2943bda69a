//! Settings as statements and queries, by the language of the engine.

use anyhow::{Result, ensure};
use dyno_protocol::{JobStatement, ReadBackQuery, Setting};

use super::spelling;
use crate::server::Protocol;
use crate::settings::ValueNames;

/// The SQL by which an engine's settings are set and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingSyntax {
    /// `SET "name" = 'value'` and `SHOW "name"`, of servers that speak PostgreSQL's protocol.
    Postgres,
    /// `SET SESSION name = value` and `SELECT @@name`, of servers that speak MySQL's.
    MySql,
    /// `PRAGMA name='value'`, of SQLite.
    Pragma,
    /// `SET name = 'value'` and `current_setting('name')`, of DuckDB.
    Duckdb,
}

/// The query for the server's version.
pub const VERSION: &str = "version()";
/// The query for the version's number, of servers that speak PostgreSQL's protocol.
pub const SERVER_VERSION: &str = "server_version";
/// The query for the words that go with the version, of servers that speak MySQL's protocol.
pub const VERSION_COMMENT: &str = "version_comment";
/// The setting that says where an engine within the process keeps its data.
pub const DATABASE: &str = "database";
/// The setting that says what the job's key is.
const KEY: &str = "key";
/// Settings of PostgreSQL that are fixed when a database is made, with the columns of `pg_database` that hold them:
/// `SHOW` has not known these since PostgreSQL 16.
pub const LOCALE: [(&str, &str); 2] = [("lc_collate", "datcollate"), ("lc_ctype", "datctype")];
/// PostgreSQL's codes: only the server's start or its configuration can set it, or only an administrator.
const NOT_THE_SESSIONS_IN_POSTGRES: [&str; 2] = ["55P02", "42501"];
/// MySQL's codes: the variable is the whole server's, can only be read, or is set by administrators.
const NOT_THE_SESSIONS_IN_MYSQL: [&str; 5] = ["1227", "1228", "1229", "1238", "3530"];
/// PRAGMAs whose values are secrets, or differ from trial to trial.
const SECRETS: [&str; 8] =
    ["key", "rekey", "hexkey", "hexrekey", "textkey", "textrekey", "cipher_salt", "cipher_store_pass"];

impl SettingSyntax {
    /// That of an engine by its protocol or dialect; `None` for engines whose settings are arguments of calls.
    pub fn of(speaks: Option<Protocol>, dialect: &str) -> Option<SettingSyntax> {
        match (speaks, dialect) {
            (Some(Protocol::Postgres), _) => Some(SettingSyntax::Postgres),
            (Some(Protocol::MySql), _) => Some(SettingSyntax::MySql),
            (None, "sqlite") => Some(SettingSyntax::Pragma),
            (None, "duckdb") => Some(SettingSyntax::Duckdb),
            _ => None,
        }
    }

    /// True if a setting is set by a statement of each connection, and not by a call or when the database is made.
    pub fn is_statement(self, name: &str) -> bool {
        match self {
            SettingSyntax::Postgres => LOCALE.iter().all(|(fixed, _)| *fixed != name),
            SettingSyntax::MySql => true,
            SettingSyntax::Pragma => ![DATABASE, KEY].contains(&name),
            SettingSyntax::Duckdb => name != DATABASE,
        }
    }

    /// True if a setting is the runner's to take.
    pub fn is_call(self, name: &str) -> bool {
        matches!(self, SettingSyntax::Pragma | SettingSyntax::Duckdb) && !self.is_statement(name)
    }

    /// Refuses a setting that cannot be one.
    pub fn check(self, setting: &Setting, values: &ValueNames) -> Result<()> {
        let Setting { name, value } = setting;
        ensure!(!value.contains('\0'), "the value of the setting '{name}' holds a NUL byte");
        if self != SettingSyntax::Pragma || !self.is_statement(name) {
            return Ok(());
        }
        ensure!(
            !SECRETS.contains(&name.as_str()),
            "'{name}' cannot be a setting: keys come from DYNO_KEY or --key-file, or are made for the run"
        );
        ensure!(
            !name.contains(|letter: char| letter.is_ascii_uppercase() || letter == '.'),
            "'{name}' cannot be a setting of SQLite: it is not the name of a PRAGMA in small letters"
        );
        // SQLite replaces any other value by one of its choice.
        if let Some(names) = values.get(name) {
            let is_value = |(number, known): (u64, &String)| {
                value.eq_ignore_ascii_case(known) || *value == number.to_string()
            };
            ensure!(
                (0..).zip(names).any(is_value),
                "SQLite's setting '{name}' is one of {}, not '{value}'",
                names.join(", ")
            );
        }
        Ok(())
    }

    /// The statements that set settings for a connection. Of a setting named twice the last counts.
    pub fn on_connect<'a>(self, asked: impl Iterator<Item = &'a Setting>) -> Vec<JobStatement> {
        let mut settings: Vec<&Setting> = Vec::new();
        for setting in asked.filter(|setting| self.is_statement(&setting.name)) {
            settings.retain(|known| known.name != setting.name);
            settings.push(setting);
        }
        if self == SettingSyntax::Pragma {
            settings.sort_by_key(|setting| pragma_rank(&setting.name));
        }
        let ignores: &[&str] = match self {
            SettingSyntax::Postgres => &NOT_THE_SESSIONS_IN_POSTGRES,
            SettingSyntax::MySql => &NOT_THE_SESSIONS_IN_MYSQL,
            SettingSyntax::Pragma | SettingSyntax::Duckdb => &[],
        };
        let statement = |setting: &Setting| JobStatement {
            name: setting.name.clone(),
            sql: self.set(setting),
            ignores: ignores.iter().map(|&code| code.to_owned()).collect(),
            ..JobStatement::default()
        };
        settings.into_iter().map(statement).collect()
    }

    fn set(self, Setting { name, value }: &Setting) -> String {
        match self {
            SettingSyntax::Postgres => format!("SET {} = {}", identifier(name), quoted(value)),
            SettingSyntax::MySql => match spelling::number(value) {
                Some(number) => format!("SET SESSION {name} = {number}"),
                None => format!("SET SESSION {name} = {}", quoted(&value.replace('\\', "\\\\"))),
            },
            // As a string, so that the value can be nothing but a value. PRAGMAs take numbers so too.
            SettingSyntax::Pragma => format!("PRAGMA {name}={}", quoted(value)),
            SettingSyntax::Duckdb => format!("SET {name} = {}", quoted(value)),
        }
    }

    /// The queries for settings, for those asked for with what their units are, and for what identifies a server.
    pub fn read_back(self, asked: &[Setting], names: &[String]) -> Vec<ReadBackQuery> {
        let mut queries: Vec<ReadBackQuery> = Vec::new();
        let mut add = |name: &str, query: String| {
            if queries.iter().all(|known| known.name != name) {
                queries.push(ReadBackQuery { name: name.to_owned(), query });
            }
        };
        for &(name, query) in self.facts() {
            add(name, query.to_owned());
        }
        for Setting { name, value } in asked.iter().filter(|setting| self.is_statement(&setting.name)) {
            add(name, self.get(name));
            if self == SettingSyntax::Postgres && spelling::may_have_unit(value) {
                let query =
                    format!("SELECT unit FROM pg_settings WHERE lower(name) = lower({})", quoted(name));
                add(&unit_of(name), query);
            }
        }
        for name in names.iter().filter(|name| self.is_statement(name)) {
            add(name, self.get(name));
        }
        if self == SettingSyntax::Postgres {
            for (name, column) in LOCALE {
                let query = format!("SELECT {column} FROM pg_database WHERE datname = current_database()");
                add(name, query);
            }
        }
        queries
    }

    fn get(self, name: &str) -> String {
        match self {
            SettingSyntax::Postgres => format!("SHOW {}", identifier(name)),
            SettingSyntax::MySql => format!("SELECT @@{name}"),
            SettingSyntax::Pragma => format!("PRAGMA {name}"),
            SettingSyntax::Duckdb => format!("SELECT current_setting({})::VARCHAR", quoted(name)),
        }
    }

    /// Queries for what is no setting, by name.
    pub fn facts(self) -> &'static [(&'static str, &'static str)] {
        match self {
            SettingSyntax::Postgres => {
                &[(VERSION, "SELECT version()"), (SERVER_VERSION, "SHOW server_version")]
            }
            SettingSyntax::MySql => {
                &[(VERSION, "SELECT version()"), (VERSION_COMMENT, "SELECT @@version_comment")]
            }
            SettingSyntax::Pragma => {
                &[(DATABASE, "SELECT file FROM pragma_database_list WHERE name = 'main'")]
            }
            SettingSyntax::Duckdb => &[(DATABASE, "SELECT path FROM duckdb_databases() WHERE NOT internal")],
        }
    }
}

/// The name of the query for a setting's unit.
pub fn unit_of(name: &str) -> String {
    format!("unit({name})")
}

/// PRAGMAs that shape the file must be applied before it has a page; the locking mode decides how the journal is kept; the
/// journal mode must be set before the settings that depend on it.
fn pragma_rank(name: &str) -> u8 {
    match name {
        // Those of a cipher mean the one that is chosen.
        "cipher" | "page_size" | "auto_vacuum" | "encoding" => 0,
        "locking_mode" => 1,
        "journal_mode" => 2,
        _ => 3,
    }
}

/// `work_mem` as `"work_mem"`, `a.b` as `"a"."b"`: so no name is taken for a word of the language.
fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('.', "\".\""))
}

/// A text between single quotes, by the SQL standard.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(text: &str) -> Setting {
        crate::parse_setting(text).unwrap()
    }

    fn set(syntax: SettingSyntax, asked: &[&str]) -> Vec<String> {
        let asked: Vec<Setting> = asked.iter().map(|text| setting(text)).collect();
        syntax.on_connect(asked.iter()).into_iter().map(|statement| statement.sql).collect()
    }

    #[test]
    fn each_language_sets_a_value_that_can_be_nothing_but_a_value() {
        let asked = ["a.b=it's \\", "c=64M"];
        assert_eq!(
            set(SettingSyntax::Postgres, &asked),
            [r#"SET "a"."b" = 'it''s \'"#, r#"SET "c" = '64M'"#]
        );
        assert_eq!(
            set(SettingSyntax::MySql, &asked),
            [r"SET SESSION a.b = 'it''s \\'", "SET SESSION c = 67108864"]
        );
        assert_eq!(set(SettingSyntax::Duckdb, &["threads=2", "database=file"]), ["SET threads = '2'"]);
    }

    #[test]
    fn pragmas_that_shape_the_file_come_first() {
        let asked =
            ["cache_size=-2", "journal_mode=WAL", "page_size=512", "locking_mode=EXCLUSIVE", "key=raw"];
        assert_eq!(
            set(SettingSyntax::Pragma, &asked),
            [
                "PRAGMA page_size='512'",
                "PRAGMA locking_mode='EXCLUSIVE'",
                "PRAGMA journal_mode='WAL'",
                "PRAGMA cache_size='-2'"
            ]
        );
    }

    #[test]
    fn of_a_setting_named_twice_the_last_is_set() {
        assert_eq!(set(SettingSyntax::Pragma, &["cache_size=1", "cache_size=2"]), ["PRAGMA cache_size='2'"]);
    }

    #[test]
    fn what_cannot_be_a_pragma_is_refused() {
        let names = ["OFF", "NORMAL", "FULL", "EXTRA"].map(String::from).to_vec();
        let values = ValueNames::from([("synchronous".to_owned(), names)]);
        let check = |text: &str| SettingSyntax::Pragma.check(&setting(text), &values);
        for good in ["synchronous=full", "synchronous=2", "cache_size=-5", "database=file", "key=raw"] {
            assert!(check(good).is_ok(), "{good}");
        }
        for (bad, words) in [
            ("synchronous=5", "is one of OFF, NORMAL, FULL, EXTRA, not '5'"),
            ("Cache_size=1", "in small letters"),
            ("main.cache_size=1", "in small letters"),
            ("rekey=secret", "keys come from DYNO_KEY"),
        ] {
            let said = check(bad).unwrap_err().to_string();
            assert!(said.contains(words) && !said.contains("secret"), "{said}");
        }
    }
}
