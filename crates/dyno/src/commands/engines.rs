//! `dyno engines`: versions of engines besides the system's.

use anyhow::{Context, Result};
use dyno_engine::{Home, Registry};
use dyno_lab::server;

use super::outcome::{Exit, print};
use crate::cli::EnginesCommand;

/// Installs, and says how to measure what was installed.
pub fn execute(command: &EnginesCommand) -> Result<Exit> {
    let EnginesCommand::Install { name } = command;
    let folder = server::engines_folder()
        .context("there is no folder for installations: neither HOME nor XDG_DATA_HOME is set")?;
    let servers = Registry::load(&Home::find()?)?.servers();
    let installation = server::install(name, &folder, &servers)?;
    print(&format!(
        "{} {} is installed; measure it as {name}\n",
        installation.engine.title, installation.version
    ))
}
