//! The check after a fault: every node is read whole, compared with the others, and held against what clients know.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use dyno_launch::Interrupts;
use dyno_protocol::Server;

use super::link::{ClientLibrary, NodeLink};
use super::load::{ClientAttempt, Knowledge};
use crate::subject::{Contents, data};

/// The time limit of a statement of the check.
const STATEMENT_LIMIT: Duration = Duration::from_secs(30);
/// The time within which nodes must come to agree.
const AGREEMENT: Duration = Duration::from_secs(60);
/// The time between looks.
const STEP: Duration = Duration::from_millis(100);

/// The contents of nodes once they agree, or the time for that is over.
#[derive(Debug, Default)]
pub struct NodeContents {
    /// Commits that a node holds.
    pub anywhere: BTreeSet<u64>,
    /// Commits that every node which answers holds.
    pub everywhere: BTreeSet<u64>,
    /// Faults of the first node's contents, and in what the others differ from it.
    pub troubles: Vec<String>,
}

impl NodeContents {
    /// Those of a single node.
    pub fn of(node: Contents) -> NodeContents {
        NodeContents { anywhere: node.commits.clone(), everywhere: node.commits, troubles: node.troubles }
    }

    fn add(&mut self, other: &Contents) {
        self.anywhere.extend(&other.commits);
        self.everywhere.retain(|commit| other.commits.contains(commit));
    }
}

/// The difference between the contents of the nodes and the knowledge of the clients.
#[derive(Debug, Default)]
pub struct NodeFinding {
    /// Acknowledged commits that no node holds.
    pub lost: BTreeSet<u64>,
    /// Acknowledged commits that a node holds and another one does not.
    pub missing: u64,
    /// Failed commits that are there.
    pub failed_found: u64,
    /// Commits that are there of which clients do not know.
    pub unknown_found: u64,
    /// Other faults of the contents.
    pub troubles: Vec<String>,
}

/// Reads the content of a node.
///
/// # Errors
/// The node does not answer.
pub fn read(library: &ClientLibrary, node: &Server) -> Result<Contents> {
    let link = NodeLink::enter(library, node, STATEMENT_LIMIT)?;
    if let NodeLink::Store(store) = &link {
        return store.contents(STATEMENT_LIMIT);
    }
    let rows = link.rows(&data::rows(), STATEMENT_LIMIT)?;
    let mut found = data::read_rows(&rows, data::PARTS);
    data::read_balances(&link.rows(&data::balances(), STATEMENT_LIMIT)?, &mut found);
    Ok(found)
}

/// Reads nodes, by their places, until all hold the same, or the time for that is over.
///
/// # Errors
/// The first does not answer in time, or the user asked to stop.
pub fn compare(
    library: &ClientLibrary,
    nodes: &[Server],
    places: &[usize],
    interrupts: &Interrupts,
) -> Result<NodeContents> {
    let deadline = Instant::now() + AGREEMENT;
    loop {
        interrupts.check()?;
        let is_over = Instant::now() > deadline;
        match read(library, &nodes[places[0]]) {
            Ok(first) => {
                let others = places[1..].iter().map(|&place| (place, read(library, &nodes[place])));
                let (found, differs) = joined(places[0], first, others);
                if !differs || is_over {
                    return Ok(found);
                }
            }
            Err(error) if is_over => return Err(error),
            Err(_) => {}
        }
        thread::sleep(STEP);
    }
}

/// The contents of a node and of others, and true if they differ.
fn joined(
    place: usize,
    first: Contents,
    others: impl Iterator<Item = (usize, Result<Contents>)>,
) -> (NodeContents, bool) {
    let mut found = NodeContents::of(first.clone());
    let mut differences = Vec::new();
    for (number, other) in others {
        if let Ok(other) = &other {
            found.add(other);
        }
        differences.extend(difference(&first, place, &other, number));
    }
    let differs = !differences.is_empty();
    found.troubles.extend(differences);
    (found, differs)
}

/// In what another node differs from the first, in words.
fn difference(first: &Contents, place: usize, other: &Result<Contents>, number: usize) -> Option<String> {
    let (place, number) = (place + 1, number + 1);
    match other {
        Err(error) => {
            Some(format!("node {number} did not come back within {} s: {error:#}", AGREEMENT.as_secs()))
        }
        Ok(other) if other == first => None,
        Ok(other) => {
            let lacks = first.commits.difference(&other.commits).count();
            let more = other.commits.difference(&first.commits).count();
            Some(format!(
                "node {number} still differs from node {place} after {} s: it lacks {lacks} commits and has {more} more",
                AGREEMENT.as_secs()
            ))
        }
    }
}

/// Holds what is there against what clients know.
pub fn judge(found: NodeContents, attempts: &[ClientAttempt]) -> NodeFinding {
    let known = |knowledge| {
        attempts.iter().filter(move |attempt| attempt.knowledge == knowledge).map(|attempt| attempt.commit)
    };
    let count = |knowledge| known(knowledge).filter(|commit| found.anywhere.contains(commit)).count() as u64;
    let (failed_found, unknown_found) = (count(Knowledge::Failed), count(Knowledge::Unknown));
    let mut troubles = found.troubles;
    let all: BTreeSet<u64> = attempts.iter().map(|attempt| attempt.commit).collect();
    let strange = found.anywhere.difference(&all).count();
    if strange > 0 {
        troubles.push(format!("{strange} commits are there that no client made"));
    }
    let acknowledged = || known(Knowledge::Acknowledged);
    let lost = acknowledged().filter(|commit| !found.anywhere.contains(commit)).collect();
    let is_missing = |commit: &u64| found.anywhere.contains(commit) && !found.everywhere.contains(commit);
    let missing = acknowledged().filter(is_missing).count() as u64;
    NodeFinding { lost, missing, failed_found, unknown_found, troubles }
}

/// Removes an acknowledged commit, and returns true if the check notices that it is gone; None if there is no such commit.
///
/// # Errors
/// The node does not answer.
pub fn notices_loss(
    library: &ClientLibrary,
    node: &Server,
    attempts: &[ClientAttempt],
) -> Result<Option<bool>> {
    let finding = || Ok::<_, anyhow::Error>(judge(NodeContents::of(read(library, node)?), attempts));
    let before = finding()?.lost;
    let there = |attempt: &&ClientAttempt| {
        attempt.knowledge == Knowledge::Acknowledged && !before.contains(&attempt.commit)
    };
    let Some(ClientAttempt { commit, .. }) = attempts.iter().find(there) else { return Ok(None) };
    let link = NodeLink::enter(library, node, STATEMENT_LIMIT)?;
    if let NodeLink::Store(store) = &link {
        store.remove(*commit, STATEMENT_LIMIT)?;
        return Ok(Some(finding()?.lost.contains(commit)));
    }
    if let NodeLink::Postgres(_) = link {
        // After a fail-over there may be no replica for which a commit could wait.
        link.rows("SET synchronous_commit = local", STATEMENT_LIMIT)?;
    }
    link.rows(&format!("DELETE FROM {} WHERE n = {commit}", data::NAME), STATEMENT_LIMIT)?;
    let after = finding()?;
    Ok(Some(after.lost.contains(commit) && !after.troubles.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_know_is_held_against_what_is_there() {
        let attempt = |commit, knowledge| ClientAttempt {
            commit,
            node: 0,
            sent: Duration::ZERO,
            at: Duration::ZERO,
            knowledge,
        };
        let attempts = [
            attempt(1, Knowledge::Acknowledged),
            attempt(2, Knowledge::Acknowledged),
            attempt(3, Knowledge::Failed),
            attempt(4, Knowledge::Failed),
            attempt(5, Knowledge::Unknown),
            attempt(6, Knowledge::Unknown),
        ];
        let found = Contents { commits: [1, 3, 5, 9].into(), ..Contents::default() };
        let finding = judge(NodeContents::of(found), &attempts);
        assert_eq!((finding.lost, finding.missing), ([2].into(), 0));
        assert_eq!((finding.failed_found, finding.unknown_found), (1, 1));
        assert_eq!(finding.troubles, ["1 commits are there that no client made"]);
    }

    #[test]
    fn a_commit_that_one_node_holds_is_not_lost_and_another_node_lacks_it() {
        let attempts = [1, 2, 3].map(|commit| ClientAttempt {
            commit,
            node: 0,
            sent: Duration::ZERO,
            at: Duration::ZERO,
            knowledge: Knowledge::Acknowledged,
        });
        let node =
            |commits: &[u64]| Contents { commits: commits.iter().copied().collect(), ..Contents::default() };
        for (first, other) in [(&[1][..], &[1, 2][..]), (&[1, 2], &[1])] {
            let (found, differs) = joined(0, node(first), [(1, Ok(node(other)))].into_iter());
            let finding = judge(found, &attempts);
            assert!(differs && finding.troubles.len() == 1, "{:?}", finding.troubles);
            assert_eq!((finding.lost, finding.missing), ([3].into(), 1));
        }
        // A node that does not answer lacks nothing that is known.
        let gone = [(1, Err(anyhow::anyhow!("no answer")))].into_iter();
        let finding = judge(joined(0, node(&[1, 2, 3]), gone).0, &attempts);
        assert_eq!((finding.missing, finding.troubles.len()), (0, 1));
    }

    #[test]
    fn nodes_that_differ_are_reported() {
        let first = Contents { commits: [1, 2].into(), ..Contents::default() };
        let other = Contents { commits: [1, 4, 5].into(), ..Contents::default() };
        assert_eq!(difference(&first, 0, &Ok(first.clone()), 1), None);
        let said = difference(&first, 0, &Ok(other), 2).unwrap();
        assert!(
            said.starts_with("node 3 still differs from node 1")
                && said.contains("lacks 1 commits and has 2")
        );
    }
}
