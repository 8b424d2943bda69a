//! The contenders that `--why` can look at: those whose clients are threads of one process of this machine.

use anyhow::{Result, bail};
use dyno_plan::Plan;

/// # Errors
/// The clients of a contender are processes.
pub fn check(plan: &Plan) -> Result<()> {
    match plan.contenders.iter().find(|contender| contender.processes) {
        Some(contender) => bail!(
            "--why looks at clients that are threads of one process, and those of {} are processes; leave one of the two out",
            contender.label
        ),
        None => Ok(()),
    }
}
