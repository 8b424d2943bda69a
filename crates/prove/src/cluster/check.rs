//! The check after a fault: every node is read whole, compared with the others, and held against what clients know.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
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

/// The difference between the contents of the nodes and the knowledge of the clients.
#[derive(Debug, Default)]
pub struct NodeFinding {
    /// Acknowledged commits that are not there.
    pub lost: BTreeSet<u64>,
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

/// Reads nodes, by their places, until all hold the same, or the time for that is over. Returns what the first holds.
///
/// # Errors
/// The first does not answer in time.
pub fn compare(
    library: &ClientLibrary,
    nodes: &[Server],
    places: &[usize],
) -> Result<(Contents, Vec<String>)> {
    let deadline = Instant::now() + AGREEMENT;
    loop {
        let (first, others) = (read(library, &nodes[places[0]]), &places[1..]);
        let mut troubles = Vec::new();
        if let Ok(first) = &first {
            for &other in others {
                troubles.extend(difference(first, places[0], read(library, &nodes[other]), other));
            }
        }
        match first {
            Ok(first) if troubles.is_empty() || Instant::now() > deadline => return Ok((first, troubles)),
            Err(error) if Instant::now() > deadline => return Err(error),
            _ => thread::sleep(STEP),
        }
    }
}

/// In what another node differs from the first, in words.
fn difference(first: &Contents, place: usize, other: Result<Contents>, number: usize) -> Option<String> {
    let (place, number) = (place + 1, number + 1);
    match other {
        Err(error) => {
            Some(format!("node {number} did not come back within {} s: {error:#}", AGREEMENT.as_secs()))
        }
        Ok(other) if other == *first => None,
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
pub fn judge(found: Contents, attempts: &[ClientAttempt]) -> NodeFinding {
    let known = |knowledge| {
        attempts.iter().filter(move |attempt| attempt.knowledge == knowledge).map(|attempt| attempt.commit)
    };
    let count = |knowledge| known(knowledge).filter(|commit| found.commits.contains(commit)).count() as u64;
    let (failed_found, unknown_found) = (count(Knowledge::Failed), count(Knowledge::Unknown));
    let mut troubles = found.troubles;
    let all: BTreeSet<u64> = attempts.iter().map(|attempt| attempt.commit).collect();
    let strange = found.commits.difference(&all).count();
    if strange > 0 {
        troubles.push(format!("{strange} commits are there that no client made"));
    }
    let lost = known(Knowledge::Acknowledged).filter(|commit| !found.commits.contains(commit)).collect();
    NodeFinding { lost, failed_found, unknown_found, troubles }
}

/// True if the check notices that a commit is gone which dyno removes for that purpose.
///
/// # Errors
/// The node does not answer.
pub fn notices_loss(library: &ClientLibrary, node: &Server, attempts: &[ClientAttempt]) -> Result<bool> {
    let before = judge(read(library, node)?, attempts).lost;
    let there = |attempt: &&ClientAttempt| {
        attempt.knowledge == Knowledge::Acknowledged && !before.contains(&attempt.commit)
    };
    let Some(ClientAttempt { commit, .. }) = attempts.iter().find(there) else { return Ok(false) };
    let link = NodeLink::enter(library, node, STATEMENT_LIMIT)?;
    if let NodeLink::Store(store) = &link {
        store.remove(*commit, STATEMENT_LIMIT)?;
        return Ok(judge(read(library, node)?, attempts).lost.contains(commit));
    }
    link.rows(&format!("DELETE FROM {} WHERE n = {commit}", data::NAME), STATEMENT_LIMIT)?;
    let after = judge(read(library, node)?, attempts);
    Ok(after.lost.contains(commit) && !after.troubles.is_empty())
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
        let finding = judge(found, &attempts);
        assert_eq!(finding.lost, [2].into());
        assert_eq!((finding.failed_found, finding.unknown_found), (1, 1));
        assert_eq!(finding.troubles, ["1 commits are there that no client made"]);
    }

    #[test]
    fn nodes_that_differ_are_reported() {
        let first = Contents { commits: [1, 2].into(), ..Contents::default() };
        let other = Contents { commits: [1, 4, 5].into(), ..Contents::default() };
        assert_eq!(difference(&first, 0, Ok(first.clone()), 1), None);
        let said = difference(&first, 0, Ok(other), 2).unwrap();
        assert!(
            said.starts_with("node 3 still differs from node 1")
                && said.contains("lacks 1 commits and has 2")
        );
    }
}
