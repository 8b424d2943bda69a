//! `--round-trips`: what contenders and their servers say to each other.

use anyhow::{Result, ensure};
use dyno_lab::run::Observer;
use dyno_lab::traffic::TrafficCounter;
use dyno_plan::Plan;
use dyno_record::{Run, TrafficRecord};

use crate::terminal::say;

/// Prints which contenders have no server.
///
/// # Errors
/// None has.
pub fn check(plan: &Plan) -> Result<()> {
    let shown = plan.contenders.iter().filter(|contender| !contender.engine.harness);
    let (others, served): (Vec<_>, Vec<_>) = shown.partition(|contender| !contender.engine.is_server());
    ensure!(
        !served.is_empty(),
        "--round-trips counts what clients and servers say to each other, and none of these contenders is a server that \
         speaks PostgreSQL's or MySQL's protocol: name one, or leave it out"
    );
    for contender in others {
        let label = &contender.label;
        let why = match contender.engine.has_server() {
            true => "dyno does not read its protocol",
            false => "its engine is within the client's process",
        };
        say(&format!("dyno: --round-trips counts nothing of {label}: {why}"));
    }
    Ok(())
}

/// Adds to the record the traffic of each contender that is shown, where it is asked for. The record shows failures.
pub fn count(run: &mut Run, mut counter: TrafficCounter, observer: &mut dyn Observer) {
    if !run.schedule.round_trips {
        return;
    }
    for index in 0..run.contenders.len() {
        let is_server = counter.plan.contenders[index].engine.is_server();
        if !run.contenders[index].named || !is_server {
            continue;
        }
        if counter.conduct.interrupts.signal().is_some() {
            return;
        }
        observer.traffic_begins(index, run);
        let tests = run.shown_tests().map(|test| test.id.clone()).collect::<Vec<_>>();
        run.contenders[index].traffic = counter.count(index, observer).unwrap_or_else(|error| {
            let failed =
                |test| TrafficRecord { test, failed: Some(format!("{error:#}")), ..TrafficRecord::default() };
            tests.into_iter().map(failed).collect()
        });
    }
}
