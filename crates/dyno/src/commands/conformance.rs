//! `dyno conformance`: whether runners keep the protocol.

use anyhow::{Result, anyhow, bail};
use dyno_conformance as conformance;
use dyno_engine::{Contender, Home, Registry};
use dyno_lab::key;
use dyno_lab::scratch::{self, Scratch};

use super::outcome::{AsInput, Exit, print};
use crate::cli::ConformanceArgs;

/// Checks the runner of each contender.
pub fn execute(arguments: &ConformanceArgs) -> Result<Exit> {
    let registry = Registry::load(&Home::find()?)?;
    let contenders = arguments.contenders.iter().map(|name| Contender::parse(name, &registry));
    let mut contenders = contenders.collect::<Result<Vec<_>>>().input()?;
    key::give(&mut contenders, None).input()?;
    let parent = arguments.dir.clone().unwrap_or_else(scratch::default_parent);
    let scratch = Scratch::create(&parent)?;
    if arguments.faults {
        return faults(&contenders, &scratch);
    }
    let mut exit = Exit::Done;
    for contender in &contenders {
        if let Some(missing) = contender.missing() {
            bail!(missing);
        }
        let report = conformance::check(contender, &scratch, &arguments.only)?;
        if report.findings.is_empty() {
            return Err(anyhow!("no duty holds the words '{}'", arguments.only.join("' or '"))).input();
        }
        print(&report.to_string())?;
        if !report.is_passed() {
            exit = Exit::Incomplete;
        }
    }
    Ok(exit)
}

/// Prints what drivers do when the way to their server fails.
fn faults(contenders: &[Contender], scratch: &Scratch) -> Result<Exit> {
    conformance::faults::check(contenders).input()?;
    let table = conformance::faults::try_faults(contenders, scratch);
    print(&table.to_string())?;
    Ok(if table.is_sound() { Exit::Done } else { Exit::Incomplete })
}
