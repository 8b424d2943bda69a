//! The anomalies that isolation probes found, and whether the level in force allows them.
//!
//! The names and what each level forbids are those of Berenson and others, *A Critique of ANSI SQL Isolation Levels*
//! (1995), and of Adya, *Weak Consistency* (1999); the lists are looked at as Elle does it (Kingsbury and Alvaro,
//! 2020). An anomaly that is not seen proves nothing; one that is seen and forbidden disproves the level.

mod anomaly;
mod counts;
mod lists;
mod stores;

use dyno_record::{Isolation, ProbeRecord, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use anomaly::Anomaly;

/// The probes of a contender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Probed {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The level that its settings in force mean; absent if the engine's rules do not define it, and then no anomaly is
    /// forbidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Isolation>,
    /// The result of each probe.
    pub probes: Vec<Probe>,
}

/// The result of one probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Its name.
    pub probe: String,
    /// The number of committed transactions.
    pub committed: u64,
    /// The number of tries that the engine refused.
    pub retried: u64,
    /// The anomalies that were seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Seen>,
    /// The reason that nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// An anomaly that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// The kind of anomaly.
    pub anomaly: Anomaly,
    /// The number of transactions that saw it, or lost their change by it.
    pub count: u64,
    /// True if the level allows it.
    pub allowed: bool,
    /// The part of the history that shows it.
    pub shows: String,
}

/// The contenders shown that were probed.
pub(super) fn probes(run: &Run) -> Vec<Probed> {
    let probed = run.shown_contenders().filter(|(_, contender)| !contender.probes.is_empty());
    probed.map(|(index, _)| judged(run, index)).collect()
}

/// Returns true if a contender showed what its level forbids.
pub(crate) fn is_disproved(run: &Run, contender: usize) -> bool {
    judged(run, contender).is_disproved()
}

impl Probed {
    /// Returns true if something was seen that the level forbids.
    pub fn is_disproved(&self) -> bool {
        self.probes.iter().flat_map(|probe| &probe.seen).any(|seen| !seen.allowed)
    }
}

fn judged(run: &Run, contender: usize) -> Probed {
    let record = &run.contenders[contender];
    let level = record.isolation.as_ref().map(|isolation| isolation.level);
    Probed { contender, level, probes: record.probes.iter().map(|probe| judge(probe, level)).collect() }
}

fn judge(record: &ProbeRecord, level: Option<Isolation>) -> Probe {
    let found = match (record.probe.as_str(), stores::anomalies(&record.probe, &record.history)) {
        _ if record.failed.is_some() => Vec::new(),
        (_, Some(found)) => found,
        ("lost-update", None) => counts::lost_updates(&record.history),
        ("read-skew", None) => counts::read_skew(&record.history),
        ("write-skew", None) => counts::write_skew(&record.history),
        ("list-append", None) => lists::anomalies(&record.history),
        _ => Vec::new(),
    };
    let seen = found.into_iter().map(|(anomaly, count, shows)| {
        let allowed = level.is_none_or(|level| level < anomaly.forbidden_by());
        Seen { anomaly, count, allowed, shows }
    });
    Probe {
        probe: record.probe.clone(),
        committed: record.committed,
        retried: record.retried,
        seen: seen.collect(),
        failed: record.failed.clone(),
    }
}

#[cfg(test)]
mod tests {
    use dyno_protocol::Value;

    use super::*;

    #[test]
    fn what_a_level_allows_disproves_it_not() {
        let history = vec![vec![Value::Integer(0)], vec![Value::Integer(0)]];
        let record = ProbeRecord { probe: "lost-update".into(), history, ..ProbeRecord::default() };
        let is_allowed = |level| judge(&record, level).seen[0].allowed;
        assert!(is_allowed(Some(Isolation::ReadCommitted)) && is_allowed(Some(Isolation::RepeatableRead)));
        assert!(!is_allowed(Some(Isolation::Snapshot)) && !is_allowed(Some(Isolation::Serializable)));
        assert!(is_allowed(None));
        let failed = ProbeRecord { failed: Some("it broke".into()), ..record.clone() };
        assert!(judge(&failed, Some(Isolation::Serializable)).seen.is_empty());
    }
}
