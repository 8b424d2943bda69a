//! Clusters as contenders, and nodes that are lost: what is found is what the settings promise, and nothing is left.
//!
//! Without root or network namespaces these tests say so and do nothing.

mod power;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use serde_json::Value;

use crate::common::{Place, kills, processes_with, read_json, wait_for};
use crate::servers::state;

const SMALL: &str = "run bank --set accounts=50 --set warm_up=0.1 --duration 0.3s --trials 1 --no-warm-up --quiet \
                     --clients 4 --only transfer -o run.jsonl";

/// True if this user and this kernel can make clusters.
fn is_allowed() -> bool {
    let made = Command::new("unshare").args(["-n", "true"]).status();
    let is_allowed = Uid::effective().is_root() && made.is_ok_and(|status| status.success());
    if !is_allowed {
        eprintln!("not run: clusters need root and network namespaces");
    }
    is_allowed
}

/// The main processes of servers with data in a place.
fn servers(place: &Place) -> Vec<u32> {
    processes_with(&place.data().display().to_string())
}

/// The network namespaces of processes.
fn namespaces(processes: &[u32]) -> BTreeSet<String> {
    let of = |process: &u32| fs::read_link(format!("/proc/{process}/ns/net")).ok();
    processes.iter().filter_map(of).map(|name| name.display().to_string()).collect()
}

/// The try of a contender, by its position.
fn tried(found: &Value, contender: usize) -> &Value {
    let tries = found["record"]["subjects"][contender]["tries"].as_array().unwrap();
    assert_eq!(tries.len(), 1, "{tries:?}");
    &tries[0]
}

#[test]
fn replicas_of_postgresql_are_contenders_with_levels_of_their_own() {
    if !is_allowed() {
        return;
    }
    let place = Place::in_memory();
    let with = "postgres-replica,postgres-replica:local,nodes=2";
    let result = place.dyno(&format!("{SMALL} --nodes 3 --with {with}")).exits(0).without_panic();
    result.prints("1 of 3 nodes");
    let run = read_json(&place.path("run.jsonl"));
    let contender = |place: usize| &run["contenders"][place];
    assert_eq!(contender(0)["label"], "postgres-replica,nodes=3");
    assert_eq!(contender(0)["cluster"], serde_json::json!({"nodes": 3, "reach": "first"}));
    assert_eq!(contender(1)["cluster"]["nodes"], 2);
    assert_eq!(contender(0)["safety"]["nodes"], serde_json::json!({"lost": 1, "of": 3}));
    assert_eq!(contender(1)["safety"]["nodes"]["lost"], 0);
    let settings = contender(0)["hello"]["settings"].as_array().unwrap();
    let names = settings.iter().find(|setting| setting["name"] == "synchronous_standby_names").unwrap();
    assert_eq!(names["value"], "ANY 1 (*)");
    // What survives the loss of a node has no equal in what does not.
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    let ranked = verdict["verdict"]["rankings"].as_array().unwrap();
    assert!(ranked.iter().all(|ranking| ranking["ranks"].as_array().unwrap().len() <= 1), "{ranked:?}");
    assert_eq!(servers(&place), [0; 0]);
    place.assert_clean();
}

#[test]
fn a_delay_between_nodes_is_a_part_of_the_contender() {
    if !is_allowed() {
        return;
    }
    let place = Place::in_memory();
    if !Path::new("/dev/net/tun").exists() {
        eprintln!("not run to the end: there is no /dev/net/tun here");
        let refused = format!("{SMALL} --nodes 2 --node-delay 20ms --with postgres-replica");
        place.dyno(&refused).says("a delay between nodes needs /dev/net/tun").without_panic();
        return place.assert_clean();
    }
    let with = "postgres-replica,postgres-replica:local,postgres-replica,node_delay=0";
    let arguments = format!("{SMALL} --nodes 2 --node-delay 20ms --delay 1ms --with {with}");
    place.dyno(&arguments).exits(0).without_panic();
    let run = read_json(&place.path("run.jsonl"));
    let contenders = run["contenders"].as_array().unwrap();
    let delays: Vec<u64> =
        contenders.iter().filter_map(|one| one["cluster"]["node_delay_ns"].as_u64()).collect();
    assert_eq!(delays, [20_000_000, 20_000_000, 0]);
    assert_eq!(contenders[0]["label"], "postgres-replica,nodes=2,node_delay=20ms");
    assert_eq!(run["limits"]["round_trip_ns"], 1_000_000);
    // A commit that waits for a replica waits for a round trip to it: in 0.3 s each of the four clients ends 16 at most.
    let trials = run["trials"].as_array().unwrap();
    let trial = trials.iter().find(|trial| trial["contender"] == 0).unwrap();
    let samples = trial["samples"].as_array().unwrap();
    let done = &samples.iter().find(|sample| sample["test"] == "transfer").unwrap()["operations"];
    assert!((1..=64).contains(&done.as_u64().unwrap()), "{done}");
    place.dyno("show run.jsonl --notes").exits(0).prints("20.0 ms added to each round trip between them");
    assert_eq!(servers(&place), [0; 0]);
    place.assert_clean();
}

#[test]
fn a_dyno_that_is_killed_leaves_no_node() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let here = namespaces(&[std::process::id()]);
    let with = "--with postgres-replica --duration 60s --trials 1 --no-warm-up --quiet";
    let mut dyno = place.start(&format!("run bank {with}"));
    wait_for("three nodes", 60, || {
        let found = namespaces(&servers(&place));
        found.difference(&here).count() == 3
    });
    dyno.kill().unwrap();
    dyno.wait().unwrap();
    wait_for("the nodes to end", 30, || servers(&place).is_empty());
    // The folder of the dead run goes with the next one.
    place.dyno("run bank --with sqlite --duration 0.1s --trials 1 --no-warm-up --quiet").exits(0);
    place.assert_clean();
}

#[test]
fn a_dyno_that_is_killed_at_any_moment_leaves_no_node() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let arguments = format!("{SMALL} --nodes 3 --with postgres-replica");
    let here = namespaces(&processes_with(""));
    let began = Instant::now();
    place.dyno(&arguments).exits(0);
    let took = began.elapsed();
    let kills = kills(4);
    for number in 0..kills {
        let mut command = place.command();
        command.args(arguments.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut dyno = command.spawn().unwrap();
        thread::sleep(took * number / kills);
        let of_nodes: BTreeSet<String> = namespaces(&servers(&place)).difference(&here).cloned().collect();
        dyno.kill().unwrap();
        dyno.wait().unwrap();
        // Processes of PostgreSQL change what their command line says.
        wait_for("the nodes to end", 60, || {
            servers(&place).is_empty() && namespaces(&processes_with("")).is_disjoint(&of_nodes)
        });
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!mounts.contains(&format!("{}/", place.data().display())), "{mounts}");
    }
    place.dyno("run bank --with sqlite --duration 0.1s --trials 1 --no-warm-up --quiet").exits(0);
    place.assert_clean();
}

#[test]
fn a_dyno_that_is_killed_while_a_node_is_paused_leaves_no_node() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let mut dyno =
        place.start("prove --with postgres-replica --faults pause --tries 1 --quiet -o found.json");
    wait_for("a node that has stopped", 120, || {
        servers(&place).into_iter().any(|server| state(server) == Some('T'))
    });
    let here = namespaces(&[std::process::id()]);
    let of_nodes: BTreeSet<String> = namespaces(&servers(&place)).difference(&here).cloned().collect();
    assert!(!of_nodes.is_empty());
    dyno.kill().unwrap();
    dyno.wait().unwrap();
    // Processes of PostgreSQL change what their command line says.
    wait_for("the nodes to end", 60, || namespaces(&processes_with("")).is_disjoint(&of_nodes));
    place.dyno("run bank --with sqlite --duration 0.1s --trials 1 --no-warm-up --quiet").exits(0);
    place.assert_clean();
}

#[test]
fn an_interrupt_ends_a_cluster() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let arguments = "prove --with postgres-replica --faults kill --tries 1 --quiet -o found.json";
    let mut dyno = place.start(arguments);
    wait_for("a node", 60, || !servers(&place).is_empty());
    kill(Pid::from_raw(dyno.id().cast_signed()), Signal::SIGINT).unwrap();
    assert_eq!(dyno.wait().unwrap().code(), Some(130));
    wait_for("the nodes to end", 30, || servers(&place).is_empty());
    // The findings until then are kept.
    place.dyno("show found.json").exits(3).prints("it was not tried to the end: it was interrupted");
    place.assert_clean();
}

#[test]
fn a_leader_that_is_cut_off_loses_only_what_no_replica_had() {
    if !is_allowed() {
        return;
    }
    let place = Place::in_memory();
    let arguments =
        "prove --with postgres-replica --faults partition --tries 1 --seed 3 --quiet -o found.json";
    let arguments = format!("{arguments} --report found.html");
    place.dyno(&arguments).exits(0).without_panic().prints("not disproved").prints("with a liar");
    let found = place.dyno("show found.json --format json").exits(0).json();
    assert_eq!(found["is_sound"], true);
    // The control goes on alone for a second.
    let (kept, control) = (tried(&found, 0), tried(&found, 1));
    assert_eq!((&kept["lost"], &kept["goes_on"]), (&0.into(), &true.into()), "{kept}");
    assert!(control["lost"].as_u64().unwrap() > 0, "{control}");
    // The liar's settings are those of the contender, and what they promise is disproved.
    let (lied, lying) = (tried(&found, 2), &found["record"]["subjects"][2]);
    assert_eq!((&lying["label"], &lying["has_liar"]), (&"postgres-replica".into(), &true.into()));
    assert_eq!(lying["promised"]["nodes"], found["record"]["subjects"][0]["promised"]["nodes"]);
    assert!(lied["lost"].as_u64().unwrap() > 0, "{lied}");
    assert_eq!(found["subjects"][2]["faults"][0]["disproves"], true);
    assert_eq!(found["subjects"][0]["faults"][0]["disproves"], false);
    check_page(&place, &found);
    // The control's other replica may end: PostgreSQL 15 cannot follow from within a record that crosses into the next
    // file.
    assert!(kept["troubles"].is_null(), "{kept}");
    for (tried, staleness) in [(kept, 2), (control, 0)] {
        assert!(tried["acknowledged"].as_u64().unwrap() > 0, "{tried}");
        let number = usize::from(staleness == 0);
        let late = found["record"]["subjects"][number]["staleness"].as_array();
        assert_eq!(late.map_or(0, Vec::len), staleness);
    }
    assert_eq!(found["record"]["subjects"][0]["notices_loss"], true);
    place
        .dyno("show found.json --format csv")
        .exits(0)
        .prints("postgres-replica,false,3,3,true,true,partition");
    assert_eq!(servers(&place), [0; 0]);
    place.assert_clean();
}

/// Checks that the page of a proof shows each try with its fault, and that it can be written again.
fn check_page(place: &Place, found: &Value) {
    let page = fs::read_to_string(place.path("found.html")).unwrap();
    place.dyno("report found.json -o again.html").exits(0);
    assert_eq!(fs::read_to_string(place.path("again.html")).unwrap(), page);
    let subjects = found["record"]["subjects"].as_array().unwrap();
    let tries: usize = subjects.iter().map(|subject| subject["tries"].as_array().unwrap().len()).sum();
    assert_eq!(page.matches("<path class=\"fault\"").count(), tries);
    assert!(page.contains("<rect class=\"bar\"") && page.contains("<rect class=\"lost\""), "{page}");
    assert!(page.contains("postgres-replica with a liar (control)"), "{page}");
    place.dyno("report found.json -o found.md").exits(2).says("name a file that ends in .html");
}

#[test]
fn nodes_of_galera_show_write_skew_at_the_level_that_they_report() {
    if !is_allowed() {
        return;
    }
    let place = Place::in_memory();
    // A probe may miss what a busy machine makes rare: it is tried again.
    let probed =
        || place.dyno(&format!("{SMALL} --nodes 2 --with galera:serializable,reach=any")).without_panic();
    let found = (0..5).map(|_| probed()).find(|result| result.code == Some(3)).unwrap();
    found.prints("Not isolated: galera:serializable,reach=any,nodes=2");
    let run = read_json(&place.path("run.jsonl"));
    assert_eq!(run["contenders"][0]["isolation"]["level"], "serializable");
    assert_eq!(run["contenders"][0]["cluster"]["reach"], "any");
    assert_eq!(servers(&place), [0; 0]);
    place.assert_clean();
}

#[test]
#[ignore = "takes minutes"]
fn galera_survives_the_loss_of_a_node() {
    if !is_allowed() {
        return;
    }
    let place = Place::in_memory();
    place.dyno("prove --with galera --tries 1 --seed 5 --quiet -o found.json").exits(0).without_panic();
    let found = place.dyno("show found.json --format json").exits(0).json();
    for tried in found["record"]["subjects"][0]["tries"].as_array().unwrap() {
        assert_eq!(
            (&tried["goes_on"], &tried["compared"]),
            (&true.into(), &serde_json::json!([2, 3, 1])),
            "{tried}"
        );
    }
    place.assert_clean();
}

#[test]
fn what_no_cluster_can_do_is_refused_beforehand() {
    let place = Place::new();
    for (arguments, said) in [
        (
            "run bank --with sqlite --nodes 3",
            "--nodes is for clusters, and no contender is one: etcd, galera",
        ),
        ("run bank --with sqlite,nodes=3", "sqlite is one server and no cluster"),
        ("run bank --with sqlite --node-delay 1ms", "--node-delay is for clusters"),
        ("run bank --with sqlite,node_delay=1ms", "leave nodes, reach and node_delay out"),
        ("run bank --with galera,node_delay=1", "write a unit, as in 1ms"),
        ("run bank --with galera,nodes=1", "from 2 to 9 nodes"),
        ("run bank --with galera,nodes=x", "nodes is a number of nodes, as 3, not 'x'"),
        ("run bank --with postgres-replica,reach=any", "those of postgres-replica write at the leader"),
        ("run bank --with galera,reach=all", "reach is first or any, not 'all'"),
        ("run bank --with galera,reach=any --processes", "leave one of them out"),
        ("prove --with galera,sqlite", "prove galera apart from the others"),
        ("prove --with sqlite --tries 2", "no contender is one"),
        ("prove --with galera --device posix", "leave out --device posix"),
        ("prove --with galera --keep kept", "--keep is of power cuts of one server"),
    ] {
        let code = place.dyno(arguments).says(said).without_panic();
        code.exits(2);
    }
}

#[test]
fn without_root_dyno_says_what_a_cluster_needs() {
    if !Uid::effective().is_root() {
        let place = Place::new();
        let result = place.dyno("run bank --with postgres-replica --trials 1 --no-warm-up --quiet");
        result.exits(2).says("only root can make: run dyno as root").without_panic();
    }
}
