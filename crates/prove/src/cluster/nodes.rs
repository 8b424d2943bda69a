//! The nodes of a cluster, whose servers speak SQL or are those of a store.

use anyhow::Result;
use dyno_lab::server::{Cluster, ClusterNetwork, ClusterOrder, StoreCluster, StoreOrder};
use dyno_protocol::Server;

/// The nodes, with the order by which they were started. Dropped, they are ended.
#[derive(Debug)]
pub enum ClusterNodes<'a> {
    /// Of servers that speak SQL.
    Sql(Cluster, ClusterOrder<'a>),
    /// Of a store.
    Store(StoreCluster, StoreOrder<'a>),
}

impl ClusterNodes<'_> {
    /// The number of nodes.
    pub fn count(&self) -> usize {
        match self {
            ClusterNodes::Sql(cluster, _) => cluster.nodes(),
            ClusterNodes::Store(cluster, _) => cluster.count(),
        }
    }

    /// The addresses of all nodes for clients on this machine.
    pub fn addresses(&self) -> Vec<Server> {
        let address = |node| match self {
            ClusterNodes::Sql(cluster, _) => cluster.address(node),
            ClusterNodes::Store(cluster, _) => cluster.address(node),
        };
        (0..self.count()).map(address).collect()
    }

    /// The network between them.
    ///
    /// # Errors
    /// It is one server and no cluster.
    pub fn network(&self) -> Result<&ClusterNetwork> {
        match self {
            ClusterNodes::Sql(cluster, _) => cluster.network(),
            ClusterNodes::Store(cluster, _) => Ok(cluster.network()),
        }
    }

    /// Kills all processes of a node.
    pub fn kill(&mut self, node: usize) {
        match self {
            ClusterNodes::Sql(cluster, _) => cluster.server(node).kill(),
            ClusterNodes::Store(cluster, _) => cluster.kill(node),
        }
    }

    /// Kills all processes of all nodes.
    pub fn kill_all(&mut self) {
        match self {
            ClusterNodes::Sql(cluster, _) => cluster.kill_all(),
            ClusterNodes::Store(cluster, _) => (0..cluster.count()).for_each(|node| cluster.kill(node)),
        }
    }

    /// Stops all processes of a node where they are.
    ///
    /// # Errors
    /// The node has ended.
    pub fn pause(&mut self, node: usize) -> Result<()> {
        match self {
            ClusterNodes::Sql(cluster, _) => cluster.server(node).pause(),
            ClusterNodes::Store(cluster, _) => cluster.pause(node),
        }
    }

    /// Lets a paused node go on.
    pub fn go_on(&mut self, node: usize) {
        match self {
            ClusterNodes::Sql(cluster, _) => cluster.server(node).go_on(),
            ClusterNodes::Store(cluster, _) => cluster.go_on(node),
        }
    }

    /// Starts a killed node again on its data.
    ///
    /// # Errors
    /// It does not start.
    pub fn restart(&mut self, node: usize) -> Result<()> {
        match self {
            ClusterNodes::Sql(cluster, order) => {
                let ClusterOrder { installation, settings, key, placement, .. } = *order;
                cluster.server(node).restart(installation, settings, key, placement)
            }
            ClusterNodes::Store(cluster, order) => cluster.restart(*order, node),
        }
    }

    /// Starts all nodes again after all have ended at once. Returns the one that began the cluster again.
    ///
    /// # Errors
    /// A node does not start.
    pub fn start_again(&mut self) -> Result<usize> {
        match self {
            ClusterNodes::Sql(cluster, order) => cluster.start_again(*order),
            ClusterNodes::Store(cluster, order) => cluster.start_again(*order).map(|()| 0),
        }
    }

    /// The end of a node's log.
    pub fn log_end(&mut self, node: usize) -> String {
        match self {
            ClusterNodes::Sql(cluster, _) => cluster.server(node).log_end(),
            ClusterNodes::Store(cluster, _) => cluster.log_end(node),
        }
    }
}
