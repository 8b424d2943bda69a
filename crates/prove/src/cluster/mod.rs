//! Faults of nodes: a cluster is started, clients make commits, the node that they work with is lost or all lose their
//! power, and afterwards every acknowledged commit is looked for on every node that is left: it is lost if it is on none,
//! and missing if it is not on all. Facts only; `dyno_verdict` judges them.

mod check;
mod disks;
mod etcd;
mod fault;
mod http;
mod liar;
mod link;
mod load;
mod loss;
mod nodes;
mod outage;
mod patience;
mod probe;
mod rqlite;
mod series;
mod staleness;
mod store;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use dyno_engine::{ClusterStart, Contender, Protocol};
use dyno_lab::server::{Cluster, ClusterOrder, Installation, StoreCluster, StoreOrder};
use dyno_launch::Interrupts;
use dyno_protocol::Server;
use dyno_record::{ClusterShape, ClusterSubject, FaultTry, NodeFault, Placement, Reach};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::context::ProofContext;
use crate::subject::{DATABASE, data};
use disks::NodeDisks;
use fault::{FaultCourse, Faulty};
use liar::Liar;
use link::{ClientLibrary, NodeLink};
use load::{ClientAttempt, ClientLoad, ClientWays, Knowledge};
use nodes::ClusterNodes;
use store::StoreKind;

pub use fault::FAILOVER_AFTER;

/// The time limit of a statement that prepares.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time that clients work before a fault, and the part of it that is drawn.
const BEFORE: Duration = Duration::from_millis(1500);
const DRAWN: Duration = Duration::from_millis(1000);

/// A contender that is a cluster.
pub struct ClusterOnTrial<'a> {
    /// The contender.
    pub contender: &'a Contender,
    /// The programs of one that speaks SQL; `None` of a store.
    pub installation: Option<&'a Installation>,
    /// True if a liar is planted at the leader, by which acknowledged commits must be lost with it.
    pub has_liar: bool,
    /// The number of clients.
    pub clients: u64,
    /// A folder for the nodes.
    pub place: &'a Path,
    /// The place of disks whose power is cut; `None` where the machine has none, or no power is cut.
    pub power: Option<&'a ProofContext>,
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
        let cluster = self.start(&[])?;
        let library = self.library()?;
        let nodes = cluster.addresses();
        make_database(&library, &nodes, self.interrupts)?;
        subject.staleness = staleness::measure(&library, &nodes)?;
        Ok(())
    }

    /// Tries a fault on a fresh cluster. `wait` is the time until it comes.
    ///
    /// # Errors
    /// The cluster cannot be started, the fault cannot be made, or no node answers afterwards.
    pub fn try_fault(&self, fault: NodeFault, wait: Duration, subject: &mut ClusterSubject) -> Result<()> {
        let disks = match fault {
            NodeFault::Power => Some(self.disks()?),
            _ => None,
        };
        let places = disks.as_ref().map_or_else(Vec::new, NodeDisks::folders);
        let cluster = self.start(&places)?;
        let (start, interrupts) = (self.cluster_start()?, self.interrupts);
        let mut faulty = Faulty { cluster, fault, start, interrupts, disks };
        let library = self.library()?;
        let nodes = faulty.cluster.addresses();
        self.prepare(&library, &nodes)?;
        let _liar = self.liar(&library, &nodes[0])?;
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
        let mut attempts = load.attempts();
        if let Some(outage) = &course.outage {
            outage.doubt(course.fault_at, &mut attempts);
        }
        let compared = faulty.heal(&course)?;
        let found = check::compare(&library, &nodes, &compared, interrupts)?;
        let finding = check::judge(found, &attempts);
        let mut tried = describe(fault, &course, &attempts, &finding, &compared);
        tried.shown_by = loss::smallest((&library, &nodes, &compared), &attempts, &finding.lost);
        subject.tries.push(tried);
        if subject.notices_loss.is_none() {
            subject.notices_loss = check::notices_loss(&library, &nodes[compared[0]], &attempts)?;
        }
        Ok(())
    }

    /// Plants a liar, where one is asked for.
    fn liar(&self, library: &ClientLibrary, leader: &Server) -> Result<Option<Liar>> {
        let Some(installation) = self.installation.filter(|_| self.has_liar) else { return Ok(None) };
        Liar::plant(installation, library, leader, self.place).map(Some)
    }

    /// Starts the nodes: in these folders where there are some, else in the place of all.
    fn start<'n>(&'n self, places: &'n [PathBuf]) -> Result<ClusterNodes<'n>> {
        let ClusterOnTrial { contender, place, placement, interrupts, .. } = *self;
        let Some(installation) = self.installation else {
            let order = StoreOrder { contender, place, places, placement, interrupts };
            return Ok(ClusterNodes::Store(StoreCluster::start(order)?, order));
        };
        let (settings, shape) = (&contender.settings, contender.cluster);
        let order =
            ClusterOrder { installation, settings, key: None, shape, place, places, placement, interrupts };
        Ok(ClusterNodes::Sql(Cluster::start(order)?, order))
    }

    /// A disk for each node.
    fn disks(&self) -> Result<NodeDisks> {
        let context = self.power.context("there is no place for disks whose power can be cut")?;
        let shape = self.contender.cluster.context("it is one server and no cluster")?;
        NodeDisks::new(context, shape.nodes as usize)
    }

    fn cluster_start(&self) -> Result<&ClusterStart> {
        self.contender.engine.cluster().context("the engine is no cluster")
    }

    fn library(&self) -> Result<ClientLibrary> {
        let Some(installation) = self.installation else {
            return StoreKind::of(self.contender).map(ClientLibrary::Store);
        };
        ClientLibrary::load(installation.engine.speaks)
    }

    fn ways(&self) -> Result<ClientWays> {
        let is_any = matches!(self.contender.cluster, Some(ClusterShape { reach: Reach::Any, .. }));
        // Every node of a store takes writes, and hands them to its leader.
        let takes_anywhere = self.installation.is_none() || self.cluster_start()?.writes_anywhere;
        Ok(match (takes_anywhere, is_any) {
            (false, _) => ClientWays::Leader,
            (true, false) => ClientWays::FirstThenNext,
            (true, true) => ClientWays::All,
        })
    }

    /// Makes the tables, and waits until every node has them.
    fn prepare(&self, library: &ClientLibrary, nodes: &[Server]) -> Result<()> {
        make_database(library, nodes, self.interrupts)?;
        if !matches!(library, ClientLibrary::Store(_)) {
            let link = NodeLink::enter(library, &nodes[0], PATIENCE)?;
            link.rows(&data::table(), PATIENCE)?;
            link.execute(&data::accounts(), PATIENCE)?;
        }
        let all: Vec<usize> = (0..nodes.len()).collect();
        let found = check::compare(library, nodes, &all, self.interrupts)?;
        found.troubles.first().map_or(Ok(()), |trouble| {
            Err(anyhow::anyhow!("the nodes do not agree before any fault: {trouble}"))
        })
    }
}

/// Makes the database of the proof where servers have none for everybody. The first node of a store becomes the leader.
fn make_database(library: &ClientLibrary, nodes: &[Server], interrupts: &Interrupts) -> Result<()> {
    match library {
        ClientLibrary::Postgres(_) => Ok(()),
        ClientLibrary::MySql(_) => {
            let link = NodeLink::open(library, &nodes[0])?;
            link.rows(&format!("CREATE DATABASE {DATABASE}"), PATIENCE).map(drop)
        }
        ClientLibrary::Store(kind) => kind.begin(nodes, PATIENCE, interrupts),
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
    let from = course.outage.map_or(course.fault_at, |outage| outage.back[0]);
    let (stall, goes_on) = series::stall(&acknowledged, from, course.end);
    let lost_at = attempts.iter().filter(|attempt| finding.lost.contains(&attempt.commit));
    let lost_at: Vec<u64> = lost_at.map(|attempt| millis(attempt.at)).collect();
    FaultTry {
        fault,
        at_ms: millis(course.fault_at),
        led: course.led,
        failover_ms: course.failover.map(|times| times.map(millis)),
        outage: course.outage.map(|outage| outage.record()),
        end_ms: millis(course.end),
        tenths: series::tenths(&acknowledged, course.end),
        stall_ms: millis(stall),
        goes_on,
        acknowledged: acknowledged.len() as u64,
        failed: count(Knowledge::Failed),
        unknown: count(Knowledge::Unknown),
        unknown_found: finding.unknown_found,
        lost: finding.lost.len() as u64,
        missing: finding.missing,
        lost_between_ms: lost_at.first().copied().zip(lost_at.last().copied()).map(<[u64; 2]>::from),
        shown_by: None,
        failed_found: finding.failed_found,
        compared: compared.iter().map(|node| *node as u32 + 1).collect(),
        troubles: finding.troubles.clone(),
    }
}

fn millis(time: Duration) -> u64 {
    time.as_millis() as u64
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
