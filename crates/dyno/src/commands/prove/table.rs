//! Proofs as text for a terminal: a table of at most 100 columns, and what stands behind its figures.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use dyno_prove::calls::Seen;
use dyno_prove::errors::Failed;
use dyno_prove::judge::Verdict;
use dyno_prove::proof::{Failure, Proof};
use dyno_prove::storage::StorageKind;
use dyno_record::Tally;
use dyno_show::{WIDTH, survived, upkeep_in_words, wrapped};
use dyno_verdict::Survived;

use super::controls::Controls;
use super::{Proved, Report, damage};

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

/// Everything.
pub fn render(report: &Report) -> String {
    let withheld = report.controls.as_ref().is_some_and(|controls| !controls.behaved());
    let mut parts: Vec<String> = above(report).iter().map(|line| wrapped(line, "", "")).collect();
    if withheld {
        parts.push("No verdict: a control did not behave, so nothing here can be believed.".to_owned());
    } else {
        if report.subjects.iter().any(|proved| proved.proof.is_some()) {
            parts.push(table(report));
        }
        parts.extend(report.subjects.iter().filter_map(|proved| about(proved, report)));
    }
    parts.push(wrapped(&controls(report.controls.as_ref()), "", ""));
    parts.push(format!("Seed {}.", report.seed));
    parts.extend(report.kept_in.as_ref().map(|path| {
        let path = path.display();
        wrapped(&format!("Kept in {path}: later tables of these contenders say it."), "", "")
    }));
    parts.join("\n\n") + "\n"
}

/// What must be known of everything below.
fn above(report: &Report) -> Option<String> {
    if let Some(why) = &report.no_cuts {
        return Some(format!(
            "No power was cut, because no disk of dyno's own can be made here: {why}. What follows is of kills, and of system calls that were watched."
        ));
    }
    (report.ground == StorageKind::Files.name()).then(|| {
        "The power was cut of files of which nothing is kept that POSIX does not promise: allowed by POSIX, not seen on ext4."
            .to_owned()
    })
}

fn table(report: &Report) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH as u16);
    table.add_row(HEADS);
    for (proved, proof) in report.subjects.iter().filter_map(|proved| Some((proved, proved.proof.as_ref()?)))
    {
        let [promised, kept] = promise(proved);
        table.add_row([
            proved.label.clone(),
            flushes(report, proof),
            proof.calls.as_ref().map_or("-".to_owned(), |seen| each(seen.calls)),
            share(&proof.cuts),
            share(&proof.torn),
            lost(&proof.strict),
            share(&proof.kills),
            (proof.cuts.broken + proof.kills.broken).to_string(),
            errors(proof),
            promised,
            kept,
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// What the recorder saw, where there was one.
fn flushes(report: &Report, proof: &Proof) -> String {
    if report.no_cuts.is_some() { "-".to_owned() } else { each(proof.observed.flushes) }
}

/// How many for each commit: with a digit more where several shared one.
fn each(count: f64) -> String {
    match count {
        shared if shared > 0.0 && shared < 0.95 => format!("{shared:.2}"),
        count => format!("{count:.1}"),
    }
}

/// What its settings promise, and whether that was kept.
fn promise(proved: &Proved) -> [String; 2] {
    let promised = proved.promised.as_ref().map_or("-", |claimed| claimed.level.name());
    let kept = match proved.kept {
        None => "-",
        Some(true) => "yes",
        Some(false) => "NO",
    };
    [promised, kept].map(str::to_owned)
}

/// What there is to say of one beside its row.
fn about(proved: &Proved, report: &Report) -> Option<String> {
    let lines: Vec<String> = match (&proved.proof, &proved.why_not) {
        (Some(proof), _) => sentences(proof, &proved.breaches, report),
        (None, why) => {
            vec![format!("it could not be proved: {}", why.as_deref().unwrap_or("for no known reason"))]
        }
    };
    (!lines.is_empty()).then(|| {
        let lines = lines.iter().map(|line| wrapped(&format!("{}: {line}", proved.label), "", "  "));
        lines.collect::<Vec<_>>().join("\n")
    })
}

fn sentences(proof: &Proof, breaches: &[String], report: &Report) -> Vec<String> {
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
    let cuts = Survived::of(&proof.cuts, Some(&proof.drawn));
    let cuts = cuts.map(|cuts| cuts.in_runs(proof.runs as u64, Some(proof.harmed_runs as u64)));
    lines.extend(cuts.map(|cuts| survived(&cuts, "cuts")));
    lines.extend(recorded(proof));
    if proof.rounds.tried > 0 {
        lines.push(format!(
            "{} of these cuts came while it recovered from another cut or worked on after it",
            proof.rounds.tried
        ));
    }
    lines.extend(damage::garbage(proof));
    if let Some(why) = &proof.rounds_stopped {
        lines.push(format!("after a cut it did not go on to its end: {why}"));
    }
    if proof.observed.unflushed > 0 {
        lines.push(format!(
            "{} of {} commits were acknowledged without a flush",
            proof.observed.unflushed, proof.observed.commits
        ));
    }
    lines.extend(proof.calls.as_ref().map(calls));
    lines
        .extend(proof.calls_unseen.iter().map(|why| format!("its system calls could not be watched: {why}")));
    if proof.observed.bundled > 0 {
        lines.push(format!(
            "{} acknowledgements came several in one write and may be late: flush the standard output after each line",
            proof.observed.bundled
        ));
    }
    if proof.late > 0 {
        let why = proof.late_why.as_deref().unwrap_or("it took too long");
        lines.push(format!(
            "{} times the data were not looked at, which says nothing of them: {why}; give it more time by --timeout",
            proof.late
        ));
    }
    if let Some(first) = &proof.unrepeated_first {
        lines.push(format!(
            "{} times something was wrong that was not when the same data were looked at again, as after {}",
            proof.unrepeated,
            failure(first)
        ));
    }
    if proof.unmountable > 0 {
        lines.push(format!("after {} cuts {} could not be mounted", proof.unmountable, report.ground));
    }
    lines.extend(breaches.iter().map(|breach| format!("broke its promise of {breach}")));
    lines.extend(proof.failures.first().map(|first| format!("first failure: {}", failure(first))));
    lines.extend(proof.kept_in.iter().map(|folder| {
        format!(
            "the smallest cut that does harm is kept in {}, with a script that looks again",
            folder.display()
        )
    }));
    lines.extend(proof.errors.iter().filter(|failed| !failed.verdict.is_survived()).map(fault));
    lines.extend(
        proof.errors_stopped.iter().map(|why| format!("devices that fail could not all be tried: {why}")),
    );
    lines.extend(damage::restarts(proof));
    lines.extend(damage::corruption(proof));
    lines
}

/// What of the work was recorded and cut.
fn recorded(proof: &Proof) -> Option<String> {
    let upkeep = upkeep_in_words(&proof.upkeep);
    let runs = if proof.runs == 1 { "1 run".to_owned() } else { format!("{} runs", proof.runs) };
    let commits = proof.observed.commits;
    (proof.cuts.tried > 0).then(|| match upkeep.is_empty() {
        true => format!("recorded in {runs} of {commits} commits; no cut came within a checkpoint or an orderly close that wrote anything"),
        false => format!("recorded in {runs} of {commits} commits; cuts came within {upkeep}"),
    })
}

/// What it asked of the system, by name.
fn calls(seen: &Seen) -> String {
    let by_name = seen.by_name.iter().map(|(name, count)| format!("{count:.1} {name}"));
    match seen.by_name.is_empty() {
        true => "it asks the system for no sync in a commit".to_owned(),
        false => format!("calls in a commit: {}", by_name.collect::<Vec<_>>().join(", ")),
    }
}

/// After what something was wrong, and what.
pub fn failure(failure: &Failure) -> String {
    format!("{}: {}", failure.after, what(&failure.verdict))
}

fn fault(failed: &Failed) -> String {
    let said = if failed.said.is_some() { "it stopped with an error" } else { "it went on and said nothing" };
    let Failed { device, acknowledged, afterwards, .. } = failed;
    let what = what(&failed.verdict);
    format!(
        "when {device}: {said}, with {acknowledged} commits acknowledged, {afterwards} of them after that; {what}"
    )
}

/// What is wrong.
pub fn what(verdict: &Verdict) -> String {
    let lost: Vec<u64> = verdict.lost.iter().copied().collect();
    let name = |commit| dyno_prove::judge::name(commit, verdict.is_by_client);
    let gone = match lost.as_slice() {
        [] => None,
        [one] => Some(format!("{} is gone", name(*one))),
        [first, ..] => Some(format!("{} commits are gone, the first is {}", lost.len(), name(*first))),
    };
    gone.into_iter().chain(verdict.broken.first().cloned()).collect::<Vec<_>>().join("; ")
}

fn share(tally: &Tally) -> String {
    match tally.tried {
        0 => "-".to_owned(),
        tried => format!("{}/{tried}", tally.survived),
    }
}

/// After how many of the failures of its device all was there that it had acknowledged, and whole; of those in which it
/// acknowledged anything.
fn errors(proof: &Proof) -> String {
    let counted: Vec<&Failed> = proof.errors.iter().filter(|failed| failed.acknowledged > 0).collect();
    let survived = counted.iter().filter(|failed| failed.verdict.is_survived()).count();
    match counted.len() {
        0 => "-".to_owned(),
        tried => format!("{survived}/{tried}"),
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
        None => "Without controls: SQLite's runner is not built, or nobody could watch it.".to_owned(),
        Some(controls) => format!("Controls: {}.", controls.describe()),
    }
}
