//! The tests that `--counts` can count: those with a fixed amount of work.

use anyhow::{Result, ensure};
use dyno_engine::Contender;
use dyno_lab::run::Counter;
use dyno_plan::Plan;
use dyno_suite::Model;

use crate::terminal::say;

/// Prints what is not counted.
///
/// # Errors
/// The tests cannot be counted, or the program that counts instructions is not here although a runner can be counted by
/// it.
pub fn check(plan: &Plan) -> Result<()> {
    ensure!(
        plan.tests.iter().all(|test| test.record.model != Model::Mix.name()),
        "--counts counts tests with a fixed amount of work, and clients of a mix do as much as they can in a time; leave it out"
    );
    let shown: Vec<&Contender> =
        plan.contenders.iter().filter(|contender| !contender.engine.harness).collect();
    for counter in Counter::ALL {
        let (counted, others): (Vec<&Contender>, Vec<&Contender>) =
            shown.iter().copied().partition(|contender| counter.takes(contender));
        match counter.check() {
            Err(error) if counter == Counter::Callgrind && !counted.is_empty() => return Err(error),
            Err(error) if counter != Counter::Callgrind => {
                say(&format!("dyno: without {}: {error:#}", counter.events()));
            }
            _ => {}
        }
        for contender in others {
            let (label, events) = (&contender.label, counter.events());
            say(&format!("dyno: without {events} of {label}: they are counted of runners in Rust only"));
        }
    }
    Ok(())
}
