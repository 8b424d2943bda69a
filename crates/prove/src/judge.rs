//! What a disk that was looked at says of the promises made before. Pure: facts in, verdict out.

use std::collections::BTreeSet;

use dyno_record::{Level, Safety};
use serde::Serialize;

use crate::subject::Found;

/// What is wrong after one cut or kill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Acknowledged commits that are gone.
    pub lost: BTreeSet<u64>,
    /// What the data must never be: half a transaction, something that was never written, a database that does not
    /// open.
    pub broken: Vec<String>,
}

/// How it went for many cuts or kills.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// How many were tried.
    pub tried: usize,
    /// After how many every acknowledged commit was there and nothing was broken.
    pub survived: usize,
    /// After how many acknowledged commits were gone.
    pub lost: usize,
    /// The most commits that were gone after one.
    pub most_lost: usize,
    /// After how many all acknowledged commits were gone.
    pub lost_all: usize,
    /// After how many the data were broken.
    pub broken: usize,
}

impl Verdict {
    /// Whether nothing is wrong.
    pub fn is_survived(&self) -> bool {
        self.lost.is_empty() && self.broken.is_empty()
    }
}

impl Tally {
    /// Counts one more, before which so many commits were acknowledged.
    pub fn add(&mut self, verdict: &Verdict, promised: usize) {
        self.tried += 1;
        self.survived += usize::from(verdict.is_survived());
        self.lost += usize::from(!verdict.lost.is_empty());
        self.most_lost = self.most_lost.max(verdict.lost.len());
        self.lost_all += usize::from(promised > 0 && verdict.lost.len() == promised);
        self.broken += usize::from(!verdict.broken.is_empty());
    }

    /// The largest share of such cuts that may fail if none of those tried did, at 95 % confidence; of those that
    /// were tried at random. Nothing is known where none was tried or one failed.
    pub fn bound(&self) -> Option<f64> {
        let none_failed = self.tried > 0 && self.survived == self.tried;
        none_failed.then(|| 1.0 - 0.05_f64.powf(1.0 / self.tried as f64))
    }
}

/// What an engine's settings promise, held against what became of it: why the promise is broken, or nothing where it was
/// kept or where there is none.
pub fn breaches(claimed: &Safety, cuts: &Tally, kills: &Tally) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut breach = |is_promised: bool, count: usize, tried: usize, what: &str| {
        if is_promised && count > 0 {
            breaches.push(format!("{what} {count} of {tried}"));
        }
    };
    breach(
        claimed.level >= Level::PowerLoss,
        cuts.lost,
        cuts.tried,
        "power-loss: acknowledged commits gone after cuts,",
    );
    breach(
        claimed.level >= Level::ProcessCrash,
        kills.lost,
        kills.tried,
        "process-crash: acknowledged commits gone after kills,",
    );
    breach(
        claimed.level >= Level::ProcessCrash,
        kills.broken,
        kills.tried,
        "process-crash: broken data after kills,",
    );
    breach(claimed.consistent, cuts.broken, cuts.tried, "consistent: broken data after cuts,");
    breaches
}

/// Holds what was found against what was promised.
///
/// `before` was there before the first of the promised, and `may_have` says of a commit whether it may be there at all.
/// With `in_order`, a commit that is there implies all before it.
pub fn judge(
    found: &Found,
    promised: &BTreeSet<u64>,
    before: Option<u64>,
    may_have: impl Fn(u64) -> bool,
    in_order: bool,
) -> Verdict {
    let mut verdict = Verdict { lost: promised - &found.commits, broken: found.troubles.clone() };
    if promised.is_empty() && before.is_none() {
        // Perhaps there is no database yet, and whoever looks for one fails.
        verdict.broken.clear();
    }
    let strange = found.commits.iter().find(|&&commit| Some(commit) != before && !may_have(commit));
    if let Some(commit) = strange {
        verdict.broken.push(format!("commit {commit} is there, which had not begun"));
    }
    if let Some(first) = before.filter(|first| !found.commits.contains(first)) {
        verdict.broken.push(format!("commit {first} is gone, which was there long before"));
    }
    if in_order && let Some(last) = found.commits.last() {
        let gap = (before.unwrap_or(1)..*last).find(|commit| !found.commits.contains(commit));
        if let Some(gap) = gap {
            verdict.broken.push(format!("commit {last} is there, and {gap} before it is not"));
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(found: &[u64], promised: &[u64]) -> Verdict {
        let found = Found { commits: found.iter().copied().collect(), troubles: Vec::new() };
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
    }

    #[test]
    fn before_the_first_promise_there_need_be_no_database() {
        let found = Found { troubles: vec!["no such table".to_owned()], ..Found::default() };
        assert!(judge(&found, &BTreeSet::new(), None, |_| true, false).is_survived());
        assert!(!judge(&found, &[1].into(), None, |_| true, false).is_survived());
        assert!(!judge(&found, &BTreeSet::new(), Some(0), |_| true, true).is_survived());
    }

    #[test]
    fn only_what_is_promised_can_be_broken() {
        let claimed = |level, consistent| Safety {
            level,
            consistent,
            standing: dyno_record::Standing::Claimed,
            why: String::new(),
            link: None,
            caveat: None,
            hole: None,
        };
        let cuts = Tally { tried: 9, lost: 1, ..Tally::default() };
        let kills = Tally { tried: 9, survived: 9, ..Tally::default() };
        assert_eq!(breaches(&claimed(Level::PowerLoss, true), &cuts, &kills).len(), 1);
        assert!(breaches(&claimed(Level::ProcessCrash, true), &cuts, &kills).is_empty());
        assert_eq!(
            breaches(&claimed(Level::ProcessCrash, true), &Tally { broken: 2, ..cuts }, &kills).len(),
            1
        );
    }

    #[test]
    fn a_tally_says_how_sure_it_is() {
        let mut tally = Tally::default();
        assert_eq!(tally.bound(), None);
        for _ in 0..600 {
            tally.add(&Verdict::default(), 1);
        }
        assert!((tally.bound().unwrap() - 0.004_98).abs() < 1e-5, "{:?}", tally.bound());
        tally.add(&judged(&[0], &[1, 2]), 2);
        assert_eq!((tally.lost, tally.most_lost, tally.lost_all, tally.bound()), (1, 2, 1, None));
    }
}
