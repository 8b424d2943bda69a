//! `dyno compare`: two runs, test by test.

use anyhow::{Result, anyhow};
use dyno_verdict::{Comparison, Gate};

use super::outcome::{AsInput, Exit, print};
use crate::cli::{CompareArgs, OutputFormat};
use crate::terminal::say;

/// Compares, and fails where asked to and something is slower, no longer works, or cannot be decided.
pub fn execute(arguments: &CompareArgs) -> Result<Exit> {
    if arguments.format == OutputFormat::Html {
        return Err(anyhow!("the page of two runs is made by `dyno report OLD NEW -o FILE.html`")).input();
    }
    let old = dyno_verdict::judge(&dyno_record::load(&arguments.old).input()?);
    let new = dyno_verdict::judge(&dyno_record::load(&arguments.new).input()?);
    let comparison = dyno_verdict::compare_as(old, &new, &arguments.aliases).input()?;
    print(&match arguments.format {
        OutputFormat::Table | OutputFormat::Html => dyno_show::comparison::text(&comparison),
        OutputFormat::Markdown => dyno_show::comparison::markdown(&comparison),
        OutputFormat::Csv => dyno_show::comparison::csv(&comparison)?,
        OutputFormat::Json => dyno_show::pretty(&comparison)?,
    })?;
    let Some(share) = arguments.fail_slower else { return Ok(Exit::Done) };
    let (lines, exit) = gate(&comparison, share);
    print_gate(&lines, arguments.format)?;
    Ok(exit)
}

/// Prints what a gate found below the table, so that it stays the last line where both outputs go to one pipe or file.
/// Formats for programs have no such lines on standard output.
pub(super) fn print_gate(lines: &str, format: OutputFormat) -> Result<()> {
    match format {
        OutputFormat::Table | OutputFormat::Markdown => print(&format!("\n{lines}\n")).map(drop),
        OutputFormat::Csv | OutputFormat::Json | OutputFormat::Html => {
            say(lines);
            Ok(())
        }
    }
}

/// The tests that are slower than allowed or no longer work, and in the last line what the gate rests on.
fn gate(comparison: &Comparison, share: f64) -> (String, Exit) {
    let mut lines = Vec::new();
    for (test, label, why) in comparison.broken() {
        lines.push(format!("{label} no longer counts in test {} ({}): {why}", test.id, test.title));
    }
    for (test, label, ratio) in comparison.slower_than(share) {
        lines.push(format!(
            "{label} is {} slower in test {} ({}); {} is allowed",
            dyno_show::percent(ratio.ratio - 1.0),
            test.id,
            test.title,
            dyno_show::percent(share)
        ));
    }
    let gate = comparison.gate(share);
    lines.push(dyno_show::comparison::gate(&gate, share));
    let exit = match gate {
        Gate { slower: 1.., .. } | Gate { broken: 1.., .. } => Exit::Slower,
        Gate { undecided: 1.., .. } | Gate { judged: 0, .. } => Exit::Undecided,
        _ => Exit::Done,
    };
    (lines.join("\n"), exit)
}
