//! The runner for redb, by its own Rust interface.
//!
//! redb has neither reads nor writes outside of transactions. Without a number of operations to a commit, all of a test
//! make one. A store is a table, one of integers has keys of type u64. `store` has a store's operations, `settings` is
//! what a database and a transaction get, `kind` the two types of keys.

mod kind;
mod settings;
mod store;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use dyno_protocol::{Hello, Job, KeyKind, PROTOCOL};
use dyno_runner::mix::NoStatements;
use dyno_runner::{Engine, Rows, Session};
use redb::{Database, WriteTransaction};

use kind::{Blob, Integer, Kind};
use settings::Settings;
use store::Store;

/// The database's name in the job's folder.
const FILE: &str = "dyno.redb";

/// A database, which its sessions share.
struct Redb(Arc<Shared>);

/// A client.
struct Client(Arc<Shared>);

/// The open database, and the settings of each transaction.
struct Shared {
    database: Database,
    settings: Settings,
}

impl Shared {
    #[inline]
    fn begin(&self) -> Result<WriteTransaction> {
        let mut transaction = self.database.begin_write()?;
        self.settings.apply(&mut transaction)?;
        Ok(transaction)
    }
}

impl Engine for Redb {
    type Session = Client;

    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "redb", &["rust"])?;
        let settings = Settings::parse(&job.settings)?;
        let file = job.directory.join(FILE);
        let database = settings.create(&file).with_context(|| format!("cannot make {}", file.display()))?;
        let version = dyno_runner::locked_version("redb")?;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("redb ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: version.clone(),
            driver_version: version,
            build: BTreeMap::new(),
            settings: settings.in_force(),
            read_back: Vec::new(),
        };
        Ok((Redb(Arc::new(Shared { database, settings })), hello))
    }

    fn session(&mut self) -> Result<Client> {
        Ok(Client(self.0.clone()))
    }

    fn close(self) -> Result<()> {
        let Shared { database, .. } = Arc::into_inner(self.0).context("a session has not ended")?;
        Ok(database.close()?)
    }
}

impl Rows for Client {}

impl Session for Client {
    type Store<'s> = Store<'s>;
    type Prepared<'s> = NoStatements;

    fn store(&mut self, store: &dyno_protocol::Store) -> Result<Store<'_>> {
        let open = self.0.begin()?;
        match store.key {
            KeyKind::Integer => drop(open.open_table(Integer::table(&store.name))?),
            KeyKind::Blob => drop(open.open_table(Blob::table(&store.name))?),
        }
        open.commit()?;
        let is_integer = store.key == KeyKind::Integer;
        Ok(Store { shared: &self.0, name: store.name.clone(), is_integer })
    }

    /// A commit with durability, which takes those before it along:
    /// <https://docs.rs/redb/latest/redb/enum.Durability.html#variant.None>. `compact` gives space back and is no debt.
    fn settle(&mut self, _: &[dyno_protocol::Store]) -> Result<()> {
        Ok(self.0.database.begin_write()?.commit()?)
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Redb>()
}
