//! `dyno engines`: versions of engines besides the system's.

use anyhow::{Context, Result};
use dyno_engine::Home;
use dyno_lab::server::{self, Installable};
use dyno_launch::Interrupts;

use super::outcome::{AsInput, Exit, print};
use super::registry;
use crate::cli::EnginesCommand;

/// Installs, and says how to measure what was installed.
pub fn execute(command: &EnginesCommand) -> Result<Exit> {
    let EnginesCommand::Install { name } = command;
    let servers = registry(&Home::find()?)?.servers();
    let installable = Installable::parse(name, &servers).input()?;
    let folder = server::engines_folder()
        .context("there is no folder for installations: neither HOME nor XDG_DATA_HOME is set")?;
    let interrupts = Interrupts::listen()?;
    let installed = installable.install(&folder, &interrupts);
    let installation = match (installed, interrupts.signal()) {
        (Err(_), Some(signal)) => return Ok(Exit::Signal(signal)),
        (installed, _) => installed?,
    };
    print(&format!(
        "{} {} is installed; measure it as {name}\n",
        installation.engine.title, installation.version
    ))
}
