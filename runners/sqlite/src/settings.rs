//! Settings: `database`, which says where the data lives, `key`, which says what the job's key is, and any PRAGMA that
//! SQLite can read back.
//!
//! PRAGMAs are statements of the job. What is asked and what is in force are compared by dyno.

use std::ffi::CString;

use anyhow::{Context, Error, Result, bail};
use dyno_client::sqlite::{Connection, SqliteError};
use dyno_protocol::{InForce, Job, Secret, Setting, Value};
use dyno_runner::{JobSql, OnConnect};

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
    /// The PRAGMAs of every connection.
    pragmas: OnConnect,
}

impl Settings {
    /// Takes the settings asked for apart.
    pub fn parse(job: &Job) -> Result<Settings> {
        let mut settings =
            Settings { database: Database::File, key: None, pragmas: OnConnect::new(&job.on_connect) };
        for Setting { name, value } in &job.settings {
            match name.as_str() {
                "database" => settings.database = database(value)?,
                "key" => settings.key = Some(Form::parse(value)?),
                _ => {
                    bail!("the setting '{name}' is no matter of opening a database: this is an error in dyno")
                }
            }
        }
        settings.pragmas.names().try_for_each(cipher::refuse_secret)?;
        Ok(settings)
    }

    /// Applies all of them to a connection that was just opened, and unlocks it.
    pub fn apply(&self, connection: &Connection, key: Option<&Secret>) -> Result<()> {
        let client = &PragmaSql(connection);
        let Some(lock) = Lock::new(self.key, key)? else { return self.pragmas.apply(client) };
        if lock.comes_first(connection) {
            lock.open(connection)?;
            self.pragmas.apply_some(client, cipher::is_cipher_setting)?;
        } else {
            self.pragmas.apply_some(client, cipher::is_cipher_setting)?;
            lock.open(connection)?;
        }
        self.pragmas.apply_some(client, |name| !cipher::is_cipher_setting(name))?;
        cipher::check_unlocked(connection)
    }

    /// Reads back what the library reports of its cipher, which differs from one to the other.
    pub fn of_cipher(&self, connection: &Connection) -> Result<Vec<InForce>> {
        let Some(form) = self.key else { return Ok(Vec::new()) };
        let mut settings = vec![InForce { name: "key".to_owned(), value: form.name().to_owned() }];
        for name in cipher::reported_settings(connection) {
            let rows = connection.rows(&CString::new(format!("PRAGMA {name}"))?);
            let rows = rows.with_context(|| format!("SQLite does not report its setting '{name}'"))?;
            let value = rows.into_iter().next().and_then(|row| row.into_iter().next()).map(text);
            settings.extend(value.map(|value| InForce { name: (*name).to_owned(), value }));
        }
        Ok(settings)
    }
}

/// A connection, for the statements of the job.
pub struct PragmaSql<'a>(pub &'a Connection);

impl JobSql for PragmaSql<'_> {
    fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>> {
        self.0.rows(&CString::new(sql)?)
    }

    fn code(error: &Error) -> Option<String> {
        error.downcast_ref().map(|error: &SqliteError| error.code.to_string())
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

fn text(value: Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob { blob } => blob,
    }
}
