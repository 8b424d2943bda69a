//! Settings of a database's builder and of transactions.

use anyhow::Result;
use dyno_protocol::{InForce, Setting};
use dyno_runner::setting::{choice, in_force, on_off, switch, unknown, whole};
use redb::{Database, DatabaseError, Durability, WriteTransaction, backends::InMemoryBackend};
use std::path::Path;

/// The settings, by name.
const NAMES: [&str; 4] = ["database", "durability", "two_phase_commit", "cache_size"];
/// The cache where none is asked for: redb's own default, 1 GiB.
const CACHE: usize = 1 << 30;

/// The settings asked for. redb does not report them: each is reported once its call has taken it.
#[derive(Debug, PartialEq, Eq)]
pub struct Settings {
    memory: bool,
    durable: bool,
    two_phases: bool,
    cache: usize,
}

impl Settings {
    /// Reads the job's settings.
    pub fn parse(settings: &[Setting]) -> Result<Settings> {
        let mut parsed = Settings { memory: false, durable: true, two_phases: false, cache: CACHE };
        for setting in settings {
            match setting.name.as_str() {
                "database" => parsed.memory = choice(setting, &[("file", false), ("memory", true)])?,
                "durability" => parsed.durable = choice(setting, &[("none", false), ("immediate", true)])?,
                "two_phase_commit" => parsed.two_phases = switch(setting)?,
                "cache_size" => parsed.cache = whole(setting)?,
                _ => return Err(unknown("redb", setting, &NAMES)),
            }
        }
        Ok(parsed)
    }

    /// Makes a database: the file, or one in memory.
    pub fn create(&self, file: &Path) -> Result<Database, DatabaseError> {
        let mut builder = Database::builder();
        builder.set_cache_size(self.cache);
        if self.memory { builder.create_with_backend(InMemoryBackend::new()) } else { builder.create(file) }
    }

    /// Applies the settings to a transaction.
    #[inline]
    pub fn apply(&self, transaction: &mut WriteTransaction) -> Result<()> {
        if !self.durable {
            transaction.set_durability(Durability::None)?;
        }
        if self.two_phases {
            transaction.set_two_phase_commit(true);
        }
        Ok(())
    }

    /// The settings in force.
    pub fn in_force(&self) -> Vec<InForce> {
        vec![
            in_force("database", if self.memory { "memory" } else { "file" }),
            in_force("durability", if self.durable { "immediate" } else { "none" }),
            on_off("two_phase_commit", self.two_phases),
            in_force("cache_size", self.cache),
        ]
    }
}
