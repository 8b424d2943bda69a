//! Servers as nodes of one cluster, as `[server.cluster]` of `engines/NAME.toml` describes it.

use anyhow::{Context, Result, ensure};
use dyno_protocol::Setting;
use dyno_record::{NodeLoss, Reach};
use serde::Deserialize;

use super::arguments::{Argument, filled_text, templates};
use super::settings::{first_asked, parse_setting};

/// The fewest and the most nodes of a cluster on one machine.
const NODES: std::ops::RangeInclusive<u32> = 2..=9;

/// The needs of an engine's servers as nodes of a cluster. Texts may name places in braces: `{address}` (of the
/// node), `{first}` (the address of the first node) and `{addresses}` (of all, with commas between them).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterStart {
    /// The number of nodes where the contender names none.
    pub nodes: u32,
    /// True if clients may write at every node.
    #[serde(default)]
    pub writes_anywhere: bool,
    /// Programs and files that a node needs besides the server's, as needs.txt names them.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The last arguments of the first node when the cluster is made, and of every other node or later start.
    #[serde(default)]
    first: Vec<String>,
    #[serde(default)]
    others: Vec<String>,
    /// A node in a list of all of them, with `{address}`: the lists are the place `{members}` of arguments. Of engines whose
    /// clients alone speak their protocol.
    #[serde(default = "address")]
    member: String,
    /// The port at which clients reach a node, within its network, where its server takes no socket of the file system. Of
    /// engines whose clients alone speak their protocol.
    pub port: Option<u16>,
    /// Texts that are appended to files of the data folder.
    #[serde(default, rename = "file")]
    pub files: Vec<NodeFile>,
    /// The words in a node's log by which it takes part in the cluster; the first node does so when it is ready.
    pub joined: String,
    /// Statements by which a new connection waits until its node has applied what was committed before.
    #[serde(default)]
    pub catch_up: Vec<String>,
    /// Conditions, with each of which a read at any node returns all that was committed before it began.
    #[serde(default)]
    up_to_date: Vec<String>,
    /// The way in which a replica becomes the leader; `None` where every node is one.
    pub failover: Option<Failover>,
    /// The way back after all nodes have ended at once; `None` where they start as they did first.
    pub recovery: Option<ClusterRecovery>,
}

fn address() -> String {
    "{address}".to_owned()
}

/// A text that is appended to a file of the data folder.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeFile {
    /// Its name within the data folder; it is made where it is missing.
    pub name: String,
    /// The text.
    pub text: String,
    /// True if the first node's file stays as it is.
    #[serde(default)]
    pub others_only: bool,
}

/// The way in which a replica becomes the leader.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failover {
    /// The query for how much of the leader's log a replica has: the one with the largest number follows the leader.
    pub position: String,
    /// Executed at the replica that becomes the leader. Where it does not, a statement must fail: what they return is
    /// not looked at.
    pub promote: Vec<String>,
    /// Executed at the other replicas; `{first}` is the address of the new leader.
    pub follow: Vec<String>,
}

/// The way back after all nodes have ended at once: the node that came farthest makes the cluster anew, and the others join it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterRecovery {
    /// The last arguments with which a node writes to its log how far it came, and ends.
    recover: Vec<String>,
    /// The words before that in the log. The position is what follows up to a space or the end of the line; the number
    /// after its first colon says how far the node came.
    pub position: String,
    /// Further arguments of each node, with `{position}`.
    resume: Vec<String>,
    /// The file by which the first node is allowed to make the cluster.
    pub permit: Option<NodePermit>,
}

/// A text in a file of the data folder that another one replaces; where there is no such file, nothing is done.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodePermit {
    /// The name of the file within the data folder.
    pub name: String,
    /// The text that forbids it.
    pub forbids: String,
    /// The text that allows it.
    pub allows: String,
}

impl ClusterRecovery {
    /// The last arguments of a node that only says how far it came.
    pub fn recover_arguments(&self) -> Vec<Argument> {
        templates(&self.recover)
    }

    /// The further arguments of a node that came to a position.
    pub fn resume_arguments(&self, position: &str) -> Vec<Argument> {
        let filled = |text: &String| Argument::Setting(filled_text(text, &[("position", position)]));
        self.resume.iter().map(filled).collect()
    }

    /// The last position in a log, if there is one.
    pub fn position_in<'a>(&self, log: &'a str) -> Option<&'a str> {
        let (_, rest) = log.rsplit_once(&self.position)?;
        rest.split_whitespace().next()
    }

    /// The progress of a node at a position; `None` where the node does not know it, as with a number below zero.
    pub fn progress(position: &str) -> Option<u64> {
        let (_, number) = position.split_once(':')?;
        number.split(|digit: char| !digit.is_ascii_digit()).next()?.parse().ok()
    }
}

/// The addresses that texts of a node name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePlaces {
    /// The address of the node.
    pub address: String,
    /// That of the first node, or of the leader.
    pub first: String,
    /// Those of all nodes, with commas between them.
    pub addresses: String,
}

impl NodePlaces {
    /// A text with its places filled.
    pub fn fill(&self, text: &str) -> String {
        filled_text(
            text,
            &[("address", &self.address), ("first", &self.first), ("addresses", &self.addresses)],
        )
    }
}

/// The nodes that may be lost for good, as a rule of a level says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum NodesLost {
    /// The first node alone has it.
    None,
    /// A second node has it.
    One,
    /// All nodes have it, or a majority of them, and a majority goes on.
    Minority,
}

impl NodesLost {
    /// The same of a cluster of a number of nodes.
    pub fn of(self, nodes: u32) -> NodeLoss {
        let lost = match self {
            NodesLost::None => 0,
            NodesLost::One => 1,
            NodesLost::Minority => nodes.saturating_sub(1) / 2,
        };
        NodeLoss { lost, of: nodes }
    }
}

impl ClusterStart {
    /// The last arguments of a node: of the first when the cluster is made, or of one that joins.
    pub fn arguments(&self, makes_cluster: bool) -> Vec<Argument> {
        templates(if makes_cluster { &self.first } else { &self.others })
    }

    /// All nodes as a list, by their addresses.
    pub fn members(&self, addresses: &[String]) -> String {
        let member = |address: &String| filled_text(&self.member, &[("address", address)]);
        addresses.iter().map(member).collect::<Vec<_>>().join(",")
    }

    /// Checks the number of nodes and where clients work.
    ///
    /// # Errors
    /// The engine cannot do it.
    pub(super) fn check_shape(&self, nodes: u32, reach: Reach, engine: &str) -> Result<()> {
        let (least, most) = (NODES.start(), NODES.end());
        ensure!(
            NODES.contains(&nodes),
            "{engine} has from {least} to {most} nodes on one machine, not {nodes}"
        );
        ensure!(
            reach == Reach::First || self.writes_anywhere,
            "reach=any lets clients write at every node, and those of {engine} write at the leader: leave it out"
        );
        Ok(())
    }

    /// True if with these settings a read at one node may return what was replaced at another before it began.
    pub(super) fn lags(&self, asked: &[Setting]) -> bool {
        first_asked(&self.up_to_date, asked).is_none()
    }

    pub(super) fn check(&self) -> Result<()> {
        for condition in &self.up_to_date {
            parse_setting(condition).context("[server.cluster] up_to_date")?;
        }
        self.check_shape(self.nodes, Reach::First, "[server.cluster]")?;
        ensure!(!self.joined.is_empty(), "[server.cluster] joined is empty");
        let is_plain = |file: &NodeFile| !file.name.is_empty() && !file.name.contains('/');
        let strange = self.files.iter().find(|file| !is_plain(file));
        strange.map_or(Ok(()), |file| {
            Err(anyhow::anyhow!("'{}' is no file's name", file.name)).context("[[server.cluster.file]]")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Contender, Home, Registry};

    #[test]
    fn reads_that_ask_one_node_alone_may_be_old() {
        let registry = Registry::load(&Home::find().unwrap()).unwrap();
        for (name, may_be_old) in [
            ("etcd", false),
            ("etcd:serializable-reads", true),
            ("rqlite", true),
            ("rqlite:none", true),
            ("rqlite:linearizable", false),
            ("postgres-replica", false),
            ("galera", false),
            ("galera,reach=any", true),
            ("galera:serializable,reach=any,wsrep_sync_wait=7", false),
            ("galera,reach=any,wsrep_sync_wait=2", true),
        ] {
            let contender = Contender::parse(name, &registry).unwrap();
            assert_eq!(contender.has_stale_reads(), may_be_old, "{name}");
        }
    }

    #[test]
    fn a_minority_is_less_than_half() {
        let lost = |nodes| NodesLost::Minority.of(nodes).lost;
        assert_eq!([2, 3, 4, 5].map(lost), [0, 1, 1, 2]);
        assert_eq!((NodesLost::One.of(5).lost, NodesLost::None.of(3).lost), (1, 0));
    }

    #[test]
    fn a_list_of_the_nodes_has_each_in_its_form() {
        let text = "nodes = 2\njoined = 'x'\nmember = '{address}=http://{address}:1'";
        let cluster: ClusterStart = toml::from_str(text).unwrap();
        assert_eq!(cluster.members(&["a".to_owned(), "b".to_owned()]), "a=http://a:1,b=http://b:1");
    }

    #[test]
    fn a_position_is_found_in_a_log_and_its_number_is_how_far_a_node_came() {
        let text = "recover = ['--r']\nposition = 'at '\nresume = ['--from={position}']";
        let recovery: ClusterRecovery = toml::from_str(text).unwrap();
        let log = "at x:1\n[Note] at 5ee9-bb8d:8204,0-1-9 and\nmore";
        let position = recovery.position_in(log).unwrap();
        assert_eq!(position, "5ee9-bb8d:8204,0-1-9");
        assert_eq!(recovery.resume_arguments(position)[0].to_string(), "--from=5ee9-bb8d:8204,0-1-9");
        assert_eq!(ClusterRecovery::progress(position), Some(8204));
        assert_eq!(ClusterRecovery::progress("0000:-1"), None);
        assert_eq!(recovery.position_in("nothing"), None);
    }

    #[test]
    fn places_are_filled_and_other_braces_stay() {
        let places = NodePlaces { address: "b".into(), first: "a".into(), addresses: "a,b".into() };
        assert_eq!(places.fill("{address} {first} {addresses} {x}"), "b a a,b {x}");
    }
}
