//! `dyno doctor`: what on this machine disturbs measurement.

use anyhow::Result;
use dyno_lab::{doctor, scratch};

use super::outcome::{Exit, print};
use crate::cli::{DoctorArgs, TextFormat};

/// Runs the checks and prints them. Warnings are no failure: the machine is what it is.
pub fn execute(arguments: &DoctorArgs) -> Result<Exit> {
    let folder = arguments.dir.clone().unwrap_or_else(scratch::default_parent);
    let checks = doctor::checks(&folder);
    match arguments.format {
        TextFormat::Table => print(&doctor::render(&checks)),
        TextFormat::Json => print(&dyno_show::pretty(&checks)?),
    }
}
