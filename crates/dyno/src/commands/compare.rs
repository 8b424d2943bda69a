//! `dyno compare`: two runs, test by test.

use anyhow::Result;

use super::{Exit, Input, print};
use crate::cli::CompareArgs;
use crate::output;
use crate::record;
use crate::terminal::say;
use crate::verdict;

/// Compares, and fails where asked to and something is really slower or no longer works.
pub fn execute(arguments: &CompareArgs) -> Result<Exit> {
    let old = record::load(&arguments.old).input()?;
    let new = record::load(&arguments.new).input()?;
    let comparison = verdict::compare(&old, &new).input()?;
    print(&output::render_comparison(&comparison, arguments.format)?)?;
    let Some(share) = arguments.fail_slower else { return Ok(Exit::Done) };
    let mut exit = Exit::Done;
    for (test, label, why) in comparison.broken() {
        say(&format!("dyno: {label} no longer counts in test {} ({}): {why}", test.id, test.title));
        exit = Exit::Slower;
    }
    for (test, label, ratio) in comparison.slower_than(share) {
        say(&format!(
            "dyno: {label} is {} slower in test {} ({}); {} is allowed",
            output::percent(ratio.ratio - 1.0),
            test.id,
            test.title,
            output::percent(share)
        ));
        exit = Exit::Slower;
    }
    Ok(exit)
}
