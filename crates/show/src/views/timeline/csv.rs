//! The seconds, as columns.

use dyno_verdict::{BackgroundActivity, TimelineLine, Verdict};

use crate::csv_column::{Column, Field};

/// The columns of a contender in a test, by their places.
pub fn columns(verdict: &Verdict, contender: usize, test: usize) -> Vec<Column> {
    let id = &verdict.tests[test].id;
    let found = verdict.views.timelines.iter().find(|timeline| timeline.test == *id);
    let line = found.and_then(|found| found.lines.iter().find(|line| line.contender == contender));
    let of = |part: fn(&TimelineLine) -> Field| line.map_or(Field::Absent, part);
    let around = line.and_then(|line| line.surroundings.as_ref());
    let share = |part: fn(&BackgroundActivity) -> Option<f64>| Field::from(around.and_then(part));
    let times = |name: &str| {
        around.and_then(|around| around.upkeep.get(name)).map_or(Field::Absent, |times| (*times).into())
    };
    vec![
        ("seconds", of(|line| line.trials.iter().flatten().count().into())),
        ("stalls", of(|line| line.stalls.into())),
        ("longest_stall_ns", of(|line| line.longest_ns.into())),
        ("disk_busy", share(|around| around.disk_busy)),
        ("cpu_some", share(|around| around.cpu_some)),
        ("memory_some", share(|around| around.memory_some)),
        ("memory_full", share(|around| around.memory_full)),
        ("io_some", share(|around| around.io_some)),
        ("io_full", share(|around| around.io_full)),
        ("checkpoints", times("checkpoints")),
        ("compactions", times("compactions")),
        ("flushes", times("flushes")),
    ]
}
