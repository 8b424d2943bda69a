//! The runner for SQLite: loads the library that the job names and calls its C API.
//!
//! One code path measures every build (the bundled one, the system's, a file of the user's own),
//! because none of them is linked: the client, [`dyno_client::sqlite`], finds and loads it. `rows`,
//! `import` and `kv` are the hot loops of prepared statements, `settings` sets PRAGMAs and reads them back.

mod beside;
mod cipher;
mod import;
mod kv;
mod rows;
mod settings;
mod text;
mod transactions;

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use dyno_client::sqlite::{self, BUNDLED_FLAGS, Connection};
use dyno_protocol::{Build, Hello, Job, PROTOCOL, Secret, Store, Value};
use dyno_runner::{Answer, Driver, Failure, Statements};

use import::Way;
use settings::{Database, Settings};

/// The database's name in the job's folder.
const FILE: &str = "dyno.db";

/// An open database.
struct Sqlite {
    connection: Connection,
    /// How it was opened, to do it again.
    settings: Settings,
    location: CString,
    key: Option<Secret>,
    /// The variant `multirow`.
    multirow: bool,
    /// How files are imported.
    way: Way,
    /// The variant `without-rowid`.
    without_rowid: bool,
    /// The store that key-value work is about.
    store: Option<Store>,
}

impl Driver for Sqlite {
    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "sqlite", &["c"])?;
        let settings = Settings::parse(job)?;
        // SAFETY: the runner has one thread as yet, so nobody reads the environment meanwhile.
        // SQLite's temporary files belong on the file system that is measured, like the database.
        unsafe { std::env::set_var("SQLITE_TMPDIR", &job.directory) };
        let api = Arc::new(sqlite::load(&job.build)?);
        let location = location(settings.database, &job.directory)?;
        let connection = Connection::open(api, &location)?;
        settings.apply(&connection, job.key.as_ref())?;
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
        let way = Way::of(job.variant.as_deref());
        let key = job.key.clone();
        let store = None;
        Ok((Sqlite { connection, settings, location, key, multirow, way, without_rowid, store }, hello))
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

    fn reopen(&mut self) -> Result<()> {
        ensure!(
            self.settings.database == Database::File,
            "a database that is not in a file is gone when it is closed: it cannot be opened again"
        );
        self.connection.reopen(&self.location)?;
        self.settings.apply(&self.connection, self.key.as_ref())?;
        // The first read makes a cipher derive its key.
        self.connection.rows(c"SELECT count(*) FROM sqlite_master").map(drop)
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
    identity
        .extend(connection.multiple_ciphers().map(|version| ("multiple_ciphers".to_owned(), vec![version])));
    if *build == Build::Bundled {
        let flags = BUNDLED_FLAGS.split_whitespace().map(str::to_owned);
        identity.insert("compile_flags".to_owned(), flags.collect());
    }
    Ok(identity)
}

fn main() -> ExitCode {
    dyno_runner::run::<Sqlite>()
}
