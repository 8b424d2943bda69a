//! The servers of a private database: one, or the nodes of a cluster, each in a network namespace.

mod cable;
mod namespace;
mod network;
pub(super) mod node;
mod outage;
mod tap;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use dyno_engine::{ClusterStart, NodePlaces, ScratchServer};
use dyno_launch::Interrupts;
use dyno_needs as needs;
use dyno_protocol::{JobStatement, Secret, Server, Setting};
use dyno_record::{ClusterShape, Placement, Reach};

pub use network::ClusterNetwork;

use self::node::ClusterNode;
use super::installation::Installation;
use super::private::{FirstData, PrivateServer, Seed, ServerOrder};

/// The servers of a database. Dropped, they are stopped and their folders and networks are gone.
#[derive(Debug)]
pub struct Cluster {
    servers: Vec<PrivateServer>,
    network: Option<ClusterNetwork>,
    shape: Option<ClusterShape>,
}

/// An order to start a cluster.
#[derive(Debug, Clone, Copy)]
pub struct ClusterOrder<'a> {
    /// The programs.
    pub installation: &'a Installation,
    /// The settings of each node.
    pub settings: &'a [Setting],
    /// The key of the data.
    pub key: Option<&'a Secret>,
    /// The cluster; `None` for one server.
    pub shape: Option<ClusterShape>,
    /// A folder of dyno's own on the file system to be measured.
    pub place: &'a Path,
    /// Folders for the nodes, in their order, where each has a separate disk; nodes without one are in `place`.
    pub places: &'a [PathBuf],
    /// The placement of all nodes.
    pub placement: &'a Placement,
    /// By which the start is ended.
    pub interrupts: &'a Interrupts,
}

impl<'a> ClusterOrder<'a> {
    fn of_node(&self, node: Option<&'a ClusterNode>) -> ServerOrder<'a> {
        let ClusterOrder { installation, settings, key, placement, interrupts, .. } = *self;
        ServerOrder { installation, settings, key, placement, interrupts, node }
    }
}

impl Cluster {
    /// Starts the servers, one after another.
    ///
    /// Must be called by a thread that outlives them, as [`PrivateServer::start`] says.
    ///
    /// # Errors
    /// A server cannot be started; or the machine lacks what a cluster needs.
    pub fn start(order: ClusterOrder) -> Result<Cluster> {
        let Some(shape) = order.shape else {
            let server = PrivateServer::begin(order.of_node(None), FirstData::Made, order.place)?;
            return Ok(Cluster { servers: vec![server], network: None, shape: None });
        };
        let start = cluster_start(order.installation)?;
        check_needs(start, &order.installation.engine.title)?;
        let engine = &order.installation.engine;
        let network = ClusterNetwork::new(shape, !engine.url.schemes.is_empty())
            .with_context(|| format!("cannot start a cluster of {}", engine.title))?;
        let seed = Seed::make(order.of_node(None), order.place)?;
        let mut cluster = Cluster { servers: Vec::new(), network: Some(network), shape: Some(shape) };
        for place in 0..shape.nodes as usize {
            let node = cluster.node(start, place)?;
            let folder = order.places.get(place).map_or(order.place, PathBuf::as_path);
            let began =
                PrivateServer::begin(order.of_node(Some(&node)), FirstData::Copy(seed.data()), folder);
            let server = began.with_context(|| {
                format!("cannot start node {} of {} of a cluster", place + 1, shape.nodes)
            })?;
            cluster.servers.push(server);
        }
        Ok(cluster)
    }

    /// A node of the new cluster.
    fn node(&self, start: &ClusterStart, place: usize) -> Result<ClusterNode> {
        let network = self.network()?;
        let addresses: Vec<String> = (0..self.nodes()).map(ClusterNetwork::address).collect();
        let places = NodePlaces {
            address: addresses[place].clone(),
            first: addresses[0].clone(),
            addresses: addresses.join(","),
        };
        Ok(ClusterNode::new(start, network.node(place).clone(), places))
    }

    /// The number of nodes; 1 where it is no cluster.
    pub fn nodes(&self) -> usize {
        self.shape.map_or(1, |shape| shape.nodes as usize)
    }

    /// The network between the nodes.
    ///
    /// # Errors
    /// It is one server and no cluster.
    pub fn network(&self) -> Result<&ClusterNetwork> {
        self.network.as_ref().context("one server has no network of a cluster")
    }

    /// The first server.
    pub fn first(&mut self) -> &mut PrivateServer {
        &mut self.servers[0]
    }

    /// A node, counted from zero.
    pub fn server(&mut self, node: usize) -> &mut PrivateServer {
        &mut self.servers[node]
    }

    /// The address of a node for clients on this machine.
    pub fn address(&self, node: usize) -> Server {
        self.servers[node].connection("").server
    }

    /// True if all servers still run.
    pub fn is_alive(&mut self) -> bool {
        self.servers.iter_mut().all(PrivateServer::is_alive)
    }

    /// Describes how the first of the servers that have ended did so.
    pub fn death(&mut self) -> Option<String> {
        if self.shape.is_none() {
            return self.servers[0].death();
        }
        let of = self.nodes();
        // Only the first waits for an end that is not yet seen: clients work with it.
        let mut deaths = self.servers.iter_mut().enumerate().filter_map(|(node, server)| {
            let death = if node == 0 || !server.is_alive() { server.death() } else { None };
            death.map(|death| format!("node {} of {of}: {death}", node + 1))
        });
        deaths.next()
    }

    /// The database of a trial on it, as its clients reach it.
    pub fn connection(&self, scratch: &str) -> ScratchServer {
        let mut first = self.servers[0].connection(scratch);
        first.server.further_processes = self.servers[1..].iter().map(PrivateServer::process).collect();
        let Some(ClusterShape { reach: Reach::Any, .. }) = self.shape else { return first };
        let further = self.servers[1..].iter().map(|server| server.connection(scratch).server.host);
        let catch_up = self.servers[0].cluster_start().map_or(&[][..], |start| &start.catch_up);
        let catch_up = catch_up.iter().map(|sql| JobStatement {
            name: "wait for the other nodes' commits".to_owned(),
            sql: sql.clone(),
            before_checks: true,
            ..JobStatement::default()
        });
        ScratchServer {
            server: Server { further: further.collect(), ..first.server },
            catch_up: catch_up.collect(),
            ..first
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The last first: a node that leaves in order needs the others.
        while self.servers.pop().is_some() {}
    }
}

fn cluster_start(installation: &Installation) -> Result<&ClusterStart> {
    let start = installation.start.cluster.as_ref();
    start.with_context(|| format!("dyno knows no way to make a cluster of {}", installation.engine.title))
}

/// Looks whether the machine has what a cluster of an engine with this title needs.
///
/// # Errors
/// A program or file is missing, with the command that installs it.
pub fn check_needs(start: &ClusterStart, title: &str) -> Result<()> {
    for name in &start.needs {
        let need = needs::of(name).with_context(|| format!("there is no {name} in needs.txt"))?;
        let is_there = match need.proof.starts_with('/') {
            true => Path::new(need.proof).exists(),
            false => ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
                .iter()
                .any(|folder| Path::new(folder).join(need.proof).exists()),
        };
        ensure!(is_there, "a cluster of {title} needs {need}");
    }
    Ok(())
}
