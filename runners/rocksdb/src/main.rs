//! The runner for RocksDB: loads the library that the job names and calls its C API.
//!
//! A store is a column family. What commits together is one `WriteBatch`. Without a number of operations to a
//! commit, or with one, each operation is a separate write: a batch of everything would hold all of it in
//! memory, and RocksDB needs none to write. Such writes do not wait for the device one by one where all of a
//! test commit together; the log is then synced once, at the end and within the clock. Lookups pin values and
//! copy nothing; where they share a state it is a snapshot. Nothing is compacted but by RocksDB's own choice, and where a
//! test asks for it.
//! `database` is what is open, `store` a store with its operations, `settings` the options, `api` the table of functions.

mod api;
mod complaint;
mod database;
mod settings;
mod store;

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use dyno_library::{LibraryName, file_title};
use dyno_protocol::{Hello, Job, PROTOCOL};
use dyno_runner::mix::NoStatements;
use dyno_runner::{Engine, Rows, Session};

use api::Api;
use database::Database;
use settings::Settings;
use store::Store;

const LIBRARY: LibraryName = LibraryName { of: "RocksDB", stems: &["librocksdb.so"] };

/// A database, which its sessions share.
struct RocksDb(Arc<Database>);

/// A client.
struct Client(Arc<Database>);

impl Engine for RocksDb {
    type Session = Client;

    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "rocksdb", &["c"])?;
        let settings = Settings::parse(&job.settings, &job.read_back)?;
        let api = LIBRARY.load(&job.build, Api::resolve)?;
        let library = file_title(api.open as *const c_void);
        let database = Database::open(api, &settings, &job.directory)?;
        let version = settings::version(&job.directory)?;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("rocksdb ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: version.clone(),
            // The driver is the C API, which is the library itself.
            driver_version: version,
            build: BTreeMap::from([("library".to_owned(), vec![library])]),
            settings: database.in_force(&settings, &job.directory)?,
            read_back: Vec::new(),
        };
        Ok((RocksDb(Arc::new(database)), hello))
    }

    fn session(&mut self) -> Result<Client> {
        Ok(Client(self.0.clone()))
    }

    fn close(self) -> Result<()> {
        Arc::into_inner(self.0).context("a session has not ended")?.close();
        Ok(())
    }
}

impl Rows for Client {}

impl Session for Client {
    type Store<'s> = Store<'s>;
    type Prepared<'s> = NoStatements;

    fn store(&mut self, store: &dyno_protocol::Store) -> Result<Store<'_>> {
        Store::open(&self.0, &store.name)
    }

    /// Flush and CompactRange: <https://github.com/facebook/rocksdb/wiki/Manual-Compaction>.
    fn settle(&mut self, stores: &[dyno_protocol::Store]) -> Result<()> {
        let families = stores.iter().map(|store| self.0.store(&store.name));
        self.0.settle(&families.collect::<Result<Vec<_>>>()?)
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<RocksDb>()
}
