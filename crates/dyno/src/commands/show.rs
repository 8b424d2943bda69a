//! `dyno show`: the results of a run again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dyno_record::Run;
use dyno_show::report::{self, Source};
use dyno_verdict::{CellStanding, Verdict};

use super::{Exit, Input, print};
use crate::cli::{Format, ShowArgs, ShowOptions};

/// Prints the run named, or the newest one.
pub fn execute(arguments: &ShowArgs) -> Result<Exit> {
    let path = match &arguments.run {
        Some(path) => path.clone(),
        None => newest(&dyno_record::results_folder()).input()?,
    };
    let run = dyno_record::load(&path).input()?;
    results(&run, &path, &arguments.show)
}

/// Judges and prints a run; `path` is its file.
pub fn results(run: &Run, path: &Path, options: &ShowOptions) -> Result<Exit> {
    let verdict = dyno_verdict::judge(run);
    print(&match options.format {
        Format::Table => dyno_show::render_table(run, &verdict, options.table()),
        Format::Markdown => report::markdown(&[Source::new(path, run.clone())])?,
        Format::Csv => dyno_show::render_csv(run, &verdict)?,
        Format::Json => dyno_show::render_json(run, &verdict)?,
    })?;
    Ok(if is_complete(run, &verdict) { Exit::Done } else { Exit::Incomplete })
}

fn is_complete(run: &Run, verdict: &Verdict) -> bool {
    let mut cells = verdict.tests.iter().flat_map(|test| &test.cells);
    cells.all(|cell| matches!(cell.standing, CellStanding::Counts | CellStanding::NotApplicable))
        && run.trials.iter().all(|trial| trial.failure.is_none())
}

/// The newest run file of a folder.
pub(super) fn newest(folder: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).with_context(|| {
        format!(
            "there is no folder {} here; name a run file, or make one: `dyno run speedtest`",
            folder.display()
        )
    })?;
    let files = entries.flatten().map(|entry| entry.path());
    let runs = files.filter(|path| dyno_record::is_run_file(path));
    // Names begin with the time.
    runs.max().with_context(|| {
        format!("there is no run file in {}; name one, or make one: `dyno run speedtest`", folder.display())
    })
}
