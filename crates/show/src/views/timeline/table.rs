//! The seconds of a test, as rows of text.

use dyno_verdict::{Timeline, TimelineLine, Verdict};

use super::words;
use crate::grid::Grid;
use crate::headings::level_name;
use crate::plain::plain;
use crate::table_options::TableOptions;
use crate::units;

/// The headers of the columns after the contender.
pub const COLUMNS: [&str; 6] = ["survives", "seconds", "usual", "least", "stalls", "longest"];

/// The headers of the columns of the activity besides the clients.
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
        let header = [String::new(), format!("{}: during the test", timeline.test)];
        (!rows.is_empty()).then(|| {
            plain(&Grid { header: header.into_iter().chain(BESIDE.map(String::from)).collect(), rows })
        })
    };
    let timelines = verdict.views.timelines.iter();
    timelines.flat_map(|timeline| std::iter::once(plain(&grid(timeline))).chain(beside(timeline))).collect()
}

/// The activity besides a contender's clients, with `first` before its label; `None` if that is not known.
pub fn surroundings(verdict: &Verdict, first: &str, line: &TimelineLine) -> Option<Vec<String>> {
    let around = line.surroundings.as_ref()?;
    let share = |share: Option<f64>| share.map_or("–".into(), units::percent);
    let upkeep: Vec<String> = around
        .upkeep
        .iter()
        .filter(|(_, times)| **times > 0)
        .map(|(name, times)| words::times(name, *times))
        .collect();
    Some(vec![
        first.to_owned(),
        verdict.label(line.contender).to_owned(),
        share(around.disk_busy),
        share(around.io_some),
        share(around.io_full),
        share(around.cpu_some),
        share(around.memory_some),
        if around.upkeep.is_empty() {
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
