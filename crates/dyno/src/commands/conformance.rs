//! `dyno conformance`: whether runners keep the protocol.

use anyhow::{Result, bail};

use super::{Exit, Input, print};
use crate::cli::ConformanceArgs;
use crate::conformance;
use crate::engine::{Contender, Registry};
use crate::home::Home;
use crate::key::Key;
use crate::scratch::{self, Scratch};

/// Checks the runner of each contender.
pub fn execute(arguments: &ConformanceArgs) -> Result<Exit> {
    let registry = Registry::load(&Home::find()?)?;
    let contenders = arguments.contenders.iter().map(|name| Contender::parse(name, &registry));
    let mut contenders = contenders.collect::<Result<Vec<_>>>().input()?;
    Key::give(&mut contenders, None).input()?;
    let parent = arguments.dir.clone().unwrap_or_else(scratch::default_parent);
    let scratch = Scratch::create(&parent)?;
    let mut exit = Exit::Done;
    for contender in &contenders {
        if let Some(missing) = contender.missing() {
            bail!(missing);
        }
        let report = conformance::check(contender, &scratch)?;
        print(&report.to_string())?;
        if !report.is_passed() {
            exit = Exit::Incomplete;
        }
    }
    Ok(exit)
}
