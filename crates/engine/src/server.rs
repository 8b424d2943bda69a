//! The properties of engines that are servers, from `engines/NAME.toml`: their protocol, the form of their URLs, and the
//! versions that are theirs.
//!
//! An engine that speaks a known protocol needs nothing but its file.

use serde::Deserialize;

use super::sql::VersionRule;
use super::start::Start;

/// A protocol between clients and servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// That of PostgreSQL.
    Postgres,
    /// That of MySQL and MariaDB.
    MySql,
}

impl Protocol {
    /// The protocol that a job names, if it names one.
    pub fn parse(name: Option<&str>) -> Option<Protocol> {
        [Protocol::Postgres, Protocol::MySql].into_iter().find(|known| Some(known.name()) == name)
    }

    /// The name, as runners and engines spell it.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Postgres => "postgres",
            Protocol::MySql => "mysql",
        }
    }
}

/// An engine that is a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEngine {
    /// The name by which contenders call it.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// The protocol that it speaks.
    pub speaks: Protocol,
    /// The form of its URLs.
    pub url: Url,
    /// The rule that separates its servers from those of other engines, by their version.
    pub version: VersionRule,
    /// The way that dyno starts one; `None` if it cannot, so that only a URL names one.
    pub start: Option<Start>,
}

impl ServerEngine {
    /// The scheme (the part before `://`) of URLs that dyno writes.
    pub fn scheme(&self) -> &str {
        self.url.schemes.first().map_or("", String::as_str)
    }
}

/// The form of URLs of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Url {
    /// Schemes, in small letters; the first is the one that dyno writes.
    pub schemes: Vec<String>,
    /// The groups of `~/.my.cnf` that the engine's own programs read.
    #[serde(default)]
    pub groups: Vec<String>,
}
