//! `--on`: runs whose clients are on other machines. What cannot be driven from there is refused before anything runs.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use dyno_engine::Contender;
use dyno_launch::agents::{AgentHello, AgentPool, Launcher};
use dyno_plan::{divided_mixes, select};
use dyno_protocol::Server;
use dyno_record::AgentRecord;
use dyno_suite::Model;

use super::request::RunRequest;
use super::site::Site;
use crate::cli::PlaceArgs;
use crate::commands::agent::this_build;

/// The first bytes of a program.
const ELF: [u8; 4] = *b"\x7fELF";

/// The agents that the command line asks for, if it does, for a request whose contenders they can drive.
///
/// # Errors
/// The agents cannot be started as they are written, or a contender or the suite cannot be driven from other machines.
pub fn prepare(request: &mut RunRequest, place: &PlaceArgs) -> Result<Option<AgentPool>> {
    let (Some(on), Some(hosts)) = (&place.on, &place.hosts) else { return Ok(None) };
    let launcher = Launcher::parse(on, hosts, place.agent.as_deref().unwrap_or("dyno"))?;
    check_mixes(request, launcher.agents())?;
    ensure!(
        !request.schedule.counts,
        "--counts counts on this machine what runners do, and --on starts them on others: leave one out"
    );
    ensure!(
        !request.schedule.round_trips,
        "--round-trips records one client of this machine, and --on drives clients from others: leave one out"
    );
    for (option, is_given) in [
        ("--memory limits", request.limits.memory_bytes.is_some()),
        ("--cpus places", place.cpus.is_some()),
        ("--nice orders", place.nice.is_some()),
    ] {
        ensure!(!is_given, "{option} runners of this machine, and --on starts them on others: leave one out");
    }
    ensure!(
        request.limits.round_trip_ns.is_none(),
        "--delay delays what passes through this machine, and --on drives clients from others: leave one out"
    );
    request.contenders.iter().try_for_each(check)?;
    // Each agent has one process for its clients, and they cannot take turns with other contenders.
    request.contenders.iter_mut().for_each(|contender| contender.processes = true);
    request.schedule.turns = false;
    Ok(Some(AgentPool::new(launcher, this_build())))
}

/// Starts the agents and returns what they are.
///
/// # Errors
/// One does not start, with its host and what to do.
pub fn start(site: &Site) -> Result<Vec<AgentRecord>> {
    let Some(agents) = &site.options.agents else { return Ok(Vec::new()) };
    let fleet = agents.fleet(&site.options.interrupts)?;
    let agents = fleet.agents();
    let record = |(rank, (host, hello)): (usize, &(String, AgentHello))| {
        let first = agents.iter().position(|(_, other)| other.boot_id == hello.boot_id);
        let same_machine_as = first.filter(|first| hello.boot_id.is_some() && *first < rank);
        AgentRecord { host: host.clone(), machine: hello.machine.clone(), same_machine_as }
    };
    Ok(agents.iter().enumerate().map(record).collect())
}

/// A test that runs must have clients to divide, and each that has them enough for all agents.
fn check_mixes(request: &RunRequest, agents: usize) -> Result<()> {
    let RunRequest { suite, parameters, only, .. } = request;
    ensure!(
        suite.tests.iter().any(|test| test.model == Model::Mix),
        "--on divides the clients of mixes among machines, and {} has no mix: take a suite with clients, such as bank, \
         or leave --on out",
        suite.name
    );
    let divided = divided_mixes(suite, parameters, &select(suite, only.as_deref())?)?;
    ensure!(
        !divided.is_empty(),
        "--on divides the clients of mixes among machines, and no test of {} that is to run has clients to divide: choose \
         another (--only), or leave --on out",
        suite.name
    );
    if let Some((test, clients)) = divided.iter().find(|(_, clients)| (*clients as usize) < agents) {
        bail!(
            "test {test}: {clients} clients cannot be divided among {agents} agents: ask for more (--clients), or name \
             fewer hosts"
        );
    }
    Ok(())
}

/// A contender must be reached by the network, and its runner must be one file that can be sent.
fn check(contender: &Contender) -> Result<()> {
    let label = &contender.label;
    if contender.engine.harness {
        return Ok(());
    }
    let Some(url) = &contender.url else {
        bail!(
            "--on drives servers from other machines, and {label} is not one that they reach: name a running server, \
             as --with postgres=postgres://user@host/database, or leave --on out"
        );
    };
    let server = url.connection("").server;
    ensure!(
        !server.host.starts_with('/'),
        "--on drives servers from other machines, and {label} is reached by a socket of this one: name its host in the URL"
    );
    if let Some(option) = server.options.keys().find(|name| Server::FOLDERS.contains(&name.as_str())) {
        bail!("--on sends files to agents, and {option} of {label} names a folder: name one file");
    }
    let command = contender.runner.command();
    let (program, arguments) = command.split_first().context("the runner's start command is empty")?;
    ensure!(
        is_program(Path::new(program)) && !arguments.iter().any(|argument| argument.contains('/')),
        "the driver {}/{} is a script, and agents are sent runners that are one program: leave the driver out of the URL",
        contender.engine.name,
        contender.driver.name
    );
    Ok(())
}

fn is_program(path: &Path) -> bool {
    let mut start = [0; 4];
    dyno_files::open_found(path).and_then(|mut file| file.read_exact(&mut start)).is_ok_and(|()| start == ELF)
}

#[cfg(test)]
mod tests {
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    #[test]
    fn a_fifo_is_no_program_and_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        mkfifo(&fifo, Mode::S_IRWXU).unwrap();
        assert!(!is_program(&fifo));
        assert!(is_program(&std::env::current_exe().unwrap()));
    }
}
