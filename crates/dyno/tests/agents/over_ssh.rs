//! Agents on three hosts, reached by ssh.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::network::Network;
use super::{LONG, SMALL, Served, assert_shared, run, start, wait_for_a_trial};
use crate::common::{Place, Result, read_json, wait_for};

/// Nothing of an agent may be left on a host.
pub fn assert_gone(network: &Network, hosts: &[&str]) {
    for host in hosts {
        wait_for("the processes of a host to be gone", 60, || network.processes(host).is_empty());
        let left: Vec<_> = fs::read_dir(network.scratch(host)).unwrap().flatten().collect();
        assert!(left.is_empty(), "{host}: {left:?}");
    }
}

#[test]
fn three_hosts_drive_a_server_and_two_dynos_may_do_so_at_once() {
    let Some(network) = Network::with_ssh() else { return };
    let (served, places) = (Served::at(network.address()), [Place::new(), Place::new()]);
    let arguments = format!("{SMALL} --clients 6 --rate 300 --url {}", served.url);
    let dynos = places.each_ref().map(|place| start(place, &network.launcher(), "a,b,c", &arguments));
    for (dyno, place) in dynos.into_iter().zip(&places) {
        let result: Result = dyno.wait_with_output().unwrap().into();
        let result = result.without_panic().exits(0);
        assert!(!result.stdout.contains("wrong") && !result.stdout.contains("failed"), "{}", result.stdout);
        assert_shared(&read_json(&place.path("run.jsonl")), &["a", "b", "c"], 6);
        place.assert_clean();
    }
    assert_gone(&network, &["a", "b", "c"]);
    served.assert_clean();
}

/// Does something to host b in the middle of a trial that lasts a minute, and returns why the trial failed.
fn disturbed(network: &Network, disturb: impl FnOnce()) -> String {
    let (served, place) = (Served::at(network.address()), Place::new());
    let arguments = format!("{LONG} --url {}", served.url);
    let dyno = start(&place, &network.launcher(), "a,b,c", &arguments);
    wait_for_a_trial(|| {
        let all = ["a", "b", "c"].into_iter().flat_map(|host| network.processes(host));
        let line = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        all.filter(|pid| line(pid).contains("/files/")).collect()
    });
    let all = [network.processes("a"), network.processes("c")].concat();
    disturb();
    // Those of the next trial are others.
    wait_for("the agents on the other hosts to end, long before the trial would", 40, || {
        let left = [network.processes("a"), network.processes("c")].concat();
        !left.iter().any(|pid| all.contains(pid))
    });
    let _ = kill(Pid::from_raw(dyno.id().cast_signed()), Signal::SIGINT);
    let result: Result = dyno.wait_with_output().unwrap().into();
    let result = result.without_panic();
    assert_gone(network, &["a", "c"]);
    let run = read_json(&place.path("run.jsonl"));
    format!("{} {}", run["trials"], result.stderr)
}

#[test]
fn a_host_whose_cable_is_cut_is_named_and_its_agent_leaves_nothing() {
    let Some(network) = Network::with_ssh() else { return };
    let said = disturbed(&network, || network.cut("b"));
    assert!(said.contains("the agent on b was silent for 6 s: it is stopped, or the network"), "{said}");
    // The agent has heard nothing; what is left of ssh waits for the network.
    wait_for("the folder of the agent to be gone", 60, || {
        fs::read_dir(network.scratch("b")).unwrap().count() == 0
    });
}

#[test]
fn a_host_that_does_not_let_dyno_in_is_named_with_what_to_do() {
    let Some(network) = Network::with_ssh() else { return };
    let (served, place) = (Served::at(network.address()), Place::new());
    let arguments = format!("{SMALL} --clients 3 --url {}", served.url);
    let said = |hosts: &str| run(&place, &network.launcher(), hosts, &arguments).exits(4).stderr;
    let refused = said("a,stranger");
    assert!(refused.contains("the agent on stranger did not start: `ssh"), "{refused}");
    assert!(refused.contains("Permission denied"), "{refused}");
    let unknown = said("a,nowhere.invalid");
    assert!(unknown.contains("the agent on nowhere.invalid did not start"), "{unknown}");
    // No dyno is where it is looked for.
    let mut dyno = place.command();
    dyno.arg("run").arg("bank").args(arguments.split_whitespace());
    dyno.args(["--on", &network.launcher(), "--hosts", "a,b", "--agent", "/nowhere/dyno"]);
    let result: Result = dyno.output().unwrap().into();
    let result = result.without_panic().exits(4);
    assert!(result.stderr.contains("ended with exit code 127"), "{}", result.stderr);
    assert!(result.stderr.contains("where --agent says"), "{}", result.stderr);
    assert_gone(&network, &["a", "b", "c"]);
    place.assert_clean();
}

#[test]
fn a_host_with_a_full_disk_is_named() {
    let Some(network) = Network::with_ssh() else { return };
    let (served, place) = (Served::at(network.address()), Place::new());
    network.give_little_room("c");
    let arguments = format!("{SMALL} --clients 3 --url {}", served.url);
    let result = run(&place, &network.launcher(), "a,b,c", &arguments);
    assert_gone(&network, &["a", "b", "c"]);
    let run = fs::read_to_string(place.path("run.jsonl")).unwrap();
    assert_eq!(result.code, Some(3), "{}", result.stderr);
    assert!(run.contains("the agent on c cannot go on: a file of the run cannot be kept in"), "{run}");
    assert!(run.contains("No space left on device"), "{run}");
    place.assert_clean();
    served.assert_clean();
}
