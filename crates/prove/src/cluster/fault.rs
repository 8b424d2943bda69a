//! A fault of the node that clients work with or of all, the fail-over where there is a leader, and the way back.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use dyno_engine::{ClusterStart, Failover, NodePlaces};
use dyno_lab::server::ClusterNetwork;
use dyno_launch::Interrupts;
use dyno_protocol::{Server, Value};
use dyno_record::NodeFault;

use super::disks::NodeDisks;
use super::link::{ClientLibrary, NodeLink};
use super::load::ClientLoad;
use super::nodes::ClusterNodes;
use super::outage::{self, OutageCourse};
use crate::subject::data;

/// The time after a fault at which dyno makes a replica the leader, as a program that watches the leader would.
pub const FAILOVER_AFTER: Duration = Duration::from_secs(1);
/// The time for which clients go on once commits are acknowledged again.
const AFTER: Duration = Duration::from_secs(3);
/// The time in which commits must be acknowledged again.
const LONGEST: Duration = Duration::from_secs(40);
/// The time without acknowledgements after which they have not come back.
const QUIET: Duration = Duration::from_millis(500);
/// The time limit of a statement to a replica: longer than a server's own, so that it says itself what did not happen.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time between looks.
const STEP: Duration = Duration::from_millis(20);
/// The node that the fault comes to: the leader, or the first.
const VICTIM: usize = 0;
/// The number of times that it is made the leader again if another node leads when the fault is due.
const HANDOVERS: usize = 3;
/// The time limit of a question for the leader.
const QUESTION_LIMIT: Duration = Duration::from_secs(10);

/// A cluster with a fault that comes to its first node.
pub struct Faulty<'a> {
    /// The cluster.
    pub cluster: ClusterNodes<'a>,
    /// The fault.
    pub fault: NodeFault,
    /// The needs of its servers.
    pub start: &'a ClusterStart,
    /// By which all of it is ended.
    pub interrupts: &'a Interrupts,
    /// The disks of its nodes, where their power is to be cut. After the cluster: it is on them.
    pub disks: Option<NodeDisks>,
}

/// When what happened.
#[derive(Debug, Clone, Copy)]
pub struct FaultCourse {
    /// The moment of the fault, from the beginning of the load on.
    pub fault_at: Duration,
    /// When a replica was asked to become the leader, and when it was.
    pub failover: Option<[Duration; 2]>,
    /// The outage of all nodes, where the fault is that.
    pub outage: Option<OutageCourse>,
    /// The node that led right before the fault, counted from 1, where nodes elect one and the fault comes to one of them; 0: no
    /// node is known to have led.
    pub led: Option<u32>,
    /// The node that leads afterwards.
    pub leader: usize,
    /// The end of the load.
    pub end: Duration,
}

impl<'a> Faulty<'a> {
    /// Lets the fault come while clients work, makes a replica the leader where there is one, and waits until commits
    /// have been acknowledged again for a while.
    ///
    /// # Errors
    /// The fault cannot be made, no replica can become the leader, or dyno is asked to stop.
    pub fn run(
        &mut self,
        load: &ClientLoad,
        library: &ClientLibrary,
        nodes: &[Server],
        wait: Duration,
    ) -> Result<FaultCourse> {
        let led = self.await_leader(library, nodes, wait)?;
        if load.last().is_zero() {
            bail!("no commit was acknowledged in {} ms before the fault", wait.as_millis());
        }
        if self.fault == NodeFault::Power {
            self.await_acknowledgement(load)?;
        }
        let fault_at = load.elapsed();
        let outage = self.inflict(load)?;
        let leader = outage.map_or(VICTIM, |outage| outage.began);
        let mut course = FaultCourse { fault_at, failover: None, outage, led, leader, end: fault_at };
        if let Some(failover) = self.failover() {
            self.sleep(FAILOVER_AFTER)?;
            let begun = load.elapsed();
            let leader = farthest(library, nodes, &failover.position)?;
            self.promote(leader, library, nodes, &failover.promote)?;
            self.lead_others(leader, library, nodes, &failover.follow)?;
            load.lead_to(leader);
            (course.leader, course.failover) = (leader, Some([begun, load.elapsed()]));
        }
        self.await_commits(load)?;
        course.end = load.elapsed();
        Ok(course)
    }

    /// Waits until the fault is due. Nodes of a store may have elected another leader meanwhile: then the one that the fault
    /// comes to is made the leader again, and clients work for as long once more. Returns the leader where nodes elect one;
    /// for a fault of all nodes it does not matter.
    ///
    /// # Errors
    /// dyno is asked to stop.
    fn await_leader(&self, library: &ClientLibrary, nodes: &[Server], wait: Duration) -> Result<Option<u32>> {
        self.sleep(wait)?;
        let ClientLibrary::Store(kind) = library else { return Ok(None) };
        if self.fault == NodeFault::Power {
            return Ok(None);
        }
        let leader = || kind.leader(nodes, QUESTION_LIMIT);
        let mut found = leader();
        for _ in 0..HANDOVERS {
            if found == Some(VICTIM) {
                break;
            }
            // An error needs no handling: the next question shows which node leads.
            let _ = kind.lead_first(nodes, QUESTION_LIMIT, self.interrupts);
            self.sleep(wait)?;
            found = leader();
        }
        Ok(Some(found.map_or(0, |node| node as u32 + 1)))
    }

    /// Waits until the next commit is acknowledged: a cut right after that finds it least prepared.
    fn await_acknowledgement(&self, load: &ClientLoad) -> Result<()> {
        let (before, deadline) = (load.last(), Instant::now() + LONGEST);
        while load.last() == before {
            if Instant::now() > deadline {
                bail!("no commit was acknowledged for {} s before the fault", LONGEST.as_secs());
            }
            self.sleep(Duration::from_millis(1))?;
        }
        Ok(())
    }

    /// Makes a replica the leader.
    ///
    /// # Errors
    /// It does not become one; with what its server said.
    fn promote(
        &mut self,
        leader: usize,
        library: &ClientLibrary,
        nodes: &[Server],
        statements: &[String],
    ) -> Result<()> {
        let promoted =
            NodeLink::open(library, &nodes[leader]).and_then(|link| link.execute(statements, PATIENCE));
        promoted.with_context(|| {
            let said = self.cluster.log_end(leader);
            format!(
                "node {} did not become the leader after node {} was lost; {said}",
                leader + 1,
                VICTIM + 1
            )
        })
    }

    /// Lets the other replicas follow the new leader.
    ///
    /// # Errors
    /// One does not take its address.
    fn lead_others(
        &mut self,
        leader: usize,
        library: &ClientLibrary,
        nodes: &[Server],
        follow: &[String],
    ) -> Result<()> {
        for node in (0..nodes.len()).filter(|node| ![VICTIM, leader].contains(node)) {
            let places = NodePlaces {
                address: ClusterNetwork::address(node),
                first: ClusterNetwork::address(leader),
                addresses: String::new(),
            };
            let statements: Vec<String> = follow.iter().map(|sql| places.fill(sql)).collect();
            let led =
                NodeLink::open(library, &nodes[node]).and_then(|link| link.execute(&statements, PATIENCE));
            led.with_context(|| {
                let said = self.cluster.log_end(node);
                format!("node {} cannot be led to the new leader, node {}; {said}", node + 1, leader + 1)
            })?;
        }
        Ok(())
    }

    /// Waits until commits have been acknowledged for a while without a longer pause, or do not come back.
    fn await_commits(&self, load: &ClientLoad) -> Result<()> {
        let from = load.elapsed();
        let mut flows_since = None;
        loop {
            self.sleep(STEP)?;
            let (now, last) = (load.elapsed(), load.last());
            let flows = last > from && now.saturating_sub(last) < QUIET;
            flows_since = flows.then(|| flows_since.unwrap_or(now));
            if flows_since.is_some_and(|since| now >= since + AFTER) || now > from + LONGEST {
                return Ok(());
            }
        }
    }

    fn sleep(&self, time: Duration) -> Result<()> {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.interrupts.check()?;
            thread::sleep(STEP.min(end.saturating_duration_since(Instant::now())));
        }
        Ok(())
    }

    /// The way in which a replica becomes the leader, if there is one and the fault leaves replicas.
    fn failover(&self) -> Option<&'a Failover> {
        self.start.failover.as_ref().filter(|_| self.fault != NodeFault::Power)
    }

    fn inflict(&mut self, load: &ClientLoad) -> Result<Option<OutageCourse>> {
        match self.fault {
            NodeFault::Power => {
                let disks = self.disks.as_mut().context("the nodes have no disks whose power can be cut")?;
                return outage::lose_power(&mut self.cluster, disks, load).map(Some);
            }
            NodeFault::Kill => self.cluster.kill(VICTIM),
            NodeFault::Pause => self.cluster.pause(VICTIM)?,
            NodeFault::Cable => self.cluster.network()?.pull_cable(VICTIM)?,
            NodeFault::Partition => self.cluster.network()?.cut_off(VICTIM)?,
        }
        Ok(None)
    }

    /// Ends the fault. A leader that was replaced is killed instead: it would go on with another history.
    ///
    /// # Errors
    /// The network cannot be repaired.
    pub fn end_fault(&mut self) -> Result<()> {
        if self.failover().is_some() {
            self.cluster.kill(VICTIM);
            return Ok(());
        }
        match self.fault {
            NodeFault::Kill | NodeFault::Power => Ok(()),
            NodeFault::Pause => {
                self.cluster.go_on(VICTIM);
                Ok(())
            }
            NodeFault::Cable | NodeFault::Partition => self.cluster.network()?.repair(VICTIM),
        }
    }

    /// Brings the lost node back where the cluster takes it. Returns the nodes to compare, the one that leads first.
    ///
    /// # Errors
    /// The node does not start.
    pub fn heal(&mut self, course: &FaultCourse) -> Result<Vec<usize>> {
        if self.fault == NodeFault::Power {
            let others = (0..self.cluster.count()).filter(|node| *node != course.leader);
            return Ok([course.leader].into_iter().chain(others).collect());
        }
        let others = (0..self.cluster.count()).filter(|node| *node != VICTIM);
        if self.failover().is_some() {
            let others = others.filter(|node| *node != course.leader);
            return Ok([course.leader].into_iter().chain(others).collect());
        }
        if self.fault == NodeFault::Kill {
            self.cluster.restart(VICTIM).context("the killed node does not come back")?;
        }
        Ok(others.chain([VICTIM]).collect())
    }
}

/// The replica that has most of the leader's log.
fn farthest(library: &ClientLibrary, nodes: &[Server], position: &str) -> Result<usize> {
    let mut positions = Vec::new();
    for (node, server) in nodes.iter().enumerate().filter(|(node, _)| *node != VICTIM) {
        let rows = NodeLink::open(library, server).and_then(|link| link.rows(position, PATIENCE));
        let place = |rows: Vec<Vec<Value>>| rows.first().and_then(|row| row.first()).and_then(data::number);
        let position = rows
            .map(place)
            .with_context(|| format!("node {} cannot be asked how much of the log it has", node + 1))?;
        let silent = || format!("node {} does not say how much of the log it has", node + 1);
        positions.push((position.with_context(silent)?, node));
    }
    let (_, node) = positions.into_iter().max().context("there is no replica")?;
    Ok(node)
}
