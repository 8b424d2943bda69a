//! Stores that are clusters. `make build-clusters` builds their programs, and `make test` does not: they are large. Without
//! them, or without root, their tests say so and do nothing.

use std::path::Path;

use nix::unistd::Uid;
use serde_json::Value;

use super::{Place, processes_with};

/// True if the programs of an engine are here, and the user may make networks.
pub fn is_here(engine: &str, programs: [&str; 2]) -> bool {
    let folder = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap();
    let is_built = programs.iter().all(|name| folder.join(name).is_file());
    if !is_built {
        eprintln!("not run: `sh scripts/build-clusters.sh {}` builds {engine}", folder.display());
    } else if !Uid::effective().is_root() {
        eprintln!("not run: clusters need root");
    }
    is_built && Uid::effective().is_root()
}

/// No process of a node is left, and nothing else.
pub fn assert_no_node(place: &Place) {
    assert_eq!(processes_with(&place.data().display().to_string()), [0; 0]);
    place.assert_clean();
}

/// A setting that was in force.
pub fn in_force(contender: &Value, name: &str) -> Value {
    let settings = contender["hello"]["settings"].as_array().unwrap();
    settings.iter().find(|setting| setting["name"] == name).unwrap()["value"].clone()
}

/// Loses the leader and all power of a store's nodes, checks that it kept what it acknowledged, and returns what was found of
/// it and of its control.
pub fn prove(place: &Place, engine: &str) -> Vec<Value> {
    let faults = "--faults kill,partition,power --tries 1 --seed 5 --quiet -o found.json";
    place.dyno(&format!("prove --with {engine} {faults}")).exits(0).without_panic().prints("not disproved");
    let found = place.dyno("show found.json --format json").exits(0).json();
    let subjects = found["record"]["subjects"].as_array().unwrap().clone();
    // Of a commit that was removed the check says that it is lost.
    assert_eq!(subjects[0]["notices_loss"], true);
    assert_eq!(subjects[0]["staleness"].as_array().unwrap().len(), 2);
    let tries = subjects[0]["tries"].as_array().unwrap();
    assert_eq!(tries.len(), 3);
    for one in tries {
        assert!(one["acknowledged"].as_u64().unwrap() > 0, "{one}");
        assert_eq!((&one["lost"], &one["goes_on"]), (&0.into(), &true.into()), "{one}");
        assert!(one["troubles"].is_null(), "{one}");
        // On a machine that is busy another node may be elected again and again; mostly it is the one that is lost.
        assert!(one["led"].as_u64().is_some_and(|node| node <= 3), "{one}");
    }
    assert_no_node(place);
    subjects
}
