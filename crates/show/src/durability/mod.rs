//! The findings of `dyno prove`: a table of at most 100 columns with the sentences behind its figures, the same as a
//! page, as CSV and as JSON.

mod csv;
mod damage;
mod page;
mod sentences;

use anyhow::Result;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use dyno_record::{DeviceFailure, DurabilityControls, DurabilityProof, Tally};
use dyno_verdict::{DurabilityVerdict, SubjectVerdict};

use crate::prove_page::WITHHELD;
use crate::{pretty, width, wrapped};

pub use csv::render as csv;
pub use damage::{failure, what};
pub use page::render as page;

const HEADS: [&str; 11] = [
    "survived, of those tried",
    "flushes\na commit",
    "sync\ncalls",
    "cuts",
    "torn\nwrites",
    "lost\nafter ack",
    "kills",
    "data\nbroken",
    "errors",
    "promised",
    "kept",
];

/// The table, the sentences on each subject, and the controls.
pub fn text(verdict: &DurabilityVerdict) -> String {
    let mut parts: Vec<String> = scope(verdict).iter().map(|line| wrapped(line, "", "")).collect();
    if is_withheld(verdict) {
        parts.push(WITHHELD.to_owned());
    } else {
        if verdict.subjects.iter().any(|subject| subject.observed.proof.is_some()) {
            parts.push(table(verdict));
        }
        parts.extend(verdict.subjects.iter().filter_map(|subject| about(verdict, subject)));
    }
    parts.push(wrapped(&controls(verdict.about.controls.as_ref()), "", ""));
    parts.push(format!("Seed {}.", verdict.about.seed));
    parts.extend(verdict.about.kept_in.as_ref().map(|path| {
        let path = path.display();
        wrapped(&format!("Kept in {path}: later tables of these contenders say it."), "", "")
    }));
    parts.join("\n\n") + "\n"
}

/// All of the verdict, for programs: each subject with what was observed and the judgement on it.
///
/// # Errors
/// It cannot be written as JSON.
pub fn json(verdict: &DurabilityVerdict) -> Result<String> {
    pretty(verdict)
}

fn is_withheld(verdict: &DurabilityVerdict) -> bool {
    verdict.controls_behaved == Some(false)
}

/// The limits of everything below.
fn scope(verdict: &DurabilityVerdict) -> Option<String> {
    if let Some(why) = &verdict.about.no_cuts {
        return Some(format!(
            "No power was cut, because no disk of dyno's own can be made here: {why}. What follows is of kills, and of system calls that were watched."
        ));
    }
    verdict.about.only_posix.then(|| {
        "The power was cut of files of which nothing is kept that POSIX does not promise: allowed by POSIX, not seen on ext4."
            .to_owned()
    })
}

fn table(verdict: &DurabilityVerdict) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width() as u16);
    table.add_row(HEADS);
    for row in rows(verdict) {
        table.add_row(row);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// A row for each subject that was tried.
fn rows(verdict: &DurabilityVerdict) -> Vec<[String; 11]> {
    let tried =
        verdict.subjects.iter().filter_map(|subject| Some((subject, subject.observed.proof.as_ref()?)));
    let row = |(subject, proof): (&SubjectVerdict, &DurabilityProof)| {
        [
            subject.observed.label.clone(),
            flushes(verdict, proof),
            proof.calls.as_ref().map_or("-".to_owned(), |seen| each(seen.calls)),
            share(&proof.cuts),
            share(&proof.torn),
            lost(&proof.strict),
            share(&proof.kills),
            (proof.cuts.broken + proof.kills.broken).to_string(),
            errors(proof),
            subject.observed.promised.as_ref().map_or("-", |promised| promised.level.name()).to_owned(),
            kept(subject).to_owned(),
        ]
    };
    tried.map(row).collect()
}

fn kept(subject: &SubjectVerdict) -> &'static str {
    match subject.kept {
        None => "-",
        Some(true) => "yes",
        Some(false) => "NO",
    }
}

/// The flushes that the recorder saw, where there was one.
fn flushes(verdict: &DurabilityVerdict, proof: &DurabilityProof) -> String {
    if verdict.about.no_cuts.is_some() { "-".to_owned() } else { each(proof.observed.flushes) }
}

/// A count for each commit: with a digit more where several commits share one.
fn each(count: f64) -> String {
    match count {
        shared if shared > 0.0 && shared < 0.95 => format!("{shared:.2}"),
        count => format!("{count:.1}"),
    }
}

/// The sentences on a subject, each with its label.
fn about(verdict: &DurabilityVerdict, subject: &SubjectVerdict) -> Option<String> {
    let lines = sentences::of(verdict, subject);
    let label = &subject.observed.label;
    (!lines.is_empty()).then(|| {
        let lines = lines.iter().map(|line| wrapped(&format!("{label}: {line}"), "", "  "));
        lines.collect::<Vec<_>>().join("\n")
    })
}

fn share(tally: &Tally) -> String {
    match tally.tried {
        0 => "-".to_owned(),
        tried => format!("{}/{tried}", tally.survived),
    }
}

/// The failures of the device after which everything acknowledged was there and whole, of those during which the
/// subject acknowledged anything.
fn errors(proof: &DurabilityProof) -> String {
    let counted: Vec<&DeviceFailure> = proof.errors.iter().filter(|failed| failed.acknowledged > 0).collect();
    let survived = counted.iter().filter(|failed| failed.harm.is_none()).count();
    match counted.len() {
        0 => "-".to_owned(),
        tried => format!("{survived}/{tried}"),
    }
}

/// The commits that were lost by the cuts that kept everything that was flushed and nothing else.
fn lost(strict: &Tally) -> String {
    match (strict.tried, strict.most_lost) {
        (0, _) => "-".to_owned(),
        (_, 0) => "0".to_owned(),
        (tried, _) if strict.lost_all == tried => "all".to_owned(),
        (_, most) => format!("up to {most}"),
    }
}

fn controls(controls: Option<&DurabilityControls>) -> String {
    let Some(controls) = controls else {
        return "Without controls: SQLite's runner is not built, or its system calls could not be watched."
            .to_owned();
    };
    let DurabilityControls { loser, loses, keeper, keeps, calls } = controls;
    match calls {
        Some([none, all]) => format!(
            "Controls: {loser} made {:.1} sync calls a commit (it must make none), and {keeper} {:.1}, with {} commits that waited for none (there must be none).",
            none.calls, all.calls, all.without
        ),
        None => format!(
            "Controls: {loser} lost commits at {} of {} cuts right after an acknowledgement (it must at all), and {keeper} survived {} of {} cuts (it must all).",
            loses.lost, loses.tried, keeps.survived, keeps.tried
        ),
    }
}
