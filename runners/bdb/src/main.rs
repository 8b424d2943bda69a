//! The runner for Berkeley DB: loads libdb 5.3 and calls its C API.
//!
//! A store is a database in a separate file. Without an environment each has a separate cache, nothing is
//! logged, and there are no transactions: every operation is done at once. With one, a transaction holds a lock for
//! each page that it has changed until it commits. Lookups and cursors are outside of transactions, but for those
//! that are to share one and those of a transaction that changes what it has read. Each of many clients has handles
//! of its own in one environment. Scans and ranges fetch many pairs with a call. `api` is the library's interface,
//! `bulk` what such a call fills, `databases` what is open, `store` a store with its operations, `settings` how,
//! `error` what failed.

mod api;
mod bulk;
mod databases;
mod error;
mod settings;
mod store;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use dyno_library::LibraryName;
use dyno_protocol::{Hello, Job, PROTOCOL};
use dyno_runner::mix::NoStatements;
use dyno_runner::{Engine, Rows, Session, file_bytes};

use api::Api;
use databases::Databases;
use settings::Settings;
use store::Store;

const LIBRARY: LibraryName = LibraryName { of: "Berkeley DB", stems: &["libdb-5.3.so"] };
/// The beginning of the names of files that an environment shares between processes, which hold no data.
const REGION: &str = "__db.";

/// The databases, which sessions share.
struct BerkeleyDb {
    databases: Arc<Databases>,
    folder: PathBuf,
    /// The most sessions that there may be: several where threads share the environment.
    most: u32,
    /// The number that have begun.
    begun: u32,
}

/// A client, with its number.
struct Client(Arc<Databases>, u32);

impl BerkeleyDb {
    /// Opens the databases of a job, alone or next to another process.
    fn open_for(job: &Job) -> Result<BerkeleyDb> {
        dyno_runner::expect(job, "bdb", &["c"])?;
        let kind = match job.variant.as_deref() {
            None | Some("btree") => api::BTREE,
            Some("hash") => api::HASH,
            Some(other) => bail!("bdb/c has no variant '{other}'; it has btree, hash"),
        };
        let settings = Settings::parse(&job.settings)?;
        let api = LIBRARY.load(&job.build, Api::resolve)?;
        let most = if settings.environment { dyno_runner::clients(job) } else { 1 };
        let key = job.key.as_ref();
        let databases = Databases::open(api, settings, key, kind, &job.directory, most > 1, job.joins())?;
        Ok(BerkeleyDb { databases: Arc::new(databases), folder: job.directory.clone(), most, begun: 0 })
    }
}

impl Engine for BerkeleyDb {
    type Session = Client;

    fn open(job: &Job) -> Result<(Self, Hello)> {
        let bdb = BerkeleyDb::open_for(job)?;
        let databases = &bdb.databases;
        let version = api::version(&databases.api)?;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("bdb ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: version.clone(),
            // The driver is the C API, which is the library itself.
            driver_version: version,
            build: BTreeMap::from([("library".to_owned(), vec![api::file(&databases.api)?])]),
            settings: databases.in_force()?,
            read_back: Vec::new(),
        };
        Ok((bdb, hello))
    }

    /// Databases and logs, holes left out, without the memory that an environment maps to files.
    fn database_bytes(&mut self, _: &mut Client) -> Result<Option<u64>> {
        let mut sum = 0;
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if !entry.file_name().to_string_lossy().starts_with(REGION) {
                sum += file_bytes(&entry.metadata()?);
            }
        }
        Ok(Some(sum))
    }

    fn session(&mut self) -> Result<Client> {
        // See the databases' `Sync`.
        let open = Arc::strong_count(&self.databases) - 1;
        ensure!(open < self.most as usize, "without an environment Berkeley DB has one client");
        self.begun += 1;
        Ok(Client(self.databases.clone(), self.begun))
    }

    fn close(self) -> Result<()> {
        Arc::into_inner(self.databases).context("a session has not ended")?.close()
    }
}

impl Rows for Client {}

impl Session for Client {
    type Store<'s> = Store<'s>;
    type Prepared<'s> = NoStatements;

    fn store(&mut self, store: &dyno_protocol::Store) -> Result<Store<'_>> {
        Ok(Store::new(&self.0, self.0.store(self.1, &store.name)?))
    }

    fn close(self) -> Result<()> {
        self.0.end(self.1)
    }

    /// A checkpoint, or without an environment a sync of each database:
    /// <https://docs.oracle.com/cd/E17276_01/html/api_reference/C/txncheckpoint.html>.
    fn settle(&mut self, _: &[dyno_protocol::Store]) -> Result<()> {
        self.0.settle()
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<BerkeleyDb>()
}
