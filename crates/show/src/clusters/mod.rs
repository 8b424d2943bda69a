//! The findings of `dyno prove` on clusters: tables of at most 100 columns, the sentences behind them, and JSON.

mod csv;
mod page;
mod seconds;
mod sentences;

use anyhow::Result;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use dyno_record::{ClusterSubject, FaultTry};
use dyno_verdict::{ClusterJudgement, ClusterVerdict, FaultJudgement};

pub use csv::render as csv;
pub use page::render as page;

use crate::prove_page::WITHHELD;
use crate::units::{duration, rate, whole};
use crate::{pretty, width, wrapped};

/// The heads of the table of faults.
const FAULTS: [&str; 8] =
    ["", "fault", "tries that\nlost commits", "most\nlost", "stalled", "before", "after", "promise"];
/// The heads of the table of late reads.
const READS: [&str; 8] =
    ["", "read at", "late, p50", "p99", "at most", "stale reads", "went back", "a read takes"];

/// The tables, the sentences on each contender, and the seconds of each fault.
pub fn text(verdict: &ClusterVerdict) -> String {
    let mut parts = Vec::new();
    let each = || verdict.record.subjects.iter().zip(&verdict.subjects);
    if !verdict.is_sound {
        parts.push(WITHHELD.to_owned());
    } else if each().any(|(_, judged)| !judged.faults.is_empty()) {
        parts.push(table(&FAULTS, 2, each().flat_map(|(subject, judged)| fault_rows(subject, judged))));
    }
    if each().any(|(subject, _)| !subject.staleness.is_empty()) {
        parts.push(table(&READS, 2, each().flat_map(|(subject, _)| read_rows(subject))));
    }
    for (subject, judged) in each() {
        let lines = sentences::of(verdict, subject, judged);
        let lines = lines.iter().map(|line| wrapped(&format!("{}: {line}", subject.name()), "", "  "));
        parts.push(lines.collect::<Vec<_>>().join("\n"));
    }
    let series: Vec<String> = each().flat_map(|(subject, _)| series(subject)).collect();
    if !series.is_empty() {
        let head = "Commits acknowledged in each second, and in the part of a second before the fault (|):";
        parts.push(format!("{head}\n{}", series.join("\n")));
    }
    parts.push(wrapped(&sentences::scope(verdict), "", ""));
    parts.join("\n\n") + "\n"
}

/// All of the verdict, for programs.
///
/// # Errors
/// It cannot be written as JSON.
pub fn json(verdict: &ClusterVerdict) -> Result<String> {
    pretty(verdict)
}

/// A table whose first columns are texts, and the others numbers.
fn table<const N: usize>(heads: &[&str; N], texts: usize, rows: impl Iterator<Item = [String; N]>) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width() as u16);
    table.add_row(heads);
    rows.for_each(|row| {
        table.add_row(row);
    });
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    for column in table.column_iter_mut().skip(texts) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// The name of a contender in a table.
fn name(subject: &ClusterSubject) -> String {
    if subject.is_control { format!("{} (control)", subject.name()) } else { subject.name() }
}

fn fault_rows(subject: &ClusterSubject, judged: &ClusterJudgement) -> Vec<[String; 8]> {
    let row = |fault: &FaultJudgement| {
        [
            name(subject),
            fault.fault.name().to_owned(),
            format!("{} of {}", fault.lost, fault.tried),
            whole(fault.most_lost),
            fault.stall_ms.map_or("for good".to_owned(), |stall| duration(stall * 1e6)),
            rate(fault.rates[0]),
            rate(fault.rates[1]),
            promise(fault).to_owned(),
        ]
    };
    judged.faults.iter().map(row).collect()
}

/// The state of the promise. That nothing was lost in some tries proves nothing.
fn promise(fault: &FaultJudgement) -> &'static str {
    match fault.promises {
        _ if fault.disproves => "DISPROVED",
        Some(true) if fault.troubled > 0 => "in doubt",
        Some(true) if fault.at_risk == 0 => "hardly tested",
        Some(true) => "not disproved",
        Some(false) => "none",
        None => "-",
    }
}

fn read_rows(subject: &ClusterSubject) -> Vec<[String; 8]> {
    let row = |late: &dyno_record::NodeStaleness| {
        let time = |nanoseconds: u64| duration(nanoseconds as f64);
        let bound = |place: usize| if late.at_least[place] { "≥ " } else { "" };
        [
            name(subject),
            format!("node {}", late.node),
            format!("{}{}", bound(0), time(late.p50_ns)),
            format!("{}{}", bound(1), time(late.p99_ns)),
            format!("{}{}", bound(2), time(late.max_ns)),
            late.stale
                .map_or_else(|| "-".into(), |stale| format!("{} of {}", whole(stale), whole(late.reads))),
            whole(late.backwards),
            time(late.read_ns),
        ]
    };
    subject.staleness.iter().map(row).collect()
}

/// The seconds of each try, counted from its fault on.
fn series(subject: &ClusterSubject) -> Vec<String> {
    let line = |tried: &FaultTry| {
        let fault = (tried.at_ms / 100) as usize;
        let (before, after) = tried.tenths.split_at(fault.min(tried.tenths.len()));
        let sums = |tenths: &[u32]| -> Vec<String> {
            tenths.chunks(10).map(|second| second.iter().sum::<u32>().to_string()).collect()
        };
        // Seconds before the fault end with it.
        let part = before.len() % 10;
        let mut first = sums(&before[part..]);
        if part > 0 {
            first.insert(0, sums(&before[..part]).join(""));
        }
        let text = format!(
            "{}, {}: {} | {}",
            subject.name(),
            tried.fault.name(),
            first.join(" "),
            sums(after).join(" ")
        );
        wrapped(&text, "  ", "    ")
    };
    subject.tries.iter().map(line).collect()
}
