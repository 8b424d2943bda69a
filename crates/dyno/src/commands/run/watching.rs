//! The progress that `--progress` can print: the mixes of a run, and the contenders whose runners report.

use anyhow::{Result, ensure};
use dyno_plan::Plan;

use crate::terminal::say;

/// Prints which contenders report nothing while they work.
///
/// # Errors
/// No test of the run is a mix that lasts a time.
pub fn check(plan: &Plan) -> Result<()> {
    ensure!(
        plan.tests.iter().any(|test| test.record.load.is_some()),
        "--progress prints what clients of a mix do while it is measured, and no test of this run is a mix that lasts a time; \
         leave it out"
    );
    let silent = plan.contenders.iter().filter(|contender| !contender.reports_intervals());
    for contender in silent.filter(|contender| !contender.engine.harness) {
        let (label, runner) = (&contender.label, &contender.runner.name);
        say(&format!(
            "dyno: --progress prints nothing of {label}: its runner {runner} reports nothing before the end"
        ));
    }
    Ok(())
}
