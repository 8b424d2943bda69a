//! The version rules of servers: which are an engine's own, and which are too old.

use anyhow::{Result, ensure};
use serde::Deserialize;

use crate::server::Protocol;

/// The oldest version of PostgreSQL that is served.
const OLDEST_POSTGRES: u32 = 10;
/// The oldest versions that are served, of MariaDB and of others that speak MySQL's protocol.
const OLDEST_MARIADB: (u32, u32) = (10, 2);
const OLDEST_MYSQL: (u32, u32) = (5, 7);
/// The beginning of PostgreSQL's version, and of those made from it.
const POSTGRES: &str = "PostgreSQL";
/// The part of a version by which MariaDB is recognized.
const MARIADB: &str = "-MariaDB";

/// Distinguishes an engine's servers from others that speak the same protocol, by words of their version. A run refuses
/// any other server before it makes anything there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VersionRule {
    /// Words that the version must contain, all of them.
    pub holds: Vec<String>,
    /// Words that it must not contain.
    pub lacks: Vec<String>,
}

impl VersionRule {
    /// True if a version is that of one of the engine's own servers.
    pub fn allows(&self, version: &str) -> bool {
        self.holds.iter().all(|word| version.contains(word.as_str()))
            && !self.lacks.iter().any(|word| version.contains(word.as_str()))
    }

    /// Refuses a server that is not the engine's own, because those that speak a protocol have drifted apart, and one
    /// that is too old.
    pub fn check(&self, engine: &str, speaks: Protocol, version: &str) -> Result<()> {
        let reported = match speaks {
            Protocol::Postgres => version,
            Protocol::MySql => short(version),
        };
        ensure!(
            self.allows(version),
            "the server is {reported}, not {engine}: name the engine that it is, or another server"
        );
        let (major, minor) = numbers(version);
        match speaks {
            Protocol::Postgres => ensure!(
                !is_postgres(version) || major >= OLDEST_POSTGRES,
                "the server is PostgreSQL {major}.{minor}, and dyno works with version {OLDEST_POSTGRES} and later"
            ),
            Protocol::MySql => {
                let oldest = if is_mariadb(version) { OLDEST_MARIADB } else { OLDEST_MYSQL };
                ensure!(
                    (major, minor) >= oldest,
                    "the server is {engine} {reported}, and dyno works with version {}.{} and later",
                    oldest.0,
                    oldest.1
                );
            }
        }
        Ok(())
    }
}

/// True if a server is PostgreSQL itself or made from it, and does not only speak its protocol.
pub fn is_postgres(version: &str) -> bool {
    version.starts_with(POSTGRES)
}

/// True if a server is MariaDB.
pub fn is_mariadb(version: &str) -> bool {
    version.contains(MARIADB)
}

/// `10.11.19-MariaDB-0+deb12u1` without what a distribution adds.
pub fn short(version: &str) -> &str {
    version.find(MARIADB).map_or(version, |start| &version[..start + MARIADB.len()])
}

/// The first two numbers of a version.
pub fn numbers(version: &str) -> (u32, u32) {
    let from = version.find(|letter: char| letter.is_ascii_digit()).unwrap_or(version.len());
    let end = version[from..].find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let mut parts = version[from..][..end.unwrap_or(version.len() - from)].split('.');
    let mut next = || parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
    (next(), next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(engine: &str, version: &str) -> String {
        let word = vec![MARIADB.to_owned()];
        let (rule, speaks) = match engine {
            "mariadb" => (VersionRule { holds: word, lacks: Vec::new() }, Protocol::MySql),
            "mysql" => (VersionRule { holds: Vec::new(), lacks: word }, Protocol::MySql),
            _ => (VersionRule { holds: vec![POSTGRES.to_owned()], lacks: Vec::new() }, Protocol::Postgres),
        };
        rule.check(engine, speaks, version).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn the_engine_asked_for_must_be_the_one_that_answers() {
        assert_eq!(complaint("mariadb", "10.11.19-MariaDB-0+deb12u1"), "");
        assert_eq!(complaint("mysql", "8.0.36-0ubuntu0.22.04.1"), "");
        assert_eq!(complaint("mysql", "8.0.11-TiDB-v7.5.0"), "");
        assert_eq!(complaint("postgres", "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64"), "");
        let said = complaint("mysql", "10.11.19-MariaDB-0+deb12u1");
        assert!(said.starts_with("the server is 10.11.19-MariaDB, not mysql"), "{said}");
        assert!(complaint("mariadb", "9.7.0").contains("is 9.7.0, not mariadb: name the engine"));
        assert!(complaint("postgres", "CockroachDB CCL v23.1").contains("not postgres: name the engine"));
    }

    #[test]
    fn an_old_server_is_refused() {
        assert!(complaint("mariadb", "10.1.48-MariaDB").contains("version 10.2 and later"));
        assert!(complaint("mysql", "5.6.51").contains("version 5.7 and later"));
        assert!(
            complaint("postgres", "PostgreSQL 9.6.24 on x").contains("9.6, and dyno works with version 10")
        );
    }

    #[test]
    fn a_version_has_two_numbers() {
        let versions = ["PostgreSQL 16beta1 on x86_64", "8.0.11-TiDB-v7.5.0", "no number"];
        assert_eq!(versions.map(numbers), [(16, 0), (8, 0), (0, 0)]);
    }
}
