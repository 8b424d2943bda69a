//! The seconds of a test, as rows of text.

use dyno_verdict::{Timeline, TimelineLine, Verdict};

use super::words;
use crate::grid::{Grid, level_name};
use crate::table::{TableOptions, plain};
use crate::units;

/// What the columns after the contender hold.
pub const COLUMNS: [&str; 6] = ["survives", "seconds", "usual", "least", "stalls", "longest"];

/// What the columns of what went on beside hold.
pub const BESIDE: [&str; 6] =
    ["disk busy", "wait for I/O", "all wait", "for a CPU", "for memory", "the engine made"];

/// A table for each test whose operations were counted by second.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    let grid = |timeline: &Timeline| Grid {
        header: ["", &format!("{}: second by second", timeline.test)]
            .into_iter()
            .chain(COLUMNS)
            .map(String::from)
            .collect(),
        rows: timeline.lines.iter().map(|line| row(verdict, "", line)).collect(),
    };
    let beside = |timeline: &Timeline| {
        let rows: Vec<Vec<String>> =
            timeline.lines.iter().filter_map(|line| surroundings(verdict, "", line)).collect();
        let header = [String::new(), format!("{}: beside the clients", timeline.test)];
        (!rows.is_empty()).then(|| {
            plain(&Grid { header: header.into_iter().chain(BESIDE.map(String::from)).collect(), rows })
        })
    };
    let timelines = verdict.views.timelines.iter();
    timelines.flat_map(|timeline| std::iter::once(plain(&grid(timeline))).chain(beside(timeline))).collect()
}

/// What went on beside a contender's clients, with what stands before its label; none where that is not known.
pub fn surroundings(verdict: &Verdict, first: &str, line: &TimelineLine) -> Option<Vec<String>> {
    let told = line.surroundings.as_ref()?;
    let share = |share: Option<f64>| share.map_or("–".into(), units::percent);
    let upkeep: Vec<String> = told
        .upkeep
        .iter()
        .filter(|(_, times)| **times > 0)
        .map(|(name, times)| words::times(name, *times))
        .collect();
    Some(vec![
        first.to_owned(),
        verdict.label(line.contender).to_owned(),
        share(told.disk_busy),
        share(told.io_some),
        share(told.io_full),
        share(told.cpu_some),
        share(told.memory_some),
        if told.upkeep.is_empty() {
            "–".into()
        } else if upkeep.is_empty() {
            "nothing".into()
        } else {
            upkeep.join(", ")
        },
    ])
}

/// A contender's seconds, with what stands before its label.
pub fn row(verdict: &Verdict, first: &str, line: &TimelineLine) -> Vec<String> {
    let contender = &verdict.contenders[line.contender];
    let seconds = || line.trials.iter().flatten();
    let least = seconds().map(|second| second.per_second).fold(f64::INFINITY, f64::min);
    vec![
        first.to_owned(),
        contender.label.clone(),
        level_name(contender),
        seconds().count().to_string(),
        units::rate(line.usual),
        units::rate(least),
        line.stalls.to_string(),
        match line.stalls {
            0 => "–".into(),
            _ => units::duration(line.longest_ns as f64),
        },
    ]
}
