//! The sentences on a cluster: what its settings promise, what was found, and how far that goes.

use std::collections::{BTreeMap, BTreeSet};

use dyno_record::{ClusterSubject, FaultTry, NodeFault, NodeStaleness, PowerOutage};
use dyno_verdict::{AT_RISK, ClusterJudgement, ClusterVerdict, FaultJudgement};

use crate::headings;
use crate::units::{duration, percent, whole};

/// The sentences on a contender.
pub fn of(verdict: &ClusterVerdict, subject: &ClusterSubject, judged: &ClusterJudgement) -> Vec<String> {
    let mut lines: Vec<String> = subject.shape.map(headings::cluster).into_iter().collect();
    if let Some(promised) = &subject.promised {
        let nodes = promised.nodes.map_or_else(String::new, |nodes| format!(", and {}", nodes.words()));
        let (level, known) = (promised.name(), promised.known());
        lines.push(format!("commits survive by its settings: {level}{nodes} ({known}): {}", promised.why));
    }
    if subject.has_liar {
        lines.push(
            "dyno planted a program that counts as a replica and is lost with the leader: what the settings promise must be \
             disproved"
                .to_owned(),
        );
    }
    if verdict.is_sound {
        lines.extend(judged.faults.iter().filter_map(|fault| losses(subject, fault)));
        lines.extend(bound(judged));
        lines.extend(judged.faults.iter().flat_map(hardly_tested));
    }
    lines.extend(subject.tries.iter().max_by_key(|tried| tried.lost).and_then(smallest));
    lines.extend(failovers(verdict, subject));
    lines.extend(outages(subject));
    lines.extend(unknown(subject));
    lines.extend(subject.tries.iter().flat_map(troubles));
    lines.extend(subject.staleness.iter().filter_map(unseen));
    if subject.notices_loss == Some(false) {
        lines.push("the check did not notice a commit that dyno removed".to_owned());
    }
    lines.extend(subject.why_not.iter().map(|why| format!("it was not tried to the end: {why}")));
    lines
}

/// The commits that a node never returned.
fn unseen(late: &NodeStaleness) -> Option<String> {
    let bounds = match late.at_least.contains(&true) {
        true => "; ≥ stands before times that are longer for them",
        false => "",
    };
    (late.unseen > 0)
        .then(|| format!("node {} never returned {} commits{bounds}", late.node, whole(late.unseen)))
}

/// The acknowledged commits that the faults of a kind took.
fn losses(subject: &ClusterSubject, fault: &FaultJudgement) -> Option<String> {
    if fault.lost == 0 {
        return None;
    }
    let tries = subject.tries.iter().filter(|tried| tried.fault == fault.fault);
    let worst = tries.max_by_key(|tried| tried.lost)?;
    let [first, last] = worst.lost_between_ms?;
    let from = |at: u64| {
        let away = at as f64 - worst.at_ms as f64;
        let side = if away < 0.0 { "before" } else { "after" };
        format!("{} {side}", duration(away.abs() * 1e6))
    };
    Some(format!(
        "{} lost acknowledged commits in {} of {} tries: in the worst {} of {}, acknowledged from {} the fault to {} it",
        worst.fault.name(),
        fault.lost,
        fault.tried,
        whole(worst.lost),
        whole(worst.acknowledged),
        from(first),
        from(last)
    ))
}

/// The smallest history that shows a loss.
fn smallest(tried: &FaultTry) -> Option<String> {
    let lost = tried.shown_by.as_ref()?;
    let nodes: Vec<String> = lost.gone_at.iter().map(u32::to_string).collect();
    let seconds = |millis: u64| duration(millis as f64 * 1e6);
    let before =
        lost.last_there.map_or(String::new(), |last| format!("; its commit {last}, before that, is there"));
    Some(format!(
        "the smallest history that shows a loss: client {} sent commit {} to node {} at {}, which acknowledged it at {}; the fault \
         ({}) came at {}; afterwards nodes {} do not have it{before}",
        lost.client,
        lost.commit,
        lost.node,
        seconds(lost.sent_ms),
        seconds(lost.acknowledged_ms),
        tried.fault.name(),
        seconds(tried.at_ms),
        nodes.join(", "),
    ))
}

/// The outages of all nodes.
fn outages(subject: &ClusterSubject) -> Option<String> {
    let outages: Vec<&PowerOutage> = subject.tries.iter().filter_map(|tried| tried.outage.as_ref()).collect();
    let within = outages.iter().map(|outage| outage.within_us).max()?;
    let gone = outages.iter().map(|outage| outage.writes_gone).max()?;
    let slowest = outages.iter().map(|outage| outage.back_ms[1].saturating_sub(outage.back_ms[0])).max()?;
    Some(format!(
        "{}: the disks of all nodes were cut within {}, and lost at most {} writes that no flush had followed; the nodes were \
         ready, and clients came back, at most {} after the power did, which is part of the stall",
        NodeFault::Power.name(),
        duration(within as f64 * 1e3),
        whole(gone),
        duration(slowest as f64 * 1e6)
    ))
}

/// The bound that tries without a loss put on the share of losses.
fn bound(judged: &ClusterJudgement) -> Option<String> {
    let kept = || judged.faults.iter().filter(|fault| fault.lost == 0 && fault.at_risk > 0);
    let whole = kept().min_by_key(|fault| fault.at_risk)?;
    let names: Vec<&str> = kept().map(|fault| fault.fault.name()).collect();
    Some(format!(
        "no acknowledged commit was lost by {}: of such faults at most {} lose any, at 95 %, which is not that none does",
        names.join(", "),
        percent(whole.at_most)
    ))
}

/// The tries of a fault before which hardly anything was committed, and those in which it did not come to the leader.
fn hardly_tested(fault: &FaultJudgement) -> Vec<String> {
    let (name, tried) = (fault.fault.name(), fault.tried);
    let slow = tried.saturating_sub(fault.at_risk + fault.missed_leader);
    let slow = (slow > 0).then(|| {
        format!(
            "{name}: before {slow} of {tried} tries fewer than {AT_RISK} commits a second were acknowledged, so these say hardly \
             anything"
        )
    });
    let missed = (fault.missed_leader > 0).then(|| {
        format!(
            "{name}: in {} of {tried} tries the node that was lost did not lead, so these say hardly anything",
            fault.missed_leader
        )
    });
    slow.into_iter().chain(missed).collect()
}

/// The time that it took to make a replica the leader.
fn failovers(verdict: &ClusterVerdict, subject: &ClusterSubject) -> Option<String> {
    let times = subject.tries.iter().filter_map(|tried| tried.failover_ms);
    let slowest = times.map(|[asked, done]| done.saturating_sub(asked)).max()?;
    Some(format!(
        "dyno made the replica with most of the log the leader {} after each fault, which took at most {}; the stall has both",
        duration(verdict.record.failover_after_ms as f64 * 1e6),
        duration(slowest as f64 * 1e6)
    ))
}

/// The commits of which clients do not know.
fn unknown(subject: &ClusterSubject) -> Option<String> {
    let sum = |of: fn(&FaultTry) -> u64| subject.tries.iter().map(of).sum::<u64>();
    let unknown = sum(|tried| tried.unknown);
    (unknown > 0).then(|| {
        format!(
            "{} commits had no answer, and {} of them were found: neither is a loss",
            whole(unknown),
            whole(sum(|tried| tried.unknown_found))
        )
    })
}

/// Other faults that were found after a fault of a node.
fn troubles(tried: &FaultTry) -> Vec<String> {
    let name = tried.fault.name();
    let failed = (tried.failed_found > 0)
        .then(|| format!("{name}: {} commits that had failed were found", whole(tried.failed_found)));
    let ended = (!tried.goes_on).then(|| format!("{name}: no commit was acknowledged again"));
    let missing = (tried.missing > 0).then(|| {
        format!("{name}: {} acknowledged commits are on one node and not on another", whole(tried.missing))
    });
    let others = tried.troubles.iter().map(|trouble| format!("{name}: {trouble}"));
    failed.into_iter().chain(ended).chain(missing).chain(others).collect()
}

/// The faults that no control of the same engine was tried with.
fn without_control(verdict: &ClusterVerdict) -> String {
    let engine = |subject: &ClusterSubject| {
        subject.label.split([':', ',', '@', '/']).next().unwrap_or_default().to_owned()
    };
    let tried = |is_control: bool| -> BTreeSet<(String, NodeFault)> {
        let each = verdict.record.subjects.iter().zip(&verdict.subjects);
        let each = each.filter(|(subject, _)| subject.is_control == is_control);
        each.flat_map(|(subject, judged)| {
            judged.faults.iter().map(move |fault| (engine(subject), fault.fault))
        })
        .collect()
    };
    let mut by_engine: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (engine, fault) in tried(false).difference(&tried(true)) {
        by_engine.entry(engine.clone()).or_default().push(fault.name());
    }
    if by_engine.is_empty() {
        return String::new();
    }
    let parts: Vec<String> =
        by_engine.iter().map(|(engine, faults)| format!("{engine} ({})", faults.join(", "))).collect();
    format!(
        " No control shows that these faults take anything: {}. There, that nothing was lost may be due to the fault.",
        parts.join("; ")
    )
}

/// The conditions of the whole.
pub fn scope(verdict: &ClusterVerdict) -> String {
    let controls: Vec<String> = verdict
        .record
        .subjects
        .iter()
        .zip(&verdict.subjects)
        .filter(|(subject, _)| subject.is_control)
        .map(|(subject, judged)| {
            let lost: u64 = judged.faults.iter().map(|fault| fault.most_lost).sum();
            format!("{} lost {} commits (it must lose some)", subject.name(), whole(lost))
        })
        .collect();
    let without = without_control(verdict);
    let no_cuts = verdict.record.no_cuts.as_ref();
    let no_cuts = no_cuts.map_or(String::new(), |why| format!(" No power was cut: {why}."));
    let controls =
        if controls.is_empty() { String::new() } else { format!(" Control: {}.", controls.join("; ")) };
    format!(
        "{} clients on this machine, which reach each node whatever its cable does; a fault comes to the node that they work \
         with, and power is cut at all nodes. {}{controls}{without}{no_cuts} Seed {}.",
        verdict.record.clients,
        removed(verdict),
        verdict.record.seed
    )
}

/// The sentence where dyno removed no commit of any contender.
const NONE_REMOVED: &str =
    "dyno removed no commit of any contender, so it is not known whether the check notices a loss.";

/// The contenders of which dyno removed a commit, so that it is known whether the check notices a loss.
fn removed(verdict: &ClusterVerdict) -> String {
    let subjects = &verdict.record.subjects;
    let unknown = subjects.iter().filter(|subject| subject.notices_loss.is_none());
    let unknown: Vec<String> = unknown.map(ClusterSubject::name).collect();
    if unknown.is_empty() {
        return "Of each contender dyno removed a commit once, which the check must notice.".to_owned();
    }
    if unknown.len() == subjects.len() {
        return NONE_REMOVED.to_owned();
    }
    let names = unknown.join(", ");
    format!(
        "Of each contender but {names} dyno removed a commit once, which the check must notice. Whether it notices a loss of \
         {names} is not known."
    )
}

#[cfg(test)]
mod tests {
    use dyno_record::ClusterRecord;
    use dyno_verdict::judge_clusters;

    use super::*;

    /// The sentences on the whole, of contenders of which it is known or not whether the check notices a loss.
    fn scope_of(known: &[Option<bool>]) -> String {
        let subject = |(place, notices_loss): (usize, &Option<bool>)| ClusterSubject {
            label: format!("c{place}"),
            notices_loss: *notices_loss,
            ..ClusterSubject::default()
        };
        let subjects = known.iter().enumerate().map(subject).collect();
        scope(&judge_clusters(ClusterRecord { subjects, ..ClusterRecord::default() }))
    }

    #[test]
    fn contenders_of_which_no_commit_was_removed_are_named() {
        let all = scope_of(&[Some(true), Some(true)]);
        assert!(all.contains("Of each contender dyno removed a commit once"), "{all}");
        let one = scope_of(&[Some(true), None, Some(true)]);
        assert!(one.contains("Of each contender but c1 dyno removed a commit once"), "{one}");
        assert!(one.contains("Whether it notices a loss of c1 is not known."), "{one}");
        assert!(scope_of(&[None, None]).contains("dyno removed no commit of any contender"));
    }
}
