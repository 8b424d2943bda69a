//! The runner for SQLite: loads the library that the job names and calls its C API.
//!
//! One code path measures every build (the bundled one, the system's, a file of the user's own),
//! because none of them is linked: the client, [`dyno_client::sqlite`], finds and loads it. `rows`,
//! `import` and `kv` are the hot loops of prepared statements, `settings` sets PRAGMAs and reads them back.

mod beside;
mod cipher;
mod floor;
mod import;
mod kv;
mod mix;
mod pages;
mod rows;
mod settings;
mod settle;
mod text;
mod transactions;
mod transfer;

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use dyno_client::sqlite::{self, Api, BUNDLED_FLAGS, Connection};
use dyno_protocol::{Build, Hello, Job, MixWork, PROTOCOL, Secret, Store, Value};
use dyno_runner::mix::Connector;
use dyno_runner::{Answer, Engine, Session, read_back};

use import::Variant;
use kv::Table;
use mix::Statements;
use settings::{Database, Settings};

/// The database's name in the job's folder.
const FILE: &str = "dyno.db";

/// The time that a connection waits for a lock: another may be about to write, or to close the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// A database.
struct Sqlite {
    opening: Arc<Opening>,
    /// The connection that created the database, until the first session takes it.
    first: Option<Client>,
}

/// The parameters with which each session opens the database, and with which it is reopened.
struct Opening {
    api: Arc<Api>,
    settings: Settings,
    location: CString,
    key: Option<Secret>,
    /// The variant `multirow`.
    multirow: bool,
    /// The way in which files are imported.
    variant: Variant,
    /// The variant `without-rowid`.
    without_rowid: bool,
}

/// A client: a separate connection.
struct Client {
    connection: Connection,
    opening: Arc<Opening>,
}

// SAFETY: a connection may be used by any thread, if only one does at a time: its statements borrow it, so they do not
// move without it. There is a second connection only where the library was compiled for threads: see `Sqlite::session`.
unsafe impl Send for Client {}

impl Client {
    fn open(opening: &Arc<Opening>) -> Result<Client> {
        let connection = Connection::open(opening.api.clone(), &opening.location)?;
        let client = Client { connection, opening: opening.clone() };
        client.set_among_others()?;
        Ok(client)
    }

    /// Applies the settings where others may be about to write, or to close the database: their locks are waited for.
    fn set_among_others(&self) -> Result<()> {
        self.connection.wait_for_locks(BUSY_TIMEOUT);
        self.opening.settings.apply(&self.connection, self.opening.key.as_ref())
    }
}

impl Sqlite {
    /// Refuses more than one connection where there cannot be any.
    fn check_several(&self) -> Result<()> {
        ensure!(
            self.opening.settings.database == Database::File,
            "a database that is not in a file is that of one connection alone"
        );
        ensure!(sqlite::is_threadsafe(&self.opening.api), "this SQLite was compiled for one thread");
        Ok(())
    }
}

impl Engine for Sqlite {
    type Session = Client;

    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "sqlite", &["c"])?;
        let settings = Settings::parse(job)?;
        // SAFETY: the runner has one thread as yet, so no other thread reads the environment meanwhile.
        // SQLite's temporary files belong on the file system that is measured, like the database.
        unsafe { std::env::set_var("SQLITE_TMPDIR", &job.directory) };
        let is = |variant: &str| job.variant.as_deref() == Some(variant);
        let opening = Arc::new(Opening {
            api: Arc::new(sqlite::load(&job.build)?),
            location: location(settings.database, &job.directory)?,
            settings,
            key: job.key.clone(),
            multirow: is("multirow"),
            variant: Variant::of(job.variant.as_deref()),
            without_rowid: is("without-rowid"),
        });
        let client = Client::open(&opening)?;
        let connection = &client.connection;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("sqlite ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: connection.version(),
            // The driver is the C API, which is the library itself.
            driver_version: connection.version(),
            build: identity(connection, &job.build)?,
            settings: opening.settings.of_cipher(connection)?,
            read_back: read_back(&settings::PragmaSql(connection), &job.read_back)?,
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

    fn connector(&self) -> Result<Box<Connector<'static, Client>>> {
        self.check_several()?;
        let opening = self.opening.clone();
        Ok(Box::new(move || Client::open(&opening)))
    }

    fn close(self) -> Result<()> {
        Ok(())
    }
}

impl Session for Client {
    type Store<'s> = Table<'s>;
    type Prepared<'s> = Statements<'s>;

    fn prepare(&mut self, mix: &MixWork) -> Result<Statements<'_>> {
        Statements::prepare(&self.connection, mix)
    }

    #[inline]
    fn execute(&mut self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        self.connection.execute(sql, answer).map(|()| 0)
    }

    fn changes(&mut self) -> u64 {
        self.connection.total_changes()
    }

    fn reopen(&mut self) -> Result<()> {
        ensure!(
            self.opening.settings.database == Database::File,
            "a database that is not in a file is gone when it is closed: it cannot be opened again"
        );
        let Opening { location, settings, key, .. } = &*self.opening;
        self.connection.reopen(location)?;
        settings.apply(&self.connection, key.as_ref())?;
        // The first read makes a cipher derive its key.
        self.connection.rows(c"SELECT count(*) FROM sqlite_master").map(drop)
    }

    /// The last connection that is closed copies the log into the database and removes it, which is a part of what those pay
    /// who come and go.
    fn step_aside(&mut self, meanwhile: &mut dyn FnMut()) -> Result<()> {
        let between = || {
            meanwhile();
            Ok(())
        };
        self.connection.replace(between, &self.opening.location)?;
        self.set_among_others()
    }

    fn store(&mut self, store: &Store) -> Result<Table<'_>> {
        Table::open(&self.connection, store, self.opening.without_rowid)
    }

    fn settle(&mut self, _: &[Store]) -> Result<()> {
        settle::settle(&self.connection)
    }

    fn close(self) -> Result<()> {
        self.connection.close()
    }
}

/// The name by which SQLite opens a database.
fn location(database: Database, directory: &Path) -> Result<CString> {
    let name = match database {
        Database::File => directory.join(FILE).as_os_str().as_bytes().to_owned(),
        Database::Memory => b":memory:".to_vec(),
        Database::Temporary => Vec::new(),
    };
    CString::new(name).context("the folder's name holds a NUL byte")
}

/// Versions and options that distinguish this build from any other.
fn identity(connection: &Connection, build: &Build) -> Result<BTreeMap<String, Vec<String>>> {
    let options = connection.rows(c"PRAGMA compile_options").context("cannot read the compile options")?;
    let options = options.into_iter().flatten().map(|value| match value {
        Value::Text(text) => text,
        _ => String::new(),
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
