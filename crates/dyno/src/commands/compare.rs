//! `dyno compare`: two runs, test by test.

use anyhow::Result;

use super::{Exit, Input, print};
use crate::cli::{CompareArgs, Format};
use crate::terminal::say;

/// Compares, and fails where asked to and something is really slower or no longer works.
pub fn execute(arguments: &CompareArgs) -> Result<Exit> {
    let old = dyno_verdict::judge(&dyno_record::load(&arguments.old).input()?);
    let new = dyno_verdict::judge(&dyno_record::load(&arguments.new).input()?);
    let comparison = dyno_verdict::compare(&old, &new).input()?;
    print(&match arguments.format {
        Format::Table => dyno_show::comparison::text(&comparison),
        Format::Markdown => dyno_show::comparison::markdown(&comparison),
        Format::Csv => dyno_show::comparison::csv(&comparison)?,
        Format::Json => dyno_show::pretty(&comparison)?,
    })?;
    let Some(share) = arguments.fail_slower else { return Ok(Exit::Done) };
    let mut exit = Exit::Done;
    for (test, label, why) in comparison.broken() {
        say(&format!("dyno: {label} no longer counts in test {} ({}): {why}", test.id, test.title));
        exit = Exit::Slower;
    }
    for (test, label, ratio) in comparison.slower_than(share) {
        say(&format!(
            "dyno: {label} is {} slower in test {} ({}); {} is allowed",
            dyno_show::percent(ratio.ratio - 1.0),
            test.id,
            test.title,
            dyno_show::percent(share)
        ));
        exit = Exit::Slower;
    }
    Ok(exit)
}
