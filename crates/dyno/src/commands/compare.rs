//! `dyno compare`: two runs, test by test.

use anyhow::{Result, anyhow};
use dyno_verdict::{Gate, GateLimit};

use super::gate;
use super::outcome::{AsInput, Exit, print};
use crate::cli::{CompareArgs, OutputFormat};
use crate::terminal::say;

/// Compares, and fails where asked to and something is slower, no longer works, or cannot be decided.
pub fn execute(arguments: &CompareArgs) -> Result<Exit> {
    if arguments.format == OutputFormat::Html {
        return Err(anyhow!("the page of two runs is made by `dyno report OLD NEW -o FILE.html`")).input();
    }
    let old = dyno_record::load(&arguments.old).input()?;
    let new = dyno_record::load(&arguments.new).input()?;
    if old == new && arguments.aliases.is_empty() {
        let (old, new) = (arguments.old.display(), arguments.new.display());
        say(&format!("Notice: {old} and {new} hold the same run, so that nothing can differ."));
    }
    let (old, new) = (dyno_verdict::judge(&old), dyno_verdict::judge(&new));
    let comparison = dyno_verdict::compare_as(old, &new, &arguments.aliases).input()?;
    print(&match arguments.format {
        OutputFormat::Table | OutputFormat::Html => dyno_show::comparison::text(&comparison),
        OutputFormat::Markdown => dyno_show::comparison::markdown(&comparison),
        OutputFormat::Csv => dyno_show::comparison::csv(&comparison)?,
        OutputFormat::Json => dyno_show::pretty(&comparison)?,
    })?;
    let limits: Vec<GateLimit> =
        arguments.fail_slower.map(GateLimit::of_time).into_iter().chain(arguments.gate.clone()).collect();
    match limits.is_empty() {
        true => Ok(Exit::Done),
        false => gate::judge(&Gate::of_runs(&comparison, &limits), arguments.format, Exit::Done),
    }
}
