//! The smallest history that shows a loss: one acknowledged commit, and reads that do not return it.

use std::collections::BTreeSet;

use dyno_protocol::Server;
use dyno_record::LostCommit;

use super::check;
use super::link::ClientLibrary;
use super::load::{ClientAttempt, Knowledge};
use crate::subject::CLIENT;

/// That of the lost commit that was acknowledged first; `None` if nothing is lost. The nodes of these places are read once
/// more. The attempts are in the order of their answers.
pub fn smallest(
    (library, nodes, places): (&ClientLibrary, &[Server], &[usize]),
    attempts: &[ClientAttempt],
    lost: &BTreeSet<u64>,
) -> Option<LostCommit> {
    let first = attempts.iter().find(|attempt| lost.contains(&attempt.commit))?;
    let mut gone_at = Vec::new();
    let mut there = BTreeSet::new();
    for &place in places {
        let Ok(found) = check::read(library, &nodes[place]) else { continue };
        if !found.commits.contains(&first.commit) {
            gone_at.push(place as u32 + 1);
        }
        there.extend(found.commits);
    }
    gone_at.sort_unstable();
    Some(LostCommit {
        client: first.commit / CLIENT,
        commit: first.commit,
        node: first.node as u32 + 1,
        sent_ms: first.sent.as_millis() as u64,
        acknowledged_ms: first.at.as_millis() as u64,
        gone_at,
        last_there: last_there(first, attempts, &there),
    })
}

/// The last commit before the lost one that the same client knows of, and that is there.
fn last_there(lost: &ClientAttempt, attempts: &[ClientAttempt], there: &BTreeSet<u64>) -> Option<u64> {
    let client = lost.commit / CLIENT;
    let before = attempts.iter().filter(|attempt| {
        attempt.knowledge == Knowledge::Acknowledged
            && attempt.commit / CLIENT == client
            && attempt.commit < lost.commit
    });
    before.map(|attempt| attempt.commit).filter(|commit| there.contains(commit)).max()
}
