//! Machines that drive clients and are too slow for it: figures then show them, and not the server.

use std::collections::BTreeSet;

use dyno_record::{AgentRecord, AgentShare, Load, Others, Run, TrialRecord};
use schemars::JsonSchema;
use serde::Serialize;

use crate::disturbance::{Disturbances, UNCERTAIN_NS};

/// The largest share of a machine's processors that may be in use, by its clients or by others, while it drives clients.
const MOST_BUSY: f64 = 0.8;
/// The largest share of a section that clients may lack because they began late, where they begin an operation as soon as they
/// are free.
const MOST_LATE_START: f64 = 0.01;
/// The largest share of the 99th percentile of responses that lateness may have which is the machine's own.
const MOST_LATE: f64 = 0.05;

/// A machine that drove clients.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Generator {
    /// The host.
    pub host: String,
    /// The CPUs that it could use.
    pub cpus: usize,
    /// The number of them that a limit on processor time left to its clients; absent where there was none.
    pub cpu_limit: Option<f64>,
    /// The model of its processor.
    pub model: Option<String>,
    /// The most by which its clients may have begun after the moment agreed on, with the error of the comparison of
    /// clocks, in nanoseconds; absent in older files.
    pub late_start_ns: Option<u64>,
    /// The larger of two shares of processors that clients used in a measured trial, at its largest: this agent's clients, of
    /// those it had; and the clients of all agents on the same machine, of those that these had. Of the time from when they
    /// began.
    pub busy: f64,
    /// The share of its processors that other programs and its host took in the measured trials, where that is known: not
    /// where another agent uses the same processors.
    pub others: Option<f64>,
}

/// The machines that drove the clients of a run, by rank. Agents without clients in a measured trial are left out.
pub(crate) fn generators(run: &Run) -> Vec<Generator> {
    let of = |(agent, record): (usize, &AgentRecord)| {
        let trials = run.trials.iter().filter(|trial| trial.is_measured());
        let all = trials.flat_map(|trial| trial.agents.iter().map(move |share| (trial, share)));
        let shares: Vec<(&TrialRecord, &AgentShare)> =
            all.filter(|(_, share)| share.agent == agent).collect();
        let others = shares.iter().filter_map(|(_, share)| by_others(run, share)).reduce(Others::and);
        (!shares.is_empty()).then(|| Generator {
            host: record.host.clone(),
            cpus: record.machine.cpu.allowed.len(),
            cpu_limit: limit(record).filter(|limit| *limit < record.machine.cpu.allowed.len() as f64),
            model: record.machine.cpu.model.clone(),
            late_start_ns: shares.iter().filter_map(|(_, share)| latest_start(share)).max(),
            busy: shares.iter().map(|(trial, share)| busy(run, trial, share)).fold(0.0, f64::max),
            others: others.and_then(taken),
        })
    };
    run.agents.iter().enumerate().filter_map(of).collect()
}

/// The time that others took of an agent's machine, where that is known. Older files have it also where another agent uses the
/// same processors, whose clients were then taken for others.
fn by_others(run: &Run, share: &AgentShare) -> Option<Others> {
    share.others.filter(|_| !shares_processors(run, share.agent))
}

/// True if another agent uses processors of an agent's.
fn shares_processors(run: &Run, agent: usize) -> bool {
    let Some(record) = run.agents.get(agent) else { return false };
    let is_sibling = |(place, other): (usize, &AgentRecord)| {
        let cpus = &other.machine.cpu.allowed;
        place != agent
            && machine(run, place) == machine(run, agent)
            && record.machine.cpu.allowed.iter().any(|cpu| cpus.contains(cpu))
    };
    run.agents.iter().enumerate().any(is_sibling)
}

/// The share of processors that others took, where that is known.
fn taken(others: Others) -> Option<f64> {
    (others.over_ns > 0).then(|| nanoseconds(others) / others.over_ns as f64)
}

/// The nanoseconds that others took.
fn nanoseconds(others: Others) -> f64 {
    others.foreign_ns.max(0) as f64 + others.stolen_ns as f64
}

/// The most by which clients may have begun after the moment agreed on, in nanoseconds.
fn latest_start(share: &AgentShare) -> Option<u64> {
    share.late_start_ns.map(|late| late.max(0).unsigned_abs() + share.clock_error_ns)
}

/// The nanoseconds for which clients had not begun although the section had. After a warm-up they are at work already, and only
/// the thread that reads the clock is late; and where they do a number of operations, the section lasts until these are done.
fn began_late(run: &Run, share: &AgentShare) -> u64 {
    let test = run.tests.iter().find(|test| test.id == share.test);
    let clients = test.and_then(|test| test.clients.as_ref());
    let lacks = clients.is_some_and(|clients| clients.duration_ns.is_some() && clients.warm_up_ns == 0);
    if lacks { share.late_start_ns.unwrap_or(0).max(0).unsigned_abs() } else { 0 }
}

/// The reason that a contender's figures in a test show a machine that drove its clients, and not its server: in half
/// of the measured trials on which they rest, or more, one of these machines had hardly a processor left, began late, or
/// sent operations late although a client was free.
pub(crate) fn weakness(
    run: &Run,
    disturbances: &Disturbances,
    contender: usize,
    test: &str,
) -> Option<String> {
    let trials = run.trials.iter().filter(|trial| trial.contender == contender && trial.is_measured());
    let trials = trials.filter(|trial| disturbances.counts(trial.block));
    // A rate that is sought is bounded by the trials in which its target did not hold.
    let trials = trials.filter(|trial| !held(trial, test));
    let (mut all, mut weak) = (0, Vec::new());
    for trial in trials {
        let mut its = trial.agents.iter().filter(|share| share.test == test).peekable();
        all += usize::from(its.peek().is_some());
        weak.extend(its.find_map(|share| why_weak(run, trial, share)));
    }
    (2 * weak.len() >= all).then(|| weak.into_iter().next())?
}

/// True if a trial sought a rate in a test, and the target held.
fn held(trial: &TrialRecord, test: &str) -> bool {
    let mut samples = trial.samples.iter().filter(|sample| sample.sample.test == test);
    samples.any(|sample| sample.sought.is_some_and(|sought| sought.held))
}

fn why_weak(run: &Run, trial: &TrialRecord, share: &AgentShare) -> Option<String> {
    let host = &run.agents.get(share.agent)?.host;
    let busy = busy(run, trial, share);
    if busy > MOST_BUSY {
        return Some(format!("{host} used {:.0} % of its processors to drive clients", busy * 100.0));
    }
    // The kernel counts in ticks, so that less says nothing.
    let others = by_others(run, share).filter(|others| nanoseconds(*others) > UNCERTAIN_NS);
    let (own, others) = (alone(run, share), others.and_then(taken).unwrap_or(0.0));
    if own + others > MOST_BUSY {
        return Some(format!(
            "of the processors of {host} {:.0} % were in use: {:.0} % to drive clients, {:.0} % by others during \
             the trial",
            (own + others) * 100.0,
            own * 100.0,
            others * 100.0
        ));
    }
    if let Some(late) = late_start(run, trial, share) {
        let (late, all) = (late as f64, share.nanoseconds as f64);
        return Some(format!(
            "{host} began {:.2} ms after the moment agreed on, {:.1} % of the time that was measured",
            late / 1e6,
            late / all * 100.0
        ));
    }
    let (late, response) = (share.late_ns?, share.response_ns?);
    (late as f64 > MOST_LATE * response as f64).then(|| {
        let late = late as f64 / 1e6;
        format!("{host} sent 1 % of the operations more than {late:.2} ms late although a client was free")
    })
}

/// The share of its processors that an agent used in a test, or the share that all agents on its machine used together of
/// theirs, whichever is larger. A limit on processor time is taken to be each agent's own.
fn busy(run: &Run, trial: &TrialRecord, share: &AgentShare) -> f64 {
    let Some(agent) = run.agents.get(share.agent) else { return used(run, share) };
    let cpus = agent.machine.cpu.allowed.len().max(1) as f64;
    let own = used(run, share) / limit(agent).map_or(cpus, |limit| limit.min(cpus));
    own.max(own_and_siblings(run, trial, share))
}

/// The same, ignoring control-group limits.
fn own_and_siblings(run: &Run, trial: &TrialRecord, share: &AgentShare) -> f64 {
    let is_there = |other: &&AgentShare| machine(run, other.agent) == machine(run, share.agent);
    let there = || trial.agents.iter().filter(|other| other.test == share.test).filter(is_there);
    let agents = there().filter_map(|other| run.agents.get(other.agent));
    let shared: BTreeSet<usize> = agents.flat_map(|agent| &agent.machine.cpu.allowed).copied().collect();
    let all = there().map(|other| used(run, other)).sum::<f64>() / shared.len().max(1) as f64;
    all.max(alone(run, share))
}

/// The share of its processors that an agent used in a test, ignoring control-group limits: these do not apply to other
/// programs.
fn alone(run: &Run, share: &AgentShare) -> f64 {
    let cpus = run.agents.get(share.agent).map_or(1, |agent| agent.machine.cpu.allowed.len().max(1));
    used(run, share) / cpus as f64
}

/// The processors that an agent's clients used in a test, in mean, from when they began.
fn used(run: &Run, share: &AgentShare) -> f64 {
    share.cpu_ns as f64 / share.nanoseconds.saturating_sub(began_late(run, share)).max(1) as f64
}

/// The nanoseconds by which an agent's clients surely began late, if that is too much: what clients that begin an operation
/// as soon as they are free have not done meanwhile is missing from the rate. Operations that arrive wait for them, and
/// their responses have that wait.
fn late_start(run: &Run, trial: &TrialRecord, share: &AgentShare) -> Option<u64> {
    let test = run.tests.iter().find(|test| test.id == share.test)?;
    let mut samples = trial.samples.iter().filter(|sample| sample.sample.test == share.test);
    let arrive = matches!(test.load, Some(Load::Open | Load::Sessions))
        || samples.any(|sample| sample.sought.is_some());
    let late = began_late(run, share).saturating_sub(share.clock_error_ns);
    (!arrive && late as f64 > MOST_LATE_START * share.nanoseconds as f64).then_some(late)
}

/// The processors' worth of time that an agent's control groups allow, if they set a limit.
fn limit(agent: &AgentRecord) -> Option<f64> {
    agent.machine.cpu.quota_ns.filter(|quota| *quota > 0).map(|quota| quota as f64 / 1e9)
}

/// The machine of an agent, by the position of the first agent there.
fn machine(run: &Run, agent: usize) -> usize {
    run.agents.get(agent).and_then(|record| record.same_machine_as).unwrap_or(agent)
}

#[cfg(test)]
mod tests;
