//! `dyno doctor`: finds what disturbs measurement on this machine.

use anyhow::Result;
use dyno_lab::{doctor, scratch};
use dyno_launch::Interrupts;
use dyno_show::{WIDTH, width};

use super::outcome::{Exit, print};
use crate::cli::{DoctorArgs, TextFormat};

/// Runs the checks and prints them. The exit code does not depend on warnings, since users cannot change each machine.
pub fn execute(arguments: &DoctorArgs) -> Result<Exit> {
    let folder = arguments.dir.clone().unwrap_or_else(scratch::default_parent);
    // The checks take a second or two and write a file, which a signal must not leave.
    let interrupts = Interrupts::listen()?;
    let checks = doctor::checks(&folder);
    if let Some(signal) = interrupts.signal() {
        return Ok(Exit::Signal(signal));
    }
    match arguments.format {
        TextFormat::Table => print(&doctor::render(&checks, width().min(WIDTH) as u16)),
        TextFormat::Json => print(&dyno_show::pretty(&checks)?),
    }
}
