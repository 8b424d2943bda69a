//! `dyno scaling`: runs of several sizes side by side.

use std::path::PathBuf;

use anyhow::Result;
use dyno_verdict::Verdict;

use super::outcome::{Exit, Input, print};
use crate::cli::{Format, ScalingArgs};

/// Shows the runs named.
pub fn execute(arguments: &ScalingArgs) -> Result<Exit> {
    show(&arguments.runs, arguments.format)
}

/// Shows runs by their files.
pub fn show(paths: &[PathBuf], format: Format) -> Result<Exit> {
    let judged = |path: &PathBuf| Ok(dyno_verdict::judge(&dyno_record::load(path)?));
    let verdicts = paths.iter().map(judged).collect::<Result<Vec<Verdict>>>().input()?;
    let scaling = dyno_verdict::scaling(&verdicts.iter().collect::<Vec<_>>()).input()?;
    print(&match format {
        Format::Table => dyno_show::scaling::text(&scaling),
        Format::Markdown => dyno_show::scaling::markdown(&scaling),
        Format::Csv => dyno_show::scaling::csv(&scaling)?,
        Format::Json => dyno_show::pretty(&scaling)?,
    })?;
    Ok(Exit::Done)
}
