//! `dyno scaling`: runs of several sizes side by side.

use std::path::PathBuf;

use anyhow::Result;

use super::{Exit, Input, print};
use crate::cli::{Format, ScalingArgs};
use crate::output;
use crate::record::{self, Run};
use crate::verdict;

/// Shows the runs named.
pub fn execute(arguments: &ScalingArgs) -> Result<Exit> {
    show(&arguments.runs, arguments.format)
}

/// Shows runs by their files.
pub fn show(paths: &[PathBuf], format: Format) -> Result<Exit> {
    let runs = paths.iter().map(|path| record::load(path)).collect::<Result<Vec<Run>>>().input()?;
    let scaling = verdict::scaling(&runs).input()?;
    print(&output::render_scaling(&scaling, format)?)?;
    Ok(Exit::Done)
}
