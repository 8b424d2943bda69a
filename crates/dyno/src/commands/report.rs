//! `dyno report`: the page of a run, or of several side by side.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use dyno_files::Output;
use dyno_record::Run;
use dyno_show::report::{self, Source};

use super::outcome::{Exit, Input, file_name};
use super::show;
use crate::cli::ReportArgs;
use crate::terminal::say;

/// Writes the page of the runs named, or of the newest one.
pub fn execute(arguments: &ReportArgs) -> Result<Exit> {
    let mut paths = arguments.runs.clone();
    if paths.is_empty() {
        paths.push(show::newest(&dyno_record::results_folder()).input()?);
    }
    let last = &paths[paths.len() - 1];
    let out = arguments.out.clone().unwrap_or_else(|| last.with_extension("html"));
    let mut output = Output::open(&out).context("cannot write the page").input()?;
    write_files(&paths, &mut output, arguments.margin)?;
    say(&format!("The page is in {}.", out.display()));
    if arguments.open {
        // The reason is a process's status, which helps no one.
        let started = open::that_detached(&out);
        started.map_err(|_| anyhow!("no browser could be started here; open {} in one", out.display()))?;
    }
    Ok(Exit::Done)
}

/// Writes the page of runs by their files, the subject last. `margin` stands in for those of the run files.
pub(super) fn write_files(paths: &[PathBuf], output: &mut Output, margin: Option<f64>) -> Result<()> {
    let sources = paths.iter().map(|path| source(path, margin)).collect::<Result<Vec<Source>>>().input()?;
    write(&sources, output)
}

/// Writes the page of a run whose file cannot be read again: it went to a pipe.
pub(super) fn write_run(run: &Run, path: &Path, output: &mut Output) -> Result<()> {
    let file = dyno_record::whole(run)?;
    write(&[Source { name: file_name(path), verdict: dyno_verdict::judge(run), file }], output)
}

fn write(sources: &[Source], output: &mut Output) -> Result<()> {
    let named: Vec<_> = sources.iter().map(|source| (source.name.as_str(), &source.verdict)).collect();
    let beside = dyno_verdict::beside(&named).input()?;
    let is_markdown = output.path().extension().is_some_and(|extension| extension == "md");
    let set = if is_markdown { report::markdown } else { report::render };
    let page = set(sources, &beside)?;
    output.write(page.as_bytes()).context("cannot write the page").map(drop)
}

/// A run of the page: what may be said about it, and its file as it is.
fn source(path: &Path, margin: Option<f64>) -> Result<Source> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read the run file {}", path.display()))?;
    let mut run = dyno_record::parse(&text, path)?;
    run.schedule.margin = margin.unwrap_or(run.schedule.margin);
    Ok(Source { name: file_name(path), verdict: dyno_verdict::judge(&run), file: text.into_bytes() })
}
