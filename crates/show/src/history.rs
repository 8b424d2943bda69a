//! Runs over time: a list, and a test's medians with the runs where they changed.

use dyno_record::Run;
use dyno_verdict::statistics::{Change, FEWEST_RUNS};

use super::grid::Grid;
use super::{notes, table, units};

/// How wide the dots' field is, in columns.
const FIELD: usize = 40;

/// A run with the name of its file, as it is listed.
#[derive(Debug)]
pub struct Listed {
    /// The file's name.
    pub name: String,
    /// The run.
    pub run: Run,
}

/// One contender's medians of one test over the runs that have them.
#[derive(Debug)]
pub struct Line {
    /// The contender.
    pub contender: String,
    /// The run, by its position in the list, and its median in nanoseconds.
    pub medians: Vec<(usize, f64)>,
    /// Where it changed, by position among `medians`.
    pub changes: Vec<Change>,
    /// What else changed with each of them, as sentences.
    pub with: Vec<Vec<String>>,
}

/// The runs, the oldest first.
pub fn list(runs: &[Listed]) -> String {
    let rows = runs.iter().enumerate().map(|(place, listed)| {
        let run = &listed.run;
        let labels: Vec<&str> =
            run.shown_contenders().map(|(_, contender)| contender.label.as_str()).collect();
        let blocks = run.trials.iter().map(|trial| trial.block).max().unwrap_or(0);
        let mut contenders = labels.join(", ");
        if contenders.chars().count() > 34 {
            contenders = contenders.chars().take(33).chain(['…']).collect();
        }
        vec![(place + 1).to_string(), listed.name.clone(), contenders, blocks.to_string()]
    });
    let header = ["", "run", "contenders", "trials"].map(String::from).to_vec();
    table::plain(&Grid { header, rows: rows.collect() })
}

/// The medians of each contender, time downwards, each on its own scale from zero.
pub fn chart(runs: &[Listed], title: &str, lines: &[Line]) -> String {
    let mut parts = vec![title.to_owned()];
    for line in lines {
        let largest = line.medians.iter().map(|(_, median)| *median).fold(1.0, f64::max);
        let mut text = vec![line.contender.clone()];
        for (place, (run, median)) in line.medians.iter().enumerate() {
            let dot = " ".repeat((median / largest * (FIELD - 1) as f64).round() as usize);
            let flag = match line.changes.iter().find(|change| change.at == place) {
                Some(change) => flag(line, change),
                None => String::new(),
            };
            let started = runs[*run].run.started.get(..16).unwrap_or_default().replace('T', " ");
            let row = format!(
                "{:>4}  {started}  {:>8}  {:FIELD$}  {flag}",
                run + 1,
                units::duration(*median),
                format!("{dot}●")
            );
            text.push(row.trim_end().to_owned());
        }
        for (change, with) in line.changes.iter().zip(&line.with) {
            let run = line.medians[change.at].0 + 1;
            text.extend(with.iter().map(|what| format!("      changed with run {run}: {what}")));
        }
        parts.push(text.join("\n"));
    }
    parts.push(notes::paragraph(&[legend(lines)]));
    parts.join("\n\n") + "\n"
}

/// `← slower 1.22×`, from the medians on both sides up to the next change.
fn flag(line: &Line, change: &Change) -> String {
    let ends = || line.changes.iter().map(|other| other.at);
    let from = ends().filter(|at| *at < change.at).max().unwrap_or(0);
    let to = ends().filter(|at| *at > change.at).min().unwrap_or(line.medians.len());
    let middle = |part: &[(usize, f64)]| {
        dyno_verdict::statistics::median(&part.iter().map(|(_, median)| *median).collect::<Vec<_>>())
            .unwrap_or(f64::NAN)
    };
    let ratio = middle(&line.medians[change.at..to]) / middle(&line.medians[from..change.at]);
    let word = if ratio > 1.0 { "slower" } else { "faster" };
    format!("← {word}: {}", units::ratio(ratio))
}

fn legend(lines: &[Line]) -> String {
    let most = lines.iter().map(|line| line.medians.len()).max().unwrap_or(0);
    let mut text =
        "Each dot is the median of a run; time goes down, and each contender's scale begins at zero. ← marks the \
                    run from which on a contender is faster or slower (E-divisive, permutation test at 5 % for each \
                    contender)."
            .to_owned();
    if most < FEWEST_RUNS {
        text.push_str(&format!(" A change can show only in {FEWEST_RUNS} runs or more; there are {most}."));
    }
    text
}
