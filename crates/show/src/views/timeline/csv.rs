//! The seconds, as columns.

use dyno_verdict::{Surroundings, TimelineLine, Verdict};

use crate::csv_lines::{Column, Field};

/// The columns of a contender in a test, by their places.
pub fn columns(verdict: &Verdict, contender: usize, test: usize) -> Vec<Column> {
    let id = &verdict.tests[test].id;
    let found = verdict.views.timelines.iter().find(|timeline| timeline.test == *id);
    let line = found.and_then(|found| found.lines.iter().find(|line| line.contender == contender));
    let of = |part: fn(&TimelineLine) -> Field| line.map_or(Field::Absent, part);
    let told = line.and_then(|line| line.surroundings.as_ref());
    let share = |part: fn(&Surroundings) -> Option<f64>| Field::from(told.and_then(part));
    let times = |name: &str| {
        told.and_then(|told| told.upkeep.get(name)).map_or(Field::Absent, |times| (*times).into())
    };
    vec![
        ("seconds", of(|line| line.trials.iter().flatten().count().into())),
        ("stalls", of(|line| line.stalls.into())),
        ("longest_stall_ns", of(|line| line.longest_ns.into())),
        ("disk_busy", share(|told| told.disk_busy)),
        ("cpu_some", share(|told| told.cpu_some)),
        ("memory_some", share(|told| told.memory_some)),
        ("memory_full", share(|told| told.memory_full)),
        ("io_some", share(|told| told.io_some)),
        ("io_full", share(|told| told.io_full)),
        ("checkpoints", times("checkpoints")),
        ("compactions", times("compactions")),
        ("flushes", times("flushes")),
    ]
}
