//! `dyno compare`: two runs, test by test.

use anyhow::Result;
use dyno_verdict::{Comparison, Gate};

use super::outcome::{Exit, Input, print};
use crate::cli::{CompareArgs, Format};
use crate::terminal::say;

/// Compares, and fails where asked to and something is slower, no longer works, or cannot be decided.
pub fn execute(arguments: &CompareArgs) -> Result<Exit> {
    let old = dyno_verdict::judge(&dyno_record::load(&arguments.old).input()?);
    let new = dyno_verdict::judge(&dyno_record::load(&arguments.new).input()?);
    let comparison = dyno_verdict::compare_as(old, &new, &arguments.aliases).input()?;
    print(&match arguments.format {
        Format::Table => dyno_show::comparison::text(&comparison),
        Format::Markdown => dyno_show::comparison::markdown(&comparison),
        Format::Csv => dyno_show::comparison::csv(&comparison)?,
        Format::Json => dyno_show::pretty(&comparison)?,
    })?;
    arguments.fail_slower.map_or(Ok(Exit::Done), |share| Ok(gate(&comparison, share)))
}

/// Reports what is slower than allowed or no longer works, and in the last line what the gate rests on.
fn gate(comparison: &Comparison, share: f64) -> Exit {
    for (test, label, why) in comparison.broken() {
        say(&format!("dyno: {label} no longer counts in test {} ({}): {why}", test.id, test.title));
    }
    for (test, label, ratio) in comparison.slower_than(share) {
        say(&format!(
            "dyno: {label} is {} slower in test {} ({}); {} is allowed",
            dyno_show::percent(ratio.ratio - 1.0),
            test.id,
            test.title,
            dyno_show::percent(share)
        ));
    }
    let gate = comparison.gate(share);
    say(&dyno_show::comparison::gate(&gate, share));
    match gate {
        Gate { slower: 1.., .. } | Gate { broken: 1.., .. } => Exit::Slower,
        Gate { undecided: 1.., .. } | Gate { judged: 0, .. } => Exit::Undecided,
        _ => Exit::Done,
    }
}
