//! The drivers in Go, as a user meets them: conformance, and whole suites whose answers must be those of
//! SQLite's own interface. A server that is missing is left out, and that is said.

use std::path::Path;

use dyno_protocol::Build;

use crate::common::drivers::{COLLATION, have_the_same_values};
use crate::common::{LOADING, Place, SETTINGS, installation};

const SQLITE: [&str; 4] = ["sqlite/mattn", "sqlite/mattn+insert", "sqlite/gosqlite", "sqlite/modernc"];
const SERVERS: [(&str, Build, &[&str]); 2] = [
    (
        "postgres",
        Build::System,
        &[
            "postgres/pgx+copy",
            "postgres/pgx+batch",
            "postgres/pgx+insert",
            "postgres/pq+copy",
            "postgres/pq+insert",
        ],
    ),
    (
        "mariadb",
        Build::System,
        &[
            "mariadb/go-sql-driver+load-data",
            "mariadb/go-sql-driver+multirow",
            "mariadb/go-sql-driver+insert",
        ],
    ),
];

/// A place to run in, where the programs are built.
fn place() -> Place {
    for program in ["dyno-runner-go", "dyno-runner-go-mattn", "dyno-runner-go-gosqlite"] {
        let built = Path::new(env!("CARGO_BIN_EXE_dyno")).with_file_name(program);
        assert!(built.is_file(), "{program} is not built; `make build-go` builds it");
    }
    Place::in_memory()
}

/// The contenders of servers that are there.
fn servers() -> Vec<&'static str> {
    let there = |(engine, build, _): &&(&str, Build, &[&str])| match installation(engine, build) {
        Ok(_) => true,
        Err(error) => {
            eprintln!("SKIPPED for {engine}: {error:#}");
            false
        }
    };
    SERVERS.iter().filter(there).flat_map(|(_, _, contenders)| contenders.iter().copied()).collect()
}

#[test]
fn sessions_have_the_collation_of_the_server() {
    if servers().iter().any(|name| name.starts_with("mariadb/")) {
        have_the_same_values(&place(), "mariadb", &["mariadb/go-sql-driver"], COLLATION);
    }
}

#[test]
fn the_drivers_keep_the_protocol() {
    let usual = servers().into_iter().filter(|name| name.ends_with("+copy") || name.ends_with("+load-data"));
    let contenders: Vec<&str> =
        ["sqlite/mattn", "sqlite/gosqlite", "sqlite/modernc", "null/go"].into_iter().chain(usual).collect();
    place().conforms(&contenders, &[]);
}

#[test]
fn other_ways_and_profiles_keep_the_protocol_in_what_they_differ() {
    place().conforms(&["sqlite/mattn+insert"], &LOADING);
    place().conforms(&["sqlite/mattn:wal", "sqlite/mattn:transient", "sqlite/modernc:memory"], &SETTINGS);
}

#[test]
fn rows_are_stored_and_scanned_by_every_way() {
    let place = place();
    let rows: Vec<&str> =
        ["sqlite"].into_iter().chain(SQLITE).chain(["pebble", "pebble/go+single", "null/go"]).collect();
    let with = [rows, servers()].concat().join(",");
    // An answer that differs from the right one ends it with 3.
    let verdict = place
        .dyno(&format!(
            "run intuition --rows 2503 --trials 1 --no-warm-up --with {with} --quiet --format json"
        ))
        .exits(0)
        .without_panic()
        .json();
    assert_eq!(verdict["verdict"]["tests"].as_array().unwrap().len(), 6);
    place.assert_clean();
}

#[test]
fn statements_have_the_answers_of_sqlite() {
    let place = place();
    let rest = servers().into_iter().filter(|name| name.ends_with("+copy") || name.ends_with("+load-data"));
    let with: Vec<&str> =
        ["sqlite", "sqlite/mattn", "sqlite/gosqlite", "sqlite/modernc"].into_iter().chain(rest).collect();
    place
        .dyno(&format!(
            "run speedtest --scale 0.02 --trials 1 --no-warm-up --with {} --quiet",
            with.join(",")
        ))
        .exits(0)
        .without_panic();
    place.assert_clean();
}

#[test]
fn keys_and_values_are_stored_in_every_configuration() {
    let place = place();
    let run = |n: u32, profiles: &[&str], more: &str| {
        let drivers = ["sqlite", "sqlite/mattn", "sqlite/modernc", "pebble"];
        let with = profiles.iter().flat_map(|profile| drivers.map(|driver| format!("{driver}:{profile}")));
        let with: Vec<String> = with.chain(["sqlite/mattn+without-rowid:transactional".into()]).collect();
        place
            .dyno(&format!(
                "run kv --n {n} --trials 1 --no-warm-up --with {},null/go --quiet {more}",
                with.join(",")
            ))
            .exits(0)
            .without_panic()
    };
    run(2503, &["transient", "persistent", "transactional"], "");
    run(20, &["per-commit"], "");
    run(500, &["transactional"], "--latency --cache 64MiB").prints("p99.9");
    place.assert_clean();
}

#[test]
fn a_setting_that_pebble_does_not_know_is_reported() {
    let place = place();
    for (setting, message) in [
        ("no_such_setting=1", "no_such_setting"),
        ("sync=perhaps", "'sync' is true or false, not 'perhaps'"),
        ("cache_size=much", "much"),
    ] {
        let result =
            place.dyno(&format!("run kv --n 5 --trials 1 --with pebble,{setting} --quiet")).without_panic();
        let output = format!("{}{}", result.stdout, result.stderr);
        assert!(result.code != Some(0) && output.contains(message), "{output}");
    }
    place.assert_clean();
}
