//! `dyno challenge`: an order that rests on the size of the environment does not survive, and one that does not, does.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::Place;

/// The size of what dyno adds to the environment from which on the planted contender is fast.
const FAST_FROM: u64 = 1500;

#[test]
fn an_order_that_rests_on_the_environment_is_exposed_and_a_real_one_survives() {
    let place = Place::with_runner("true");
    place.plant_spinning("steady", "4");
    // A factor of four either way: a single trial that another process doubles leaves seven in one order.
    let added = "len(os.environ.get('DYNO_CIRCUMSTANCES', ''))";
    place.plant_spinning("layout", &format!("16 if {added} < {FAST_FROM} else 1"));
    place.plant_spinning("slower", "16");
    let with = "--with sqlite/steady,sqlite/layout,sqlite/slower --only 2 --trials 7 --seed 3";
    place.dyno(&format!("run speedtest --scale 0.01 {with} --quiet -o run.jsonl")).exits(0);
    let challenge = "challenge run.jsonl --runs 4 --trials 7 --trust";
    let found = place.dyno(&format!("{challenge} --quiet --format json")).exits(0).without_panic().json();
    let sizes =
        found["changed"].as_array().unwrap().iter().map(|run| run["environment_bytes"].as_u64().unwrap());
    let sizes: Vec<u64> = sizes.collect();
    assert!(sizes.len() == 4 && sizes.iter().any(|&size| size < FAST_FROM));
    assert!(sizes.iter().any(|&size| size >= FAST_FROM));
    let shown = |label: &str| -> Vec<Value> {
        let means = found["means"].as_array().unwrap();
        let order = means.iter().find(|order| order["contender"] == label).unwrap();
        assert_eq!(order["claimed"], "slower");
        order["outcomes"].as_array().unwrap().iter().map(|outcome| outcome["shown"].clone()).collect()
    };
    assert_eq!(shown("sqlite/slower"), vec!["slower"; 4]);
    let expected: Vec<&str> =
        sizes.iter().map(|&size| if size < FAST_FROM { "slower" } else { "faster" }).collect();
    assert_eq!(shown("sqlite/layout"), expected);
    // The changed runs are kept, say what was changed, and can be verified.
    let file = found["changed"][0]["file"].as_str().unwrap();
    let run = crate::common::read_json(&place.path(file));
    assert_eq!(run["circumstances"]["environment_bytes"].as_u64(), Some(sizes[0]));
    // They are no points of a history.
    place.dyno("show").exits(2).says("but those of `dyno challenge`");
    place.dyno("history").exits(2).says("their conditions were changed: 4");
    place.assert_clean();
}

#[test]
fn a_signal_before_the_first_changed_run_leaves_no_folder() {
    let place = Place::with_runner("true");
    place.plant_simulated("steady", "1");
    place.plant_simulated("slower", "1.5");
    let with = "--with sqlite/steady,sqlite/slower --only 2 --trials 9 --seed 3";
    place.dyno(&format!("run speedtest --scale 0.01 {with} --quiet -o run.jsonl")).exits(0);
    place
        .interrupted("challenge run.jsonl --trust --quiet", "lock", Signal::SIGTERM)
        .exits(143)
        .without_panic();
    place.assert_clean();
}

/// By a simulated clock: on a busy machine seven trials do not show 2 % of a real one.
#[test]
fn two_percent_that_rest_on_the_environment_are_exposed_and_three_that_do_not_survive() {
    let place = Place::with_runner("true");
    place.plant_simulated("steady", "1");
    let added = "len(os.environ.get('DYNO_CIRCUMSTANCES', ''))";
    place.plant_simulated("layout", &format!("1.02 if {added} < {FAST_FROM} else 0.98"));
    place.plant_simulated("slower", "1.03");
    let with = "--with sqlite/steady,sqlite/layout,sqlite/slower --only 2 --trials 9 --seed 3";
    place.dyno(&format!("run speedtest --scale 0.01 {with} --quiet -o run.jsonl")).exits(0);
    let found = place.dyno("challenge run.jsonl --runs 4 --trials 9 --trust --quiet --format json");
    let found = found.exits(0).without_panic().json();
    let changed = found["changed"].as_array().unwrap().iter();
    let expected: Vec<&str> = changed
        .map(|run| if run["environment_bytes"].as_u64().unwrap() < FAST_FROM { "slower" } else { "faster" })
        .collect();
    let shown = |label: &str| -> Vec<Value> {
        let order = found["means"].as_array().unwrap().iter().find(|order| order["contender"] == label);
        let order = order.unwrap_or_else(|| panic!("{label}: {found}"));
        order["outcomes"].as_array().unwrap().iter().map(|outcome| outcome["shown"].clone()).collect()
    };
    assert_eq!(shown("sqlite/slower"), vec!["slower"; 4]);
    assert!(expected.contains(&"faster") && expected.contains(&"slower"));
    assert_eq!(shown("sqlite/layout"), expected);
    place.assert_clean();
}

#[test]
fn a_run_that_claims_nothing_has_nothing_to_challenge() {
    let place = Place::in_memory();
    let with = "--with sqlite:memory,sqlite:memory,cache_size=-3000 --only 2 --trials 2 --no-warm-up --quiet";
    place.dyno(&format!("run speedtest --scale 0.02 {with} -o run.jsonl")).exits(0);
    let shown = place.dyno("challenge run.jsonl --runs 2 --quiet").exits(0).without_panic();
    shown.prints("The run claims no order");
    place.dyno("challenge nowhere.jsonl").exits(2).without_panic();
    place.assert_clean();
}

#[test]
fn servers_and_other_folders_take_part() {
    let place = Place::new();
    let with = "--with postgres:nosync,sqlite:memory --only 2 --trials 7 --no-warm-up --quiet";
    place.dyno(&format!("run speedtest --scale 0.02 {with} -o run.jsonl")).exits(0);
    fs::create_dir(place.path("other")).unwrap();
    let dirs = format!("--dir {} --dir {}", place.path("data").display(), place.path("other").display());
    let challenge =
        place.dyno(&format!("challenge run.jsonl --runs 2 --trials 6 --quiet --format json {dirs}"));
    let found = challenge.exits(0).without_panic().json();
    let folders =
        found["changed"].as_array().unwrap().iter().map(|run| run["folder"].as_str().unwrap().to_owned());
    let folders: std::collections::BTreeSet<String> = folders.collect();
    assert_eq!(folders.len(), 2, "{folders:?}");
    assert_eq!(fs::read_dir(place.path("other")).unwrap().count(), 0);
    place.assert_clean();
}

#[test]
fn a_changed_run_that_fails_leaves_what_became_of_the_claims_before() {
    let place = Place::with_runner("true");
    place.plant_spinning("steady", "1");
    place.plant_spinning("slower", "4");
    let with = "--with sqlite/steady,sqlite/slower --only 2 --trials 7 --seed 3 --no-warm-up --quiet";
    place.dyno(&format!("run speedtest --scale 0.01 {with} -o run.jsonl")).exits(0);
    // The second changed run gets the first `--dir`, in which nothing can be made.
    let dirs = format!("--dir /proc --dir {}", place.path("data").display());
    let challenge = format!("challenge run.jsonl --runs 2 --trials 6 --trust --quiet --format json {dirs}");
    let ended = place.dyno(&challenge).exits(4).without_panic();
    assert_eq!(ended.json()["changed"].as_array().unwrap().len(), 1);
    ended.says("changed run 2 failed");
    place.assert_clean();
}
