//! A job: one trial of one contender, which dyno asks of a runner.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ClientPart, PROTOCOL, Test, Work};

/// One trial: everything a runner needs, in one JSON object on its standard input, ended by the
/// end of the input. A job with `turns`, or with a mix of which it has a part, is one line, and more follow.
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
    /// The settings that the runner takes by its own calls, as where the data are kept; of an engine whose settings are
    /// arguments of calls, all of them. What statements set is in `on_connect`.
    pub settings: Vec<Setting>,
    /// The statements that every connection executes before anything else, in order; each is named after its setting. A
    /// connection that is opened later leaves out what the first one was refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_connect: Vec<JobStatement>,
    /// The queries whose rows the runner sends in `hello`, as they are; what they mean is for dyno to say. Of engines
    /// without SQL the names of settings that the runner reports whether they are asked for or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_back: Vec<ReadBackQuery>,
    /// Queries for the size of the database in bytes: the first that the engine does not refuse counts. Empty if the
    /// files in the job's folder are added up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub database_bytes: Vec<String>,
    /// The address of a server; absent for engines within the runner's own process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
    /// The statements that make the trial's database on a server and remove it; absent where it is there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maintenance: Option<Maintenance>,
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
    /// True if the database is there, left by another job in the same folder or on the same server: the runner opens it
    /// and asks for the answer of each test, without set-up, clock or sample.
    #[serde(default, skip_serializing_if = "is_false")]
    pub answers_only: bool,
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
            on_connect: Vec::new(),
            read_back: Vec::new(),
            database_bytes: Vec::new(),
            server: None,
            maintenance: None,
            key: None,
            directory,
            latency: false,
            turns: false,
            slowdown: 0.0,
            answers_only: false,
            tests: Vec::new(),
        }
    }
}

impl Job {
    /// True if its clients are some of several processes in a mix: lines follow the job.
    pub fn has_parts(&self) -> bool {
        self.client_parts().next().is_some()
    }

    /// True if another process has the database open: nothing is made or removed.
    pub fn joins(&self) -> bool {
        self.client_parts().any(|part| part.before > 0)
    }

    fn client_parts(&self) -> impl Iterator<Item = ClientPart> {
        self.tests.iter().filter_map(|test| match &test.work {
            Work::Mix(mix) => mix.part,
            _ => None,
        })
    }
}

/// A line on the standard input of a runner that works in turns, after the job: it allows this number of operations of
/// the test that waits. Then the runner sends [`waiting`](crate::Event::Waiting) again, or has ended the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SliceGrant {
    /// Operations to do, at least one. A call that does several is not divided.
    pub operations: u64,
}

/// A line on the standard input of a runner that has some of a mix's clients, after the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub enum ClientOrder {
    /// After `ready`: read the clock once more, and send `ready` again. dyno compares the clocks by it.
    Clock,
    /// After `ready`: the clients begin at this moment of the runner's own clock, in nanoseconds.
    Begin {
        /// The moment.
        at_ns: u64,
    },
    /// After `done`: the clients of all processes are done. Go on to the sample.
    GoOn,
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

/// The address of a server and of the database in which a trial works.
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
    /// The database of every connection but those of the maintenance. Absent where the engine needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// Further options of the connection as the user's URL gave them, such as those of TLS. Of a node that only its own
    /// network reaches, `network` is a file that stands for that network namespace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// The server's main process where it runs on this machine and may be looked at: the runner adds
    /// what it and its children cost to each sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// The hosts of further nodes of the same cluster. Sessions are dealt out to all nodes in turn, from `host` on; the
    /// maintenance and the first session are at `host`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<String>,
    /// The main processes of all other nodes of a cluster, where `process` is that of the first: what they cost is added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_processes: Vec<u32>,
}

impl Server {
    /// The options that name a file, in the words of either protocol.
    pub const FILES: [&str; 8] =
        ["sslrootcert", "sslcrl", "sslcert", "sslkey", "ssl-ca", "ssl-crl", "ssl-cert", "ssl-key"];
    /// The options that name a folder.
    pub const FOLDERS: [&str; 2] = ["sslcrldir", "ssl-capath"];

    /// The main processes whose cost a runner adds to each sample; empty where they may not be looked at.
    pub fn processes(&self) -> Vec<u32> {
        let nodes = |first| [first].into_iter().chain(self.further_processes.iter().copied()).collect();
        self.process.map(nodes).unwrap_or_default()
    }
}

/// Statements for an administrative connection, which is opened for them and closed after them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Maintenance {
    /// The database of the administrative connection; absent where the engine needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// Executed before the runner connects to the database of the trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<JobStatement>,
    /// Executed when all other connections are closed; after a failure too, as far as that is possible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<JobStatement>,
}

/// A statement that the runner executes outside the clock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobStatement {
    /// The setting that it sets; in a maintenance what it does, as `make the database dyno_1`. Messages say it.
    pub name: String,
    /// The statement.
    pub sql: String,
    /// The engine's codes of errors that do not matter here; `*` for any error that the engine reports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignores: Vec<String>,
    /// True if it is a query, and the first value of each of its rows is a statement to execute.
    #[serde(default, skip_serializing_if = "is_false")]
    pub each: bool,
    /// True if it is executed again before each check, as one that waits until a node has the commits of the others.
    #[serde(default, skip_serializing_if = "is_false")]
    pub before_checks: bool,
}

/// A query with the name under which its rows are reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadBackQuery {
    /// The name.
    pub name: String,
    /// The query; empty for engines without SQL.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub query: String,
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
