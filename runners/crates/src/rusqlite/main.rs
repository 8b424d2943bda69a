//! The runner for rusqlite, with the SQLite that it compiles. <https://docs.rs/rusqlite>

mod mix;
mod rows;

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::mem::replace;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Error, Result, bail, ensure};
use dyno_protocol::{Build, Hello, Job, MixWork, PROTOCOL, RowCollector, Value};
use dyno_runner::mix::Connector;
use dyno_runner::{Answer, Engine, JobSql, NoStore, OnConnect, Session, read_back};
use rusqlite::Connection;

use mix::Statements;

/// The database's name in the job's folder.
const FILE: &str = "dyno.db";
/// The time that a connection waits for a lock: another may be about to write, or to close the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// An error of SQLite, with its extended code.
#[derive(Debug, thiserror::Error)]
#[error("{message} (SQLite error {code})")]
struct SqliteSays {
    code: i32,
    message: String,
}

/// The error of a call: SQLite's own words and code where it has some.
fn said(error: rusqlite::Error) -> Error {
    match error {
        rusqlite::Error::SqliteFailure(failure, message) => {
            let message = message.unwrap_or_else(|| failure.to_string());
            SqliteSays { code: failure.extended_code, message }.into()
        }
        rusqlite::Error::SqlInputError { error, msg, .. } => {
            SqliteSays { code: error.extended_code, message: msg }.into()
        }
        other => other.into(),
    }
}

/// The code of an error of SQLite.
fn code(error: &Error) -> Option<i32> {
    error.downcast_ref().map(|error: &SqliteSays| error.code)
}

/// The way in which each session opens the database.
struct Opening {
    /// SQLite's name of it.
    location: PathBuf,
    /// True if more than one connection sees the same data.
    is_file: bool,
    settings: OnConnect,
}

/// A database.
struct Sqlite {
    opening: Arc<Opening>,
    /// The connection that made it, until the first session takes it.
    first: Option<Client>,
}

/// A client, which has one connection.
struct Client {
    connection: Connection,
    opening: Arc<Opening>,
}

impl Client {
    fn open(opening: &Arc<Opening>) -> Result<Client> {
        let connection = Connection::open(&opening.location).map_err(said)?;
        let client = Client { connection, opening: opening.clone() };
        client.set()?;
        Ok(client)
    }

    /// Applies the settings. Others may be about to write, or to close the database: their locks are waited for.
    fn set(&self) -> Result<()> {
        self.connection.busy_timeout(BUSY_TIMEOUT).map_err(said)?;
        self.opening.settings.apply(self)
    }

    /// The first value of a query's first row.
    fn text(&self, sql: &str) -> Result<String> {
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(said)
    }
}

impl JobSql for Client {
    fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>> {
        let mut collector = RowCollector::default();
        rows::execute(&self.connection, sql, &mut collector)?;
        Ok(collector.rows)
    }

    fn code(error: &Error) -> Option<String> {
        code(error).map(|code| code.to_string())
    }
}

impl Sqlite {
    fn check_several(&self) -> Result<()> {
        ensure!(self.opening.is_file, "a database that is not in a file is that of one connection alone");
        Ok(())
    }
}

/// The place of the data, which is the only setting that is no PRAGMA.
fn place(job: &Job) -> Result<(PathBuf, bool)> {
    let mut place = "file";
    for setting in &job.settings {
        ensure!(setting.name == "database", "sqlite/rusqlite has no setting '{}' of its own", setting.name);
        place = &setting.value;
    }
    match place {
        "file" => Ok((job.directory.join(FILE), true)),
        ":memory:" => Ok((place.into(), false)),
        "temporary" => Ok((PathBuf::new(), false)),
        _ => bail!("the setting 'database' is one of file, :memory:, temporary, not '{place}'"),
    }
}

impl Engine for Sqlite {
    type Session = Client;

    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "sqlite", &["rusqlite"])?;
        ensure!(
            job.build == Build::Bundled,
            "rusqlite has its own SQLite and takes no other: name the contender sqlite/rusqlite"
        );
        // SAFETY: the runner has one thread as yet, so no other thread reads the environment meanwhile. SQLite's
        // temporary files belong on the file system that is measured, like the database.
        unsafe { std::env::set_var("SQLITE_TMPDIR", &job.directory) };
        let (location, is_file) = place(job)?;
        let opening = Arc::new(Opening { location, is_file, settings: OnConnect::new(&job.on_connect) });
        let client = Client::open(&opening)?;
        let options = client.rows("PRAGMA compile_options")?.into_iter().flatten();
        let options = options.filter_map(|value| match value {
            Value::Text(text) => Some(text),
            _ => None,
        });
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("rusqlite ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: rusqlite::version().to_owned(),
            driver_version: concat!("rusqlite ", env!("DYNO_RUSQLITE")).to_owned(),
            build: BTreeMap::from([
                ("source_id".to_owned(), vec![client.text("SELECT sqlite_source_id()")?]),
                ("compile_options".to_owned(), options.collect()),
            ]),
            settings: Vec::new(),
            read_back: read_back(&client, &job.read_back)?,
        };
        Ok((Sqlite { opening, first: Some(client) }, hello))
    }

    fn session(&mut self) -> Result<Client> {
        if let Some(first) = self.first.take() {
            return Ok(first);
        }
        self.check_several()?;
        Client::open(&self.opening)
    }

    fn door(&self) -> Result<Box<Connector<'static, Client>>> {
        self.check_several()?;
        let opening = self.opening.clone();
        Ok(Box::new(move || Client::open(&opening)))
    }

    fn close(self) -> Result<()> {
        Ok(())
    }
}

impl Session for Client {
    type Store<'s> = NoStore;
    type Prepared<'s> = Statements<'s>;

    fn prepare(&mut self, mix: &MixWork) -> Result<Statements<'_>> {
        Statements::prepare(&self.connection, mix)
    }

    fn execute(&mut self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        rows::execute(&self.connection, sql.to_str()?, answer).map(|()| 0)
    }

    fn changes(&mut self) -> u64 {
        self.connection.total_changes()
    }

    /// The last connection that closes copies the log into the database and removes it, which is a part of what short
    /// sessions cost.
    fn step_aside(&mut self, meanwhile: &mut dyn FnMut()) -> Result<()> {
        let nothing = Connection::open_in_memory().map_err(said)?;
        drop(replace(&mut self.connection, nothing));
        meanwhile();
        self.connection = Connection::open(&self.opening.location).map_err(said)?;
        self.set()
    }

    fn close(self) -> Result<()> {
        self.connection.close().map_err(|(_, error)| said(error))
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Sqlite>()
}
