//! SQLite for every driver: the place of the data, the engine that opens it, and errors.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Error, Result, bail, ensure};
use dyno_protocol::{Build, Hello, Job, PROTOCOL, Value};
use dyno_runner::mix::Connector;
use dyno_runner::{Engine, JobSql, OnConnect, Session, read_back};

/// The database's name in the job's folder.
const FILE: &str = "dyno.db";
/// The time for which a connection waits while another one writes or closes the database.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Codes of SQLite, <https://www.sqlite.org/rescode.html>.
const ERROR: i32 = 1;
const BUSY: i32 = 5;
const LOCKED: i32 = 6;

/// An error of SQLite, with its extended code.
#[derive(Debug, thiserror::Error)]
#[error("{message} (SQLite error {code})")]
struct SqliteError {
    code: i32,
    message: String,
}

/// The error of a call, by SQLite's own words and its extended code.
pub fn sqlite_error(code: i32, message: String) -> Error {
    SqliteError { code, message }.into()
}

/// The code of an error of SQLite.
pub fn code(error: &Error) -> Option<i32> {
    error.downcast_ref().map(|error: &SqliteError| error.code)
}

/// Returns true if another try may succeed.
pub fn is_retryable(error: &Error) -> bool {
    // The lowest byte is the primary code.
    code(error).is_some_and(|code| [BUSY, LOCKED].contains(&(code & 0xff)))
}

/// Returns true if an error has this code, extended or not.
pub fn has_code(error: &Error, wanted: &str) -> bool {
    code(error).is_some_and(|code| code.to_string() == wanted || (code & 0xff).to_string() == wanted)
}

/// The outcome of a ROLLBACK: SQLite may have rolled the transaction back already, and none is open.
///
/// # Errors
/// Those of any other kind.
pub fn rolled_back(outcome: Result<()>) -> Result<()> {
    match outcome {
        Err(error) if code(&error) == Some(ERROR) => Ok(()),
        outcome => outcome,
    }
}

/// The way in which each connection opens the database.
#[derive(Debug)]
pub struct Opening {
    /// SQLite's name of it.
    pub location: PathBuf,
    /// True if the database is in a file, which several connections can open.
    is_file: bool,
    /// The settings of each connection.
    pub settings: OnConnect,
}

/// A client of a driver, which has one connection.
pub trait Client: Session + JobSql + 'static {
    /// The driver's name.
    const NAME: &'static str;
    /// Its name with its version.
    const VERSION: &'static str;

    /// Connects, with the settings applied.
    ///
    /// # Errors
    /// The database cannot be opened, or refuses a setting.
    fn open(opening: &Arc<Opening>) -> Result<Self>;
}

/// A database.
#[derive(Debug)]
pub struct Sqlite<C> {
    opening: Arc<Opening>,
    /// The connection that made it, until the first session takes it.
    first: Option<C>,
}

impl<C> Sqlite<C> {
    fn check_shareable(&self) -> Result<()> {
        ensure!(
            self.opening.is_file,
            "other connections cannot open a database that is not in a file: use one client, or the setting database=file"
        );
        Ok(())
    }
}

/// The database's location, and whether it is a file, by the setting `database`: all other settings are PRAGMAs.
fn place(job: &Job, driver: &str) -> Result<(PathBuf, bool)> {
    let mut place = "file";
    for setting in &job.settings {
        ensure!(setting.name == "database", "sqlite/{driver} has no setting '{}'", setting.name);
        place = &setting.value;
    }
    match place {
        "file" => Ok((job.directory.join(FILE), true)),
        ":memory:" => Ok((place.into(), false)),
        "temporary" => Ok((PathBuf::new(), false)),
        _ => bail!("the setting 'database' is one of file, :memory:, temporary, not '{place}'"),
    }
}

/// The texts that a query returns.
fn texts<C: Client>(client: &C, sql: &str) -> Result<Vec<String>> {
    let values = client.rows(sql)?.into_iter().flatten();
    let text = |value| match value {
        Value::Text(text) => Some(text),
        _ => None,
    };
    Ok(values.filter_map(text).collect())
}

impl<C: Client> Engine for Sqlite<C> {
    type Session = C;

    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "sqlite", &[C::NAME])?;
        ensure!(
            job.build == Build::Bundled,
            "{0} has its own SQLite and takes no other: name the contender sqlite/{0}",
            C::NAME
        );
        // SQLite's temporary files belong on the file system that is measured, like the database.
        // SAFETY: the runner still has one thread, so no other thread reads the environment.
        unsafe { std::env::set_var("SQLITE_TMPDIR", &job.directory) };
        let (location, is_file) = place(job, C::NAME)?;
        let opening = Arc::new(Opening { location, is_file, settings: OnConnect::new(&job.on_connect) });
        let client = C::open(&opening)?;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: format!("{} {}", C::NAME, env!("CARGO_PKG_VERSION")),
            engine_version: texts(&client, "SELECT sqlite_version()")?.concat(),
            driver_version: C::VERSION.to_owned(),
            build: BTreeMap::from([
                ("source_id".to_owned(), texts(&client, "SELECT sqlite_source_id()")?),
                ("compile_options".to_owned(), texts(&client, "PRAGMA compile_options")?),
            ]),
            settings: Vec::new(),
            read_back: read_back(&client, &job.read_back)?,
        };
        Ok((Sqlite { opening, first: Some(client) }, hello))
    }

    fn session(&mut self) -> Result<C> {
        if let Some(first) = self.first.take() {
            return Ok(first);
        }
        self.check_shareable()?;
        C::open(&self.opening)
    }

    fn connector(&self) -> Result<Box<Connector<'static, C>>> {
        self.check_shareable()?;
        let opening = self.opening.clone();
        Ok(Box::new(move || C::open(&opening)))
    }

    fn close(self) -> Result<()> {
        Ok(())
    }
}
