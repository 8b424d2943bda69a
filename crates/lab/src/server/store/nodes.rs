//! The nodes of a store's cluster, one by one: ended, stopped where they are, and started again on the data that they have.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dyno_protocol::Server;
use nix::sys::signal::Signal;

use super::{SOCKET, StoreCluster, StoreNode, StoreOrder};
use crate::server::cluster::ClusterNetwork;

/// The option of a node's address that names its network namespace, where clients reach it there alone.
const NETWORK: &str = "network";

impl StoreCluster {
    /// The number of nodes.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The network between them.
    pub fn network(&self) -> &ClusterNetwork {
        &self.network
    }

    /// The address of a node, counted from zero, for clients on this machine: its socket, or its address in its network.
    pub fn address(&self, node: usize) -> Server {
        let (host, options) = match self.port {
            Some(_) => {
                let network = (NETWORK.to_owned(), self.network.node(node).path());
                (ClusterNetwork::address(node), [network].into())
            }
            None => (self.nodes[node].socket(), BTreeMap::new()),
        };
        Server {
            host,
            port: self.port,
            user: String::new(),
            password: None,
            database: None,
            options,
            process: Some(self.nodes[node].main.id()),
            further: Vec::new(),
            further_processes: Vec::new(),
        }
    }

    /// Kills a node.
    pub fn kill(&mut self, node: usize) {
        self.nodes[node].main.kill_main();
    }

    /// Stops a node where it is.
    ///
    /// # Errors
    /// It has ended.
    pub fn pause(&mut self, node: usize) -> Result<()> {
        if let Some(death) = self.nodes[node].death() {
            bail!(death);
        }
        self.nodes[node].main.signal(Signal::SIGSTOP);
        Ok(())
    }

    /// Lets a paused node go on, unless it has ended meanwhile.
    pub fn go_on(&mut self, node: usize) {
        self.nodes[node].main.signal(Signal::SIGCONT);
    }

    /// Starts a node that has ended again on its data, and waits until it takes part.
    ///
    /// # Errors
    /// It ends, or is not ready in time; with the end of its log.
    pub fn restart(&mut self, order: StoreOrder, node: usize) -> Result<()> {
        self.begin_again(order, node)?;
        self.await_all(order)
    }

    /// Starts all nodes, which have ended, again on their data, and waits until all take part: none does before a majority
    /// is there.
    ///
    /// # Errors
    /// As for [`StoreCluster::restart`].
    pub fn start_again(&mut self, order: StoreOrder) -> Result<()> {
        (0..self.count()).try_for_each(|node| self.begin_again(order, node))?;
        self.await_all(order)
    }

    fn begin_again(&mut self, order: StoreOrder, place: usize) -> Result<()> {
        self.nodes[place].folders.forget_volatile()?;
        let start = order.contender.engine.store().context("the engine is no store with servers")?;
        let began = self.launch(order, start, (place, self.count()), &self.nodes[place].folders);
        self.nodes[place].main = began.with_context(|| format!("node {} does not come back", place + 1))?;
        Ok(())
    }

    fn await_all(&mut self, order: StoreOrder) -> Result<()> {
        let cluster = order.contender.engine.cluster().context("it is no cluster")?;
        self.wait_until_ready(&cluster.joined, order.interrupts)
    }

    /// The end of a node's log.
    pub fn log_end(&self, node: usize) -> String {
        self.nodes[node].log_end()
    }
}

/// The network namespace of a node without a socket of the file system, as a file, and its address there; `None` of a node
/// with a socket.
///
/// # Errors
/// The host is not an IP address.
pub fn node_address(server: &Server) -> Result<Option<(PathBuf, SocketAddr)>> {
    let (Some(port), Some(network)) = (server.port, server.options.get(NETWORK)) else { return Ok(None) };
    let host = server.host.parse().with_context(|| format!("{} is no address of a node", server.host))?;
    Ok(Some((network.into(), SocketAddr::new(host, port))))
}

impl StoreNode {
    /// The path of its socket.
    pub(super) fn socket(&self) -> String {
        self.folders.sockets.join(SOCKET).display().to_string()
    }
}
