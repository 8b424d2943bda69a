//! The clients of a cluster at work: each moves sums between shared accounts and writes separate rows, notes what
//! became of every commit, and goes to another node when its own is lost.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use dyno_protocol::Server;

use super::link::{ClientLibrary, NodeLink, is_rolled_back};
use super::patience::{self, Leader};
use crate::subject::data;

/// The time limit of a statement. A client that waits longer does not know what became of its commit, and reconnects.
const STATEMENT_LIMIT: Duration = Duration::from_secs(1);
/// The same for clients that leave a silent node soon.
const SHORT_LIMIT: Duration = Duration::from_millis(250);
/// The time between attempts to connect.
const RECONNECT: Duration = Duration::from_millis(20);

/// A client's knowledge of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// The server acknowledged it.
    Acknowledged,
    /// It is not there: the server said so, or COMMIT was never sent.
    Failed,
    /// COMMIT was sent, and no answer came.
    Unknown,
}

/// One commit of a client.
#[derive(Debug, Clone, Copy)]
pub struct ClientAttempt {
    /// Its number.
    pub commit: u64,
    /// The node that the client worked with.
    pub node: usize,
    /// When its first statement was sent, from the beginning of the load on.
    pub sent: Duration,
    /// When the client knew what it knows, from the beginning of the load on.
    pub at: Duration,
    /// Its knowledge.
    pub knowledge: Knowledge,
}

/// The nodes that clients may work with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientWays {
    /// The leader alone.
    Leader,
    /// The first node, and when it is lost the next.
    FirstThenNext,
    /// All nodes from the beginning on, and the next when one is lost.
    All,
}

impl ClientWays {
    /// The time limit of a client's statements. Where every node takes writes and clients begin at the first, half of them
    /// leave a silent node soon, so that the time without commits is the cluster's and not that of their limit.
    fn limit(self, client: u64) -> Duration {
        match self {
            ClientWays::FirstThenNext if client.is_multiple_of(2) => SHORT_LIMIT,
            _ => STATEMENT_LIMIT,
        }
    }

    /// The node, of a number of them, that a client works with once it has left others behind.
    fn node(self, nodes: usize, leader: usize, client: usize, left: usize) -> usize {
        match (self, left) {
            (ClientWays::Leader, _) | (ClientWays::FirstThenNext, 0) => leader,
            // Not all go to the same one: it may be the lost one, which may accept connections and commit nothing.
            (ClientWays::FirstThenNext, _) => (leader + client % (nodes - 1).max(1) + left) % nodes,
            (ClientWays::All, _) => (client + left) % nodes,
        }
    }
}

/// The nodes as clients reach them.
pub struct ClientLoad {
    library: ClientLibrary,
    nodes: Vec<Server>,
    ways: ClientWays,
    /// The node where clients begin, or the leader.
    leader: Arc<AtomicUsize>,
    stops: AtomicBool,
    /// True while clients do not connect.
    is_away: AtomicBool,
    /// When the last commit was acknowledged, in nanoseconds from the beginning on.
    last: AtomicU64,
    begin: Instant,
    attempts: Mutex<Vec<ClientAttempt>>,
}

impl ClientLoad {
    /// Clients that work with these nodes; the first is the leader.
    pub fn new(library: ClientLibrary, nodes: Vec<Server>, ways: ClientWays) -> ClientLoad {
        ClientLoad {
            library,
            nodes,
            ways,
            leader: Arc::default(),
            stops: AtomicBool::new(false),
            is_away: AtomicBool::new(false),
            last: AtomicU64::new(0),
            begin: Instant::now(),
            attempts: Mutex::new(Vec::new()),
        }
    }

    /// The time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// When the last commit was acknowledged.
    pub fn last(&self) -> Duration {
        Duration::from_nanos(self.last.load(Ordering::Relaxed))
    }

    /// Leads clients to another leader, and ends their waits for the old one.
    pub fn lead_to(&self, node: usize) {
        self.leader.store(node, Ordering::Relaxed);
    }

    /// Keeps clients that have lost their connections from new ones, or lets them connect again.
    pub fn keep_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::Relaxed);
    }

    /// Ends the clients after their statements.
    pub fn stop(&self) {
        self.stops.store(true, Ordering::Relaxed);
    }

    /// All attempts, in the order in which clients knew what became of them.
    pub fn attempts(self) -> Vec<ClientAttempt> {
        let mut attempts = self.attempts.into_inner().unwrap_or_else(PoisonError::into_inner);
        attempts.sort_by_key(|attempt| attempt.at);
        attempts
    }

    /// Does a client's work until the load stops.
    pub fn work(&self, client: u64) {
        let mut number = client * data::CLIENT;
        let (mut moves, mut own) = (0, Vec::new());
        let limit = self.ways.limit(client);
        while !self.stops.load(Ordering::Relaxed) {
            if self.is_away.load(Ordering::Relaxed) {
                thread::sleep(RECONNECT);
                continue;
            }
            let leader = Leader::of(&self.leader);
            patience::end_with(&leader);
            let node = self.ways.node(self.nodes.len(), leader.node(), client as usize, moves);
            match NodeLink::try_enter(&self.library, &self.nodes[node], limit) {
                Ok(link) => self.commit_on((&link, node, limit), &leader, &mut number, &mut own),
                Err(_) => thread::sleep(RECONNECT),
            }
            moves += 1;
        }
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).append(&mut own);
    }

    /// Makes commits on a connection until it is lost, another node leads, or the load stops.
    fn commit_on(
        &self,
        (link, node, limit): (&NodeLink, usize, Duration),
        leader: &Leader,
        number: &mut u64,
        own: &mut Vec<ClientAttempt>,
    ) {
        while !self.stops.load(Ordering::Relaxed) && !leader.is_replaced() {
            *number += 1;
            let sent = self.begin.elapsed();
            let (knowledge, is_open) = commit(link, *number, limit);
            let at = self.begin.elapsed();
            if knowledge == Knowledge::Acknowledged {
                self.last.fetch_max(at.as_nanos() as u64, Ordering::Relaxed);
            }
            own.push(ClientAttempt { commit: *number, node, sent, at, knowledge });
            if !is_open {
                return;
            }
        }
    }
}

/// Makes a commit: what the client knows of it, and whether it goes on with the connection.
fn commit(link: &NodeLink, number: u64, limit: Duration) -> (Knowledge, bool) {
    if let NodeLink::Store(store) = link {
        // Of an error of a store nothing follows: the commit may be there or not.
        return match store.commit(number, limit) {
            Ok(()) => (Knowledge::Acknowledged, true),
            Err(_) => (Knowledge::Unknown, false),
        };
    }
    let statements = data::shared(number, "BEGIN");
    let Some((commit, before)) = statements.split_last() else { return (Knowledge::Failed, false) };
    if let Err(error) = link.execute(before, limit) {
        let is_open = is_rolled_back(&error) && link.rows("ROLLBACK", limit).is_ok();
        return (Knowledge::Failed, is_open);
    }
    match link.rows(commit, limit) {
        Ok(_) => (Knowledge::Acknowledged, true),
        Err(error) if is_rolled_back(&error) => (Knowledge::Failed, true),
        Err(_) => (Knowledge::Unknown, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_of_a_lost_node_are_never_all_at_the_same() {
        let node = |ways: ClientWays, client, left| ways.node(3, 0, client, left);
        for client in 0..8 {
            assert_eq!(node(ClientWays::Leader, client, 5), 0);
            assert_eq!(node(ClientWays::FirstThenNext, client, 0), 0);
            assert_ne!(node(ClientWays::FirstThenNext, client, 1), 0, "the lost one is the last to be tried");
        }
        for left in 1..7 {
            assert_ne!(node(ClientWays::FirstThenNext, 1, left), node(ClientWays::FirstThenNext, 2, left));
        }
        assert_eq!([0, 1, 2, 3].map(|client| node(ClientWays::All, client, 0)), [0, 1, 2, 0]);
        assert_eq!(ClientWays::FirstThenNext.node(2, 0, 7, 1), 1);
    }
}
