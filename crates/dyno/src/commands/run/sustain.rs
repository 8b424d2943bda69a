//! Checks the options of a search for the highest rate at which a target holds.

use anyhow::{Result, bail, ensure};
use dyno_plan::{chosen_mixes, select};
use dyno_record::Parameters;
use dyno_suite::Suite;

use crate::cli::RunArgs;

/// Refuses what a search cannot be.
pub fn check(arguments: &RunArgs, suite: &Suite, parameters: &Parameters) -> Result<()> {
    ensure!(
        !arguments.no_warm_up,
        "--sustain needs the trial that --no-warm-up leaves out, because that trial measures how much a contender does at most"
    );
    ensure!(
        !arguments.latency,
        "--sustain and --latency: each trial has a different rate; use only one of them"
    );
    let selection = select(suite, arguments.only.as_deref())?;
    let mixes = chosen_mixes(suite, parameters, &selection)?;
    for (test, mix) in &mixes {
        ensure!(mix.rate.is_none(), "--sustain seeks the rate that --rate states: use only one of them");
        ensure!(
            mix.think_ns.is_none(),
            "--sustain and --think: operations that arrive at a rate do not wait for a client to think; use only one of them"
        );
        ensure!(
            mix.session.is_none(),
            "--sustain and --sessions: the rate that is sought is of clients that stay connected; use only one of them"
        );
        ensure!(
            mix.lasts.is_some(),
            "--sustain: the clients of test {} do a number of operations, and a rate needs a time",
            test.id
        );
    }
    if mixes.is_empty() {
        bail!("--sustain seeks a rate in tests of many clients, and {} has none", suite.name);
    }
    Ok(())
}
