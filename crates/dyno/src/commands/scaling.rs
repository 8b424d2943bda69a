//! `dyno scaling`: runs of several sizes side by side.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use dyno_verdict::Verdict;

use super::outcome::{AsInput, Exit, print};
use crate::cli::{OutputFormat, ScalingArgs};

/// Shows the runs named.
pub fn execute(arguments: &ScalingArgs) -> Result<Exit> {
    show(&arguments.runs, arguments.format)
}

/// Refuses what runs of several sizes cannot be shown as.
///
/// # Errors
/// The format is HTML.
pub fn check(format: OutputFormat) -> Result<()> {
    let advice = "the page of runs of several sizes is made by --report FILE.html, or by `dyno report RUNS -o FILE.html`";
    if format == OutputFormat::Html { Err(anyhow!(advice)).input() } else { Ok(()) }
}

/// Shows runs by their files.
pub fn show(paths: &[PathBuf], format: OutputFormat) -> Result<Exit> {
    check(format)?;
    let judged = |path: &PathBuf| Ok(dyno_verdict::judge(&dyno_record::load(path)?));
    let verdicts = paths.iter().map(judged).collect::<Result<Vec<Verdict>>>().input()?;
    let scaling = dyno_verdict::scaling(&verdicts.iter().collect::<Vec<_>>()).input()?;
    print(&match format {
        OutputFormat::Table | OutputFormat::Html => dyno_show::scaling::text(&scaling),
        OutputFormat::Markdown => dyno_show::scaling::markdown(&scaling),
        OutputFormat::Csv => dyno_show::scaling::csv(&scaling)?,
        OutputFormat::Json => dyno_show::pretty(&scaling)?,
    })?;
    Ok(Exit::Done)
}
