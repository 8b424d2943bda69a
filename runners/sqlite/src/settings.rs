//! Settings: any PRAGMA that SQLite can read back, `database`, which says where the data lives, and `key`,
//! which says what the job's key is.
//!
//! All are applied first and read back after that, because one may undo another. What is asked and
//! what is in force are compared by dyno.

use std::collections::BTreeMap;
use std::ffi::CString;

use anyhow::{Context, Result, bail, ensure};
use dyno_client::sqlite::Connection;
use dyno_protocol::{InForce, Job, Secret, Setting, Value};

use crate::cipher::{self, Form, Lock};

/// The place of the data: a file, or memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// In a file in the job's folder.
    File,
    /// In memory.
    Memory,
    /// In a file without a name, which goes away with the connection.
    Temporary,
}

impl Database {
    const ALL: [Database; 3] = [Database::File, Database::Memory, Database::Temporary];

    fn name(self) -> &'static str {
        match self {
            Database::File => "file",
            Database::Memory => ":memory:",
            Database::Temporary => "temporary",
        }
    }
}

/// The settings of a job.
#[derive(Debug)]
pub struct Settings {
    /// The place of the data.
    pub database: Database,
    /// The form of the job's key; `None` where nothing is encrypted.
    key: Option<Form>,
    /// Names and values, in the order in which they are to be applied.
    pragmas: Vec<(String, String)>,
    /// Settings that are read back though the job does not set them.
    read_back: Vec<String>,
    /// Settings whose values SQLite reads back as numbers, and the names of the numbers.
    values: BTreeMap<String, Vec<String>>,
}

impl Settings {
    /// Takes the settings asked for apart and refuses what cannot be a setting of SQLite.
    pub fn parse(job: &Job) -> Result<Settings> {
        let (read_back, values) = (job.read_back.clone(), job.values.clone());
        let mut settings =
            Settings { database: Database::File, key: None, pragmas: Vec::new(), read_back, values };
        for Setting { name, value } in &job.settings {
            if name == "database" {
                settings.database = database(value)?;
                continue;
            }
            if name == "key" {
                settings.key = Some(Form::parse(value)?);
                continue;
            }
            cipher::refuse_secret(name)?;
            ensure!(
                is_name(name),
                "'{name}' cannot be a setting of SQLite: it is not the name of a PRAGMA in small letters"
            );
            ensure!(!value.contains('\0'), "the value of the setting '{name}' holds a NUL byte");
            if let Some(names) = job.values.get(name)
                && !(0..).zip(names).any(|(number, known)| is_value(value, number, known))
            {
                bail!("SQLite's setting '{name}' is one of {}, not '{value}'", names.join(", "));
            }
            settings.pragmas.push((name.clone(), value.clone()));
        }
        settings.pragmas.sort_by_key(|(name, _)| turn(name));
        Ok(settings)
    }

    /// Applies all of them to a connection that was just opened, and unlocks it.
    pub fn apply(&self, connection: &Connection, key: Option<&Secret>) -> Result<()> {
        let Some(lock) = Lock::new(self.key, key)? else { return self.set(connection, |_| true) };
        if lock.comes_first(connection) {
            lock.open(connection)?;
            self.set(connection, cipher::is_cipher_setting)?;
        } else {
            self.set(connection, cipher::is_cipher_setting)?;
            lock.open(connection)?;
        }
        self.set(connection, |name| !cipher::is_cipher_setting(name))?;
        cipher::check_unlocked(connection)
    }

    /// Sets those whose names are wanted.
    fn set(&self, connection: &Connection, wanted: impl Fn(&str) -> bool) -> Result<()> {
        for (name, value) in self.pragmas.iter().filter(|(name, _)| wanted(name)) {
            // As a string, so that the value can be nothing but a value. PRAGMAs take numbers so too.
            let sql = format!("PRAGMA {name}='{}'", value.replace('\'', "''"));
            let applied = connection.rows(&CString::new(sql)?);
            applied.with_context(|| format!("SQLite refuses the setting '{name}'"))?;
        }
        Ok(())
    }

    /// Reads back the settings that were set, those that the job wants read back, and those that a cipher reports.
    pub fn in_force(&self, connection: &Connection) -> Result<Vec<InForce>> {
        let mut settings = vec![self.database_in_force(connection)?];
        settings
            .extend(self.key.map(|form| InForce { name: "key".to_owned(), value: form.name().to_owned() }));
        let reported = if self.key.is_some() { cipher::reported_settings(connection) } else { &[] };
        let asked = self.pragmas.iter().map(|(name, _)| name.as_str());
        let wanted = self.read_back.iter().map(String::as_str);
        for name in wanted.chain(reported.iter().copied()).chain(asked) {
            if settings.iter().any(|known| known.name == name) {
                continue;
            }
            match self.value_in_force(connection, name)? {
                Some(value) => settings.push(InForce { name: name.to_owned(), value }),
                None if self.pragmas.iter().any(|(asked, _)| asked == name) => bail!(
                    "SQLite has no setting '{name}' that can be read back from this database: \
                     see https://sqlite.org/pragma.html, or leave it out"
                ),
                None => {}
            }
        }
        Ok(settings)
    }

    fn value_in_force(&self, connection: &Connection, name: &str) -> Result<Option<String>> {
        let rows = connection.rows(&CString::new(format!("PRAGMA {name}"))?);
        let rows = rows.with_context(|| format!("SQLite does not tell its setting '{name}'"))?;
        let value = rows.into_iter().next().and_then(|row| row.into_iter().next()).map(text);
        Ok(value.map(|value| self.spelled(name, value)))
    }

    /// A numbered value by its name.
    fn spelled(&self, name: &str, value: String) -> String {
        let number = value.parse::<usize>().ok();
        let names = self.values.get(name).zip(number);
        names.and_then(|(names, number)| names.get(number)).map_or(value, String::clone)
    }

    /// SQLite reports whether the database is a named file; of the other two it is the one asked for.
    fn database_in_force(&self, connection: &Connection) -> Result<InForce> {
        let list = connection.rows(c"PRAGMA database_list")?;
        let main = list.into_iter().find(|row| row.get(1) == Some(&Value::Text("main".to_owned())));
        let file = main.and_then(|row| row.into_iter().nth(2)).map(text).unwrap_or_default();
        let found = match (file.is_empty(), self.database) {
            (false, _) => Database::File,
            (true, Database::File) => bail!("SQLite opened no file where a file was asked for"),
            (true, other) => other,
        };
        Ok(InForce { name: "database".to_owned(), value: found.name().to_owned() })
    }
}

fn database(value: &str) -> Result<Database> {
    let found = Database::ALL.into_iter().find(|database| database.name() == value);
    found.with_context(|| {
        format!(
            "the setting 'database' is one of {}, not '{value}'",
            Database::ALL.map(Database::name).join(", ")
        )
    })
}

/// Returns true if a text is a value's name or number. SQLite replaces any other text by a value of its choice.
fn is_value(value: &str, number: usize, name: &str) -> bool {
    value.eq_ignore_ascii_case(name) || value == number.to_string()
}

/// Settings that shape the file must be applied before it has a page; the locking mode decides how the journal
/// is kept; the journal mode must be set before the settings that depend on it.
fn turn(name: &str) -> u8 {
    match name {
        // Those of a cipher mean the one that is chosen.
        "cipher" | "page_size" | "auto_vacuum" | "encoding" => 0,
        "locking_mode" => 1,
        "journal_mode" => 2,
        _ => 3,
    }
}

/// Returns true if a name has only characters that need no quotes in a statement, in lower case.
fn is_name(name: &str) -> bool {
    let mut letters = name.bytes();
    let first = letters.next().is_some_and(|letter| letter.is_ascii_lowercase() || letter == b'_');
    first && letters.all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_')
}

fn text(value: Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob { blob } => blob,
    }
}

#[cfg(test)]
mod tests;
