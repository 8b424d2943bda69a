//! The runner for Berkeley DB: loads libdb 5.3 and calls its C API.
//!
//! A store is a database in a file of its own. Without an environment each has a cache of its own, nothing is
//! logged, and there are no transactions: every operation is done at once. With one, a transaction holds a lock
//! for each page that it has changed until it commits. Lookups and cursors are
//! outside of transactions, if they are not to share one. `api` is the library's interface, `databases` what is open, `store` a store with its operations, `settings` how.

mod api;
mod databases;
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
use dyno_runner::{Engine, Lasting, Rows, Session, file_bytes};

use api::Api;
use databases::Databases;
use settings::Settings;
use store::Store;

const LIBRARY: LibraryName = LibraryName { of: "Berkeley DB", stems: &["libdb-5.3.so"] };
/// How the names of files begin that an environment shares between processes, which hold no data.
const REGION: &str = "__db.";

/// The databases, which sessions share.
struct BerkeleyDb {
    databases: Arc<Databases>,
    folder: PathBuf,
}

/// A client.
struct Client(Arc<Databases>);

impl Engine for BerkeleyDb {
    type Session = Client;

    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "bdb", &["c"])?;
        let kind = match job.variant.as_deref() {
            None | Some("btree") => api::BTREE,
            Some("hash") => api::HASH,
            Some(other) => bail!("bdb/c has no variant '{other}'; it has btree, hash"),
        };
        let settings = Settings::parse(&job.settings)?;
        let api = LIBRARY.load(&job.build, Api::resolve)?;
        let (version, library) = (api::version(&api)?, api::file(&api)?);
        let databases = Databases::open(api, settings, job.key.as_ref(), kind, &job.directory)?;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("bdb ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: version.clone(),
            // The driver is the C API, which is the library itself.
            driver_version: version,
            build: BTreeMap::from([("library".to_owned(), vec![library])]),
            settings: databases.in_force()?,
        };
        Ok((BerkeleyDb { databases: Arc::new(databases), folder: job.directory.clone() }, hello))
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
        ensure!(Arc::strong_count(&self.databases) == 1, "this runner has one session");
        Ok(Client(self.databases.clone()))
    }

    fn lasts(&self) -> Lasting {
        if self.databases.is_temporary() { Lasting::Process } else { Lasting::Files }
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
        Ok(Store { databases: &self.0, db: self.0.store(&store.name)? })
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
