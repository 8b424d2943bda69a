//! etcd as a cluster of private nodes, which its own client reaches.
//!
//! `make build-clusters` builds its programs, and `make test` does not: they are large. Without them, or without root, these
//! tests say so and do nothing.

use std::fs;
use std::path::Path;

use nix::unistd::Uid;

use crate::common::{Place, processes_with, read_json};

/// True if there are programs of etcd here, and the user may make networks.
fn is_here() -> bool {
    let programs = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap();
    let is_built = ["etcd", "dyno-runner-etcd"].iter().all(|name| programs.join(name).is_file());
    if !is_built {
        eprintln!("not run: `sh scripts/build-clusters.sh {}` builds etcd", programs.display());
    } else if !Uid::effective().is_root() {
        eprintln!("not run: clusters need root");
    }
    is_built && Uid::effective().is_root()
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
    let in_force = |place: usize, name: &str| {
        let settings = contender(place)["hello"]["settings"].as_array().unwrap();
        settings.iter().find(|setting| setting["name"] == name).unwrap()["value"].clone()
    };
    assert_eq!([0, 1].map(|place| in_force(place, "unsafe_no_fsync")), ["false", "true"]);
    assert_eq!(in_force(0, "reads"), "linearizable");
    assert_eq!(contender(0)["safety"]["nodes"], serde_json::json!({"lost": 1, "of": 3}));
    assert_eq!(contender(1)["safety"]["consistent"], false);
    assert_eq!(contender(1)["safety"]["nodes"], serde_json::json!({"lost": 0, "of": 2}));
    assert_eq!(processes_with(&place.data().display().to_string()), [0; 0]);
    place.assert_clean();
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
    let place = Place::in_memory();
    let arguments =
        "prove --with etcd --faults kill,partition,power --tries 1 --seed 5 --quiet -o found.json";
    place.dyno(arguments).exits(0).without_panic().prints("not disproved");
    let found = place.dyno("show found.json --format json").exits(0).json();
    let subject = &found["record"]["subjects"][0];
    // Of a commit that was removed the check says that it is lost.
    assert_eq!(subject["notices_loss"], true);
    assert_eq!(subject["staleness"].as_array().unwrap().len(), 2);
    let tries = subject["tries"].as_array().unwrap();
    assert_eq!(tries.len(), 3);
    for one in tries {
        assert!(one["acknowledged"].as_u64().unwrap() > 0, "{one}");
        assert_eq!((&one["lost"], &one["goes_on"]), (&0.into(), &true.into()), "{one}");
        assert!(one["troubles"].is_null(), "{one}");
    }
    assert_eq!(processes_with(&place.data().display().to_string()), [0; 0]);
    place.assert_clean();
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
