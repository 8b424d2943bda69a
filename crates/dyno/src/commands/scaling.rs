//! `dyno scaling`: runs of several sizes side by side.

use std::path::PathBuf;

use anyhow::Result;
use dyno_verdict::Verdict;

use super::outcome::{AsInput, Exit, print};
use crate::cli::{OutputFormat, ScalingArgs};

/// Shows the runs named.
pub fn execute(arguments: &ScalingArgs) -> Result<Exit> {
    show(&arguments.runs, arguments.format)
}

/// Shows runs by their files.
pub fn show(paths: &[PathBuf], format: OutputFormat) -> Result<Exit> {
    let judged = |path: &PathBuf| Ok(dyno_verdict::judge(&dyno_record::load(path)?));
    let verdicts = paths.iter().map(judged).collect::<Result<Vec<Verdict>>>().input()?;
    let scaling = dyno_verdict::scaling(&verdicts.iter().collect::<Vec<_>>()).input()?;
    print(&match format {
        OutputFormat::Table => dyno_show::scaling::text(&scaling),
        OutputFormat::Markdown => dyno_show::scaling::markdown(&scaling),
        OutputFormat::Csv => dyno_show::scaling::csv(&scaling)?,
        OutputFormat::Json => dyno_show::pretty(&scaling)?,
    })?;
    Ok(Exit::Done)
}
