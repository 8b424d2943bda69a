//! rqlite as a cluster of private nodes, which listen within their networks alone.

use serde_json::json;

use crate::common::stores::{self, assert_no_node, in_force};
use crate::common::{Place, read_json};

fn is_here() -> bool {
    stores::is_here("rqlite", ["rqlited", "dyno-runner-rqlite"])
}

#[test]
fn a_cluster_keeps_pairs_at_levels_that_are_read_back() {
    if !is_here() {
        return;
    }
    let place = Place::in_memory();
    let with = "rqlite,rqlite:queued,nodes=2,rqlite:none";
    let small = "--n 300 --only insert-int,one-int,range,scan --trials 1 --no-warm-up --quiet";
    place.dyno(&format!("run kv {small} --with {with} -o run.jsonl")).exits(0).without_panic();
    let run = read_json(&place.path("run.jsonl"));
    let contender = |place: usize| &run["contenders"][place];
    assert_eq!([0, 1, 2].map(|place| in_force(contender(place), "queued")), ["false", "true", "false"]);
    assert_eq!([0, 2].map(|place| in_force(contender(place), "reads")), ["weak", "none"]);
    // In memory nothing survives a power cut, whatever the settings promise.
    assert_eq!(contender(0)["safety"]["level"], "process-crash");
    assert_eq!(contender(0)["safety"]["nodes"], json!({"lost": 1, "of": 3}));
    assert_eq!(contender(1)["safety"]["level"], "none");
    assert_eq!(contender(1)["safety"]["nodes"], json!({"lost": 0, "of": 2}));
    assert_no_node(&place);
}

#[test]
fn its_transactions_are_serializable_and_its_runner_keeps_the_protocol() {
    if !is_here() {
        return;
    }
    let place = Place::in_memory();
    let small = "--duration 0.2s --clients 4 --only fill,f --set records=200 --trials 1 --no-warm-up --quiet";
    let with = "--with rqlite,rqlite:linearizable --delay 1ms";
    place
        .dyno(&format!("run ycsb {small} {with} -o run.jsonl"))
        .exits(0)
        .without_panic()
        .prints("serializable");
    place.conforms(&["rqlite"], &["setting", "clients", "pairs"]);
    assert_no_node(&place);
}

#[test]
fn clients_of_queued_writes_are_refused() {
    if !is_here() {
        return;
    }
    let place = Place::in_memory();
    let small = "--duration 0.2s --only fill,f --set records=200 --trials 1 --no-warm-up --quiet";
    let refused = place.dyno(&format!("run ycsb {small} --with rqlite:queued,nodes=2"));
    refused.exits(3).without_panic().prints("leave out queued=true");
    assert_no_node(&place);
}

#[test]
fn what_it_acknowledged_is_there_after_the_leader_or_all_power_was_lost() {
    if !is_here() {
        return;
    }
    let subjects = stores::prove(&Place::in_memory(), "rqlite");
    // The control loses what was in the queue of the leader.
    assert_eq!(subjects[1]["label"], "rqlite:queued");
    for one in subjects[1]["tries"].as_array().unwrap().iter().filter(|one| one["fault"] == "kill") {
        assert!(one["lost"].as_u64().unwrap() > 0, "{one}");
    }
}
