//! A contender of a run, and what is known of it.

use dyno_protocol::{Build, Hello, Setting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EncryptionProof, Executed, Isolated, ProbeRecord, Safety, TrafficRecord, Tuning};

/// A contender and what is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderRecord {
    /// Its name, as in tables.
    pub label: String,
    /// The engine.
    pub engine: String,
    /// The driver.
    pub driver: String,
    /// The way in which the driver works; absent of a driver that has only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// True if the driver is the engine's lowest-level one, with which the others are compared.
    #[serde(default)]
    pub lowest: bool,
    /// The language in which programs use the driver.
    #[serde(default)]
    pub language: String,
    /// Operations in a transaction, in tests of rows and pairs that are written; absent: all of a test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_commit: Option<u64>,
    /// True if each of its clients is a separate process, where tests have many; otherwise they are threads of one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub processes: bool,
    /// True if its reads may return what was replaced before they began.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale_reads: bool,
    /// The cluster that it is; absent of a database on one server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterShape>,
    /// The tests, by id, that it does not do, because its runner does not implement their models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// The build asked for.
    pub build: Build,
    /// The server that ran already, without password and options; absent where dyno started one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The profile.
    pub profile: String,
    /// The reason for the profile's settings.
    pub reason: String,
    /// The page of the engine's manual that describes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The standard of tuning that its settings keep to; absent in files of before dyno wrote it down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
    /// The encrypted file system that its data were on; absent for that of `storage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// The settings asked for.
    pub asked: Vec<Setting>,
    /// Those that its runner reports as it gave them to the engine, which does not report them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claimed: Vec<String>,
    /// Versions, build and settings in force, as its first trial reported them; absent if none got so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hello: Option<Hello>,
    /// The files that its trials executed, by their content.
    #[serde(default, skip_serializing_if = "Executed::is_empty")]
    pub executed: Executed,
    /// The failures that its commits survive; absent where the engine's rules do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety: Option<Safety>,
    /// The isolation of its transactions; absent where the engine's rules do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolated>,
    /// The cache of its own, as it was read back; absent where it has none, or its size is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<OwnCache>,
    /// The evidence of encryption in its files; absent where no contender of the run encrypts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<EncryptionProof>,
    /// The histories of probes of its isolation; empty of runs in which one client works at a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeRecord>,
    /// The traffic between it and its server, where that was counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<TrafficRecord>,
    /// By which share its runner was made slower, to find out which differences the machine can show; absent where its
    /// name does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<f64>,
    /// The reason that its trials take no turns (`turns` of the schedule) though others do; absent where they do too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<String>,
    /// The reason why it takes turns in tests that only read and in no others; absent if it takes them in all tests or
    /// in none, and in files of before dyno cut tests by what they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart_writing: Option<String>,
    /// True if it measures dyno itself; it is then neither shown nor ranked unless named.
    #[serde(default)]
    pub harness: bool,
    /// True if it was named by the command or by the suite.
    pub named: bool,
}

impl ContenderRecord {
    /// True if both are of one engine and work in the same way, whatever their builds and drivers are.
    pub fn works_like(&self, other: &ContenderRecord) -> bool {
        self.engine == other.engine
            && self.asked == other.asked
            && self.per_commit == other.per_commit
            && self.processes == other.processes
    }

    /// True if both work in the same way and different files were executed in the processes that are counted. The program
    /// of a server is not.
    pub fn is_other_build_of(&self, other: &ContenderRecord) -> bool {
        self.works_like(other) && self.executed.counted() != other.executed.counted()
    }
}

/// The shape of a private cluster: each node is a server in a network namespace, all on one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterShape {
    /// The number of nodes.
    pub nodes: u32,
    /// The nodes that clients work with.
    pub reach: Reach,
    /// The nanoseconds that dyno added to each round trip between two nodes. 0: their frames went through dyno, which added
    /// nothing; absent: they did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_delay_ns: Option<u64>,
}

/// The nodes of a cluster that clients work with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// The first, which is the leader where there is one.
    First,
    /// All of them: clients are dealt out to the nodes in turn.
    Any,
}

/// A cache that an engine manages itself, next to the kernel's of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnCache {
    /// Its size.
    pub bytes: u64,
    /// True if that is what the engine takes if no size is asked for.
    #[serde(default)]
    pub default: bool,
}
