//! Settings: what a commit waits for, and the cache.

use anyhow::Result;
use dyno_protocol::{InForce, Setting};
use dyno_runner::setting::{choice, in_force, unknown, whole};
use fjall::{Database, PersistMode};

/// The settings, by name.
const NAMES: [&str; 2] = ["persist", "cache_size"];
/// The event for which a commit waits, by name: the device, the operating system, nothing.
const PERSIST: [(&str, Option<PersistMode>); 3] =
    [("sync", Some(PersistMode::SyncAll)), ("buffer", Some(PersistMode::Buffer)), ("none", None)];

/// The settings that were asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Settings {
    /// The event for which a commit waits; none: nothing.
    pub persist: Option<PersistMode>,
    /// The size of the cache of blocks, in bytes; none: the crate's own.
    pub cache: Option<u64>,
}

impl Settings {
    /// Reads the job's settings.
    pub fn parse(settings: &[Setting]) -> Result<Settings> {
        let mut parsed = Settings { persist: Some(PersistMode::SyncAll), cache: None };
        for setting in settings {
            match setting.name.as_str() {
                "persist" => parsed.persist = choice(setting, &PERSIST)?,
                "cache_size" => parsed.cache = Some(whole(setting)?),
                _ => return Err(unknown("fjall", setting, &NAMES)),
            }
        }
        Ok(parsed)
    }

    /// The settings in force. How a commit persists is an argument of every commit and nothing that fjall keeps.
    pub fn in_force(&self, database: &Database) -> Vec<InForce> {
        let persist = PERSIST.iter().find(|(_, mode)| *mode == self.persist);
        let persist = persist.map_or("unknown", |(name, _)| name);
        vec![in_force("persist", persist), in_force("cache_size", database.cache_capacity())]
    }
}
