//! `dyno history`: the runs kept here, and how a test's medians went.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, bail};
use dyno_nearest as nearest;
use dyno_record::Run;
use dyno_show::history::{self, Line, Listed};
use dyno_verdict::{CellStanding, Verdict, statistics};

use super::{Exit, Input, print};
use crate::cli::HistoryArgs;
use crate::terminal::say;

/// Lists the runs and draws the test that is asked for.
pub fn execute(arguments: &HistoryArgs) -> Result<Exit> {
    let runs = load(arguments).input()?;
    let mut text = history::list(&runs) + "\n";
    if let Some(test) = &arguments.test {
        text = format!("{text}\n{}", chart(&runs, test).input()?);
    }
    print(&text)
}

/// The runs of one suite with the parameters of the newest of them, the oldest first.
fn load(arguments: &HistoryArgs) -> Result<Vec<Listed>> {
    let folder = &arguments.results;
    let entries = fs::read_dir(folder)
        .with_context(|| format!("there is no folder {} here; --results names another", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut runs = Vec::new();
    for path in paths.filter(|path| dyno_record::is_run_file(path)) {
        match dyno_record::load(&path) {
            Ok(run) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                runs.push(Listed { name, run });
            }
            Err(error) => say(&format!("dyno: left out: {error:#}")),
        }
    }
    runs.sort_by(|a, b| a.run.started.cmp(&b.run.started));
    let is_wanted = |run: &Run| arguments.suite.as_ref().is_none_or(|suite| *suite == run.suite.name);
    let Some(newest) = runs.iter().rev().find(|listed| is_wanted(&listed.run)) else {
        let Some(suite) = &arguments.suite else { bail!("there is no run in {}", folder.display()) };
        let names: BTreeSet<&str> = runs.iter().map(|listed| listed.run.suite.name.as_str()).collect();
        let lacks = format!("{} holds no run of the suite", folder.display());
        bail!(nearest::unknown(&lacks, suite, "it has runs of", names));
    };
    let suite = newest.run.suite.clone();
    let all = runs.len();
    runs.retain(|listed| {
        listed.run.suite.name == suite.name && listed.run.suite.parameters == suite.parameters
    });
    if runs.len() < all {
        say(&format!(
            "dyno: {} runs of other suites or with other parameters are not shown",
            all - runs.len()
        ));
    }
    Ok(runs)
}

fn chart(runs: &[Listed], test: &str) -> Result<String> {
    let verdicts: Vec<Verdict> = runs.iter().map(|listed| dyno_verdict::judge(&listed.run)).collect();
    let titles = verdicts.iter().rev().flat_map(|verdict| &verdict.tests).find(|judged| judged.id == test);
    let Some(title) = titles.map(|judged| format!("{} {}", judged.id, judged.title)) else {
        let ids: BTreeSet<&str> =
            verdicts.iter().flat_map(|verdict| &verdict.tests).map(|judged| judged.id.as_str()).collect();
        bail!(nearest::unknown("none of the runs has a test", test, "they have", ids));
    };
    let mut labels: Vec<&str> = Vec::new();
    for (_, contender) in runs.iter().flat_map(|listed| listed.run.shown_contenders()) {
        if !labels.contains(&contender.label.as_str()) {
            labels.push(&contender.label);
        }
    }
    let lines: Vec<Line> = labels.iter().map(|label| line(runs, &verdicts, test, label)).collect();
    Ok(history::chart(runs, &title, &lines))
}

/// A contender's medians, and where they changed.
fn line(runs: &[Listed], verdicts: &[Verdict], test: &str, label: &str) -> Line {
    let median = |listed: &Listed, verdict: &Verdict| {
        let judged = verdict.tests.iter().find(|judged| judged.id == test)?;
        let is_it = |contender: usize| listed.run.contenders[contender].label == label;
        let cell = judged.cells.iter().find(|cell| is_it(cell.contender))?;
        let counts = cell.standing == CellStanding::Counts;
        cell.figures.summary.filter(|_| counts).map(|summary| summary.median)
    };
    let medians: Vec<(usize, f64)> = runs
        .iter()
        .zip(verdicts)
        .enumerate()
        .filter_map(|(place, (listed, verdict))| Some((place, median(listed, verdict)?)))
        .collect();
    let logs: Vec<f64> = medians.iter().map(|(_, median)| median.ln()).collect();
    let changes = statistics::changes(&logs, 1);
    let with = changes.iter().map(|change| {
        let (before, after) = (medians[change.at - 1].0, medians[change.at].0);
        dyno_verdict::changes(&runs[before].run, &runs[after].run, &[label.to_owned()])
    });
    Line { contender: label.to_owned(), with: with.collect(), medians, changes }
}
