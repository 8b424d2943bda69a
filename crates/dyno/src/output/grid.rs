//! The results as rows of text: what the terminal table and Markdown have in common.

use super::units;
use crate::record::{ContenderRecord, Run};
use crate::statistics::{Difference, Ratio};
use crate::verdict::{Cell, CellStanding, Verdict};

/// A table of text. The first two columns name the test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// The header of each column; several lines where needed.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

/// How much stands in a contender's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Median, spread, ratio and its interval.
    Interval,
    /// Median, spread and ratio.
    Ratio,
}

/// The grid of some of the contenders, given by their places among those shown.
pub fn results(run: &Run, verdict: &Verdict, places: &[usize], detail: Detail) -> Grid {
    let shown: Vec<(usize, &ContenderRecord)> = run.shown_contenders().collect();
    let baseline = run.baseline_index();
    let mut header = vec![String::new(), "test".to_owned()];
    for &place in places {
        let (index, contender) = shown[place];
        header.push(format!("{}\n{}", contender.label, level_name(contender)));
        if index != baseline {
            header.push("ratio\n".to_owned());
        }
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for test in &verdict.tests {
        let mut row = vec![test.id.clone(), test.title.clone()];
        for &place in places {
            let cell = &test.cells[place];
            row.push(time(cell));
            if cell.contender != baseline {
                row.push(ratio_of(cell, detail));
            }
        }
        rows.push(row);
    }
    if verdict.summaries.iter().any(|summary| summary.geometric_mean.is_some()) {
        rows.push(summary_row(verdict, places, baseline, detail));
    }
    Grid { header, rows }
}

/// Published figures beside today's medians, in seconds.
pub fn published(run: &Run, verdict: &Verdict) -> Option<Grid> {
    let mut systems: Vec<&String> = run.shown_tests().flat_map(|test| test.published.keys()).collect();
    systems.sort();
    systems.dedup();
    if systems.is_empty() {
        return None;
    }
    let mut header = vec![String::new(), "test".to_owned()];
    header.extend(run.shown_contenders().map(|(_, contender)| format!("{}\ntoday", contender.label)));
    header.extend(systems.iter().map(|system| format!("{system}\npublished")));
    let rows = run.shown_tests().zip(&verdict.tests).map(|(test, judged)| {
        let mut row = vec![test.id.clone(), test.title.clone()];
        row.extend(judged.cells.iter().map(|cell| match &cell.figures.summary {
            Some(summary) => units::significant(summary.median / 1e9),
            None => "–".into(),
        }));
        row.extend(systems.iter().map(|system| match test.published.get(*system) {
            Some(seconds) => format!("{seconds:.3}"),
            None => "–".into(),
        }));
        row
    });
    Some(Grid { header, rows: rows.collect() })
}

/// What each test took beside time, of one contender (by its place among those shown).
pub fn costs(run: &Run, verdict: &Verdict, place: usize) -> Grid {
    let label = run.shown_contenders().nth(place).map_or("", |(_, contender)| contender.label.as_str());
    let header = ["", label, "time", "CPU user", "CPU system", "read", "written", "memory", "database"];
    let rows = verdict.tests.iter().map(|test| {
        let figures = &test.cells[place].figures;
        let mut row = vec![test.id.clone(), test.title.clone()];
        match (&figures.summary, &figures.costs) {
            (Some(summary), Some(costs)) => {
                row.extend([summary.median, costs.user_ns, costs.system_ns].map(units::duration));
                row.extend(
                    [
                        costs.device_read_bytes,
                        costs.device_written_bytes,
                        costs.peak_memory_bytes,
                        costs.database_bytes,
                    ]
                    .map(units::bytes),
                );
            }
            _ => row.extend(["–"; 7].map(String::from)),
        }
        row
    });
    Grid { header: header.map(String::from).to_vec(), rows: rows.collect() }
}

/// The name of a contender's safety level, as in headers.
pub fn level_name(contender: &ContenderRecord) -> String {
    if contender.harness {
        return "the harness".into();
    }
    match &contender.safety {
        None => "safety unknown".into(),
        Some(safety) => {
            let caveat = if safety.caveat.is_some() { " †" } else { "" };
            format!("{}{caveat}", safety.level.name())
        }
    }
}

/// `312 ms ±3%` with its marks.
pub fn time(cell: &Cell) -> String {
    let Some(summary) = &cell.figures.summary else { return "failed".into() };
    let spread = match summary.sd {
        Some(sd) if summary.median > 0.0 => format!(" ±{}", units::percent(sd / summary.median)),
        _ => String::new(),
    };
    let mark = match cell.standing {
        CellStanding::Wrong(_) => " ✗",
        _ if cell.fastest => " *",
        _ => "",
    };
    format!("{}{spread}{mark}", units::duration(summary.median))
}

/// `2.29× (2.10–2.41)`, marked where it is no difference.
pub fn ratio_of(cell: &Cell, detail: Detail) -> String {
    match (&cell.standing, &cell.ratio) {
        (CellStanding::Wrong(_), _) => "wrong".into(),
        (_, None) => "–".into(),
        (_, Some(ratio)) => {
            let mark = if matches!(cell.difference, Some(Difference::None(_))) { " ≈" } else { "" };
            format!("{}{mark}", with_interval(ratio, detail))
        }
    }
}

fn with_interval(ratio: &Ratio, detail: Detail) -> String {
    let text = units::ratio(ratio.ratio);
    match ratio.interval.filter(|_| detail == Detail::Interval) {
        Some(interval) => {
            format!("{text} ({}–{})", units::significant(interval.low), units::significant(interval.high))
        }
        None => text,
    }
}

fn summary_row(verdict: &Verdict, places: &[usize], baseline: usize, detail: Detail) -> Vec<String> {
    let tests = verdict.summaries.first().map_or(0, |summary| summary.tests);
    let mut row = vec![String::new(), format!("geometric mean, {tests} tests")];
    for &place in places {
        let summary = &verdict.summaries[place];
        row.push(String::new());
        if summary.contender != baseline {
            row.push(match &summary.geometric_mean {
                Some(ratio) => {
                    let mark = match (summary.same_level, ratio.is_difference()) {
                        (false, _) => " ‡",
                        (true, false) => " ≈",
                        (true, true) => "",
                    };
                    format!("{}{mark}", with_interval(ratio, detail))
                }
                None => "–".into(),
            });
        }
    }
    row
}
