//! The probes as rows of text.

use dyno_verdict::{Probe, Probed, Seen, Verdict};

use crate::grid::Grid;
use crate::plain::plain;
use crate::table_options::TableOptions;

/// The probes, and how columns call them.
const PROBES: [(&str, &str); 4] = [
    ("lost-update", "lost update"),
    ("read-skew", "read skew"),
    ("write-skew", "write skew"),
    ("list-append", "appends to lists"),
];

/// The headers of the columns after the contender.
pub fn columns() -> impl Iterator<Item = String> {
    std::iter::once("has").chain(PROBES.iter().map(|(_, title)| *title)).map(String::from)
}

/// One table for all contenders.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    let probes = &verdict.views.probes;
    if probes.is_empty() {
        return Vec::new();
    }
    let header = [String::new(), "transactions at once".into()].into_iter().chain(columns());
    vec![plain(&Grid { header: header.collect(), rows: rows(verdict) })]
}

/// A row for each contender.
pub fn rows(verdict: &Verdict) -> Vec<Vec<String>> {
    verdict.views.probes.iter().map(|probed| row(verdict, probed)).collect()
}

fn row(verdict: &Verdict, probed: &Probed) -> Vec<String> {
    let level = probed.level.map_or("–", |level| level.name()).to_owned();
    // The probes behind one that failed have no record.
    let has_failed = probed.probes.iter().any(|probe| probe.failed.is_some());
    let missing = if has_failed { "not probed" } else { "–" };
    let cells = PROBES.iter().map(|(name, _)| {
        let probe = probed.probes.iter().find(|probe| probe.probe == *name);
        probe.map_or_else(|| missing.to_owned(), text)
    });
    [String::new(), verdict.label(probed.contender).to_owned(), level].into_iter().chain(cells).collect()
}

/// `not seen`, or what was and whether it may be.
fn text(probe: &Probe) -> String {
    if probe.failed.is_some() {
        return "failed".to_owned();
    }
    let text = |seen: &Seen| {
        let mark = if seen.allowed { "" } else { "✗ " };
        match probe.probe.as_str() {
            "list-append" => format!("{mark}{} {}", seen.count, seen.anomaly.name()),
            _ => format!("{mark}{} of {}", seen.count, probe.committed),
        }
    };
    match &probe.seen[..] {
        [] => "not seen".to_owned(),
        all => all.iter().map(text).collect::<Vec<_>>().join(", "),
    }
}

/// The notes on probes of a contender that failed: it is ranked by what its settings say, unless another probe disproves that.
pub fn failures(label: &str, probed: &Probed) -> Vec<String> {
    let failed = probed.probes.iter().filter_map(|probe| Some((&probe.probe, probe.failed.as_ref()?)));
    let ranked = match probed.is_disproved() {
        true => "",
        false => " dyno ranks it by what its settings say of its isolation.",
    };
    let note = |(probe, why): (&String, &String)| {
        let title = PROBES.iter().find(|(name, _)| name == probe).map(|(_, title)| *title);
        format!(
            "Not probed: {label}, {}: {}.{ranked}",
            title.unwrap_or("no probe of isolation could begin"),
            why.trim_end_matches('.')
        )
    };
    failed.map(note).collect()
}

/// Notes on the probes: first on those that disprove a level.
pub fn notes(verdict: &Verdict) -> Vec<String> {
    let mut notes = Vec::new();
    let mut is_allowed = false;
    for probed in &verdict.views.probes {
        let label = verdict.label(probed.contender);
        for probe in &probed.probes {
            for seen in &probe.seen {
                is_allowed |= seen.allowed;
                if let Some(level) = probed.level.filter(|_| !seen.allowed) {
                    notes.push(format!(
                        "Not isolated: {label} should be {}, which forbids {}: {}. It is not ranked.",
                        level.name(),
                        seen.anomaly.name(),
                        seen.shows
                    ));
                }
            }
        }
        notes.extend(failures(label, probed));
    }
    if is_allowed {
        notes.push(
            "Probes of isolation: what was seen and is not marked is allowed at that level. What was not seen may still happen."
                .to_owned(),
        );
    }
    notes
}
