//! The power of all nodes of a cluster is cut at once.

use serde_json::Value;

use super::{is_allowed, servers, tried};
use crate::common::Place;

/// Tries a contender by power cuts at all nodes at once: the findings, if this machine can make disks whose power is cut.
fn cut_power(place: &Place, contender: &str) -> Option<Value> {
    let arguments =
        format!("prove --with {contender} --faults power --tries 1 --seed 7 --quiet -o found.json");
    let result = place.dyno(&arguments).without_panic();
    if let Some(why) = result.stderr.lines().find(|line| line.contains("cannot be cut here")) {
        eprintln!("not run: {why}");
        return None;
    }
    // Where disks are slow, hardly anything may be committed before the cut, and the table says so.
    let is_kept = ["not disproved", "hardly tested"].iter().any(|promise| result.stdout.contains(promise));
    assert!(is_kept && !result.stdout.contains("DISPROVED"), "{}", result.stdout);
    result.exits(0).prints("(control)");
    assert_eq!(servers(place), [0; 0]);
    place.assert_clean();
    Some(place.dyno("show found.json --format json").exits(0).json())
}

/// Checks that a contender kept everything when the power of all nodes went, and that its control did not.
fn check_power_cuts(found: &Value) {
    assert_eq!(found["is_sound"], true);
    // The control is tried until it loses.
    let controls = found["record"]["subjects"][1]["tries"].as_array().unwrap();
    let (kept, control) = (tried(found, 0), controls.last().unwrap());
    assert!(kept["acknowledged"].as_u64().unwrap() > 0, "{kept}");
    assert_eq!((&kept["lost"], &kept["goes_on"]), (&0.into(), &true.into()), "{kept}");
    assert!(kept["troubles"].is_null() && kept["shown_by"].is_null(), "{kept}");
    for one in [kept, control] {
        let mut compared: Vec<u64> = serde_json::from_value(one["compared"].clone()).unwrap();
        compared.sort_unstable();
        assert_eq!(compared, [1, 2, 3], "{one}");
        let back: [u64; 2] = serde_json::from_value(one["outage"]["back_ms"].clone()).unwrap();
        assert!(one["at_ms"].as_u64().unwrap() <= back[0] && back[0] < back[1], "{one}");
    }
    let (lost, shown) = (control["lost"].as_u64().unwrap(), &control["shown_by"]);
    assert!(lost > 0, "{control}");
    // One commit shows it: acknowledged before the cut, and on no node.
    let at = |name: &str| shown[name].as_u64().unwrap();
    assert!(at("sent_ms") <= at("acknowledged_ms"), "{shown}");
    assert!(at("acknowledged_ms") <= control["at_ms"].as_u64().unwrap(), "{shown}");
    assert_eq!(shown["gone_at"], serde_json::json!([1, 2, 3]));
    let judged = &found["subjects"];
    assert_eq!(judged[0]["faults"][0]["promises"], true);
    assert_eq!(judged[1]["faults"][0]["promises"], false);
}

#[test]
fn replicas_of_postgresql_keep_their_commits_when_the_power_of_all_nodes_goes() {
    if !is_allowed() {
        return;
    }
    let place = Place::in_memory();
    let Some(found) = cut_power(&place, "postgres-replica") else { return };
    check_power_cuts(&found);
    assert_eq!(tried(&found, 0)["outage"]["began"], 1, "the leader begins");
    place.dyno("show found.json").exits(0).prints("the smallest history that shows a loss: client");
}

#[test]
#[ignore = "make soak: Galera takes minutes of a busy machine to be whole again"]
fn galera_keeps_its_commits_when_the_power_of_all_nodes_goes_unless_no_node_syncs_its_log() {
    if !is_allowed() {
        return;
    }
    let place = Place::in_memory();
    let Some(found) = cut_power(&place, "galera") else { return };
    check_power_cuts(&found);
    assert_eq!(found["record"]["subjects"][1]["label"], "galera:lazy");
}
