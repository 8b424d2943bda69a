//! `dyno show`: the results of a run again.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use dyno_record::{Run, TrialRecord};
use dyno_show::report::{self, Source};
use dyno_verdict::JointVerdict;

use super::outcome::{Exit, Input, file_name, print};
use crate::cli::{Format, ShowArgs, ShowOptions};
use crate::terminal;

/// The length in bytes of a time in the name of a run file: `2026-11-23T10-00-00`.
const SECOND: usize = 19;

/// Prints the run named, or the newest one.
pub fn execute(arguments: &ShowArgs) -> Result<Exit> {
    let path = match &arguments.run {
        Some(path) => path.clone(),
        None => newest(&dyno_record::results_folder()).input()?,
    };
    let mut run = dyno_record::load(&path).input()?;
    run.schedule.margin = arguments.show.margin.unwrap_or(run.schedule.margin);
    results(&run, &path, &arguments.show)
}

/// Judges and prints a run; `path` is its file.
pub fn results(run: &Run, path: &Path, options: &ShowOptions) -> Result<Exit> {
    let verdict = dyno_verdict::judge(run);
    let exit = if verdict.is_complete() { Exit::Done } else { Exit::Incomplete };
    print(&match options.format {
        Format::Table => {
            let parts = dyno_show::parts(&verdict, options.table());
            terminal::print_parts(&parts, terminal::has_colours(options.color))
                .context("cannot write the result")?;
            return Ok(exit);
        }
        Format::Csv => dyno_show::render_csv(&verdict)?,
        Format::Json => dyno_show::render_json(&verdict)?,
        // Markdown names the file and has nothing to download.
        Format::Markdown => {
            let source = Source { name: file_name(path), verdict, file: Vec::new() };
            report::markdown(&[source], &JointVerdict::default())?
        }
    })?;
    Ok(exit)
}

/// The newest run file of a folder.
pub(super) fn newest(folder: &Path) -> Result<PathBuf> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "there is no folder {} here; name a run file, or make one: `dyno run speedtest`",
            folder.display()
        ),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read the folder {}", folder.display()));
        }
    };
    let files = entries.flatten().map(|entry| entry.path());
    // No FIFO: it would be waited for.
    let is_file = |path: &PathBuf| dyno_record::is_run_file(path) && path.is_file();
    let mut runs: Vec<PathBuf> = files.filter(is_file).collect();
    runs.sort_by_cached_key(|path| age(path));
    // A run that was stopped before its first sample has nothing to show. A file that cannot be read is reported.
    let is_shown = |path: &&PathBuf| dyno_record::load_found(path).map_or(true, |run| has_figures(&run));
    runs.iter().rev().find(is_shown).or(runs.last()).cloned().with_context(|| {
        format!("there is no run file in {}; name one, or make one: `dyno run speedtest`", folder.display())
    })
}

/// Returns true if a run has figures to show.
fn has_figures(run: &Run) -> bool {
    let is_measured = |trial: &TrialRecord| trial.block > 0 || !run.schedule.warm_up;
    let mut trials = run.trials.iter().filter(|trial| is_measured(trial) && !trial.latency);
    trials.any(|trial| run.contenders[trial.contender].named && !trial.samples.is_empty())
}

/// Orders run files by age: names begin with the time to the second, and of two of one second the later written is newer.
fn age(path: &Path) -> (String, Option<SystemTime>) {
    let second: String = file_name(path).chars().take(SECOND).collect();
    (second, fs::metadata(path).and_then(|found| found.modified()).ok())
}
