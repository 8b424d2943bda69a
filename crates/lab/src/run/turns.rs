//! Decides which contenders take turns within a block, and states why others do not.
//!
//! The rule looks at what is known of a contender before any comparison: its runner, its engine's file (`quiet`), and
//! its warm-up trial's report. It never looks at its speed.

use dyno_plan::Plan;
use dyno_protocol::Model;
use dyno_record::{ContenderRecord, Run};

use crate::machine::available_memory;

/// The share of the memory that is to be had which all contenders that take turns may need together: the rest is for
/// the files that they write.
const MOST_MEMORY: f64 = 0.5;

/// The reason that a contender gives for taking no turns, in any test or in those that write.
type Reason = fn(&mut ContenderRecord) -> &mut Option<String>;

/// Writes into the record why contenders do not take turns; of those that do it says nothing.
pub fn decide(plan: &Plan, run: &mut Run) {
    let of_all = all_apart(plan);
    let reads = plan.tests.iter().any(|test| test.only_reads);
    for (index, contender) in plan.contenders.iter().enumerate() {
        let writing = contender.apart_writing();
        let apart = of_all.clone().or_else(|| contender.apart()).or_else(|| unknown(run, index));
        run.contenders[index].apart = apart.or_else(|| writing.clone().filter(|_| !reads));
        run.contenders[index].apart_writing = writing;
    }
    keep_rivals_alike(plan, run, |contender| &mut contender.apart);
    keep_rivals_alike(plan, run, |contender| &mut contender.apart_writing);
    let together = |run: &Run| {
        let all = run.contenders.iter().enumerate();
        all.filter(|(_, contender)| contender.apart.is_none()).map(|(index, _)| index).collect::<Vec<_>>()
    };
    let needed: u64 = together(run).into_iter().map(|index| peak(run, index)).sum();
    // Without a figure from the kernel, memory counts as unlimited.
    let available = available_memory().unwrap_or(u64::MAX);
    if needed as f64 > MOST_MEMORY * available as f64 {
        let why =
            format!("all at once need {} MiB of memory, and {} are to be had", needed >> 20, available >> 20);
        together(run).into_iter().for_each(|index| run.contenders[index].apart = Some(why.clone()));
    }
    leave_none_alone(run, |contender| &mut contender.apart, "there is no other contender that takes turns");
    for contender in run.contenders.iter_mut().filter(|contender| contender.apart.is_some()) {
        contender.apart_writing = None;
    }
    let why = "no other contender takes turns in tests that write";
    leave_none_alone(run, |contender| &mut contender.apart_writing, why);
}

/// Gives the reason to those that have none of the kind and take turns, where fewer than two of them are contenders:
/// the harness is none to compare with.
fn leave_none_alone(run: &mut Run, kind: Reason, why: &str) {
    let mut left: Vec<&mut ContenderRecord> =
        run.contenders.iter_mut().filter(|contender| contender.apart.is_none()).collect();
    left.retain_mut(|contender| kind(contender).is_none());
    if left.iter().filter(|contender| !contender.harness).count() < 2 {
        left.into_iter().for_each(|contender| *kind(contender) = Some(why.into()));
    }
}

/// If one of the contenders that may be ranked together cannot take turns, none of them does: a turn begins with colder
/// caches than a trial that runs alone. This holds of all tests and of those that write.
fn keep_rivals_alike(plan: &Plan, run: &mut Run, kind: Reason) {
    let classes: Vec<_> = (0..run.contenders.len()).map(|index| run.class(index)).collect();
    let all = run.contenders.iter().zip(&plan.contenders).zip(&classes);
    let unable: Vec<_> = all
        .filter(|((other, planned), _)| !other.harness && !planned.named_apart)
        .filter(|((other, _), _)| kind(&mut (*other).clone()).is_some())
        .filter_map(|((other, _), class)| Some((*class.as_ref()?, other.label.clone())))
        .collect();
    for (contender, own) in run.contenders.iter_mut().zip(classes) {
        let rival = unable.iter().find(|(other, _)| Some(*other) == own);
        if let Some((_, rival)) = rival.filter(|_| !contender.harness && kind(contender).is_none()) {
            *kind(contender) = Some(format!("{rival} may be ranked with it and takes no turns"));
        }
    }
}

/// Writes into the record that no contender takes turns.
pub fn apart_for_all(run: &mut Run, why: &str) {
    run.contenders.iter_mut().for_each(|contender| contender.apart = Some(why.to_owned()));
}

/// The reason that the tests of a run leave no room for turns.
fn all_apart(plan: &Plan) -> Option<String> {
    let has =
        |model: Model| plan.tests.iter().map(|test| &test.record).find(|test| test.model == model.name());
    if let Some(test) = has(Model::Mix) {
        return Some(format!("test {} has many clients at work at once", test.id));
    }
    has(Model::ImportFile).map(|test| format!("test {} imports a file, which is one piece", test.id))
}

/// The reason that nothing is known of a contender.
fn unknown(run: &Run, contender: usize) -> Option<String> {
    let finished =
        |trial: &&dyno_record::TrialRecord| trial.contender == contender && trial.failure.is_none();
    match run.trials.iter().find(finished) {
        Some(_) => None,
        None => Some("its warm-up trial did not finish, so nothing is known of its pace".into()),
    }
}

/// The most memory that a contender's runner had, in bytes.
fn peak(run: &Run, contender: usize) -> u64 {
    let trials = run.trials.iter().filter(|trial| trial.contender == contender);
    let peaks = trials.flat_map(|trial| &trial.samples);
    peaks.map(|sample| sample.sample.section.client.peak_memory_bytes).max().unwrap_or(0)
}
