//! Settings of dyno, which every contender has: dyno removes them from the engine's settings and passes their meaning
//! to the runner with each test.

use super::cluster::ClusterStart;
use super::delay::delay;
use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::Setting;
use dyno_record::{ClusterShape, Reach, Tuning};
use dyno_suite::{Index, TableForm};

/// The number of operations of a transaction.
const PER_COMMIT: &str = "per_commit";
/// The moment when the index of an import is made.
const INDEX: &str = "index";
/// `yes` if the table of an import has a primary key.
const PRIMARY_KEY: &str = "primary_key";

/// By which share its runner is made slower, to find out which differences a machine can show.
const SLOWDOWN: &str = "slowdown";

/// `no` if it must not take turns with others.
const TURNS: &str = "turns";

/// `yes` if each of its clients is a separate process.
const PROCESSES: &str = "processes";

/// The number of threads that its clients share, or `clients` for one each.
const CLIENT_THREADS: &str = "client_threads";

/// The number of nodes of a cluster.
const NODES: &str = "nodes";

/// The nodes of a cluster that clients work with: `first` or `any`.
const REACH: &str = "reach";

/// The delay of a round trip between two nodes of a cluster.
const NODE_DELAY: &str = "node_delay";

/// The standard of tuning: `default` or `tuned`.
const TUNING: &str = "tuning";

/// The names of all of them.
pub const NAMES: [&str; 11] = [
    PER_COMMIT,
    INDEX,
    PRIMARY_KEY,
    SLOWDOWN,
    TURNS,
    PROCESSES,
    CLIENT_THREADS,
    TUNING,
    NODES,
    REACH,
    NODE_DELAY,
];

/// The settings for a contender's tests, besides those of its engine.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct OwnSettings {
    /// The number of operations of a transaction; `None` if not set.
    pub per_commit: Option<CommitSize>,
    /// The form of tables into which files are imported.
    pub form: TableForm,
    /// The share by which its runner is slowed down; `None` if not set.
    pub slowdown: Option<f64>,
    /// True if its trials are not interleaved with others although they could be.
    pub apart: bool,
    /// True if each of its clients is a separate process.
    pub processes: bool,
    /// The threads of its clients; `None` if not set.
    pub client_threads: Option<ClientThreads>,
    /// The number of nodes of a cluster; `None` if not set.
    pub nodes: Option<u32>,
    /// The nodes that clients work with; `None` if not set.
    pub reach: Option<Reach>,
    /// The nanoseconds that are added to each round trip between two nodes; `None` if not set.
    pub node_delay_ns: Option<u64>,
}

/// The threads that drive the clients of a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientThreads {
    /// Each client has one.
    OnePerClient,
    /// All share this number at most.
    Shared(u32),
}

impl ClientThreads {
    /// The most threads of this number of clients.
    pub fn most(self, clients: u32) -> u32 {
        match self {
            ClientThreads::OnePerClient => clients,
            ClientThreads::Shared(count) => count,
        }
    }
}

/// The number of operations of a test that make a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitSize {
    /// All of them.
    All,
    /// This number.
    Operations(u64),
}

impl CommitSize {
    /// The number; `None` for all operations.
    pub fn operations(self) -> Option<u64> {
        match self {
            CommitSize::All => None,
            CommitSize::Operations(count) => Some(count),
        }
    }
}

impl OwnSettings {
    /// Takes them out of settings; of one named twice the last counts.
    pub fn take(settings: &mut Vec<Setting>) -> Result<OwnSettings> {
        let mut own = OwnSettings::default();
        for Setting { name, value } in
            settings.extract_if(.., |setting| NAMES.contains(&setting.name.as_str()))
        {
            match (name.as_str(), value.as_str()) {
                (PER_COMMIT, "all") => own.per_commit = Some(CommitSize::All),
                (PER_COMMIT, value) => own.per_commit = Some(CommitSize::Operations(operations(value)?)),
                (SLOWDOWN, value) => own.slowdown = Some(share(value)?),
                (TURNS, "yes") => own.apart = false,
                (TURNS, "no") => own.apart = true,
                (TURNS, _) => bail!("{TURNS} is yes or no, not '{value}'"),
                (PROCESSES, "yes") => own.processes = true,
                (PROCESSES, "no") => own.processes = false,
                (PROCESSES, _) => bail!("{PROCESSES} is yes or no, not '{value}'"),
                (CLIENT_THREADS, "clients") => own.client_threads = Some(ClientThreads::OnePerClient),
                (CLIENT_THREADS, value) => own.client_threads = Some(ClientThreads::Shared(threads(value)?)),
                (NODES, value) => own.nodes = Some(nodes(value)?),
                (REACH, "first") => own.reach = Some(Reach::First),
                (REACH, "any") => own.reach = Some(Reach::Any),
                (REACH, _) => bail!("{REACH} is first or any, not '{value}'"),
                (NODE_DELAY, value) => own.node_delay_ns = Some(node_delay(value)?),
                // It has decided which settings there are.
                (TUNING, _) => {}
                (INDEX, "none") => own.form.index = Index::None,
                (INDEX, "first") => own.form.index = Index::First,
                (INDEX, "last") => own.form.index = Index::Last,
                (INDEX, _) => bail!("{INDEX} is none, first or last, not '{value}'"),
                (_, "yes") => own.form.primary_key = true,
                (_, "none") => own.form.primary_key = false,
                _ => bail!("{PRIMARY_KEY} is yes or none, not '{value}'"),
            }
        }
        Ok(own)
    }

    /// The shape of an engine's cluster; `None` of an engine of single servers.
    ///
    /// # Errors
    /// The engine cannot have it.
    pub fn shape(&self, cluster: Option<&ClusterStart>, engine: &str) -> Result<Option<ClusterShape>> {
        let Some(cluster) = cluster else {
            ensure!(
                self.nodes.is_none() && self.reach.is_none() && self.node_delay_ns.is_none(),
                "{engine} is one server and no cluster: leave {NODES}, {REACH} and {NODE_DELAY} out"
            );
            return Ok(None);
        };
        let nodes = self.nodes.unwrap_or(cluster.nodes);
        let reach = self.reach.unwrap_or(Reach::First);
        cluster.check_shape(nodes, reach, engine)?;
        Ok(Some(ClusterShape { nodes, reach, node_delay_ns: self.node_delay_ns }))
    }
}

/// The standard of tuning that settings ask for; of one named twice the last counts.
pub fn tuning(settings: &[Setting]) -> Result<Option<Tuning>> {
    let asked = settings.iter().rev().find(|setting| setting.name == TUNING);
    asked
        .map(|setting| match setting.value.as_str() {
            "default" => Ok(Tuning::Default),
            "tuned" => Ok(Tuning::Tuned),
            other => bail!("{TUNING} is default or tuned, not '{other}'"),
        })
        .transpose()
}

fn operations(value: &str) -> Result<u64> {
    let count = value.parse().ok().filter(|&count: &u64| count > 0);
    count.with_context(|| format!("{PER_COMMIT} is a number of operations from 1, or all, not '{value}'"))
}

fn nodes(value: &str) -> Result<u32> {
    value.parse().ok().with_context(|| format!("{NODES} is a number of nodes, as 3, not '{value}'"))
}

fn node_delay(value: &str) -> Result<u64> {
    let delay = delay(value).with_context(|| format!("{NODE_DELAY} is not '{value}'"))?;
    Ok(delay.as_nanos() as u64)
}

fn threads(value: &str) -> Result<u32> {
    let count = value.parse().ok().filter(|&count: &u32| count > 0);
    count.with_context(|| {
        format!("{CLIENT_THREADS} is a number of threads from 1, or clients for one each, not '{value}'")
    })
}

fn share(value: &str) -> Result<f64> {
    let percent = value.strip_suffix('%').and_then(|number| number.parse().ok());
    let share = percent.map(|percent: f64| percent / 100.0).filter(|share| (0.0..=10.0).contains(share));
    share.with_context(|| format!("{SLOWDOWN} is a share from 0% to 1000%, as 3%, not '{value}'"))
}
