//! A server as a node of a cluster: its network, its arguments, and what is added to its data folder.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use dyno_engine::{Argument, ClusterStart, NodeFile, NodePlaces};

use super::namespace::Namespace;
use crate::server::account::Account;

/// The part of a server in a cluster.
#[derive(Debug, Clone)]
pub struct ClusterNode {
    /// Where it runs.
    pub namespace: Namespace,
    /// The addresses that its arguments name.
    pub places: NodePlaces,
    /// Its last arguments.
    arguments: Vec<Argument>,
    /// The words in its log by which it takes part; `None` of the node that makes the cluster.
    joined: Option<String>,
    files: Vec<NodeFile>,
}

impl ClusterNode {
    /// A node of a new cluster, which the first one makes and the others join.
    pub fn new(cluster: &ClusterStart, namespace: Namespace, places: NodePlaces) -> ClusterNode {
        let is_first = places.address == places.first;
        let files = cluster.files.iter().filter(|file| !(is_first && file.others_only)).cloned().collect();
        let joined = (!is_first).then(|| cluster.joined.clone());
        ClusterNode { namespace, places, arguments: cluster.arguments(is_first), joined, files }
    }

    /// The same node when it comes back to the cluster.
    pub fn returning(&self, cluster: &ClusterStart) -> ClusterNode {
        self.with(cluster, false, Vec::new())
    }

    /// The same node with these last arguments: when it makes the cluster anew, or joins one that another node made.
    pub fn with(&self, cluster: &ClusterStart, makes_cluster: bool, further: Vec<Argument>) -> ClusterNode {
        let arguments = [cluster.arguments(makes_cluster), further].concat();
        let joined = (!makes_cluster).then(|| cluster.joined.clone());
        ClusterNode { arguments, joined, ..self.clone() }
    }

    /// The same node with last arguments by which it ends before it takes part in anything.
    pub fn alone(&self, arguments: Vec<Argument>) -> ClusterNode {
        ClusterNode { arguments, joined: None, ..self.clone() }
    }

    /// Its last arguments.
    pub fn arguments(&self) -> &[Argument] {
        &self.arguments
    }

    /// True if a log says that the node takes part.
    pub fn has_joined(&self, log: &[u8]) -> bool {
        self.joined.as_ref().is_none_or(|words| memchr::memmem::find(log, words.as_bytes()).is_some())
    }

    /// Adds to a new data folder, which is not yet the account's, what makes it a node's.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn complete(&self, data: &Path, account: &Account) -> io::Result<()> {
        for NodeFile { name, text, .. } in &self.files {
            let path = data.join(name);
            let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path)?;
            file.write_all(self.places.fill(text).as_bytes())?;
            account.own(&path)?;
        }
        Ok(())
    }
}
