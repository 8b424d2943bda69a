//! `dyno history`: the runs kept here, and how a test's medians went.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use dyno_nearest as nearest;
use dyno_record::Run;
use dyno_show::history::{self, Listed};
use dyno_verdict::{About, have_one_load};

use super::outcome::{AsInput, Exit, file_name, print};
use crate::cli::HistoryArgs;
use crate::terminal::say;

/// A run with the name of its file.
struct NamedRun {
    name: String,
    run: Run,
}

impl NamedRun {
    fn listed(&self) -> Listed {
        let contenders = self.run.shown_contenders().map(|(_, contender)| contender.label.clone());
        Listed { name: self.name.clone(), about: About::new(&self.run), contenders: contenders.collect() }
    }
}

/// Lists the runs and draws the test that is asked for.
pub fn execute(arguments: &HistoryArgs) -> Result<Exit> {
    let runs = load(arguments).input()?;
    let listed: Vec<Listed> = runs.iter().map(NamedRun::listed).collect();
    let mut text = history::list(&listed) + "\n";
    if let Some(test) = &arguments.test {
        text = format!("{text}\n{}", chart(&runs, &listed, test).input()?);
    }
    print(&text)
}

/// The runs of one suite with the parameters and under the load of the newest of them, the oldest first.
fn load(arguments: &HistoryArgs) -> Result<Vec<NamedRun>> {
    let folder = &arguments.results;
    let mut runs = read(folder)?;
    let read = runs.len();
    runs.retain(|kept| !kept.run.is_altered());
    let altered = read - runs.len();
    if altered > 0 {
        say(&format!(
            "dyno: runs of dyno challenge and dyno causes are left out, as their conditions were changed: {altered}"
        ));
    }
    let is_wanted = |run: &Run| arguments.suite.as_ref().is_none_or(|suite| *suite == run.suite.name);
    let Some(newest) = runs.iter().rev().find(|kept| is_wanted(&kept.run)) else {
        let Some(suite) = &arguments.suite else { bail!("there is no run in {}", folder.display()) };
        let names: BTreeSet<&str> = runs.iter().map(|kept| kept.run.suite.name.as_str()).collect();
        let lacks = format!("{} holds no run of the suite", folder.display());
        bail!(nearest::unknown(&lacks, suite, "it has runs of", names));
    };
    let newest = &newest.run;
    let alike = |NamedRun { run, .. }: &NamedRun| {
        run.suite.name == newest.suite.name
            && run.suite.parameters == newest.suite.parameters
            && run.limits.round_trip_ns == newest.limits.round_trip_ns
            && have_one_load(run, newest)
    };
    let mut alike = runs.iter().map(alike).collect::<Vec<bool>>().into_iter();
    let all = runs.len();
    runs.retain(|_| alike.next().unwrap_or_default());
    if runs.len() < all {
        let left_out = all - runs.len();
        say(&format!(
            "dyno: {left_out} runs of other suites, with other parameters or under another load, or with clients on other \
             machines, are not shown; `dyno history SUITE` shows the newest run of a suite and those like it"
        ));
    }
    Ok(runs)
}

/// All runs of a folder that can be read, the oldest first.
fn read(folder: &Path) -> Result<Vec<NamedRun>> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("there is no folder {} here; --results names another", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut runs = Vec::new();
    for path in paths.filter(|path| dyno_record::is_run_file(path)) {
        match dyno_record::load_found(&path) {
            Ok(run) => runs.push(NamedRun { name: file_name(&path), run }),
            Err(error) => say(&format!("dyno: left out: {error:#}")),
        }
    }
    runs.sort_by(|a, b| a.run.started.cmp(&b.run.started));
    Ok(runs)
}

fn chart(runs: &[NamedRun], listed: &[Listed], test: &str) -> Result<String> {
    let all: Vec<&Run> = runs.iter().map(|kept| &kept.run).collect();
    let Some(found) = dyno_verdict::history(&all, test) else {
        let tests = all.iter().flat_map(|run| run.shown_tests());
        let ids: BTreeSet<&str> = tests.map(|test| test.id.as_str()).collect();
        bail!(nearest::unknown("none of the runs has a test", test, "they have", ids));
    };
    Ok(history::chart(listed, &found))
}
