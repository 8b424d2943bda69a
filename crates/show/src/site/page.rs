//! The data of the index for its template.

use anyhow::Result;
use dyno_verdict::statistics::{Difference, NoDifference};
use dyno_verdict::{Cohort, CohortCell, CohortRow};
use serde::Serialize;

use super::SiteRun;
use crate::report::set_with_script;
use crate::units;

/// Shows what the address asks for.
const SCRIPT: &str = include_str!("../../report/site.js");
/// As many digits of a digest are shown.
const SHOWN: usize = 12;

#[derive(Serialize)]
struct SiteIndex<'a> {
    title: &'static str,
    dyno: &'static str,
    runs: usize,
    machines: String,
    cohorts: Vec<CohortTable<'a>>,
    listed: Vec<ListedRun<'a>>,
    refused: Vec<&'a SiteRun>,
}

/// A cohort as a table.
#[derive(Serialize)]
struct CohortTable<'a> {
    anchor: String,
    suite: &'a str,
    title: &'a str,
    parameters: String,
    load: &'a str,
    reference: &'a str,
    machines: Vec<MachineColumn<'a>>,
    rows: Vec<ContenderRow<'a>>,
}

#[derive(Serialize)]
struct MachineColumn<'a> {
    processors: &'a str,
    memory: u64,
    storage: &'a str,
    page: Option<&'a str>,
    run: &'a str,
}

#[derive(Serialize)]
struct ContenderRow<'a> {
    label: &'a str,
    agreement: String,
    cells: Vec<MatrixCell>,
}

#[derive(Serialize)]
struct MatrixCell {
    /// The fragment that leads to it: the first digits of its run file's SHA-256, and the contender.
    anchor: String,
    /// The ratio with its interval, or a dash.
    text: String,
    /// The sentence with which the figure is cited; empty where there is no figure.
    cite: String,
    /// True if the ratio is a price, as the two are not equally safe.
    hollow: bool,
}

/// A run in the list.
#[derive(Serialize)]
struct ListedRun<'a> {
    run: &'a SiteRun,
    day: &'a str,
    digest: &'a str,
    contenders: String,
    /// The smallest difference that it could well show, or a dash.
    sensitivity: String,
}

pub(super) fn render(cohorts: &[Cohort], runs: &[SiteRun]) -> Result<String> {
    let sections: Vec<CohortTable> =
        cohorts.iter().enumerate().map(|(place, cohort)| section(place, cohort, runs)).collect();
    let mut machines: Vec<_> =
        cohorts.iter().flat_map(|cohort| &cohort.machines).map(|machine| &machine.facts).collect();
    machines.sort_unstable();
    machines.dedup();
    let (refused, listed): (Vec<&SiteRun>, Vec<&SiteRun>) =
        runs.iter().partition(|run| !run.refused.is_empty());
    let page = SiteIndex {
        title: "Benchmark runs",
        dyno: env!("CARGO_PKG_VERSION"),
        runs: listed.len(),
        machines: self::machines(machines.len()),
        cohorts: sections,
        listed: listed.into_iter().map(self::listed).collect(),
        refused,
    };
    set_with_script("site.html", &page, SCRIPT)
}

fn listed(run: &SiteRun) -> ListedRun<'_> {
    ListedRun {
        run,
        day: run.started.get(..10).unwrap_or(&run.started),
        digest: run.sha256.get(..SHOWN).unwrap_or(&run.sha256),
        contenders: run.contenders.join(", "),
        sensitivity: run.sensitivity.map_or_else(|| "–".into(), units::excess),
    }
}

fn section<'a>(place: usize, cohort: &'a Cohort, runs: &'a [SiteRun]) -> CohortTable<'a> {
    let parameters: Vec<String> =
        cohort.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let machines = cohort.machines.iter().map(|machine| MachineColumn {
        processors: &machine.facts.processors,
        memory: machine.facts.memory_gib,
        storage: &machine.facts.storage,
        page: runs.iter().find(|run| run.name == machine.run).and_then(|run| run.page.as_deref()),
        run: &machine.run,
    });
    let rows = cohort.rows.iter().map(|line| ContenderRow {
        label: &line.label,
        agreement: agreement(line),
        cells: line
            .cells
            .iter()
            .enumerate()
            .map(|(column, found)| cell(cohort, line, found.as_ref(), column, runs))
            .collect(),
    });
    CohortTable {
        anchor: format!("cohort-{place}"),
        suite: &cohort.suite,
        title: &cohort.title,
        parameters: parameters.join(", "),
        load: &cohort.load,
        reference: &cohort.reference,
        machines: machines.collect(),
        rows: rows.collect(),
    }
}

/// The number of machines that show a difference between equals, in words.
fn agreement(row: &CohortRow) -> String {
    let CohortRow { faster, slower, compared, prices, .. } = *row;
    match (faster, slower, compared) {
        (_, _, 0) if prices > 0 => "not ranked (‡)".into(),
        (_, _, 0) => "too few trials to compare them".into(),
        (0, 0, _) => format!("no difference shown on {}", machines(compared)),
        (_, 0, _) => one_way("faster", faster, compared),
        (0, ..) => one_way("slower", slower, compared),
        _ => format!("faster on {faster} and slower on {slower} of {}", machines(compared)),
    }
}

/// The number of machines that show the same difference, where none shows the opposite.
fn one_way(how: &str, shown: usize, compared: usize) -> String {
    match compared.saturating_sub(shown) {
        0 if compared == 1 => format!("{how} on the one machine compared"),
        0 => format!("{how} on all {}", machines(compared)),
        _ => format!("{how} on {shown} of {}, no difference shown on the rest", machines(compared)),
    }
}

fn machines(count: usize) -> String {
    if count == 1 { "1 machine".into() } else { format!("{count} machines") }
}

fn cell(
    cohort: &Cohort,
    row: &CohortRow,
    found: Option<&CohortCell>,
    column: usize,
    runs: &[SiteRun],
) -> MatrixCell {
    let run = &cohort.machines[column].run;
    let digest = runs.iter().find(|listed| listed.name == *run).map_or("", |listed| listed.sha256.as_str());
    // It names the same figure when other runs have joined the site.
    let anchor = format!("{}-{}", digest.get(..12).unwrap_or(digest), row.label.replace(' ', "_"));
    let figure = found.and_then(|found| Some((found, found.ratio?)));
    let Some((found, ratio)) = figure else {
        return MatrixCell { anchor, text: "–".into(), cite: String::new(), hollow: false };
    };
    let interval = ratio.interval.map(|interval| {
        format!(" ({}–{})", units::significant(interval.low), units::significant(interval.high))
    });
    let interval = interval.unwrap_or_default();
    let mark = match found.difference {
        Some(Difference::None(NoDifference::Close)) => " ≈",
        Some(Difference::None(_)) | None => " ?",
        Some(Difference::Faster | Difference::Slower) => "",
    };
    let disproved = if found.disproved { ", level disproved" } else { "" };
    let shown = units::ratio(ratio.ratio);
    MatrixCell {
        anchor,
        text: format!("{shown}{interval}{mark}{disproved}"),
        cite: format!(
            "{} takes {shown}{interval} the time of {} in {} on {}{}{disproved}: run {run}, SHA-256 {digest}.",
            row.label,
            cohort.reference,
            cohort.suite,
            cohort.machines[column].facts.processors,
            conclusion(found.difference),
        ),
        hollow: !found.same_class,
    }
}

/// The end of a sentence on a ratio: what the trials show.
fn conclusion(difference: Option<Difference>) -> &'static str {
    match difference {
        Some(Difference::Faster | Difference::Slower) => "",
        Some(Difference::None(NoDifference::TooFewSamples)) | None => ", by too few trials to show anything",
        Some(Difference::None(_)) => ", which shows no difference",
    }
}
