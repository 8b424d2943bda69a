//! The observations of `dyno prove` on clusters that lose a node: facts, which the verdict holds against what the
//! settings promise.

use std::path::Path;

use anyhow::{Result, anyhow};
use dyno_protocol::Hello;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ClusterShape, Safety};

/// The version of this schema.
pub const CLUSTER_SCHEMA: &str = "dyno-cluster/1";

/// One use of `dyno prove` with clusters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterRecord {
    /// The version of this schema, `dyno-cluster/1`.
    pub schema: String,
    /// The version of dyno that recorded it.
    pub dyno: String,
    /// When, UTC, RFC 3339.
    pub began: String,
    /// The seed of the moments of the faults.
    pub seed: u64,
    /// The number of clients.
    pub clients: u64,
    /// The time that dyno waits after a fault before a replica becomes the leader, in milliseconds.
    pub failover_after_ms: u64,
    /// The reason why the power of all nodes was not cut, where the machine does not allow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_cuts: Option<String>,
    /// The contenders, in the order in which they were named, and then the controls.
    pub subjects: Vec<ClusterSubject>,
}

/// One contender.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterSubject {
    /// Its label.
    pub label: String,
    /// True if it is there only to show that losses are found: it must lose commits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_control: bool,
    /// True if dyno planted a liar: a program that confirms to the leader that it has its log, and is lost with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_liar: bool,
    /// The engine's version, its build and the settings in force.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub hello: Option<Hello>,
    /// The number of nodes, and where clients work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<ClusterShape>,
    /// The promise of its settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised: Option<Safety>,
    /// The delay of reads at other nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub staleness: Vec<NodeStaleness>,
    /// The faults, in the order in which they were tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<FaultTry>,
    /// True if the check noticed a commit that dyno removed for that purpose; absent where dyno removed none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notices_loss: Option<bool>,
    /// The reason that it was not tried, or not to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

impl ClusterSubject {
    /// Its name among all subjects.
    pub fn name(&self) -> String {
        if self.has_liar { format!("{} with a liar", self.label) } else { self.label.clone() }
    }
}

/// A fault of a node, or of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NodeFault {
    /// All its processes are killed (SIGKILL).
    Kill,
    /// All its processes stop (SIGSTOP), and go on later.
    Pause,
    /// Its link goes down, which it sees.
    Cable,
    /// Its packets are dropped, which it cannot see.
    Partition,
    /// The power of all nodes is cut at once: of what they wrote, their disks keep what was flushed.
    Power,
}

impl NodeFault {
    /// All of them.
    pub const ALL: [NodeFault; 5] =
        [NodeFault::Kill, NodeFault::Pause, NodeFault::Cable, NodeFault::Partition, NodeFault::Power];

    /// The name, as in tables and options.
    pub fn name(self) -> &'static str {
        match self {
            NodeFault::Kill => "kill",
            NodeFault::Pause => "pause",
            NodeFault::Cable => "cable",
            NodeFault::Partition => "partition",
            NodeFault::Power => "power",
        }
    }
}

/// One fault of the node that clients work with, and what became of their commits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultTry {
    /// The fault.
    pub fault: NodeFault,
    /// When it came, in milliseconds from the first operation on.
    pub at_ms: u64,
    /// The node that led right before it, counted from 1, and 0 where none is known to have led: faults come to the first node.
    /// Absent where nodes do not elect a leader, where the fault is of all nodes, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub led: Option<u32>,
    /// When a replica was asked to become the leader, and when it was; absent where every node is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failover_ms: Option<[u64; 2]>,
    /// The outage of all nodes, where the fault is that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<PowerOutage>,
    /// When the clients stopped.
    pub end_ms: u64,
    /// Acknowledged commits in each tenth of a second.
    pub tenths: Vec<u32>,
    /// The longest time after the fault in which no commit was acknowledged, in milliseconds; after an outage, from the
    /// moment on at which the power is back.
    pub stall_ms: u64,
    /// True if commits were acknowledged again after that.
    pub goes_on: bool,
    /// Operations that were acknowledged.
    pub acknowledged: u64,
    /// Operations that failed for certain.
    pub failed: u64,
    /// Operations of which the client cannot know: the answer to their COMMIT did not come.
    pub unknown: u64,
    /// Those of them that were found.
    pub unknown_found: u64,
    /// Acknowledged commits that were found on none of the nodes that were compared.
    pub lost: u64,
    /// Acknowledged commits that were found on one of these nodes and not on another, though the nodes had a minute to
    /// agree.
    #[serde(default)]
    pub missing: u64,
    /// When the first and the last of these were acknowledged, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_between_ms: Option<[u64; 2]>,
    /// The smallest history that shows a loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_by: Option<LostCommit>,
    /// Failed operations that were found all the same.
    pub failed_found: u64,
    /// The nodes that were compared afterwards, counted from 1.
    pub compared: Vec<u32>,
    /// Other faults: nodes that differ, sums that do not agree, a node that does not come back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
}

impl FaultTry {
    /// True if the fault was to come to the leader, and its node did not lead. Power is cut at all nodes.
    pub fn missed_leader(&self) -> bool {
        self.fault != NodeFault::Power && self.led.is_some_and(|node| node != 1)
    }
}

/// The outage of all nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PowerOutage {
    /// The time between the cut of the first disk and that of the last, in microseconds.
    pub within_us: u64,
    /// Writes to the disks that no flush had followed, and that are gone.
    pub writes_gone: u64,
    /// When all servers had ended, in milliseconds from the first operation on. An answer between the cut and this moment
    /// may be to a commit that came after the cut: clients are taken not to know.
    pub ended_ms: u64,
    /// When the power came back, and when all nodes were ready again.
    pub back_ms: [u64; 2],
    /// The node that began the cluster again, counted from 1.
    pub began: u32,
}

/// The smallest history that shows a loss: one commit that was acknowledged, the fault, and reads that do not return it. It is
/// the lost commit that was acknowledged first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LostCommit {
    /// The client, counted from 1.
    pub client: u64,
    /// The commit, as the rows have it.
    pub commit: u64,
    /// The node that acknowledged it, counted from 1.
    pub node: u32,
    /// When its first statement was sent, in milliseconds from the first operation on.
    pub sent_ms: u64,
    /// When it was acknowledged.
    pub acknowledged_ms: u64,
    /// The nodes that were read afterwards and do not have it, counted from 1.
    pub gone_at: Vec<u32>,
    /// The last commit of the same client that is there, if any is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_there: Option<u64>,
}

/// The delay of reads at a node: a commit is acknowledged at the first node, and read here in a loop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeStaleness {
    /// The node, counted from 1.
    pub node: u32,
    /// Commits that were read here.
    pub commits: u64,
    /// Commits that were not read within the time that dyno waits. They count in the times with the lateness seen so far; in
    /// older records they are left out.
    pub unseen: u64,
    /// The time from the acknowledgement of a commit to the begin of the last read that returned something older, in
    /// nanoseconds; 0 where no read that began after the acknowledgement did. Half of the commits were late by at most this.
    pub p50_ns: u64,
    /// 99 of 100 commits were late by at most this.
    pub p99_ns: u64,
    /// All were.
    pub max_ns: u64,
    /// Whether `p50_ns`, `p99_ns` and `max_ns` are lower bounds, because of commits that were not read; false in older records.
    #[serde(default, skip_serializing_if = "is_exact")]
    pub at_least: [bool; 3],
    /// The median time of a read.
    pub read_ns: u64,
    /// The number of reads.
    pub reads: u64,
    /// Those that began after the acknowledgement of a commit and returned something older. Absent in older records, whose
    /// times run to the end of the first read that returns the commit and contain what it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<u64>,
    /// The number of reads that returned something older than the read before.
    pub backwards: u64,
}

/// True if no time is a lower bound.
fn is_exact(at_least: &[bool; 3]) -> bool {
    *at_least == [false; 3]
}

impl ClusterRecord {
    /// The record of a text; `None` if it is another document. `path` names it in messages.
    ///
    /// # Errors
    /// The text is a record of another version, or a damaged one.
    pub fn parse(text: &str, path: &Path) -> Option<Result<ClusterRecord>> {
        #[derive(Deserialize)]
        struct Document {
            schema: String,
        }
        let Document { schema } = serde_json::from_str(text).ok()?;
        let version = schema.strip_prefix("dyno-cluster/")?;
        if schema != CLUSTER_SCHEMA {
            return Some(Err(anyhow!(
                "{}: it is a record of clusters of version {version}, and this dyno reads {CLUSTER_SCHEMA}",
                path.display()
            )));
        }
        let record = serde_json::from_str(text);
        Some(record.map_err(|error| anyhow!("{}:{}: {error}", path.display(), error.line())))
    }
}
