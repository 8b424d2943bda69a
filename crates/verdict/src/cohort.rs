//! Runs of the same work on several machines, side by side.
//!
//! Runs of one cohort have the same suite, parameters and load. Times of different machines are never compared: each machine
//! shows the ratio of a contender to the cohort's reference contender *in the same run*, with the interval and the judgement
//! of that run's table.

use std::collections::BTreeMap;

use dyno_record::{Class, Machine, Parameters, Run, Standing, Storage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judge::{Verdict, judge};
use crate::statistics::{Difference, Ratio};

/// A run with the name of its file.
#[derive(Debug, Clone)]
pub struct NamedRun {
    /// The name.
    pub name: String,
    /// The run.
    pub run: Run,
}

/// The facts by which machines are distinguished: two that agree in all of them count as one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct MachineFacts {
    /// The number and model of the processors.
    pub processors: String,
    /// The memory, in GiB.
    pub memory_gib: u64,
    /// The file system and the model of the disk.
    pub storage: String,
}

/// Runs of the same work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cohort {
    /// The suite.
    pub suite: String,
    /// Its title.
    pub title: String,
    /// The parameters.
    pub parameters: Parameters,
    /// The arrival of operations, in words; empty in runs without many clients.
    pub load: String,
    /// The contender with which the others are compared: the one that most machines have.
    pub reference: String,
    /// The machines, with the newest run of each that has the reference.
    pub machines: Vec<CohortMachine>,
    /// The contenders but for the reference.
    pub rows: Vec<CohortRow>,
    /// All runs, by their names, the newest first.
    pub runs: Vec<String>,
}

/// A machine of a cohort.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CohortMachine {
    /// Its facts.
    pub facts: MachineFacts,
    /// The name of the run that is shown.
    pub run: String,
}

/// A contender on every machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CohortRow {
    /// Its label.
    pub label: String,
    /// One for each machine; absent where the machine's run does not have it.
    pub cells: Vec<Option<CohortCell>>,
    /// The number of machines on which it is the reference's equal and shown to be faster.
    pub faster: usize,
    /// The number of machines on which it is the reference's equal and shown to be slower.
    pub slower: usize,
    /// The number of machines on which it is the reference's equal and has trials enough to be compared.
    pub compared: usize,
    /// The number of machines on which the two are not equals, so that the ratio is a price.
    pub prices: usize,
}

/// A contender on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CohortCell {
    /// The geometric mean of its times over the reference's; absent where the run has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// The judgement on that ratio, all comparisons of the run's table counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// True if it is of the reference's class; otherwise the ratio is a price, and no rank.
    pub same_class: bool,
    /// True if `dyno prove` found that the level which its settings promise is not kept.
    pub disproved: bool,
}

impl CohortCell {
    /// True if the two may be ranked together.
    fn is_equal(&self) -> bool {
        self.same_class && !self.disproved
    }
}

/// Groups runs into cohorts, those with the most runs first. Contenders for which `is_published` is false are left out.
pub fn cohorts(runs: &[NamedRun], is_published: impl Fn(&str) -> bool) -> Vec<Cohort> {
    let mut groups: BTreeMap<String, Vec<&NamedRun>> = BTreeMap::new();
    for named in runs.iter().filter(|named| !named.run.is_altered()) {
        groups.entry(key(&named.run)).or_default().push(named);
    }
    let mut cohorts: Vec<Cohort> =
        groups.into_values().filter_map(|group| cohort(group, &is_published)).collect();
    cohorts.sort_by(|one, other| {
        (other.runs.len(), &one.suite, &one.load).cmp(&(one.runs.len(), &other.suite, &other.load))
    });
    cohorts
}

/// The text that runs of the same work have in common.
fn key(run: &Run) -> String {
    let parameters: Vec<String> =
        run.suite.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let only = run.suite.only.as_deref().unwrap_or("all");
    // A suite may have been changed and kept its name.
    let (name, text) = (&run.suite.name, &run.suite.text);
    let bytes = [run.limits.cache_bytes, run.limits.memory_bytes];
    let [cache, memory] =
        bytes.map(|bytes| bytes.map_or_else(|| "any".to_owned(), |bytes| bytes.to_string()));
    let (parameters, load, timed) = (parameters.join("\n"), load(run), run.schedule.statements);
    format!("{name}\n{text}\n{parameters}\n{load}\n{only}\n{cache}\n{memory}\n{timed}")
}

/// The load in words: what `--clients`, `--rate` and the like asked for.
fn load(run: &Run) -> String {
    let kind = run.load().map(|load| load.name().to_owned());
    let numbers = run.shown_tests().filter_map(|test| test.clients.as_ref()).map(|clients| {
        let rate = clients.rate.map(|rate| format!(", {rate} operations a second")).unwrap_or_default();
        format!("{} clients{rate}", clients.clients)
    });
    let mut numbers: Vec<String> = numbers.collect();
    numbers.dedup();
    let network = run.limits.added_ms().map(|added| format!("{added} ms a round trip"));
    // Names of hosts say nothing at another site; that clients came from other machines, and from how many, does.
    let agents = match run.agents.len() {
        0 => None,
        1 => Some("driven by 1 agent".to_owned()),
        agents => Some(format!("driven by {agents} agents")),
    };
    kind.into_iter().chain(numbers).chain(agents).chain(network).collect::<Vec<_>>().join(", ")
}

fn cohort(mut group: Vec<&NamedRun>, is_published: &impl Fn(&str) -> bool) -> Option<Cohort> {
    group.sort_by(|one, other| (&other.run.started, &one.name).cmp(&(&one.run.started, &other.name)));
    let reference = reference(&group, is_published)?;
    let mut shown: BTreeMap<MachineFacts, (&NamedRun, Verdict)> = BTreeMap::new();
    for named in &group {
        let facts = facts(&named.run.machine, &named.run.storage);
        if !shown.contains_key(&facts) && has(&named.run, &reference) {
            let run = Run { baseline: reference.clone(), ..named.run.clone() };
            shown.insert(facts, (named, judge(&run)));
        }
    }
    let first = group.first()?;
    Some(Cohort {
        suite: first.run.suite.name.clone(),
        title: first.run.suite.title.clone(),
        parameters: first.run.suite.parameters.clone(),
        load: load(&first.run),
        rows: rows(&shown, &reference, is_published),
        machines: shown
            .iter()
            .map(|(facts, (named, _))| CohortMachine { facts: facts.clone(), run: named.name.clone() })
            .collect(),
        runs: group.iter().map(|named| named.name.clone()).collect(),
        reference,
    })
}

fn has(run: &Run, label: &str) -> bool {
    run.shown_contenders().any(|(_, contender)| contender.label == label)
}

/// The contender that most machines have; of several the one that is the baseline of most runs, and then the first by name.
fn reference(group: &[&NamedRun], is_published: &impl Fn(&str) -> bool) -> Option<String> {
    let mut counts: BTreeMap<&str, (std::collections::BTreeSet<MachineFacts>, usize)> = BTreeMap::new();
    for named in group {
        let run = &named.run;
        let shown = run.shown_contenders().filter(|(_, contender)| !contender.harness);
        for (_, contender) in shown.filter(|(_, contender)| is_published(&contender.engine)) {
            let (machines, baselines) = counts.entry(&contender.label).or_default();
            machines.insert(facts(&run.machine, &run.storage));
            *baselines += usize::from(run.baseline == contender.label);
        }
    }
    let most = counts.iter().map(|(_, (machines, baselines))| (machines.len(), *baselines)).max()?;
    let found = counts.iter().find(|(_, (machines, baselines))| (machines.len(), *baselines) == most);
    found.map(|(label, _)| (*label).to_owned())
}

fn facts(machine: &Machine, storage: &Storage) -> MachineFacts {
    let model = machine.cpu.model.as_deref().unwrap_or("unknown processor");
    let disk =
        storage.device.as_ref().and_then(|device| device.model.as_deref().or(device.driver.as_deref()));
    MachineFacts {
        processors: format!("{} × {model}", machine.cpu.online),
        memory_gib: machine.memory_bytes.unwrap_or(0).div_ceil(1 << 30),
        storage: disk
            .map_or(storage.file_system.clone(), |disk| format!("{} on {disk}", storage.file_system)),
    }
}

fn rows(
    shown: &BTreeMap<MachineFacts, (&NamedRun, Verdict)>,
    reference: &str,
    is_published: &impl Fn(&str) -> bool,
) -> Vec<CohortRow> {
    let mut labels: Vec<&str> = Vec::new();
    for (_, verdict) in shown.values() {
        for (_, contender) in verdict.shown_contenders() {
            let is_new = contender.label != reference && !labels.contains(&contender.label.as_str());
            if is_new && !contender.harness && is_published(&contender.engine) {
                labels.push(&contender.label);
            }
        }
    }
    let row = |label: &str| {
        let cells: Vec<Option<CohortCell>> =
            shown.values().map(|(_, verdict)| cell(verdict, label)).collect();
        let count =
            |wanted: fn(&CohortCell) -> bool| cells.iter().flatten().filter(|cell| wanted(cell)).count();
        CohortRow {
            label: label.to_owned(),
            faster: count(|cell| cell.is_equal() && cell.difference == Some(Difference::Faster)),
            slower: count(|cell| cell.is_equal() && cell.difference == Some(Difference::Slower)),
            compared: count(|cell| {
                cell.is_equal() && cell.ratio.is_some_and(|ratio| ratio.interval.is_some())
            }),
            prices: count(|cell| !cell.is_equal() && cell.ratio.is_some()),
            cells,
        }
    };
    labels.into_iter().map(row).collect()
}

fn cell(verdict: &Verdict, label: &str) -> Option<CohortCell> {
    let (index, record) = verdict.shown_contenders().find(|(_, contender)| contender.label == label)?;
    let summary = verdict.summaries.iter().find(|summary| summary.contender == index)?;
    let own: Option<Class> = verdict.classes[index];
    Some(CohortCell {
        ratio: summary.geometric_mean,
        difference: summary.difference,
        same_class: own.is_some() && own == verdict.classes[verdict.baseline],
        disproved: record.safety.as_ref().is_some_and(|safety| safety.standing == Standing::Disproved),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_record::AgentRecord;

    use super::*;

    #[test]
    fn runs_whose_clients_were_on_other_machines_are_a_cohort_of_their_own() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
        let run = |name: &str, hosts: &[&str]| {
            let mut run = dyno_record::load(&golden).unwrap();
            let machine = run.machine.clone();
            let agent = |host: &&str| {
                let (host, machine) = ((*host).to_owned(), machine.clone());
                AgentRecord { host, machine, same_machine_as: None }
            };
            run.agents = hosts.iter().map(agent).collect();
            NamedRun { name: name.to_owned(), run }
        };
        let runs = [run("here", &[]), run("there", &["a", "b"]), run("elsewhere", &["c", "d"])];
        let found = cohorts(&runs, |_| true);
        let counts: Vec<usize> = found.iter().map(|cohort| cohort.runs.len()).collect();
        assert_eq!(counts, [2, 1]);
        assert!(found[0].load.contains("driven by 2 agents"), "{}", found[0].load);
    }
}
