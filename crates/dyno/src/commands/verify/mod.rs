//! `dyno verify`: whether what a run file or a page says can be worked out again.
//!
//! A run file holds samples, and every figure comes from them. So what is checked is that the file is as dyno wrote it,
//! that its samples do not contradict each other, and that all else in it follows from the suite's text, dyno's engine
//! files and the seed. Of a page also each word: the page of the run within it must come out the same.

mod claims;
mod page;
mod signature;

use std::path::Path;

use anyhow::{Context, Result};
use dyno_engine::{Home, Registry};
use dyno_record::{Run, Seals};
use dyno_verdict::contradictions;

use super::outcome::{AsInput, Exit, print};
use super::show;
use crate::cli::VerifyArgs;
use crate::commands::registry;

/// At most as many reasons are printed for a file.
const SHOWN: usize = 20;

/// The parts of a run that no sample carries.
const ON_TRUST: &str = "Taken as the file has them: the machine, who made the run, the digests of programs and libraries, and \
                        results of `dyno prove`.";

/// Verifies the files named.
pub fn execute(arguments: &VerifyArgs) -> Result<Exit> {
    let home = Home::find().input()?;
    let registry = registry(&home)?;
    let mut exit = Exit::Done;
    for path in &arguments.runs {
        let text = show::read(path).input()?;
        let mut found = refusals(&text, path, &home, &registry)?;
        let signer = match &arguments.signers {
            Some(signers) => Some(signature::signer(path, signers)?),
            None => None,
        };
        if let Some(Err(why)) = &signer {
            found.push(why.clone());
        }
        if !found.is_empty() {
            exit = Exit::Incomplete;
        }
        print(&report(path, &text, &found, signer.and_then(Result::ok).as_deref())?)?;
    }
    Ok(exit)
}

/// The reasons to refuse a run file or a page, a sentence each; none if it is accepted.
///
/// # Errors
/// It cannot be tried; a file that is no run file is refused.
pub fn refusals(text: &str, path: &Path, home: &Home, registry: &Registry) -> Result<Vec<String>> {
    let run = match dyno_record::parse(text, path) {
        Ok(run) => run,
        Err(error) => return Ok(vec![format!("it cannot be read: {error:#}")]),
    };
    let mut found = Vec::new();
    if run.seals != Seals::Whole {
        found.push(format!("the run file {}", run.seals));
    }
    found.extend(contradictions(&run));
    found.extend(claims::unfounded(&run, home, registry));
    if dyno_record::is_page(text) {
        found.extend(page::differences(text, path)?);
    }
    Ok(found)
}

fn report(path: &Path, text: &str, found: &[String], signer: Option<&str>) -> Result<String> {
    let name = path.display();
    if found.is_empty() {
        let run = dyno_record::parse(text, path).context("cannot read the run again")?;
        let signed = signer.map(|signer| format!(" Signed by {signer}.")).unwrap_or_default();
        return Ok(format!("{name}: verified: {}. {ON_TRUST}{signed}\n", counts(&run)));
    }
    let mut lines = vec![format!("{name}: refused:")];
    lines.extend(found.iter().take(SHOWN).map(|why| format!("  {}", dyno_show::one_line(why))));
    if found.len() > SHOWN {
        lines.push(format!("  and {} more", found.len() - SHOWN));
    }
    Ok(lines.join("\n") + "\n")
}

/// The figures that were worked out again.
fn counts(run: &Run) -> String {
    let samples: usize = run.trials.iter().map(|trial| trial.samples.len()).sum();
    let functions = run.trials.iter().flat_map(|trial| &trial.samples);
    let functions = match functions.filter(|sample| sample.functions.is_some()).count() {
        0 => String::new(),
        count => format!(", the functions of {count}"),
    };
    let levels = run.shown_contenders().filter(|(_, contender)| contender.safety.is_some()).count();
    format!(
        "{samples} samples of {} trials{functions}, {} different answers, the {} of {levels} {}",
        run.trials.len(),
        run.answers.len(),
        if levels == 1 { "level" } else { "levels" },
        if levels == 1 { "contender" } else { "contenders" }
    )
}
