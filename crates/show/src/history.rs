//! Runs over time: a list, and a test's medians with the runs where they changed.

use dyno_record::Seals;
use dyno_verdict::statistics::FEWEST_RUNS;
use dyno_verdict::{About, ChangePoint, HistoryLine, SuiteHistory};

use super::grid::Grid;
use super::views::sustained::words;
use super::{cut, measure, notes, plain, units};

/// The width of the field of dots, in columns.
const FIELD: usize = 40;

/// A run with the name of its file, as it is listed.
#[derive(Debug)]
pub struct Listed {
    /// The file's name.
    pub name: String,
    /// The time and the conditions of the run.
    pub about: About,
    /// The labels of its contenders.
    pub contenders: Vec<String>,
}

/// The runs, the oldest first.
pub fn list(runs: &[Listed]) -> String {
    let rows = runs.iter().enumerate().map(|(place, listed)| {
        let contenders = cut(&listed.contenders.join(", "), 34);
        vec![(place + 1).to_string(), listed.name.clone(), contenders, listed.about.blocks.to_string()]
    });
    let header = ["", "run", "contenders", "trials"].map(String::from).to_vec();
    let text = plain(&Grid { header, rows: rows.collect() });
    let seals: Vec<String> = seals(runs).collect();
    if seals.is_empty() {
        text
    } else {
        format!("{}\n{}", text.trim_end_matches('\n'), notes::paragraph(&seals))
    }
}

/// The files that were changed after they were written, and the number of files without seals.
fn seals(runs: &[Listed]) -> impl Iterator<Item = String> {
    let broken = runs.iter().filter(|listed| matches!(listed.about.seals, Seals::Broken { .. }));
    let broken = broken.map(|listed| format!("{} {}.", listed.name, listed.about.seals));
    let unsealed = runs.iter().filter(|listed| listed.about.seals == Seals::Missing).count();
    let unsealed = (unsealed > 0).then(|| {
        let files = if unsealed == 1 { "run file has" } else { "run files have" };
        format!("{unsealed} {files} no seals, so nothing shows whether they were changed.")
    });
    broken.chain(unsealed)
}

/// The medians of each contender, time downwards, each on its own scale from zero.
pub fn chart(runs: &[Listed], history: &SuiteHistory) -> String {
    let mut parts = vec![history.title.clone()];
    for line in &history.lines {
        let largest = line.medians.iter().map(|(_, median)| *median).fold(1.0, f64::max);
        let mut text = vec![line.contender.clone()];
        for (place, (run, median)) in line.medians.iter().enumerate() {
            let dot = " ".repeat((median / largest * (FIELD - 1) as f64).round() as usize);
            let turn = line.turns.iter().find(|turn| turn.at == place);
            let flag = turn.map(flag).unwrap_or_default();
            let started = runs[*run].about.started.get(..16).unwrap_or_default().replace('T', " ");
            let row = format!(
                "{:>4}  {started}  {:>8}  {:FIELD$}  {flag}",
                run + 1,
                if line.is_sought {
                    words::rate(measure::per_second(*median))
                } else {
                    units::duration(*median)
                },
                format!("{dot}●")
            );
            text.push(row.trim_end().to_owned());
        }
        for turn in &line.turns {
            let run = line.medians[turn.at].0 + 1;
            text.extend(turn.with.iter().map(|what| format!("      changed with run {run}: {what}")));
        }
        parts.push(text.join("\n"));
    }
    parts.push(notes::paragraph(&[legend(&history.lines)]));
    parts.join("\n\n") + "\n"
}

/// `← slower: 1.22×`.
fn flag(turn: &ChangePoint) -> String {
    let shown = units::ratio(turn.ratio);
    match turn.ratio > 1.0 {
        // The test finds any change of the distribution.
        _ if shown == units::ratio(1.0) => "← scatters otherwise".to_owned(),
        true => format!("← slower: {shown}"),
        false => format!("← faster: {shown}"),
    }
}

fn legend(lines: &[HistoryLine]) -> String {
    let most = lines.iter().map(|line| line.medians.len()).max().unwrap_or(0);
    let mut text =
        "Each dot is the median of a run; time goes down, and each contender's scale begins at zero. ← marks the \
                    run from which on a contender is faster or slower, or its medians scatter otherwise (E-divisive, permutation test at 5 % for each \
                    contender)."
            .to_owned();
    if lines.iter().any(|line| line.is_sought) {
        text.push_str(
            " A rate was sought: further to the left is more. Only runs that sought one are drawn.",
        );
    }
    if most < FEWEST_RUNS {
        let are = if most == 1 { "is" } else { "are" };
        text.push_str(&format!(" A change can show only in {FEWEST_RUNS} runs or more; there {are} {most}."));
    }
    text
}
