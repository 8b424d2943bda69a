//! The sentences on one subject, in the order in which a reader asks: did it work, what was cut, what was lost.

use dyno_record::{DeviceFailure, DurabilityProof, Hole, SyncCalls};
use dyno_verdict::{DurabilityVerdict, SubjectVerdict, Survived};

use super::damage::{self, failure, what};
use crate::{survived, upkeep_in_words};

/// The sentences on a subject; empty if there is nothing to add to its row.
pub fn of(verdict: &DurabilityVerdict, subject: &SubjectVerdict) -> Vec<String> {
    let Some(proof) = &subject.observed.proof else {
        let why = subject.observed.why_not.as_deref().unwrap_or("for no known reason");
        return vec![format!("it could not be proved: {why}")];
    };
    let mut lines = Vec::new();
    lines.extend(proof.incomplete.iter().map(|why| format!("it did not come to its end: {why}")));
    if proof.observed.commits == 0 {
        lines.push("it acknowledged no commit".to_owned());
        return lines;
    }
    if !proof.notices_loss {
        lines.push(
            "it does not notice that a disk forgot everything, so nothing can be said of it".to_owned(),
        );
    }
    lines.extend(cuts(proof));
    lines.extend(syncs(proof));
    lines.extend(doubts(proof, &verdict.about.storage));
    lines.extend(subject.breaches.iter().map(|breach| format!("broke its promise: {breach}")));
    lines.extend(known_hole(subject));
    lines.extend(harm(proof));
    lines.extend(damage::restarts(proof));
    lines.extend(damage::corruption(proof));
    lines
}

/// The cuts, and their outcome.
fn cuts(proof: &DurabilityProof) -> Vec<String> {
    let mut lines = Vec::new();
    let cuts = Survived::of(&proof.cuts, Some(&proof.drawn));
    let cuts = cuts.map(|cuts| cuts.in_runs(proof.runs as u64, Some(proof.harmed_runs as u64)));
    lines.extend(cuts.map(|cuts| survived(&cuts, "cuts")));
    lines.extend(recorded(proof));
    if proof.rounds.tried > 0 {
        lines.push(format!(
            "{} of these cuts came while it recovered from another cut or worked on after it",
            proof.rounds.tried
        ));
    }
    lines.extend(damage::garbage(proof));
    lines.extend(
        proof.rounds_stopped.iter().map(|why| format!("after a cut it did not go on to its end: {why}")),
    );
    lines
}

/// The events for which its commits waited.
fn syncs(proof: &DurabilityProof) -> Vec<String> {
    let mut lines = Vec::new();
    if proof.observed.unflushed > 0 {
        lines.push(format!(
            "{} of {} commits were acknowledged without a flush",
            proof.observed.unflushed, proof.observed.commits
        ));
    }
    lines.extend(proof.calls.as_ref().map(calls));
    lines
        .extend(proof.calls_unseen.iter().map(|why| format!("its system calls could not be watched: {why}")));
    if proof.observed.bundled > 0 {
        lines.push(format!(
            "{} acknowledgements came several in one write and may be late: flush the standard output after each line",
            proof.observed.bundled
        ));
    }
    lines
}

/// Checks that ended without a result; `storage` is what lost power.
fn doubts(proof: &DurabilityProof, storage: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if proof.late > 0 {
        let why = proof.late_why.as_deref().unwrap_or("it took too long");
        lines.push(format!(
            "{} the data were not looked at, which says nothing of them: {why}; give it more time by --timeout",
            times(proof.late)
        ));
    }
    if let Some(first) = &proof.unrepeated_first {
        lines.push(format!(
            "{} something was wrong that was not when the same data were looked at again, as after {}",
            times(proof.unrepeated),
            failure(first)
        ));
    }
    if proof.unmountable > 0 {
        lines.push(format!("{} {storage} could not be mounted after a cut", times(proof.unmountable)));
    }
    lines
}

/// A sentence where all that cuts took is a hole that is known of these settings: tables of runs go on to say so, and
/// keep the level.
fn known_hole(subject: &SubjectVerdict) -> Option<String> {
    let hole = subject.observed.promised.as_ref()?.hole?;
    let cuts = &subject.observed.survival.as_ref()?.cuts;
    let is_all = hole == Hole::LastCommit && cuts.lost > 0 && cuts.most_lost <= 1 && cuts.broken == 0;
    is_all.then(|| {
        "no cut took more than the last commit, which is known of these settings: tables of runs keep the level and mark \
         that hole with †"
            .to_owned()
    })
}

/// `once`, `3 times`.
fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// The first failures, and where they are kept.
fn harm(proof: &DurabilityProof) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(proof.failures.first().map(|first| format!("first failure: {}", failure(first))));
    lines.extend(proof.kept_in.iter().map(|folder| {
        format!(
            "the smallest cut that does harm is kept in {}, with a script that looks again",
            folder.display()
        )
    }));
    lines.extend(proof.errors.iter().filter(|failed| !failed.harm.is_none()).map(fault));
    lines.extend(
        proof.errors_stopped.iter().map(|why| format!("devices that fail could not all be tried: {why}")),
    );
    lines
}

/// The part of the work that was recorded and cut.
fn recorded(proof: &DurabilityProof) -> Option<String> {
    let upkeep = upkeep_in_words(&proof.upkeep);
    let runs = if proof.runs == 1 { "1 run".to_owned() } else { format!("{} runs", proof.runs) };
    let commits = proof.observed.commits;
    (proof.cuts.tried > 0).then(|| match upkeep.is_empty() {
        true => format!("recorded in {runs} of {commits} commits; no cut came within a checkpoint or an orderly close that wrote anything"),
        false => format!("recorded in {runs} of {commits} commits; cuts came within {upkeep}"),
    })
}

/// The system calls that it made, by name.
fn calls(seen: &SyncCalls) -> String {
    let by_name = seen.by_name.iter().map(|(name, count)| format!("{count:.1} {name}"));
    match seen.by_name.is_empty() {
        true => "it asks the system for no sync in a commit".to_owned(),
        false => format!("calls in a commit: {}", by_name.collect::<Vec<_>>().join(", ")),
    }
}

fn fault(failed: &DeviceFailure) -> String {
    let said = if failed.said.is_some() { "it stopped with an error" } else { "it went on and said nothing" };
    let DeviceFailure { device, acknowledged, afterwards, .. } = failed;
    let what = what(&failed.harm);
    format!(
        "when {device}: {said}, with {acknowledged} commits acknowledged, {afterwards} of them after that; {what}"
    )
}
