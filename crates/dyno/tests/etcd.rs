//! etcd as a cluster of private nodes, which its client reaches.

use std::fs;

use serde_json::json;

use crate::common::stores::{self, assert_no_node, in_force};
use crate::common::{Place, read_json};

fn is_here() -> bool {
    stores::is_here("etcd", ["etcd", "dyno-runner-etcd"])
}

#[test]
fn a_cluster_keeps_pairs_at_levels_that_are_read_back() {
    if !is_here() {
        return;
    }
    let place = Place::in_memory();
    let with = "etcd,etcd:unsafe-no-fsync,nodes=2";
    let small = "--n 300 --only insert-int,scan";
    let run = format!("run kv {small} --with {with} --trials 1 --no-warm-up --quiet -o run.jsonl");
    place.dyno(&run).exits(0).without_panic();
    let run = read_json(&place.path("run.jsonl"));
    let contender = |place: usize| &run["contenders"][place];
    assert_eq!([0, 1].map(|place| in_force(contender(place), "unsafe_no_fsync")), ["false", "true"]);
    assert_eq!(in_force(contender(0), "reads"), "linearizable");
    assert_eq!(contender(0)["safety"]["nodes"], json!({"lost": 1, "of": 3}));
    assert_eq!(contender(1)["safety"]["consistent"], false);
    assert_eq!(contender(1)["safety"]["nodes"], json!({"lost": 0, "of": 2}));
    assert_no_node(&place);
}

#[test]
fn its_transactions_are_serializable_and_its_runner_keeps_the_protocol() {
    if !is_here() {
        return;
    }
    let place = Place::in_memory();
    let small = "--duration 0.2s --clients 4 --only fill,f --set records=200";
    let run = format!("run ycsb {small} --with etcd --trials 1 --no-warm-up --quiet -o run.jsonl");
    place.dyno(&run).exits(0).without_panic().prints("serializable");
    place.conforms(&["etcd"], &["setting", "clients", "pairs"]);
    place.assert_clean();
}

#[test]
fn what_it_acknowledged_is_there_after_the_leader_or_all_power_was_lost() {
    if !is_here() {
        return;
    }
    stores::prove(&Place::in_memory(), "etcd");
}

#[test]
fn a_program_that_is_missing_is_named_with_the_command_that_builds_it() {
    if !is_here() {
        return;
    }
    let place = Place::in_memory();
    fs::create_dir(place.path("empty")).unwrap();
    let run = "run kv --n 10 --with etcd@./empty --trials 1 --no-warm-up --quiet";
    place.dyno(run).says("there is no program etcd of etcd in").says("build it by `make build-clusters`");
    place.assert_clean();
}
