//! The seconds of a test, as rows of text.

use dyno_verdict::{Timeline, TimelineLine, Verdict};

use crate::grid::{Grid, level_name};
use crate::table::{TableOptions, plain};
use crate::units;

/// What the columns after the contender hold.
pub const COLUMNS: [&str; 6] = ["survives", "seconds", "usual", "least", "stalls", "longest"];

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
    verdict.views.timelines.iter().map(|timeline| plain(&grid(timeline))).collect()
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
