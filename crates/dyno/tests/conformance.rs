//! Every runner keeps the protocol; one that does not is found out.

use crate::common::{LOADING, Place, SETTINGS};

/// Contenders that share no driver, or differ in how many clients or processes see a database.
const DRIVERS: [&str; 12] = [
    "null",
    "sqlite",
    "sqlite:wal",
    "sqlite:memory",
    "sqlite@sqlcipher:encrypted",
    "sqlite@mc:raw-key",
    "bdb",
    "bdb/c+hash",
    "lmdb",
    "rocksdb",
    "redb",
    "fjall",
];

#[test]
fn the_runners_pass() {
    let place = Place::in_memory();
    let result = place.conforms(&DRIVERS, &[]);
    // The harness is checked too, though not for answers; the others for what their models are.
    let result = result.prints("the harness has no engine").prints("ok a large answer arrives whole");
    result
        .prints("ok a file that is imported is in the table")
        .prints("ok rows that are loaded are there")
        .prints("ok a scan meets the keys in order");
}

#[test]
fn other_ways_and_profiles_of_the_same_drivers_pass_in_what_they_differ() {
    let place = Place::in_memory();
    let ways = [
        "multirow",
        "without-rowid",
        "text",
        "prepared",
        "typed",
        "beside",
        "transfer",
        "pages",
        "pages-parallel",
        "floor",
    ]
    .map(|way| format!("sqlite/c+{way}"));
    place.conforms(&ways.each_ref().map(String::as_str), &LOADING);
    let profiles = ["sqlite:tuned", "sqlite@system", "sqlite@mc:encrypted,cipher=ascon128", "bdb:per-commit"];
    place.conforms(&profiles, &SETTINGS);
    place.dyno("conformance null --only nonsense").exits(2).says("no duty holds the words 'nonsense'");
}

#[test]
fn a_runner_that_answers_wrongly_does_not() {
    // It says hello and bye and does nothing of what a job asks.
    let hello = r#"{"event":"hello","protocol":3,"runner":"r","engine_version":"1","driver_version":"1","settings":[]}"#;
    let place = Place::with_runner(&format!("cat > /dev/null; echo '{hello}'; echo '{{\"event\":\"bye\"}}'"));
    let result = place.dyno("conformance fake").exits(3).without_panic();
    let result = result.prints("ok a job without tests is answered with hello and bye");
    result.prints("BROKEN samples count operations").prints("BROKEN a job that is no job is refused");
}

#[test]
fn a_contender_that_cannot_be_checked_keeps_nothing_from_the_others() {
    let place = Place::with_runner("exit 0");
    std::fs::remove_file(place.path("home/runners/fake/run.sh")).unwrap();
    let result = place.dyno("conformance fake null --only hello").exits(4).without_panic();
    let result = result.prints("ok a job without tests is answered with hello and bye");
    result.says("1 of 2 contenders could not be checked. The first: fake: its runner is not built");
    place.dyno("conformance fake --only hello").exits(4).says("dyno: its runner is not built");
}
