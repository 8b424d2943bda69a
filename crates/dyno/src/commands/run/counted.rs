//! The tests that `--counts` can count: those with a fixed amount of work, by runners that count their sections.

use anyhow::{Result, ensure};
use dyno_lab::run::can_count;
use dyno_plan::Plan;
use dyno_suite::Model;

use crate::terminal::say;

/// Prints which contenders are not counted.
///
/// # Errors
/// Nothing of the run can be counted.
pub fn check(plan: &Plan) -> Result<()> {
    can_count()?;
    ensure!(
        plan.tests.iter().all(|test| test.record.model != Model::Mix.name()),
        "--counts counts tests with a fixed amount of work, and clients of a mix do as much as they can in a time; leave it out"
    );
    let shown = plan.contenders.iter().filter(|contender| !contender.engine.harness);
    let (counted, others): (Vec<_>, Vec<_>) = shown.partition(|contender| contender.runner.counts);
    ensure!(
        !counted.is_empty(),
        "--counts counts nothing here: no runner of these contenders counts its sections; `dyno list --format json` has those \
         that do"
    );
    for contender in others {
        let (label, runner) = (&contender.label, &contender.runner.name);
        say(&format!(
            "dyno: --counts counts nothing of {label}: its runner {runner} does not count its sections"
        ));
    }
    Ok(())
}
