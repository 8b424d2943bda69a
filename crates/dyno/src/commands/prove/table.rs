//! Proofs as text for a terminal: a table of at most 100 columns, and what stands behind its figures.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use dyno_prove::judge::Tally;
use dyno_prove::proof::{Failure, Proof};
use dyno_show::{WIDTH, wrapped};

use super::controls::Controls;
use super::{Proved, Report};

const HEADS: [&str; 9] = [
    "",
    "flushes\na commit",
    "cuts\nsurvived",
    "torn\nwrites",
    "lost right\nafter ack",
    "kills\nsurvived",
    "broken\ndata",
    "promised",
    "kept",
];

/// Everything.
pub fn render(report: &Report) -> String {
    let withheld = report.controls.as_ref().is_some_and(|controls| !controls.behaved());
    let mut parts = Vec::new();
    if withheld {
        parts.push("No verdict: a control did not behave, so nothing here can be believed.".to_owned());
    } else {
        parts.push(table(&report.subjects));
        parts.extend(report.subjects.iter().filter_map(about));
    }
    parts.push(wrapped(&controls(report.controls.as_ref()), "", ""));
    parts.push(format!("Seed {}.", report.seed));
    parts.join("\n\n") + "\n"
}

fn table(subjects: &[Proved]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH as u16);
    table.add_row(HEADS);
    for (proved, proof) in subjects.iter().filter_map(|proved| Some((proved, proved.proof.as_ref()?))) {
        let [promised, kept] = promise(proved);
        table.add_row([
            proved.label.clone(),
            format!("{:.1}", proof.observed.flushes),
            share(&proof.cuts),
            share(&proof.torn),
            lost(&proof.strict),
            share(&proof.kills),
            (proof.cuts.broken + proof.kills.broken).to_string(),
            promised,
            kept,
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// What its settings promise, and whether that was kept.
fn promise(proved: &Proved) -> [String; 2] {
    let Some(claimed) = &proved.promised else { return ["-", "-"].map(str::to_owned) };
    let kept = if proved.breaches.is_empty() { "yes" } else { "NO" };
    [claimed.level.name(), kept].map(str::to_owned)
}

/// What there is to say of one beside its row.
fn about(proved: &Proved) -> Option<String> {
    let lines: Vec<String> = match (&proved.proof, &proved.why_not) {
        (Some(proof), _) => sentences(proof, &proved.breaches),
        (None, why) => {
            vec![format!("it could not be proved: {}", why.as_deref().unwrap_or("for no known reason"))]
        }
    };
    (!lines.is_empty()).then(|| {
        let lines = lines.iter().map(|line| wrapped(&format!("{}: {line}", proved.label), "", "  "));
        lines.collect::<Vec<_>>().join("\n")
    })
}

fn sentences(proof: &Proof, breaches: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(why) = &proof.incomplete {
        lines.push(format!("it did not come to its end: {why}"));
    }
    if proof.observed.commits == 0 {
        lines.push("it acknowledged no commit".to_owned());
        return lines;
    }
    if !proof.notices_loss {
        lines.push(
            "it does not notice that a disk forgot everything, so nothing can be said of it".to_owned(),
        );
    }
    if let Some(bound) = proof.cuts.bound() {
        let tried = proof.cuts.tried;
        let percent = 100.0 * bound;
        lines.push(format!(
            "survived {tried} of {tried} cuts: loss in at most {percent:.1} % of such cuts at 95 %"
        ));
    }
    if proof.observed.unflushed > 0 {
        lines.push(format!(
            "{} of {} commits were acknowledged without a flush",
            proof.observed.unflushed, proof.observed.commits
        ));
    }
    if proof.observed.bundled > 0 {
        lines.push(format!(
            "{} acknowledgements came several in one write and may be late: flush the standard output after each line",
            proof.observed.bundled
        ));
    }
    if proof.unmountable > 0 {
        lines.push(format!("after {} cuts ext4 could not be mounted", proof.unmountable));
    }
    lines.extend(breaches.iter().map(|breach| format!("broke its promise of {breach}")));
    lines.extend(proof.failures.first().map(failure));
    lines
}

fn failure(failure: &Failure) -> String {
    let lost: Vec<String> = failure.verdict.lost.iter().map(u64::to_string).collect();
    let mut what = failure.verdict.broken.clone();
    match lost.len() {
        0 => {}
        1 => what.insert(0, format!("commit {} is gone", lost[0])),
        _ => what.insert(0, format!("commits {} to {} are gone", lost[0], lost[lost.len() - 1])),
    }
    format!("first failure: {}: {}", failure.after, what.join("; "))
}

fn share(tally: &Tally) -> String {
    match tally.tried {
        0 => "-".to_owned(),
        tried => format!("{} of {tried}", tally.survived),
    }
}

/// How many commits the cuts took that kept everything that was flushed and nothing else.
fn lost(strict: &Tally) -> String {
    match (strict.tried, strict.most_lost) {
        (0, _) => "-".to_owned(),
        (_, 0) => "0".to_owned(),
        (tried, _) if strict.lost_all == tried => "all".to_owned(),
        (_, most) => format!("up to {most}"),
    }
}

fn controls(controls: Option<&Controls>) -> String {
    match controls {
        None => "Without controls: SQLite's runner is not built.".to_owned(),
        Some(controls) => format!("Controls: {}.", controls.describe()),
    }
}
