//! Asks the runners for their versions, several at the same time: a runner takes a moment to start, and a server a second.

use std::iter;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use dyno_engine::proofs::Proofs;
use dyno_engine::{Contender, Engine, Registry};
use dyno_lab::machine::allowed_cpus;
use dyno_lab::placement;
use dyno_lab::scratch::{self, Scratch};
use dyno_lab::trial::{Reply, TrialOptions};
use dyno_launch::Interrupts;
use dyno_plan::probe;
use dyno_protocol::Build;
use dyno_record::{ClusterShape, cpu_list};

use super::engine::{DriverItem, EngineItem};
use crate::terminal::say;

/// The time limit for a runner's answer: one that hangs must not hold up the list. PGlite took twenty seconds where other
/// programs used all processors.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Groups that are asked at the same time, for each processor: most of the time goes into waiting for a server, and a
/// runner that shares its processor with many more would not answer in time.
const GROUPS_FOR_EACH: usize = 2;

/// A driver to ask.
struct Candidate {
    /// The place of its engine among those listed.
    engine: usize,
    contender: Contender,
    item: DriverItem,
    /// The place of the engine whose driver of the same name answers for it: the nodes of a cluster are that engine's
    /// servers.
    answered_by: Option<usize>,
}

/// The engines with what their runners answered; None where a signal came first.
pub fn ask(
    engines: &[&Engine],
    registry: &Registry,
    interrupts: &Interrupts,
) -> Result<Option<Vec<EngineItem>>> {
    let scratch = Scratch::create_or(&scratch::default_parent(), scratch::BY_TMPDIR)?;
    let mut asked = ask_groups(groups(engines, registry)?, &scratch, interrupts)?;
    if interrupts.signal().is_some() {
        return Ok(None);
    }
    answer_by_others(&mut asked);
    let mut drivers: Vec<Vec<DriverItem>> = engines.iter().map(|_| Vec::new()).collect();
    for candidate in asked.into_iter().filter(is_worth_a_line) {
        drivers[candidate.engine].push(candidate.item);
    }
    let (proofs, troubles) = Proofs::load();
    troubles.iter().for_each(|trouble| say(&format!("dyno: {trouble}")));
    let items = engines.iter().zip(drivers);
    items.map(|(engine, drivers)| EngineItem::new(engine, drivers, &proofs)).collect::<Result<_>>().map(Some)
}

/// Asks groups of drivers, and returns them in the order in which they were. After a signal none is asked.
fn ask_groups(
    groups: Vec<Vec<Candidate>>,
    scratch: &Scratch,
    interrupts: &Interrupts,
) -> Result<Vec<Candidate>> {
    let workers = GROUPS_FOR_EACH * thread::available_parallelism().map_or(1, NonZero::get);
    let left = Mutex::new(groups.into_iter().enumerate());
    let next = || {
        let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
        next.filter(|_| interrupts.signal().is_none())
    };
    let ask = || -> Vec<_> {
        iter::from_fn(next).map(|(place, group)| (place, ask_group(group, scratch, interrupts))).collect()
    };
    let mut asked: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().flat_map(join).collect()
    });
    asked.sort_by_key(|(place, _)| *place);
    let groups = asked.into_iter().map(|(_, group)| group).collect::<Result<Vec<_>>>()?;
    Ok(groups.into_iter().flatten().collect())
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Gives the drivers of clusters the answers that the same drivers gave for a single server, where a node answers.
fn answer_by_others(asked: &mut [Candidate]) {
    for place in 0..asked.len() {
        let Candidate { engine, answered_by: Some(other), item, .. } = &asked[place] else { continue };
        let by_single = asked.iter().find(|known| known.engine == *other && known.item.driver == item.driver);
        let node = asked.iter().find(|known| known.engine == *engine && known.answered_by.is_none());
        let (Some(by_single), Some(node)) = (by_single, node) else { continue };
        let silent = [by_single, node].into_iter().find(|known| known.item.version.is_none());
        let (version, missing, command) = match silent {
            Some(Candidate { item, .. }) => (None, item.missing.clone(), item.command.clone()),
            None => (node.item.version.clone(), None, None),
        };
        let item = &mut asked[place].item;
        (item.version, item.missing, item.command) = (version, missing, command);
    }
}

/// The drivers on all builds, in groups: those of a server engine share the server that one thread starts.
fn groups(engines: &[&Engine], registry: &Registry) -> Result<Vec<Vec<Candidate>>> {
    let mut groups = Vec::new();
    for (place, engine) in engines.iter().enumerate() {
        let candidates = candidates(place, engines, registry)?;
        match engine.is_server() {
            true => groups.push(candidates),
            false => groups.extend(candidates.into_iter().map(|candidate| vec![candidate])),
        }
    }
    Ok(groups)
}

fn candidates(place: usize, engines: &[&Engine], registry: &Registry) -> Result<Vec<Candidate>> {
    let engine = engines[place];
    let single = single(engine, engines);
    let mut candidates = Vec::new();
    let mut drivers: Vec<_> = registry.drivers(&engine.name).collect();
    drivers.sort_by_key(|(_, driver)| !driver.default);
    for (_, driver) in drivers {
        let usual = engine.builds.iter().filter(|build| *build != "path" && driver.serves(engine, build));
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
            let answered_by = single.filter(|_| !driver.default && index == 0);
            candidates.push(Candidate { engine: place, contender, item, answered_by });
        }
    }
    Ok(candidates)
}

/// The place of the engine whose single servers are the nodes of a cluster, if it is listed too.
fn single(engine: &Engine, engines: &[&Engine]) -> Option<usize> {
    engine.cluster()?;
    let programs = |engine: &Engine| engine.server()?.start.map(|start| start.programs);
    engines.iter().position(|other| other.cluster().is_none() && programs(other) == programs(engine))
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

fn ask_group(
    mut group: Vec<Candidate>,
    scratch: &Scratch,
    interrupts: &Interrupts,
) -> Result<Vec<Candidate>> {
    // Nothing is timed, so they may run on any CPU.
    let cpus = cpu_list::format(&allowed_cpus());
    let placement = placement::choose(Some(&cpus), None)?;
    let interrupts = interrupts.clone();
    let conduct = TrialOptions { placement, interrupts, ..TrialOptions::unmeasured(ANSWER_TIMEOUT)? };
    let mut servers = conduct.servers(scratch);
    for Candidate { contender, item, .. } in group.iter_mut().filter(|one| one.answered_by.is_none()) {
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
