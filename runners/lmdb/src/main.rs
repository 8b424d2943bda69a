//! The runner for LMDB: loads the library that the job names and calls its C API.
//!
//! LMDB has neither reads nor writes outside of transactions. A client has one transaction for all of its lookups, which is
//! reset after each and renewed before the next, as the manual advises; lookups that share a transaction renew it once. One
//! client writes at a time, and the others wait. Pages that a transaction has changed stay in memory until it commits. A
//! store is a named database; one of integers keeps them as such (`MDB_INTEGERKEY`). `environment` is what is open, `store`
//! a store with its operations, `settings` the flags, `api` the table of functions.

mod api;
mod environment;
mod settings;
mod store;

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use dyno_library::{LibraryName, file_title};
use dyno_protocol::{Hello, Job, KeyKind, PROTOCOL};
use dyno_runner::mix::NoStatements;
use dyno_runner::{Engine, Rows, Session};

use api::Api;
use environment::{Environment, Keys};
use settings::Settings;
use store::Store;

const LIBRARY: LibraryName = LibraryName { of: "LMDB", stems: &["liblmdb.so"] };

/// An environment, which its sessions share.
struct Lmdb(Arc<Environment>);

/// A client.
struct Client(Arc<Environment>);

impl Engine for Lmdb {
    type Session = Client;

    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "lmdb", &["c"])?;
        let settings = Settings::parse(&job.settings)?;
        let api = LIBRARY.load(&job.build, Api::resolve)?;
        let version = version(&api);
        let library = file_title(api.version as *const c_void);
        let environment = Environment::open(api, &job.directory, &settings, dyno_runner::clients(job) + 1)?;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("lmdb ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: version.clone(),
            // The driver is the C API, which is the library itself.
            driver_version: version,
            build: BTreeMap::from([("library".to_owned(), vec![library])]),
            settings: environment.in_force()?,
            read_back: Vec::new(),
        };
        Ok((Lmdb(Arc::new(environment)), hello))
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
        let keys = match store.key {
            KeyKind::Integer => Keys::Integer,
            KeyKind::Blob => Keys::Blob,
        };
        Ok(Store::new(&self.0, self.0.store(store)?, keys))
    }

    /// `mdb_env_sync`, forced: <http://www.lmdb.tech/doc/group__mdb.html#ga85e61f05aa68b520cc6c3b981dba5037>.
    fn settle(&mut self, _: &[dyno_protocol::Store]) -> Result<()> {
        self.0.sync()
    }
}

/// The version, as `0.9.24`.
fn version(api: &Api) -> String {
    let [mut major, mut minor, mut patch] = [0; 3];
    // SAFETY: the numbers outlive the call.
    unsafe { (api.version)(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

fn main() -> ExitCode {
    dyno_runner::run::<Lmdb>()
}
