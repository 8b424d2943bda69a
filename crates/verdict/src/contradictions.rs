//! Contradictions in a record: what its samples say is held against what else it says.
//!
//! A run file holds samples and no figure, so nothing in it was worked out that could be wrong. What can be wrong is a
//! sample that was put in or changed, by a person who also made the file's seals anew. This finds those that do not fit
//! the rest; it cannot find one that was made up well.

use std::collections::{BTreeMap, BTreeSet};

use dyno_protocol::{Class, Cost, Section};
use dyno_record::{Ended, Run, SampleRecord, TrialRecord};

/// By this much the processor time of a section may exceed what its processors had, in nanoseconds: it is counted in
/// ticks, and just outside of the clock.
const TICKS_NS: u64 = 200_000_000;

/// The sentences that say where a record contradicts itself; none if it does not.
pub fn contradictions(run: &Run) -> Vec<String> {
    let mut found = BTreeSet::new();
    for (place, trial) in run.trials.iter().enumerate() {
        let of =
            |why: String| format!("trial {}, {}: {why}", place + 1, run.contenders[trial.contender].label);
        found.extend(in_trial(run, trial).into_iter().map(of));
    }
    found.into_iter().chain(repeated(run)).chain(missing(run)).collect()
}

/// Blocks follow one another, and a file whose run has not ended may be the part of one that looks best.
fn missing(run: &Run) -> Option<String> {
    let blocks: BTreeSet<u32> = run.trials.iter().map(|trial| trial.block).collect();
    let first = u32::from(!run.schedule.warm_up);
    let gap = (first..).zip(&blocks).find(|(wanted, block)| wanted != *block);
    match gap {
        Some((wanted, _)) => Some(format!("block {wanted} is missing")),
        None => (run.ended == Ended::Running).then(|| "the file ends before the run does".to_owned()),
    }
}

/// A contender has one trial in a block.
fn repeated(run: &Run) -> Vec<String> {
    let mut trials: BTreeMap<(u32, usize), usize> = BTreeMap::new();
    for trial in &run.trials {
        *trials.entry((trial.block, trial.contender)).or_default() += 1;
    }
    let twice = trials.into_iter().filter(|(_, count)| *count > 1);
    twice
        .map(|((block, contender), count)| {
            format!("block {block} has {count} trials of {}", run.contenders[contender].label)
        })
        .collect()
}

fn in_trial(run: &Run, trial: &TrialRecord) -> Vec<String> {
    let mut found = Vec::new();
    let mut tests = BTreeSet::new();
    for sample in &trial.samples {
        let test = &sample.sample.test;
        if !tests.insert(test) {
            found.push(format!("test {test} has two samples"));
        }
        found.extend(in_sample(run, sample).into_iter().map(|why| format!("test {test}: {why}")));
    }
    let whole: u64 = trial.samples.iter().map(|sample| sample.sample.section.nanoseconds).sum();
    if run.ended != Ended::Running && trial.began_ns.saturating_add(whole) > run.elapsed_ns {
        found.push("its samples end after the run".to_owned());
    }
    found
}

fn in_sample(run: &Run, sample: &SampleRecord) -> Vec<String> {
    let Section { nanoseconds, client, server, .. } = &sample.sample.section;
    let mut found = Vec::new();
    if *nanoseconds == 0 && sample.sample.operations > 0 {
        found.push("its operations took no time".to_owned());
    }
    let processors = run.machine.cpu.online.max(1) as u64;
    let most = nanoseconds.saturating_mul(processors).saturating_add(TICKS_NS);
    let taken = |cost: &Cost| cost.user_ns.saturating_add(cost.system_ns);
    if taken(client) > most || server.as_ref().is_some_and(|server| taken(server) > most) {
        found.push("it took more processor time than its processors had".to_owned());
    }
    found.extend(sample.sample.classes.iter().filter_map(in_class));
    found.extend(in_functions(sample).map(str::to_owned));
    found
}

/// The instructions of functions are those of the section, and those left out have no more than any that is kept.
fn in_functions(sample: &SampleRecord) -> Option<&'static str> {
    let functions = sample.functions.as_ref()?;
    let whole = sample.sample.section.counts.get("instructions").copied();
    let sum = functions.functions().fold(0, |sum: u64, (_, _, count)| sum.saturating_add(count));
    let left_out = functions.left_out_at_most;
    let named = functions.functions().filter(|(_, name, _)| !name.is_empty());
    let least = named.map(|(_, _, count)| count).min().unwrap_or(u64::MAX);
    match whole {
        None => Some("it has functions and no instructions"),
        Some(whole) if sum > whole => Some("its functions executed more instructions than it did"),
        Some(whole) if left_out == 0 && sum != whole => {
            Some("its functions do not add up to its instructions")
        }
        Some(whole) if left_out > 0 && whole - sum < left_out => {
            Some("a function that was left out executed more instructions than are left")
        }
        Some(_) if left_out > least => {
            Some("a function that was left out executed more instructions than one that was kept")
        }
        Some(_) => None,
    }
}

/// The histogram of a class holds each operation that was done.
fn in_class(class: &Class) -> Option<String> {
    let histogram = class.response.histogram();
    let Ok(histogram) = histogram else {
        return Some(format!("the histogram of {} is unreadable", class.class));
    };
    let timed = histogram?.len();
    (timed != class.done).then(|| {
        format!("{} operations of {} were done, and the histogram has {timed}", class.done, class.class)
    })
}
