//! The stores that are clusters, and what each is asked in its own way.

use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use dyno_engine::Contender;
use dyno_launch::Interrupts;
use dyno_protocol::Server;

use super::etcd::EtcdLink;
use super::rqlite::RqliteLink;
use crate::subject::Contents;

/// The number of times that dyno asks which node leads, and has it hand over: an election takes a second or two.
const HANDOVERS: usize = 50;
/// The time between them.
const PAUSE: Duration = Duration::from_millis(100);

/// A store, with those of a contender's settings that are parameters of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreKind {
    /// etcd.
    Etcd {
        /// True if a node answers reads with what it holds itself.
        reads_locally: bool,
    },
    /// rqlite.
    Rqlite {
        /// The consistency level of reads.
        reads: String,
        /// True if writes are acknowledged when they are in the queue of a node.
        is_queued: bool,
    },
}

/// A connection to a node. Every call has a time limit, and fails if the node does not answer within it, or refuses.
pub trait StoreLink {
    /// Makes room for all that the others write.
    ///
    /// # Errors
    /// As for every call.
    fn prepare(&self, limit: Duration) -> Result<()>;

    /// Makes a commit: a transaction that writes all its parts.
    ///
    /// # Errors
    /// It was not acknowledged, so it may be there or not.
    fn commit(&self, number: u64, limit: Duration) -> Result<()>;

    /// Removes a commit.
    ///
    /// # Errors
    /// As for every call.
    fn remove(&self, number: u64, limit: Duration) -> Result<()>;

    /// All commits that the node holds itself: it asks no other node.
    ///
    /// # Errors
    /// As for every call.
    fn contents(&self, limit: Duration) -> Result<Contents>;

    /// Puts a pair.
    ///
    /// # Errors
    /// It was not acknowledged.
    fn put(&self, key: &str, value: &str, limit: Duration) -> Result<()>;

    /// The value of a key, if there is one, as a read of the contender returns it.
    ///
    /// # Errors
    /// As for every call.
    fn get(&self, key: &str, limit: Duration) -> Result<Option<String>>;

    /// The name of the node, and of the one that leads: empty while none does.
    ///
    /// # Errors
    /// As for every call.
    fn status(&self, limit: Duration) -> Result<[String; 2]>;

    /// Asks the node, which leads, to hand over to another.
    ///
    /// # Errors
    /// As for every call.
    fn hand_over(&self, to: &str, limit: Duration) -> Result<()>;
}

impl StoreKind {
    /// That of a contender.
    ///
    /// # Errors
    /// dyno cannot ask it.
    pub fn of(contender: &Contender) -> Result<StoreKind> {
        let value = |name: &str| {
            let set = contender.settings.iter().rfind(|setting| setting.name == name);
            set.map(|setting| setting.value.as_str()).unwrap_or_default()
        };
        Ok(match contender.engine.name.as_str() {
            "etcd" => StoreKind::Etcd { reads_locally: value("reads") == "serializable" },
            "rqlite" => {
                StoreKind::Rqlite { reads: value("reads").to_owned(), is_queued: value("queued") == "true" }
            }
            name => bail!("dyno cannot lose nodes of {name}: it does not know how to ask it"),
        })
    }

    /// Connects to a node.
    ///
    /// # Errors
    /// It accepts no connection.
    pub fn open(&self, server: &Server) -> Result<Box<dyn StoreLink>> {
        Ok(match self {
            StoreKind::Etcd { reads_locally } => Box::new(EtcdLink::open(server, *reads_locally)?),
            StoreKind::Rqlite { reads, is_queued } => Box::new(RqliteLink::open(server, reads, *is_queued)?),
        })
    }

    /// Makes the first node the leader and prepares the store.
    ///
    /// # Errors
    /// As of [`StoreKind::lead_first`].
    pub fn begin(&self, nodes: &[Server], limit: Duration, interrupts: &Interrupts) -> Result<()> {
        self.lead_first(nodes, limit, interrupts)?;
        self.open(&nodes[0])?.prepare(limit)
    }

    /// Makes the first node the leader, so that a fault that comes to it comes to the leader.
    ///
    /// # Errors
    /// A node does not answer within the limit, the leader does not change, or dyno is asked to stop.
    pub fn lead_first(&self, nodes: &[Server], limit: Duration, interrupts: &Interrupts) -> Result<()> {
        let links = nodes.iter().map(|node| self.open(node)).collect::<Result<Vec<_>>>()?;
        for _ in 0..HANDOVERS {
            interrupts.check()?;
            let [first, leader] = links[0].status(limit)?;
            if first == leader {
                return Ok(());
            }
            for link in &links {
                if link.status(limit)?[0] == leader {
                    // It may have been replaced meanwhile.
                    let _ = link.hand_over(&first, limit);
                }
            }
            thread::sleep(PAUSE);
        }
        bail!("the first node does not become the leader")
    }

    /// The place of the node that leads, as most of all nodes say; none while there is no such node. One that does not answer
    /// within the limit names none.
    pub fn leader(&self, nodes: &[Server], limit: Duration) -> Option<usize> {
        let ask = |node: &Server| self.open(node).and_then(|link| link.status(limit)).ok();
        leader_of(&nodes.iter().map(ask).collect::<Vec<_>>())
    }
}

/// The place of the node that most nodes call their leader. Each that answered said its own name, and the leader's: one that
/// was replaced may not know it yet.
fn leader_of(said: &[Option<[String; 2]>]) -> Option<usize> {
    let votes = |name: &String| said.iter().flatten().filter(|[_, leader]| leader == name).count();
    let leads = |[name, _]: &[String; 2]| 2 * votes(name) > said.len();
    said.iter().position(|node| node.as_ref().is_some_and(leads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leader_is_whom_most_nodes_name() {
        let leader = |said: [[&str; 2]; 3]| leader_of(&said.map(|node| Some(node.map(str::to_owned))));
        assert_eq!(leader([["a", "a"], ["b", "a"], ["c", "a"]]), Some(0));
        // The first was replaced, and does not know it.
        assert_eq!(leader([["a", "a"], ["b", "b"], ["c", "b"]]), Some(1));
        assert_eq!(leader([["a", "a"], ["b", "b"], ["c", ""]]), None);
        assert_eq!(leader([["a", ""], ["b", ""], ["c", ""]]), None);
        // One that does not answer is not counted as one less.
        let of = |name: &str| Some([name, "a"].map(str::to_owned));
        assert_eq!(leader_of(&[of("a"), of("b"), None]), Some(0));
        assert_eq!(leader_of(&[of("a"), None, None]), None);
        assert_eq!(leader_of(&[None, of("b"), of("c")]), None);
    }
}
