//! The statements that `--statements` can time: those of mixes, by runners that report them.

use anyhow::{Result, ensure};
use dyno_plan::Plan;
use dyno_suite::{Model, NO_SQL};

use crate::terminal::say;

/// Prints which contenders report no times of statements.
///
/// # Errors
/// No test of the run is a mix.
pub fn check(plan: &Plan) -> Result<()> {
    ensure!(
        plan.tests.iter().any(|test| test.record.model == Model::Mix.name()),
        "--statements times the statements of operations in suites with many clients, and no test of this run is such a mix; \
         leave it out"
    );
    for contender in plan.contenders.iter().filter(|contender| !contender.engine.harness) {
        let why = if contender.engine.dialect == NO_SQL {
            format!("{} has no SQL", contender.engine.title)
        } else if !contender.runner.statements {
            format!("its runner {} times whole operations alone", contender.runner.name)
        } else {
            continue;
        };
        say(&format!("dyno: --statements shows nothing of {}: {why}", contender.label));
    }
    Ok(())
}
