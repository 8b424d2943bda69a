//! Agents on three hosts, started by Slurm's `srun`.

use std::process::Child;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::network::HOSTS;
use super::slurm::Slurm;
use super::{LONG, SMALL, Served, assert_shared, bank, wait_for_a_trial};
use crate::common::{Place, Result, read_json, wait_for};

/// Starts a run as `docs/machines.md` writes it.
fn start(slurm: &Slurm, place: &Place, arguments: &str) -> Child {
    bank(place, "srun", "a,b,c", arguments).env("SLURM_CONF", slurm.configuration()).spawn().unwrap()
}

/// Of the processes on a host, those that are not Slurm's own.
fn others(slurm: &Slurm, host: &str) -> Vec<u32> {
    let is_other = |pid: &u32| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        !name.starts_with("slurm")
    };
    slurm.network.processes(host).into_iter().filter(is_other).collect()
}

#[test]
#[ignore = "make soak: Slurm is needed for nothing else"]
fn slurm_starts_agents_that_share_the_clients_and_lose_nothing() {
    let Some(slurm) = Slurm::start() else { return };
    let (served, place) = (Served::at(slurm.network.address()), Place::new());
    let arguments = format!("{SMALL} --clients 6 --rate 300 --url {}", served.url);
    let result: Result = start(&slurm, &place, &arguments).wait_with_output().unwrap().into();
    let result = result.without_panic().exits(0);
    assert!(!result.stdout.contains("wrong") && !result.stdout.contains("failed"), "{}", result.stdout);
    assert_shared(&read_json(&place.path("run.jsonl")), &["a", "b", "c"], 6);
    for host in HOSTS {
        wait_for("the processes of a host to be gone", 60, || others(&slurm, host).is_empty());
    }
    place.assert_clean();
    served.assert_clean();
}

#[test]
#[ignore = "make soak: Slurm is needed for nothing else"]
fn an_agent_of_slurm_that_is_killed_is_named_and_nothing_is_left() {
    let Some(slurm) = Slurm::start() else { return };
    let (served, place) = (Served::at(slurm.network.address()), Place::new());
    let arguments = format!("{LONG} --url {}", served.url);
    let dyno = start(&slurm, &place, &arguments);
    let runners = || {
        let all = HOSTS.into_iter().flat_map(|host| others(&slurm, host));
        let line = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        all.filter(|pid| line(pid).contains("/files/")).collect::<Vec<u32>>()
    };
    wait_for_a_trial(runners);
    let all: Vec<u32> = HOSTS.into_iter().flat_map(|host| others(&slurm, host)).collect();
    let is_agent = |pid: &&u32| {
        std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default().ends_with(b"\0agent\0")
    };
    let on_b = others(&slurm, "b");
    let agent = on_b.iter().find(is_agent).unwrap();
    kill(Pid::from_raw(agent.cast_signed()), Signal::SIGKILL).unwrap();
    // Those of the next trial are others.
    wait_for("the agents to end, long before the trial would", 40, || {
        HOSTS.into_iter().flat_map(|host| others(&slurm, host)).all(|pid| !all.contains(&pid))
    });
    let _ = kill(Pid::from_raw(dyno.id().cast_signed()), Signal::SIGINT);
    let result: Result = dyno.wait_with_output().unwrap().into();
    let result = result.without_panic();
    for host in HOSTS {
        wait_for("the processes of a host to be gone", 60, || others(&slurm, host).is_empty());
    }
    let run = read_json(&place.path("run.jsonl"));
    let said = format!("{} {}", run["trials"], result.stderr);
    assert!(said.contains("the agent on b was silent"), "{said}");
    place.assert_clean();
    served.assert_clean();
}
