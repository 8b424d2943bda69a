//! Sustained rates, as rows of text below the sentence that states them.

use dyno_verdict::{Outcome, Sustained, SustainedLine, Verdict};

use super::words;
use crate::grid::Grid;
use crate::headings;
use crate::plain::plain;
use crate::table_options::TableOptions;
use crate::{units, wrapped};

/// The headers of the columns after the contender.
pub const COLUMNS: [&str; 6] = ["survives", "sustained", "95%", "held", "closed", "of closed"];

/// A sentence and a table for each test whose rate was sought.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    let sustained = verdict.views.sustained.iter();
    let table = |sustained: &Sustained| {
        let header = [String::new(), format!("{}: {}", sustained.test, words::target(&sustained.target))];
        let grid = Grid {
            header: header.into_iter().chain(COLUMNS.map(String::from)).collect(),
            rows: sustained.lines.iter().map(|line| row(verdict, "", line)).collect(),
        };
        [wrapped(&words::sentence(verdict, sustained), "", "  "), plain(&grid)]
    };
    sustained.flat_map(table).collect()
}

/// A row with a contender's sustained rate, and with `first` before its label.
pub fn row(verdict: &Verdict, first: &str, line: &SustainedLine) -> Vec<String> {
    let held = line.tries.iter().filter(|each| each.sought.held).count();
    let span = match &line.outcome {
        Outcome::Sustains { interval, .. } => interval.as_ref().map(words::span),
        Outcome::AtLeast { .. } | Outcome::NotSustained { .. } => None,
    };
    let none = || "–".to_owned();
    vec![
        first.to_owned(),
        verdict.label(line.contender).to_owned(),
        headings::level_name(&verdict.contenders[line.contender]),
        format!("{}{}", words::outcome(&line.outcome), if line.best { " *" } else { "" }),
        span.unwrap_or_else(none),
        format!("{held} of {}", line.tries.len()),
        words::rate(line.closed),
        line.outcome.per_second().map_or_else(none, |rate| units::percent(rate / line.closed)),
    ]
}
