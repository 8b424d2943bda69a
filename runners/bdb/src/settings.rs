//! Settings: what is opened, and how large its parts are.

use anyhow::{Result, ensure};
use dyno_protocol::Setting;
use dyno_runner::setting::{choice, switch, unknown, whole};

/// The settings, by name.
const NAMES: [&str; 10] = [
    "environment",
    "database",
    "private",
    "key",
    "cache_size",
    "page_size",
    "txn_nosync",
    "txn_write_nosync",
    "lg_bsize",
    "lk_max_locks",
];
/// The most locks that there may be where it is not said: a transaction takes one for each page that it changes, and
/// some for pages above. The library's own limit, 1,000, is reached by a transaction of a thousand operations.
const LOCKS: u32 = 100_000;

/// The settings that were asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Settings {
    /// True if there is an environment with locks, log, cache and transactions.
    pub environment: bool,
    /// True if the databases have no name and end with the process.
    pub temporary: bool,
    /// True if the environment is this process's alone, its cache in memory and in no file.
    pub private: bool,
    /// True if the databases and the log are encrypted by the job's key.
    pub encrypted: bool,
    /// The size of the cache, in bytes; none: the library's choice.
    pub cache: Option<u64>,
    /// The size of pages, in bytes; none: the library's choice, the file system's block.
    pub page: Option<u32>,
    /// True if a commit leaves the log in memory.
    pub nosync: bool,
    /// True if a commit writes the log and does not sync it.
    pub write_nosync: bool,
    /// The size of the log's buffer, in bytes; none: the library's choice.
    pub log_buffer: Option<u32>,
    /// The most locks that there may be.
    pub locks: u32,
}

impl Settings {
    /// Reads the job's settings.
    pub fn parse(settings: &[Setting]) -> Result<Settings> {
        let mut parsed = Settings {
            environment: true,
            temporary: false,
            private: false,
            encrypted: false,
            cache: None,
            page: None,
            nosync: false,
            write_nosync: false,
            log_buffer: None,
            locks: LOCKS,
        };
        for setting in settings {
            match setting.name.as_str() {
                "environment" => {
                    parsed.environment = choice(setting, &[("none", false), ("transactional", true)])?;
                }
                "database" => parsed.temporary = choice(setting, &[("file", false), ("temporary", true)])?,
                "private" => parsed.private = switch(setting)?,
                "key" => parsed.encrypted = choice(setting, &[("passphrase", true)])?,
                "cache_size" => parsed.cache = Some(whole(setting)?),
                "page_size" => parsed.page = Some(whole(setting)?),
                "txn_nosync" => parsed.nosync = switch(setting)?,
                "txn_write_nosync" => parsed.write_nosync = switch(setting)?,
                "lg_bsize" => parsed.log_buffer = Some(whole(setting)?),
                "lk_max_locks" => parsed.locks = whole(setting)?,
                _ => return Err(unknown("Berkeley DB", setting, &NAMES)),
            }
        }
        parsed.check(settings)?;
        Ok(parsed)
    }

    /// Refuses what does not go together.
    fn check(&self, settings: &[Setting]) -> Result<()> {
        ensure!(
            !(self.environment && self.temporary),
            "database=temporary goes with environment=none: what has no file needs no log"
        );
        let of_environments = ["private", "txn_nosync", "txn_write_nosync", "lg_bsize", "lk_max_locks"];
        let lost = settings.iter().find(|setting| of_environments.contains(&setting.name.as_str()));
        if let Some(lost) = lost.filter(|_| !self.environment) {
            anyhow::bail!(
                "the setting {} is one of an environment, and environment=none is asked for",
                lost.name
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(texts: &[(&str, &str)]) -> Result<Settings> {
        let setting = |(name, value): &(&str, &str)| Setting { name: (*name).into(), value: (*value).into() };
        Settings::parse(&texts.iter().map(setting).collect::<Vec<_>>())
    }

    #[test]
    fn settings_are_read_and_those_that_do_not_fit_refused() {
        let parsed = parse(&[("environment", "none"), ("database", "temporary"), ("cache_size", "65536")]);
        let parsed = parsed.unwrap();
        assert!(!parsed.environment && parsed.temporary && parsed.cache == Some(65536));
        for bad in [
            &[("environment", "some")][..],
            &[("database", "temporary")],
            &[("environment", "none"), ("txn_nosync", "on")],
            &[("cache_size", "much")],
            &[("no_such", "1")],
        ] {
            let said = parse(bad).unwrap_err().to_string();
            assert!(said.contains(bad[bad.len() - 1].0), "{said}");
        }
    }
}
