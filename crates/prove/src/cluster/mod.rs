//! Faults of nodes: a cluster is started, clients make commits, the node that they work with is lost, and afterwards
//! every acknowledged commit is looked for on every node that is left. Facts only; `dyno_verdict` judges them.

mod check;
mod fault;
mod link;
mod load;
mod patience;
mod probe;
mod staleness;

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use dyno_engine::{ClusterStart, Contender, Protocol};
use dyno_lab::server::{Cluster, ClusterOrder, Installation};
use dyno_launch::Interrupts;
use dyno_protocol::Server;
use dyno_record::{ClusterShape, ClusterSubject, FaultTry, NodeFault, Placement, Reach};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::subject::{DATABASE, data};
use fault::{FaultCourse, Faulty};
use link::{ClientLibrary, NodeLink};
use load::{ClientAttempt, ClientLoad, ClientWays, Knowledge};

pub use fault::FAILOVER_AFTER;

/// The time limit of a statement that prepares.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time that clients work before a fault, and the part of it that is drawn.
const BEFORE: Duration = Duration::from_millis(1500);
const DRAWN: Duration = Duration::from_millis(1000);
/// The length of a part of the series of acknowledged commits.
const TENTH: Duration = Duration::from_millis(100);

/// A contender that is a cluster.
pub struct ClusterOnTrial<'a> {
    /// The contender.
    pub contender: &'a Contender,
    /// Its programs.
    pub installation: &'a Installation,
    /// The number of clients.
    pub clients: u64,
    /// A folder for the nodes.
    pub place: &'a Path,
    /// The placement of the nodes.
    pub placement: &'a Placement,
    /// By which all of it is ended.
    pub interrupts: &'a Interrupts,
}

impl ClusterOnTrial<'_> {
    /// Measures on a healthy cluster how late reads at other nodes are.
    ///
    /// # Errors
    /// The cluster cannot be started, or a node refuses a statement.
    pub fn measure_staleness(&self, subject: &mut ClusterSubject) -> Result<()> {
        let cluster = self.start()?;
        let library = self.library()?;
        let nodes = addresses(&cluster);
        make_database(&library, &nodes[0])?;
        subject.staleness = staleness::measure(&library, &nodes)?;
        Ok(())
    }

    /// Tries a fault on a fresh cluster. `wait` is the time until it comes.
    ///
    /// # Errors
    /// The cluster cannot be started, the fault cannot be made, or no node answers afterwards.
    pub fn try_fault(&self, fault: NodeFault, wait: Duration, subject: &mut ClusterSubject) -> Result<()> {
        let mut faulty =
            Faulty { cluster: self.start()?, fault, start: self.cluster_start()?, order: self.order() };
        let library = self.library()?;
        let nodes = addresses(&faulty.cluster);
        self.prepare(&library, &nodes)?;
        let load = ClientLoad::new(library.clone(), nodes.clone(), self.ways()?);
        let course = thread::scope(|scope| {
            let clients: Vec<_> = (1..=self.clients)
                .map(|client| {
                    let load = &load;
                    scope.spawn(move || load.work(client))
                })
                .collect();
            let course = faulty.run(&load, &library, &nodes, wait);
            load.stop();
            // Clients of a node that stopped are free once it goes on, or is gone.
            let healed = faulty.end_fault();
            let _ = clients.into_iter().map(|client| client.join()).collect::<Vec<_>>();
            healed.and(course)
        })?;
        let attempts = load.attempts();
        let compared = faulty.heal(&course)?;
        let (contents, differences) = check::compare(&library, &nodes, &compared)?;
        let mut finding = check::judge(contents, &attempts);
        finding.troubles.extend(differences);
        subject.tries.push(describe(fault, &course, &attempts, &finding, &compared));
        if subject.notices_loss.is_none() {
            subject.notices_loss = Some(check::notices_loss(&library, &nodes[compared[0]], &attempts)?);
        }
        Ok(())
    }

    fn order(&self) -> ClusterOrder<'_> {
        ClusterOrder {
            installation: self.installation,
            settings: &self.contender.settings,
            key: None,
            shape: self.contender.cluster,
            place: self.place,
            placement: self.placement,
            interrupts: self.interrupts,
        }
    }

    fn start(&self) -> Result<Cluster> {
        Cluster::start(self.order())
    }

    fn cluster_start(&self) -> Result<&ClusterStart> {
        self.contender.engine.cluster().context("the engine is no cluster")
    }

    fn library(&self) -> Result<ClientLibrary> {
        ClientLibrary::load(self.installation.engine.speaks)
    }

    fn ways(&self) -> Result<ClientWays> {
        let is_any = matches!(self.contender.cluster, Some(ClusterShape { reach: Reach::Any, .. }));
        Ok(match (self.cluster_start()?.writes_anywhere, is_any) {
            (false, _) => ClientWays::Leader,
            (true, false) => ClientWays::FirstThenNext,
            (true, true) => ClientWays::All,
        })
    }

    /// Makes the tables, and waits until every node has them.
    fn prepare(&self, library: &ClientLibrary, nodes: &[Server]) -> Result<()> {
        make_database(library, &nodes[0])?;
        let link = NodeLink::enter(library, &nodes[0], PATIENCE)?;
        link.rows(&data::table(), PATIENCE)?;
        link.execute(&data::accounts(), PATIENCE)?;
        let all: Vec<usize> = (0..nodes.len()).collect();
        let (_, differences) = check::compare(library, nodes, &all)?;
        differences.first().map_or(Ok(()), |difference| {
            Err(anyhow::anyhow!("the nodes do not agree before any fault: {difference}"))
        })
    }
}

/// The addresses of all nodes.
fn addresses(cluster: &Cluster) -> Vec<Server> {
    (0..cluster.nodes()).map(|node| cluster.address(node)).collect()
}

/// Makes the database of the proof where servers have none for everybody.
fn make_database(library: &ClientLibrary, node: &Server) -> Result<()> {
    let link = NodeLink::open(library, node)?;
    match link {
        NodeLink::Postgres(_) => Ok(()),
        NodeLink::MySql(_) => link.rows(&format!("CREATE DATABASE {DATABASE}"), PATIENCE).map(drop),
    }
}

/// A try as it is recorded.
fn describe(
    fault: NodeFault,
    course: &FaultCourse,
    attempts: &[ClientAttempt],
    finding: &check::NodeFinding,
    compared: &[usize],
) -> FaultTry {
    let count = |knowledge| attempts.iter().filter(|attempt| attempt.knowledge == knowledge).count() as u64;
    let acknowledged: Vec<Duration> = attempts
        .iter()
        .filter(|attempt| attempt.knowledge == Knowledge::Acknowledged)
        .map(|attempt| attempt.at)
        .collect();
    let (stall, goes_on) = stall(&acknowledged, course.fault_at, course.end);
    let lost_at = attempts.iter().filter(|attempt| finding.lost.contains(&attempt.commit));
    let lost_at: Vec<u64> = lost_at.map(|attempt| millis(attempt.at)).collect();
    FaultTry {
        fault,
        at_ms: millis(course.fault_at),
        failover_ms: course.failover.map(|times| times.map(millis)),
        end_ms: millis(course.end),
        tenths: tenths(&acknowledged, course.end),
        stall_ms: millis(stall),
        goes_on,
        acknowledged: acknowledged.len() as u64,
        failed: count(Knowledge::Failed),
        unknown: count(Knowledge::Unknown),
        unknown_found: finding.unknown_found,
        lost: finding.lost.len() as u64,
        lost_between_ms: lost_at.first().copied().zip(lost_at.last().copied()).map(<[u64; 2]>::from),
        failed_found: finding.failed_found,
        compared: compared.iter().map(|node| *node as u32 + 1).collect(),
        troubles: finding.troubles.clone(),
    }
}

fn millis(time: Duration) -> u64 {
    time.as_millis() as u64
}

/// Acknowledged commits by tenths of a second.
fn tenths(acknowledged: &[Duration], end: Duration) -> Vec<u32> {
    let place = |at: Duration| (at.as_nanos() / TENTH.as_nanos()) as usize;
    let mut tenths = vec![0; place(end) + 1];
    for at in acknowledged {
        if let Some(count) = tenths.get_mut(place(*at)) {
            *count += 1;
        }
    }
    tenths
}

/// The longest time from a fault on in which nothing was acknowledged, and whether something was after it. The
/// acknowledgements are sorted.
fn stall(acknowledged: &[Duration], fault_at: Duration, end: Duration) -> (Duration, bool) {
    let mut last = fault_at;
    let mut longest = (Duration::ZERO, true);
    for &at in acknowledged.iter().filter(|at| **at >= fault_at) {
        longest = longest.max((at - last, true));
        last = at;
    }
    let rest = end.saturating_sub(last);
    if rest > longest.0 { (rest, false) } else { longest }
}

/// The times that clients work before each fault, drawn by a seed.
pub fn waits(seed: u64) -> impl Iterator<Item = Duration> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    std::iter::repeat_with(move || BEFORE + DRAWN.mul_f64(random.random()))
}

/// Checks that the client library of a protocol can be loaded and gives statements a time limit.
///
/// # Errors
/// It cannot, with what to install.
pub fn check_library(speaks: Protocol) -> Result<()> {
    ClientLibrary::load(speaks).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(times: &[u64]) -> Vec<Duration> {
        times.iter().map(|&time| Duration::from_millis(time)).collect()
    }

    #[test]
    fn a_stall_is_the_longest_silence_after_the_fault() {
        let of = |times: &[u64], end| {
            let (stall, goes_on) = stall(&ms(times), Duration::from_millis(100), Duration::from_millis(end));
            (stall.as_millis(), goes_on)
        };
        // Silence before the fault does not count.
        assert_eq!(of(&[10, 120, 150, 400, 410], 450), (250, true));
        assert_eq!(of(&[10, 120], 5000), (4880, false));
        assert_eq!(of(&[10], 500), (400, false));
    }

    #[test]
    fn acknowledgements_are_counted_by_tenths_of_a_second() {
        assert_eq!(tenths(&ms(&[0, 99, 100, 350]), Duration::from_millis(399)), [2, 1, 0, 1]);
    }
}
