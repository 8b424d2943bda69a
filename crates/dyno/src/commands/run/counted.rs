//! The tests that `--counts` can count: those with a fixed amount of work.

use anyhow::{Error, Result, bail, ensure};
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
            Err(error) if counter == Counter::Callgrind && !counted.is_empty() => by_processor(error)?,
            Err(error) if counter != Counter::Callgrind => {
                say(&format!("dyno: without {}: {error:#}", counter.events()));
            }
            _ => {}
        }
        for contender in others {
            let (label, events) = (&contender.label, counter.events());
            say(&format!(
                "dyno: without {events} of {label}: they are counted of runners in Rust only, as is the peak of the heap"
            ));
        }
    }
    if shown.iter().any(|contender| contender.runner.counts && !Counter::has_heap(contender)) {
        say(
            "dyno: without the peak of the heap: its library is not here, which `cargo build --release -p dyno-heap` makes",
        );
    }
    shown.iter().filter_map(|contender| of_server(contender)).for_each(|line| say(&line));
    Ok(())
}

/// Without callgrind: prints that the processor's own counter takes its place.
///
/// # Errors
/// It cannot be had either.
fn by_processor(without: Error) -> Result<()> {
    if let Err(why) = Counter::check_processor() {
        bail!("{without:#}; the processor's own counter of instructions cannot be had here either: {why:#}");
    }
    say(&format!(
        "dyno: without {}, but with processor_instructions, which the processor counts: {without:#}",
        Counter::Callgrind.events()
    ));
    Ok(())
}

/// The counts that a contender's server lacks, in a line.
fn of_server(contender: &Contender) -> Option<String> {
    let label = &contender.label;
    if !contender.engine.has_server() {
        return None;
    }
    Some(match &contender.url {
        None => format!(
            "dyno: without instructions, allocations and heap of the server of {label}: callgrind would have to start the \
             server itself, and simulate all of its processes"
        ),
        Some(_) => format!(
            "dyno: without counts of the server of {label}: dyno follows the processes of private servers only"
        ),
    })
}
