//! The end of all nodes at once, and the way back: from what their data folders hold, as the engine's manual has it.

use anyhow::{Context, Result};
use dyno_engine::{ClusterRecovery, ClusterStart};

use super::node::ClusterNode;
use super::{Cluster, ClusterOrder, cluster_start};
use crate::server::private::PrivateServer;

impl Cluster {
    /// Ends all nodes at once and without a word.
    pub fn kill_all(&mut self) {
        self.servers.iter_mut().for_each(PrivateServer::kill);
    }

    /// Starts all nodes on the data that they have, after all have ended at once. Returns the node that began the cluster
    /// again, counted from zero: the one that came farthest where nodes can be asked for that, else the first.
    ///
    /// # Errors
    /// A node does not say how far it came, or does not start; with the end of its log.
    pub fn start_again(&mut self, order: ClusterOrder) -> Result<usize> {
        let start = cluster_start(order.installation)?;
        self.servers.iter().try_for_each(PrivateServer::forget_volatile)?;
        let positions = match &start.recovery {
            Some(recovery) => self.positions(order, recovery)?,
            None => Vec::new(),
        };
        let first = farthest(&positions);
        if let Some(permit) = start.recovery.as_ref().and_then(|recovery| recovery.permit.as_ref()) {
            self.servers[first].permit(permit)?;
        }
        let others = (0..self.servers.len()).filter(|place| *place != first);
        for place in [first].into_iter().chain(others) {
            let node = self.again(start, (place, first), positions.get(place))?;
            let began = self.servers[place].begin_again(order.of_node(Some(&node)));
            began.with_context(|| format!("node {} does not come back after an outage of all", place + 1))?;
        }
        Ok(first)
    }

    /// The position of each node.
    fn positions(&self, order: ClusterOrder, recovery: &ClusterRecovery) -> Result<Vec<String>> {
        let ask = |(place, server): (usize, &PrivateServer)| {
            let node = server.node().map(|node| node.alone(recovery.recover_arguments()));
            server
                .recovered_position(order.of_node(node.as_ref()), recovery)
                .with_context(|| format!("node {} cannot be asked how far it came", place + 1))
        };
        self.servers.iter().enumerate().map(ask).collect()
    }

    /// A node as it comes back, where another or itself makes the cluster.
    fn again(
        &self,
        start: &ClusterStart,
        (place, first): (usize, usize),
        position: Option<&String>,
    ) -> Result<ClusterNode> {
        let node = self.servers[place].node().context("the server is no node of a cluster")?;
        let resume = start.recovery.as_ref().zip(position);
        let further = resume.map_or_else(Vec::new, |(recovery, at)| recovery.resume_arguments(at));
        Ok(node.with(start, place == first, further))
    }
}

/// The node whose position has the largest number: of equal ones the first.
fn farthest(positions: &[String]) -> usize {
    let progress = |place: &usize| ClusterRecovery::progress(&positions[*place]);
    (0..positions.len()).rev().max_by_key(progress).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_node_that_came_farthest_begins_again() {
        let farthest = |numbers: &[i64]| {
            farthest(&numbers.iter().map(|number| format!("id:{number}")).collect::<Vec<_>>())
        };
        assert_eq!(farthest(&[5, 9, 100]), 2);
        assert_eq!(farthest(&[9, 9, 8]), 0);
        assert_eq!(farthest(&[-1, 0, -1]), 1);
        assert_eq!(farthest(&[]), 0);
    }
}
