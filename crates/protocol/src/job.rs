//! A job: one trial of one contender, which dyno asks of a runner.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{PROTOCOL, Test};

/// One trial: everything a runner needs, in one JSON object on its standard input, ended by the
/// end of the input. A job with `turns` is one line, and its turns follow.
///
/// A job without tests is a *probe*: the runner opens the database, says `hello` and `bye`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// The version of the contract, [`crate::PROTOCOL`]. A runner refuses another.
    pub protocol: u32,
    /// The engine to measure, as `sqlite`.
    pub engine: String,
    /// The protocol that the engine's servers speak, as `postgres`; absent for engines within the runner's own
    /// process. A driver of a protocol serves every engine that speaks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaks: Option<String>,
    /// The driver by which to reach it, as `c`.
    pub driver: String,
    /// The driver's variant, as `copy`; absent for its usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The library or server program of the engine.
    pub build: Build,
    /// The settings asked for, in the order in which they were named. The runner applies them before
    /// the first test and reports in `hello` what the engine then says is in force.
    pub settings: Vec<Setting>,
    /// The settings that bear on speed or safety: the runner reads them back whether they are asked for or
    /// not. One that the engine does not have is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_back: Vec<String>,
    /// The names that the engine's manual gives to numbers, by setting, in the order of the numbers from 0. A runner
    /// whose engine would accept any other value for one of its own refuses such a value, and reports a number that it
    /// reads back by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Vec<String>>,
    /// The address of a server; absent for engines within the runner's own process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
    /// The key of the database, for contenders that encrypt it; absent for all others. What is made of it
    /// (a passphrase, a raw key) is a setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Secret>,
    /// A fresh, empty folder, on the file system to be measured: the database goes here and nowhere
    /// else. dyno removes it after the trial.
    pub directory: PathBuf,
    /// True if every operation of a key-value test is timed separately. Its samples then carry `latency`, and their
    /// durations include the cost of reading the clock.
    #[serde(default, skip_serializing_if = "is_false")]
    pub latency: bool,
    /// True if the runner works in turns: it waits for a [`SliceGrant`] before each slice of a test.
    #[serde(default, skip_serializing_if = "is_false")]
    pub turns: bool,
    /// The share by which the runner is to be slower than it is, as 0.03: it spins within the clock. Only to find out
    /// which differences a machine can show.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slowdown: f64,
    /// True if the runner closes the database after the last test, opens it again and compares what the last test of each
    /// store or table left with the contents at that time.
    #[serde(default, skip_serializing_if = "is_false")]
    pub read_again: bool,
    /// The tests, in order. Each builds on the state that those before it left.
    pub tests: Vec<Test>,
}

impl Job {
    /// A job of this version of the contract that asks for nothing: no settings, no tests.
    pub fn new(engine: &str, driver: &str, build: Build, directory: PathBuf) -> Job {
        Job {
            protocol: PROTOCOL,
            engine: engine.to_owned(),
            speaks: None,
            driver: driver.to_owned(),
            variant: None,
            build,
            settings: Vec::new(),
            read_back: Vec::new(),
            values: BTreeMap::new(),
            server: None,
            key: None,
            directory,
            latency: false,
            turns: false,
            slowdown: 0.0,
            read_again: false,
            tests: Vec::new(),
        }
    }
}

/// A line on the standard input of a runner that works in turns, after the job: it allows this number of operations of
/// the test that waits. Then the runner sends [`waiting`](crate::Event::Waiting) again, or has ended the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SliceGrant {
    /// Operations to do, at least one. A call that does several is not divided.
    pub operations: u64,
}

/// The library or server program of an engine.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Build {
    /// The one that comes with the runner.
    Bundled,
    /// The one that the system's loader finds.
    System,
    /// A file or installation folder of the user's own.
    Path(PathBuf),
}

/// The address of a server, and the one database on it that belongs to the trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Server {
    /// A host name or address; or an absolute path: PostgreSQL's folder of sockets, MySQL's socket.
    pub host: String,
    /// The port; absent for the engine's usual one. It is part of a PostgreSQL socket's name too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The user.
    pub user: String,
    /// The user's password, if one is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<Secret>,
    /// A database that exists and in which nothing is changed: the runner connects to it to make and
    /// remove `scratch`. Absent where the engine needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// The name of the trial's own database. The runner removes one of that name if it is there, makes
    /// it, works only in it and removes it before `bye`.
    pub scratch: String,
    /// Whether the runner leaves that database there when it ends.
    #[serde(default, skip_serializing_if = "is_false")]
    pub keep: bool,
    /// Further options of the connection as the user's URL gave them, such as those of TLS.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// The rule for the engine's own servers; without it, any server that answers is accepted.
    #[serde(default, skip_serializing_if = "VersionRule::is_empty")]
    pub version: VersionRule,
    /// The server's main process where it runs on this machine and may be looked at: the runner adds
    /// what it and its children cost to each sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
}

/// Distinguishes an engine's servers from others that speak the same protocol, by words of their version. The runner
/// refuses any other server before it makes anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VersionRule {
    /// Words that the version must contain, all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<String>,
    /// Words that it must not contain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
}

impl VersionRule {
    /// True if a version is that of one of the engine's own servers.
    pub fn allows(&self, version: &str) -> bool {
        self.holds.iter().all(|word| version.contains(word.as_str()))
            && !self.lacks.iter().any(|word| version.contains(word.as_str()))
    }

    /// True if it has no rule.
    pub fn is_empty(&self) -> bool {
        self.holds.is_empty() && self.lacks.is_empty()
    }
}

/// A password or a key. Only the runner that reads the job can see it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Takes a secret.
    pub fn new(secret: impl Into<String>) -> Secret {
        Secret(secret.into())
    }

    /// The secret itself, for the call that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// One setting asked for, as the engine spells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// The engine's own name, as `journal_mode`.
    pub name: String,
    /// The value asked for, as `wal`.
    pub value: String,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}
