//! The observations of `dyno prove` on clusters, held against what each contender's settings promise.

use dyno_record::{ClusterRecord, ClusterSubject, FaultTry, Level, NodeFault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::{median, share};

/// The judgement on one use of `dyno prove` with clusters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterVerdict {
    /// The observations.
    pub record: ClusterRecord,
    /// The contenders, in the order of the record.
    pub subjects: Vec<ClusterJudgement>,
    /// False if a control did not behave, so that nothing here can be believed.
    pub is_sound: bool,
    /// True if every contender was tried to the end.
    pub is_complete: bool,
}

/// The least acknowledged commits in the second before a fault of a try that says something about losses.
pub const AT_RISK: f64 = 20.0;

/// The judgement on one contender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterJudgement {
    /// True if it promises that commits survive the loss of a node; absent where its settings are not known.
    pub promises: Option<bool>,
    /// Its faults, of each kind that was tried.
    pub faults: Vec<FaultJudgement>,
}

/// The judgement on the faults of a kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultJudgement {
    /// The kind.
    pub fault: NodeFault,
    /// The number of tries.
    pub tried: u64,
    /// In how many of these at least [`AT_RISK`] commits a second were acknowledged right before the fault, and it came to the
    /// leader where nodes elect one: others say hardly anything about what a fault takes.
    #[serde(default)]
    pub at_risk: u64,
    /// In how many of these the node to which the fault came did not lead, though nodes elect a leader.
    #[serde(default)]
    pub missed_leader: u64,
    /// In how many acknowledged commits were gone.
    pub lost: u64,
    /// The most commits that were gone after one.
    pub most_lost: u64,
    /// In how many of these something else was wrong: nodes that differ, a failed commit that is there, sums that do not
    /// agree.
    pub troubled: u64,
    /// The share of such faults that lose commits is at most this, at 95 %, by the tries with commits at risk; 1 without
    /// any.
    pub at_most: f64,
    /// The median of the longest times without an acknowledged commit, in milliseconds; absent where commits did not
    /// come back in one of the tries.
    pub stall_ms: Option<f64>,
    /// The median rates of acknowledged commits a second, before the fault and in the last second. These and the times without
    /// a commit are of the tries in which the fault came to the leader, or of all if it did in none.
    pub rates: [f64; 2],
    /// True if the settings promise that commits survive such faults: the loss of a node, or of the power of all. Absent
    /// where the settings are not known.
    #[serde(default)]
    pub promises: Option<bool>,
    /// True if it disproves what the settings promise.
    pub disproves: bool,
}

/// Judges what was observed of clusters.
pub fn judge_clusters(record: ClusterRecord) -> ClusterVerdict {
    let subjects: Vec<ClusterJudgement> = record.subjects.iter().map(judge).collect();
    let behaved = |(subject, judged): (&ClusterSubject, &ClusterJudgement)| {
        subject.notices_loss != Some(false) && (!subject.is_control || loses_by_all(judged))
    };
    let is_sound = record.subjects.iter().zip(&subjects).all(behaved);
    let is_complete = record.subjects.iter().all(|subject| subject.why_not.is_none());
    ClusterVerdict { record, subjects, is_sound, is_complete }
}

/// True if a control lost commits by each fault that it was tried with, and it was tried.
fn loses_by_all(judged: &ClusterJudgement) -> bool {
    !judged.faults.is_empty() && judged.faults.iter().all(|fault| fault.lost > 0)
}

fn judge(subject: &ClusterSubject) -> ClusterJudgement {
    let nodes = subject.promised.as_ref().and_then(|promised| promised.nodes);
    let promises = nodes.map(|nodes| nodes.lost > 0);
    let of = |fault| {
        let tries: Vec<&FaultTry> = subject.tries.iter().filter(|tried| tried.fault == fault).collect();
        let promises = match fault {
            // All nodes come back, each with what its disk kept.
            NodeFault::Power => subject.promised.as_ref().map(|promised| promised.level == Level::PowerLoss),
            _ => promises,
        };
        (!tries.is_empty()).then(|| judge_fault(fault, &tries, promises))
    };
    ClusterJudgement { promises, faults: NodeFault::ALL.into_iter().filter_map(of).collect() }
}

fn judge_fault(fault: NodeFault, tries: &[&FaultTry], promises: Option<bool>) -> FaultJudgement {
    let count = |is: &dyn Fn(&FaultTry) -> bool| tries.iter().filter(|tried| is(tried)).count() as u64;
    let (tried, lost) = (tries.len() as u64, count(&|tried| tried.lost > 0));
    let is_at_risk = |tried: &FaultTry| rate_before(tried) >= AT_RISK && !tried.missed_leader();
    let at_risk = count(&is_at_risk);
    let lost_at_risk = count(&|tried| is_at_risk(tried) && tried.lost > 0);
    let troubled = count(&|tried| !tried.troubles.is_empty() || tried.failed_found > 0);
    let led: Vec<&FaultTry> = tries.iter().copied().filter(|tried| !tried.missed_leader()).collect();
    let timed: &[&FaultTry] = if led.is_empty() { tries } else { &led };
    let stalls: Vec<f64> = timed.iter().map(|tried| tried.stall_ms as f64).collect();
    let middle = |of: fn(&FaultTry) -> f64| {
        median(&timed.iter().map(|tried| of(tried)).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    FaultJudgement {
        fault,
        tried,
        at_risk,
        missed_leader: count(&|tried| tried.missed_leader()),
        lost,
        most_lost: tries.iter().map(|tried| tried.lost).max().unwrap_or(0),
        troubled,
        at_most: share(at_risk, lost_at_risk).map_or(1.0, |interval| interval.high),
        stall_ms: tries.iter().all(|tried| tried.goes_on).then(|| median(&stalls)).flatten(),
        rates: [middle(rate_before), middle(rate_after)],
        promises,
        disproves: promises == Some(true) && lost > 0,
    }
}

/// Acknowledged commits a second in the second before the fault.
fn rate_before(tried: &FaultTry) -> f64 {
    let end = ((tried.at_ms / 100) as usize).min(tried.tenths.len());
    let seconds = &tried.tenths[end.saturating_sub(10)..end];
    per_second(seconds)
}

/// The same in the last whole second.
fn rate_after(tried: &FaultTry) -> f64 {
    // The last tenth is not whole.
    let end = tried.tenths.len().saturating_sub(1);
    per_second(&tried.tenths[end.saturating_sub(10)..end])
}

fn per_second(tenths: &[u32]) -> f64 {
    match tenths.len() {
        0 => 0.0,
        count => f64::from(tenths.iter().sum::<u32>()) * 10.0 / count as f64,
    }
}

#[cfg(test)]
mod tests {
    use dyno_record::{NodeLoss, Safety, Standing};

    use super::*;

    fn tried(lost: u64) -> FaultTry {
        FaultTry {
            fault: NodeFault::Kill,
            at_ms: 1000,
            led: None,
            failover_ms: None,
            outage: None,
            end_ms: 3000,
            tenths: [vec![50; 10], vec![0; 5], vec![30; 15], vec![1]].concat(),
            stall_ms: 500,
            goes_on: true,
            acknowledged: 1000,
            failed: 0,
            unknown: 0,
            unknown_found: 0,
            lost,
            missing: 0,
            lost_between_ms: None,
            shown_by: None,
            failed_found: 0,
            compared: vec![2, 3],
            troubles: Vec::new(),
        }
    }

    fn subject(survives: u32, lost: &[u64]) -> ClusterSubject {
        let promised = Safety {
            level: Level::PowerLoss,
            consistent: true,
            standing: Standing::ReadBack,
            why: String::new(),
            link: None,
            caveat: None,
            hole: None,
            nodes: Some(NodeLoss { lost: survives, of: 3 }),
            survival: None,
        };
        let tries = lost.iter().map(|&lost| tried(lost)).collect();
        ClusterSubject {
            promised: Some(promised),
            tries,
            notices_loss: Some(true),
            ..ClusterSubject::default()
        }
    }

    fn verdict(subjects: Vec<ClusterSubject>) -> ClusterVerdict {
        judge_clusters(ClusterRecord { subjects, ..ClusterRecord::default() })
    }

    #[test]
    fn a_loss_disproves_only_what_was_promised() {
        let verdict = verdict(vec![subject(1, &[0, 3]), subject(0, &[0, 3]), subject(1, &[0, 0, 0])]);
        let fault = |place: usize| &verdict.subjects[place].faults[0];
        assert_eq!([0, 1, 2].map(|place| fault(place).disproves), [true, false, false]);
        assert_eq!((fault(0).tried, fault(0).lost, fault(0).most_lost), (2, 1, 3));
        // Three tries without a loss say little: 1 - 0.05^(1/3).
        assert!((fault(2).at_most - 0.6316).abs() < 1e-3, "{}", fault(2).at_most);
        assert_eq!((fault(0).stall_ms, fault(0).rates), (Some(500.0), [500.0, 300.0]));
        assert!(verdict.is_sound && verdict.is_complete);
    }

    #[test]
    fn power_at_all_nodes_is_held_against_the_level_and_not_against_the_nodes_that_may_be_lost() {
        let of = |level, survives| {
            let mut given = subject(survives, &[2]);
            given.tries[0].fault = NodeFault::Power;
            if let Some(promised) = &mut given.promised {
                promised.level = level;
            }
            let fault = &verdict(vec![given]).subjects[0].faults[0];
            (fault.promises, fault.disproves)
        };
        assert_eq!(of(Level::PowerLoss, 0), (Some(true), true));
        assert_eq!(of(Level::None, 1), (Some(false), false));
        assert_eq!(of(Level::ProcessCrash, 1), (Some(false), false));
    }

    #[test]
    fn a_try_before_which_hardly_anything_was_committed_bounds_nothing() {
        let mut given = subject(1, &[0, 0]);
        given.tries[1].tenths = [vec![0; 9], vec![1], vec![0; 5], vec![30; 15], vec![1]].concat();
        let fault = |subject| verdict(vec![subject]).subjects[0].faults[0].clone();
        let found = fault(given.clone());
        assert_eq!((found.tried, found.at_risk), (2, 1));
        assert!((found.at_most - 0.95).abs() < 1e-9, "{}", found.at_most);
        given.tries.remove(0);
        assert_eq!((fault(given.clone()).at_risk, fault(given).at_most), (0, 1.0));
    }

    #[test]
    fn a_fault_that_did_not_come_to_the_leader_bounds_nothing() {
        let mut given = subject(1, &[0, 0, 0]);
        given.tries[0].led = Some(1);
        given.tries[1].led = Some(2);
        given.tries[2].led = Some(0);
        let fault = |subject| verdict(vec![subject]).subjects[0].faults[0].clone();
        let found = fault(given.clone());
        assert_eq!((found.tried, found.at_risk, found.missed_leader), (3, 1, 2));
        // The others stall for less, which says nothing of the loss of a leader.
        given.tries[0].stall_ms = 900;
        assert_eq!(fault(given.clone()).stall_ms, Some(900.0));
        given.tries[0].led = Some(2);
        assert_eq!(fault(given.clone()).stall_ms, Some(500.0));
        // Power is cut at all nodes, whichever of them leads.
        given.tries.iter_mut().for_each(|tried| tried.fault = NodeFault::Power);
        assert_eq!(fault(given).at_risk, 3);
    }

    #[test]
    fn commits_that_do_not_come_back_have_no_time() {
        let mut given = subject(1, &[0, 0]);
        given.tries[1].goes_on = false;
        assert_eq!(verdict(vec![given]).subjects[0].faults[0].stall_ms, None);
    }

    #[test]
    fn a_control_must_lose_and_every_check_must_notice() {
        let control = |lost| ClusterSubject { is_control: true, ..subject(0, &[lost]) };
        assert!(verdict(vec![subject(1, &[0]), control(5)]).is_sound);
        assert!(!verdict(vec![subject(1, &[0]), control(0)]).is_sound);
        let mut half = control(5);
        half.tries.push(FaultTry { fault: NodeFault::Power, ..tried(0) });
        assert!(!verdict(vec![subject(1, &[0]), half]).is_sound);
        let blind = ClusterSubject { notices_loss: Some(false), ..subject(1, &[0]) };
        assert!(!verdict(vec![blind]).is_sound);
        let stopped = ClusterSubject { why_not: Some("it does not start".into()), ..subject(1, &[]) };
        assert!(!verdict(vec![stopped]).is_complete);
    }
}
