//! `dyno show`: the results of a run again.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use dyno_record::{ClusterRecord, DurabilityRecord, Run, TrialRecord};
use dyno_show::report::{self, PageSource};
use dyno_verdict::{JointVerdict, judge_clusters, judge_durability};

use super::outcome::{AsInput, Exit, file_name, print};
use super::prove;
use crate::cli::{OutputFormat, ProofFormat, ShowArgs, ShowOptions};
use crate::terminal;

/// The length in bytes of a time in the name of a run file: `2026-11-23T10-00-00`.
const SECOND: usize = 19;

/// Prints the run named, or the newest one.
pub fn execute(arguments: &ShowArgs) -> Result<Exit> {
    let path = match &arguments.run {
        Some(path) => path.clone(),
        None => newest(&dyno_record::results_folder()).input()?,
    };
    let text = read(&path).input()?;
    if let Some(record) = DurabilityRecord::parse(&text, &path) {
        let verdict = judge_durability(record.input()?);
        return prove::show(&verdict, proof_format(arguments.show.format).input()?);
    }
    if let Some(record) = ClusterRecord::parse(&text, &path) {
        let verdict = judge_clusters(record.input()?);
        return prove::clusters::show(&verdict, proof_format(arguments.show.format).input()?);
    }
    let mut run = dyno_record::parse(&text, &path).input()?;
    run.schedule.margin = arguments.show.margin.unwrap_or(run.schedule.margin);
    results(&run, &path, &arguments.show)
}

/// The text of a run file or of what `dyno prove` kept.
pub(super) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read the run file {}", path.display()))
}

fn proof_format(format: OutputFormat) -> Result<ProofFormat> {
    match format {
        OutputFormat::Table => Ok(ProofFormat::Table),
        OutputFormat::Json => Ok(ProofFormat::Json),
        OutputFormat::Csv => Ok(ProofFormat::Csv),
        OutputFormat::Markdown | OutputFormat::Html => {
            bail!("what dyno prove kept is shown as table, json or csv, and as a page by dyno report")
        }
    }
}

/// Judges and prints a run; `path` is its file.
pub fn results(run: &Run, path: &Path, options: &ShowOptions) -> Result<Exit> {
    let verdict = dyno_verdict::judge(run);
    let exit = if verdict.is_complete() { Exit::Done } else { Exit::Incomplete };
    print(&match options.format {
        OutputFormat::Table => {
            let parts = dyno_show::parts(&verdict, options.table());
            terminal::print_parts(&parts, terminal::has_colours(options.color))
                .context("cannot write the result")?;
            return Ok(exit);
        }
        OutputFormat::Csv => dyno_show::render_csv(&verdict)?,
        OutputFormat::Json => dyno_show::render_json(&verdict)?,
        // Markdown names the file and has nothing to download.
        OutputFormat::Markdown => {
            let source = PageSource { name: file_name(path), verdict, file: Vec::new() };
            report::markdown(&[source], &JointVerdict::default())?
        }
        OutputFormat::Html => {
            let source = PageSource { name: file_name(path), verdict, file: dyno_record::whole(run)? };
            report::render(&[source], &JointVerdict::default())?
        }
    })?;
    Ok(exit)
}

/// The newest run file of a folder, without the runs of `dyno challenge` and `dyno causes`.
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
    let is_it = |path: &PathBuf, is_wanted: fn(&Run) -> bool| {
        dyno_record::load_found(path).map_or(true, |run| !run.is_altered() && is_wanted(&run))
    };
    let found = runs.iter().rev().find(|path| is_it(path, has_figures));
    found.or_else(|| runs.iter().rev().find(|path| is_it(path, |_| true))).cloned().with_context(|| {
        let others = if runs.is_empty() { "" } else { " but those of `dyno challenge` and `dyno causes`" };
        let folder = folder.display();
        format!("there is no run file in {folder}{others}; name one, or make one: `dyno run speedtest`")
    })
}

/// Returns true if a run has figures to show.
fn has_figures(run: &Run) -> bool {
    let is_measured = |trial: &TrialRecord| trial.block > 0 || !run.schedule.warm_up;
    let mut trials = run.trials.iter().filter(|trial| is_measured(trial) && !trial.is_extra());
    trials.any(|trial| run.contenders[trial.contender].named && !trial.samples.is_empty())
}

/// Orders run files by age: names begin with the time to the second, and of two of one second the later written is
/// newer.
fn age(path: &Path) -> (String, Option<SystemTime>) {
    let second: String = file_name(path).chars().take(SECOND).collect();
    (second, fs::metadata(path).and_then(|found| found.modified()).ok())
}
