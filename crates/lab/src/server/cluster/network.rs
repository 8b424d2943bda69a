//! The network of a private cluster: a switch, and a network namespace with a cable to it for each node.
//!
//! The cable is a veth, or where the way between nodes is to be longer, one of dyno's that delays frames.
//! No namespace has a name, and nothing of it is in the machine's own network. The kernel removes all of it with dyno's
//! last file descriptor and the last server in it, so that a dyno that is killed leaves nothing. Clients on this
//! machine reach a node by its socket, whatever its cable does.

use std::time::Duration;

use anyhow::{Result, bail};
use dyno_record::ClusterShape;
use nix::unistd::Uid;

use super::cable::DelayingCable;
use super::namespace::Namespace;
use super::tap::Tap;

/// The name of the bridge within its namespace.
const SWITCH: &str = "switch";
/// The name of a node's end of its cable.
const NODE_END: &str = "eth0";
/// The cables that a frame passes on its way to another node and back.
const CABLES_OF_ROUND_TRIP: u32 = 4;
/// The number of frames that a delaying cable's end keeps while dyno's thread does not run.
const FRAMES_KEPT: u32 = 10_000;

/// A switch and the nodes that are plugged into it.
#[derive(Debug)]
pub struct ClusterNetwork {
    switch: Namespace,
    nodes: Vec<Namespace>,
    /// The time that is added to each round trip between two nodes; `None` if the cables are veths.
    round_trip: Option<Duration>,
    /// Where dyno passes them on, one for each node.
    cables: Vec<DelayingCable>,
}

impl ClusterNetwork {
    /// Makes one for the nodes of a cluster, whose nodes may have URLs.
    ///
    /// # Errors
    /// dyno is not root, the kernel makes no network namespaces, or `ip` is missing.
    pub fn new(shape: ClusterShape, has_url: bool) -> Result<ClusterNetwork> {
        if !Uid::effective().is_root() {
            bail!(without_root(has_url));
        }
        let switch = Namespace::new()?;
        switch
            .set_up(&[format!("link add name {SWITCH} type bridge"), format!("link set dev {SWITCH} up")])?;
        let round_trip = shape.node_delay_ns.map(Duration::from_nanos);
        let mut network = ClusterNetwork { switch, nodes: Vec::new(), round_trip, cables: Vec::new() };
        for _ in 0..shape.nodes {
            network.plug_in()?;
        }
        Ok(network)
    }

    /// The namespace of a node.
    pub fn node(&self, node: usize) -> &Namespace {
        &self.nodes[node]
    }

    /// The address of a node.
    pub fn address(node: usize) -> String {
        format!("10.99.0.{}", node + 1)
    }

    /// Pulls the cable of a node: its link is down, and the node sees that.
    ///
    /// # Errors
    /// `ip` fails.
    pub fn pull_cable(&self, node: usize) -> Result<()> {
        self.switch.set_up(&[format!("link set dev {} down", port(node))])?;
        self.cables.get(node).map_or(Ok(()), |cable| cable.set_pulled(true))
    }

    /// Cuts a node off from all others, which it cannot see: its link stays up, and no packet arrives.
    ///
    /// # Errors
    /// `ip` fails.
    pub fn cut_off(&self, node: usize) -> Result<()> {
        self.switch.set_up(&[format!("link set dev {} nomaster", port(node))])
    }

    /// Ends both.
    ///
    /// # Errors
    /// `ip` fails.
    pub fn repair(&self, node: usize) -> Result<()> {
        let port = port(node);
        self.cables.get(node).map_or(Ok(()), |cable| cable.set_pulled(false))?;
        self.switch
            .set_up(&[format!("link set dev {port} master {SWITCH}"), format!("link set dev {port} up")])
    }

    fn plug_in(&mut self) -> Result<()> {
        let node = self.nodes.len();
        let namespace = Namespace::new()?;
        let port = port(node);
        self.connect(&namespace, &port)?;
        self.switch
            .set_up(&[format!("link set dev {port} master {SWITCH}"), format!("link set dev {port} up")])?;
        namespace.set_up(&[
            "link set dev lo up".to_owned(),
            format!("address add {}/24 dev {NODE_END}", ClusterNetwork::address(node)),
            format!("link set dev {NODE_END} up"),
        ])?;
        self.nodes.push(namespace);
        Ok(())
    }

    /// Makes the cable between a node and its port.
    fn connect(&mut self, node: &Namespace, port: &str) -> Result<()> {
        let Some(round_trip) = self.round_trip else {
            let veth = format!("link add name {port} type veth peer name {NODE_END} netns {}", node.path());
            return self.switch.set_up(&[veth]);
        };
        let ends = (Tap::new(node, NODE_END)?, Tap::new(&self.switch, port)?);
        let keep = |name: &str| [format!("link set dev {name} txqueuelen {FRAMES_KEPT}")];
        node.set_up(&keep(NODE_END))?;
        self.switch.set_up(&keep(port))?;
        let delay = round_trip / CABLES_OF_ROUND_TRIP;
        self.cables.push(DelayingCable::new(ends.0, ends.1, delay)?);
        Ok(())
    }
}

/// The advice to a user who may not make a network. Only a node that has a URL can be measured where it runs already.
fn without_root(has_url: bool) -> String {
    let otherwise = match has_url {
        true => ", or measure a cluster that runs already at the address of one of its nodes (--url)",
        false => "",
    };
    format!(
        "each node of a cluster is in a network namespace, which only root can make: run dyno as \
         root{otherwise}"
    )
}

/// The name of a node's port at the switch.
fn port(node: usize) -> String {
    format!("port{}", node + 1)
}

#[cfg(test)]
mod tests;
