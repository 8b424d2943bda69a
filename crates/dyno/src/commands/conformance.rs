//! `dyno conformance`: whether runners keep the protocol.

use anyhow::{Result, anyhow, bail};
use dyno_conformance as conformance;
use dyno_conformance::faults::FaultTable;
use dyno_engine::{Contender, Home};
use dyno_lab::key;
use dyno_lab::scratch::{self, Scratch};
use dyno_lab::trial::TrialOptions;
use dyno_launch::Interrupts;

use super::outcome::{AsInput, Exit, InputError, print};
use super::registry;
use crate::cli::ConformanceArgs;

/// Checks the runner of each contender.
pub fn execute(arguments: &ConformanceArgs) -> Result<Exit> {
    let registry = registry(&Home::find()?)?;
    let contenders = arguments.contenders.iter().map(|name| Contender::parse(name, &registry));
    let mut contenders = contenders.collect::<Result<Vec<_>>>().input()?;
    key::give(&mut contenders, None).input()?;
    let parent = arguments.dir.clone().unwrap_or_else(scratch::default_parent);
    // Before there is a folder that a signal must not leave.
    let interrupts = Interrupts::listen()?;
    let scratch = Scratch::create(&parent)?;
    let usual = TrialOptions::unmeasured(conformance::SILENCE_LIMIT)?;
    let conduct = TrialOptions { interrupts: interrupts.clone(), ..usual };
    let checked = match arguments.faults {
        true => faults(&contenders, &scratch, &conduct),
        false => check_all(&contenders, &scratch, &arguments.only, &conduct),
    };
    interrupts.signal().map_or(checked, |signal| Ok(Exit::Signal(signal)))
}

/// Checks the runner of each contender, until a signal comes.
fn check_all(
    contenders: &[Contender],
    scratch: &Scratch,
    only: &[String],
    conduct: &TrialOptions,
) -> Result<Exit> {
    let mut exit = Exit::Done;
    let mut unchecked = Vec::new();
    for contender in contenders {
        conduct.interrupts.check()?;
        // One that cannot be checked keeps nothing from the others.
        match check(contender, scratch, only, conduct) {
            Ok(Exit::Done) => {}
            Ok(_) => exit = Exit::Incomplete,
            Err(error) if error.is::<InputError>() => return Err(error),
            Err(error) => unchecked.push((&contender.label, error)),
        }
    }
    let (count, all) = (unchecked.len(), contenders.len());
    match unchecked.into_iter().next() {
        None => Ok(exit),
        Some((_, error)) if all == 1 => Err(error),
        Some((label, error)) => {
            bail!("{count} of {all} contenders could not be checked. The first: {label}: {error:#}")
        }
    }
}

/// Checks the runner of a contender and prints the report.
fn check(contender: &Contender, scratch: &Scratch, only: &[String], conduct: &TrialOptions) -> Result<Exit> {
    if let Some(missing) = contender.missing() {
        bail!(missing);
    }
    let report = conformance::check(contender, scratch, only, conduct)?;
    if report.findings.is_empty() {
        return Err(anyhow!("no duty holds the words '{}'", only.join("' or '"))).input();
    }
    print(&report.to_string())?;
    Ok(if report.is_passed() { Exit::Done } else { Exit::Incomplete })
}

/// Prints what drivers do when the way to their server fails.
fn faults(contenders: &[Contender], scratch: &Scratch, conduct: &TrialOptions) -> Result<Exit> {
    conformance::faults::check(contenders).input()?;
    let table = conformance::faults::try_faults(contenders, scratch, conduct);
    // A signal leaves faults untried, which is no finding.
    conduct.interrupts.check()?;
    print(&table.to_string())?;
    exit_of(&table)
}

/// The exit code for a table of faults.
///
/// # Errors
/// A fault could not be tried to its end: of that driver nothing is known.
fn exit_of(table: &FaultTable) -> Result<Exit> {
    let untried = table.untried();
    if let Some(first) = untried.first() {
        let (count, faults) =
            (untried.len(), table.lines.iter().map(|(_, findings)| findings.len()).sum::<usize>());
        bail!(
            "{count} of {faults} faults could not be tried to their end, and the table shows the others. The first: {first}"
        );
    }
    Ok(if table.is_sound() { Exit::Done } else { Exit::Incomplete })
}

#[cfg(test)]
mod tests {
    use dyno_conformance::faults::{DriverFault, DriverOutcome, FaultFinding};

    use super::*;

    #[test]
    fn a_fault_that_could_not_be_tried_is_an_error_and_a_lost_commit_a_finding() {
        let table = |outcome, lost: &[u64]| {
            let (fault, lost) = (DriverFault::Silence, lost.to_vec());
            let finding = FaultFinding { fault, outcome, lost, repeated: Vec::new(), kept: None };
            FaultTable { lines: vec![("pg".into(), vec![finding])] }
        };
        assert_eq!(exit_of(&table(DriverOutcome::GoesOn, &[])).unwrap(), Exit::Done);
        assert_eq!(exit_of(&table(DriverOutcome::GoesOn, &[3])).unwrap(), Exit::Incomplete);
        let error = exit_of(&table(DriverOutcome::Untried("no server".into()), &[])).unwrap_err();
        assert!(error.to_string().contains("The first: pg, silence: no server"), "{error:#}");
    }
}
