//! Compares the content of a disk with what was acknowledged before. Pure.

use std::collections::BTreeSet;

use dyno_record::{Harm, Tally};

use crate::history::History;
use crate::subject::{CLIENT, Contents, Subject};

/// The data that are missing or wrong after one cut or kill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Losses {
    /// Acknowledged commits that are gone.
    pub lost: BTreeSet<u64>,
    /// States that the data must never have: half a transaction, something that was never written, a database that does
    /// not open.
    pub broken: Vec<String>,
    /// True if the numbers of commits identify their clients too.
    pub is_by_client: bool,
}

impl Losses {
    /// The same for the record: commits by name, since the numbers of several clients' commits mean nothing outside.
    pub fn harm(&self) -> Harm {
        let lost = self.lost.iter().map(|&commit| name(commit, self.is_by_client)).collect();
        Harm { lost, broken: self.broken.clone() }
    }

    /// True if there are no errors.
    pub fn is_survived(&self) -> bool {
        self.lost.is_empty() && self.broken.is_empty()
    }

    /// Adds what another check of the same work found.
    pub fn add(&mut self, other: Losses) {
        self.lost.extend(other.lost);
        self.broken.extend(other.broken);
        self.is_by_client = other.is_by_client;
    }

    /// Adds this to a tally; `acknowledged` is the number of commits that were acknowledged before it.
    pub fn count(&self, tally: &mut Tally, acknowledged: usize) {
        tally.count(acknowledged, self.lost.len(), !self.broken.is_empty());
    }
}

/// A commit for people. dyno's own subjects number the commits of each client from 1 on, and the clients by hundreds of
/// thousands.
pub fn name(commit: u64, is_by_client: bool) -> String {
    match commit / CLIENT {
        client if is_by_client && client > 0 => {
            format!("commit {} of client {}", commit % CLIENT, client + 1)
        }
        _ => format!("commit {commit}"),
    }
}

/// Holds what was found against what was promised.
///
/// `before` was there before the first of the promised, and `may_have` says of a commit whether it may be there at all.
/// With `in_order`, a commit that is there implies all before it of the same client.
pub fn judge(
    found: &Contents,
    promised: &BTreeSet<u64>,
    before: Option<u64>,
    may_have: impl Fn(u64) -> bool,
    in_order: bool,
) -> Losses {
    let mut losses =
        Losses { lost: promised - &found.commits, broken: found.troubles.clone(), is_by_client: in_order };
    if promised.is_empty() && before.is_none() {
        // Perhaps there is no database yet, and a check for one fails.
        losses.broken.clear();
    }
    let strange = found.commits.iter().find(|&&commit| Some(commit) != before && !may_have(commit));
    if let Some(commit) = strange {
        losses.broken.push(format!("{} is there, which had not begun", name(*commit, in_order)));
    }
    if let Some(first) = before.filter(|first| !found.commits.contains(first)) {
        losses.broken.push(format!("{} is gone, which was there long before", name(first, in_order)));
    }
    // Each client's commits follow one another.
    let mut rest = found.commits.clone();
    while let Some(last) = rest.last().copied().filter(|_| in_order) {
        let first = last / CLIENT * CLIENT;
        let gap = (first + 1..last).find(|commit| !found.commits.contains(commit));
        if let Some(gap) = gap {
            losses.broken.push(format!(
                "{} is there, and {} before it is not",
                name(last, in_order),
                name(gap, in_order)
            ));
        }
        rest = rest.range(..first).copied().collect();
    }
    losses
}

/// Holds what was found of a subject against what it had promised at a place of its history.
pub fn judge_at(subject: &dyn Subject, history: &History, place: usize, found: &Contents) -> Losses {
    let may_have = |commit| history.may_have(place, commit);
    judge(found, &history.promised(place), subject.before(), may_have, subject.is_in_order())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(found: &[u64], promised: &[u64]) -> Losses {
        let found = Contents { commits: found.iter().copied().collect(), ..Contents::default() };
        judge(&found, &promised.iter().copied().collect(), Some(0), |commit| commit <= 3, true)
    }

    #[test]
    fn promises_are_held_against_what_is_there() {
        assert!(judged(&[0, 1, 2], &[1, 2]).is_survived());
        assert!(judged(&[0, 1, 2, 3], &[1, 2]).is_survived(), "the next one may be there");
        assert_eq!(judged(&[0, 1], &[1, 2]).lost, [2].into());
        assert_eq!(judged(&[0, 1, 2, 3, 4], &[1, 2]).broken.len(), 1, "it was never begun");
        assert_eq!(judged(&[0, 2], &[]).broken.len(), 1, "an earlier one is gone");
        assert_eq!(judged(&[], &[1]).broken.len(), 1, "what was there before is gone");
        let clients = |found: &[u64]| {
            let found = Contents { commits: found.iter().copied().collect(), ..Contents::default() };
            judge(&found, &BTreeSet::new(), Some(0), |_| true, true).broken.len()
        };
        assert_eq!(clients(&[0, 1, 2, CLIENT + 1]), 0, "another client's second one is not asked for");
        assert_eq!(clients(&[0, 1, 3, CLIENT + 2, 2 * CLIENT + 1]), 2, "two have lost what went before");
    }

    #[test]
    fn numbers_of_clients_stay_inside() {
        let found = Contents { commits: [0, 1].into(), ..Contents::default() };
        let losses = judge(&found, &[1, 2, 5 * CLIENT + 13].into(), Some(0), |_| true, true);
        assert_eq!(losses.harm().lost, ["commit 2", "commit 13 of client 6"]);
    }

    #[test]
    fn before_the_first_promise_there_need_be_no_database() {
        let found = Contents { troubles: vec!["no such table".to_owned()], ..Contents::default() };
        assert!(judge(&found, &BTreeSet::new(), None, |_| true, false).is_survived());
        assert!(!judge(&found, &[1].into(), None, |_| true, false).is_survived());
        assert!(!judge(&found, &BTreeSet::new(), Some(0), |_| true, true).is_survived());
    }
}
