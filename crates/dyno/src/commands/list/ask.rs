//! Asks the runners for their versions, all at the same time: a runner takes a moment to start, and a server a second.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use dyno_engine::proofs::Proofs;
use dyno_engine::{Contender, Engine, Registry};
use dyno_lab::machine::allowed_cpus;
use dyno_lab::placement;
use dyno_lab::scratch::{self, Scratch};
use dyno_lab::trial::{Reply, TrialOptions};
use dyno_plan::probe;
use dyno_protocol::Build;
use dyno_record::{ClusterShape, cpu_list};

use super::engine::{DriverItem, EngineItem};
use crate::terminal::say;

/// The time limit for a runner's answer: one that hangs must not hold up the list.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// A driver to ask.
struct Candidate {
    /// The place of its engine among those listed.
    engine: usize,
    contender: Contender,
    item: DriverItem,
}

/// The engines with what their runners answered.
pub fn ask(engines: &[&Engine], registry: &Registry) -> Result<Vec<EngineItem>> {
    let scratch = Scratch::create_or(&scratch::default_parent(), scratch::BY_TMPDIR)?;
    let groups = groups(engines, registry)?;
    let asked = thread::scope(|scope| {
        let threads: Vec<_> =
            groups.into_iter().map(|group| scope.spawn(|| ask_group(group, &scratch))).collect();
        threads.into_iter().map(join).collect::<Result<Vec<_>>>()
    })?;
    let mut drivers: Vec<Vec<DriverItem>> = engines.iter().map(|_| Vec::new()).collect();
    for candidate in asked.into_iter().flatten().filter(is_worth_a_line) {
        drivers[candidate.engine].push(candidate.item);
    }
    let (proofs, troubles) = Proofs::load();
    troubles.iter().for_each(|trouble| say(&format!("dyno: {trouble}")));
    engines.iter().zip(drivers).map(|(engine, drivers)| EngineItem::new(engine, drivers, &proofs)).collect()
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The drivers on all builds, in groups: those of a server engine share the server that one thread starts.
fn groups(engines: &[&Engine], registry: &Registry) -> Result<Vec<Vec<Candidate>>> {
    let mut groups = Vec::new();
    for (place, engine) in engines.iter().enumerate() {
        let candidates = candidates(place, engine, registry)?;
        match engine.is_server() {
            true => groups.push(candidates),
            false => groups.extend(candidates.into_iter().map(|candidate| vec![candidate])),
        }
    }
    Ok(groups)
}

fn candidates(place: usize, engine: &Engine, registry: &Registry) -> Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    let mut drivers: Vec<_> = registry.drivers(&engine.name).collect();
    drivers.sort_by_key(|(_, driver)| !driver.default);
    for (_, driver) in drivers {
        let usual = engine.builds.iter().filter(|build| *build != "path");
        // Those are for the driver that loads a library when it runs.
        let named = engine.named_builds.iter().filter(|_| driver.default).map(|build| &build.name);
        for (index, build) in usual.chain(named).enumerate() {
            let name = format!("{}@{build}/{}", engine.name, driver.name);
            let usual = Contender::parse(&name, registry)?;
            let mut contender = match alone(engine)? {
                Some(profile) => Contender::parse(&format!("{name}:{profile}"), registry)?,
                None => usual.clone(),
            };
            // One node says which version it is, and the others take seconds to join.
            contender.cluster = contender.cluster.map(|shape| ClusterShape { nodes: 1, ..shape });
            let unusual = (index > 0).then(|| build.clone());
            let item = DriverItem::new(usual.label, driver, unusual);
            candidates.push(Candidate { engine: place, contender, item });
        }
    }
    Ok(candidates)
}

/// The profile of a cluster whose commits wait for no other node, if there is one: a node that is alone would wait for
/// ever.
fn alone(engine: &Engine) -> Result<Option<&str>> {
    let Some(cluster) = engine.cluster() else { return Ok(None) };
    for profile in &engine.profiles {
        let safety = engine.claimed_safety(&profile.settings()?, None, cluster.nodes);
        if safety.and_then(|safety| safety.nodes).is_some_and(|nodes| nodes.lost == 0) {
            return Ok(Some(&profile.name));
        }
    }
    Ok(None)
}

fn ask_group(mut group: Vec<Candidate>, scratch: &Scratch) -> Result<Vec<Candidate>> {
    // Nothing is timed, so they may run on any CPU.
    let cpus = cpu_list::format(&allowed_cpus());
    let placement = placement::choose(Some(&cpus), None)?;
    let conduct = TrialOptions { placement, ..TrialOptions::unmeasured(ANSWER_TIMEOUT)? };
    let mut servers = conduct.servers(scratch);
    for Candidate { contender, item, .. } in &mut group {
        let directory = scratch.trial()?;
        match conduct.ask(contender, probe(contender, directory.path()), &mut servers) {
            Reply::Here(hello) => item.version = Some(hello.engine_version),
            Reply::Missing(why) | Reply::Broken { why, .. } => {
                item.command = command_in(&why);
                item.missing = Some(why);
            }
            Reply::Interrupted(_) => item.missing = Some("interrupted".to_owned()),
        }
    }
    Ok(group)
}

/// Returns true if a driver is listed: one that carries its own library cannot reach other builds, which is nothing
/// that is missing.
fn is_worth_a_line(candidate: &Candidate) -> bool {
    let Candidate { contender, item, .. } = candidate;
    contender.driver.default
        || contender.engine.is_server()
        || contender.build != Build::System
        || item.version.is_some()
}

/// The command in a message that says what to do next: what stands in backticks or after "then:", or what to install.
fn command_in(message: &str) -> Option<String> {
    if let Some(quoted) = message.split('`').nth(1) {
        return Some(quoted.to_owned());
    }
    if let Some((_, command)) = message.split_once("then: ") {
        return Some(command.to_owned());
    }
    let (_, packages) = message.split_once("apt-get install ")?;
    let end = packages.find([')', ';', ',']).unwrap_or(packages.len());
    Some(format!("apt-get install {}", &packages[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_a_message_is_found() {
        let found = |message| command_in(message);
        assert_eq!(
            found("no library; install it (Debian: apt-get install liblmdb0)").as_deref(),
            Some("apt-get install liblmdb0")
        );
        assert_eq!(found("unpack one with `scripts/x.sh` or `y`").as_deref(), Some("scripts/x.sh"));
        assert_eq!(
            found("headers (sudo apt-get install libssl-dev), then: cargo build -p x").as_deref(),
            Some("cargo build -p x")
        );
        assert_eq!(found("it crashed"), None);
    }
}
