//! The runner for SQLite: loads the library that the job names and calls its C API.
//!
//! One code path measures every build (the bundled one, the system's, a file of the user's own),
//! because none of them is linked: the crate `dyno-sqlite` finds and loads it. `connection` is the hot
//! loop of statements, `rows` and `kv` those of prepared ones, `settings` sets PRAGMAs and reads them back.

mod connection;
mod kv;
mod prepared;
mod rows;
mod settings;

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use dyno_protocol::{Build, Hello, Job, PROTOCOL, Store, Value};
use dyno_runner::{Answer, Driver, Failure, Statements};

use connection::Connection;
use settings::{Database, Settings};

/// The database's name in the job's folder.
const FILE: &str = "dyno.db";

/// An open database.
struct Sqlite {
    connection: Connection,
    /// The variant `multirow`.
    multirow: bool,
    /// The variant `without-rowid`.
    without_rowid: bool,
    /// The store that key-value work is about.
    store: Option<Store>,
}

impl Driver for Sqlite {
    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "sqlite", &["c"])?;
        let settings = Settings::parse(&job.settings)?;
        // SAFETY: the runner has one thread as yet, so nobody reads the environment meanwhile.
        // SQLite's temporary files belong on the file system that is measured, like the database.
        unsafe { std::env::set_var("SQLITE_TMPDIR", &job.directory) };
        let api = dyno_sqlite::load(&job.build)?;
        let connection = Connection::open(api, &location(settings.database, &job.directory)?)?;
        settings.apply(&connection)?;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("sqlite ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: connection.version(),
            // The driver is the C API, which is the library itself.
            driver_version: connection.version(),
            build: identity(&connection, &job.build)?,
            settings: settings.in_force(&connection)?,
        };
        let is = |variant: &str| job.variant.as_deref() == Some(variant);
        let (multirow, without_rowid) = (is("multirow"), is("without-rowid"));
        Ok((Sqlite { connection, multirow, without_rowid, store: None }, hello))
    }

    fn statements(&mut self, statements: &Statements, answer: &mut Answer) -> Result<u64, Failure> {
        let mut done = 0;
        for sql in statements.iter() {
            if let Err(error) = self.connection.execute(sql, answer) {
                return Err(Failure::at(done, error));
            }
            done += 1;
        }
        Ok(done)
    }

    fn query(&mut self, sql: &CStr, answer: &mut Answer) -> Result<()> {
        self.connection.execute(sql, answer)
    }

    fn changes(&mut self) -> u64 {
        self.connection.total_changes()
    }

    fn close(self) -> Result<()> {
        self.connection.close()
    }
}

/// What SQLite calls the place of a database.
fn location(database: Database, directory: &Path) -> Result<CString> {
    let name = match database {
        Database::File => directory.join(FILE).as_os_str().as_bytes().to_owned(),
        Database::Memory => b":memory:".to_vec(),
        Database::Temporary => Vec::new(),
    };
    CString::new(name).context("the folder's name holds a NUL byte")
}

/// What tells this build from any other.
fn identity(connection: &Connection, build: &Build) -> Result<BTreeMap<String, Vec<String>>> {
    let options = connection.rows(c"PRAGMA compile_options").context("cannot read the compile options")?;
    let options = options.into_iter().flatten().map(|value| match value {
        Value::Text(text) => text,
        other => format!("{other:?}"),
    });
    let mut identity = BTreeMap::from([
        ("source_id".to_owned(), vec![connection.source_id()]),
        ("library".to_owned(), vec![connection.library()]),
        ("compile_options".to_owned(), options.collect()),
    ]);
    if *build == Build::Bundled {
        let flags = dyno_sqlite::BUNDLED_FLAGS.split_whitespace().map(str::to_owned);
        identity.insert("compile_flags".to_owned(), flags.collect());
    }
    Ok(identity)
}

fn main() -> ExitCode {
    dyno_runner::run::<Sqlite>()
}
