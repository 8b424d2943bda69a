//! The runner for fjall, by its own Rust interface.
//!
//! A store is a keyspace. What commits together is one batch. Without a number of operations to a commit, each
//! operation is a separate write, as a batch of everything would hold all of it in memory; the journal is then
//! persisted once, at the end and within the clock. Nothing is compacted but by fjall's own
//! choice, and where a test asks for it (`settle`).

mod settings;
mod settle;
mod store;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Context, Result};
use dyno_protocol::{Hello, Job, PROTOCOL};
use dyno_runner::mix::NoStatements;
use dyno_runner::{Engine, Rows, Session, locked_version};
use fjall::{Database, KeyspaceCreateOptions, PersistMode};

use settings::Settings;
use store::Store;

/// A database.
struct Fjall {
    database: Database,
    persist: Option<PersistMode>,
}

/// A client.
struct Client {
    database: Database,
    persist: Option<PersistMode>,
}

impl Engine for Fjall {
    type Session = Client;

    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "fjall", &["rust"])?;
        let settings = Settings::parse(&job.settings)?;
        let mut builder =
            Database::builder(&job.directory).manual_journal_persist(settings.persist.is_none());
        if let Some(bytes) = settings.cache {
            builder = builder.cache_size(bytes);
        }
        let database = builder.open();
        let database =
            database.with_context(|| format!("cannot open a database in {}", job.directory.display()))?;
        let version = locked_version("fjall")?;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("fjall ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: version.clone(),
            driver_version: version,
            build: BTreeMap::from([("lsm-tree".to_owned(), vec![locked_version("lsm-tree")?])]),
            settings: settings.in_force(&database),
            read_back: Vec::new(),
        };
        Ok((Fjall { database, persist: settings.persist }, hello))
    }

    fn session(&mut self) -> Result<Client> {
        Ok(Client { database: self.database.clone(), persist: self.persist })
    }

    fn close(self) -> Result<()> {
        drop(self);
        Ok(())
    }
}

impl Rows for Client {}

impl Session for Client {
    type Store<'s> = Store<'s>;
    type Prepared<'s> = NoStatements;

    fn store(&mut self, store: &dyno_protocol::Store) -> Result<Store<'_>> {
        let Client { database, persist } = self;
        let options = || KeyspaceCreateOptions::default().manual_journal_persist(persist.is_none());
        let keyspace = database.keyspace(&store.name, options);
        let keyspace = keyspace.with_context(|| format!("cannot open the keyspace {}", store.name))?;
        Ok(Store { database, keyspace, persist: *persist, batches: false })
    }

    fn settle(&mut self, stores: &[dyno_protocol::Store]) -> Result<()> {
        let keyspaces: Result<Vec<_>> = stores.iter().map(|store| Ok(self.store(store)?.keyspace)).collect();
        settle::settle(&self.database, &keyspaces?)
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Fjall>()
}
