//! The runner in Python, with every driver of engines that this machine has. What of it needs no server and no
//! dyno is tested beside it, in runners/python/tests.

use std::path::Path;

use dyno_protocol::Build;

use crate::common::{LOADING, Place, SETTINGS, installation};

/// Every driver, and every way of loading that is not its usual one.
const EMBEDDED: &str = "sqlite/sqlite3 sqlite/apsw duckdb duckdb/python+appender duckdb/python+executemany";
const POSTGRES: &str = "postgres/psycopg postgres/psycopg+pipeline postgres/psycopg+insert";
const MARIADB: &str = "mariadb/pymysql mariadb/pymysql+multirow mariadb/pymysql+insert";

/// A place where the private environment is there.
fn place() -> Place {
    let programs = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap();
    let python = programs.join("../python/bin/python");
    assert!(python.is_file(), "{} is missing: make build-python", python.display());
    Place::in_memory()
}

/// The contenders whose engines are here; those that are not are reported.
fn contenders() -> Vec<&'static str> {
    let is_here = |engine: &str| match installation(engine, &Build::System) {
        Ok(_) => true,
        Err(error) => {
            eprintln!("SKIPPED for {engine}: {error:#}");
            false
        }
    };
    let mut contenders = EMBEDDED.to_owned();
    for (engine, drivers) in [("postgres", POSTGRES), ("mariadb", MARIADB)] {
        if is_here(engine) {
            contenders = format!("{contenders} {drivers}");
        }
    }
    contenders.leak().split(' ').collect()
}

#[test]
fn the_drivers_keep_the_protocol() {
    let usual = contenders().into_iter().filter(|name| !name.contains('+'));
    let names: Vec<&str> = usual.chain(["null/python"]).collect();
    place().conforms(&names, &[]);
}

#[test]
fn other_ways_and_profiles_keep_the_protocol_in_what_they_differ() {
    place().conforms(&["duckdb/python+csv"], &LOADING);
    let profiles = ["sqlite@system/sqlite3", "sqlite/apsw:tuned", "duckdb,memory_limit=1GB,threads=1"];
    place().conforms(&profiles, &SETTINGS);
}

#[test]
fn the_fifteen_tests_have_the_answers_of_sqlite() {
    let place = place();
    let usual: Vec<&str> = contenders().into_iter().filter(|name| !name.contains('+')).collect();
    let arguments = format!("--scale 0.02 --trials 1 --quiet --with sqlite,{}", usual.join(","));
    // Another code than 0 would mean that an answer differs.
    place.dyno(&format!("run speedtest {arguments}")).exits(0).without_panic();
    place.assert_clean();
}

#[test]
fn every_way_of_loading_stores_the_same_rows() {
    let place = place();
    let arguments = format!("--rows 3000 --trials 1 --quiet --with sqlite,{}", contenders().join(","));
    place.dyno(&format!("run intuition {arguments}")).exits(0).without_panic();
    // The null runner, and all of the others.
    let run = place.run_file();
    let trials = run["trials"].as_array().unwrap();
    assert!(trials.iter().all(|trial| trial["failure"].is_null()), "{trials:?}");
    place.assert_clean();
}

/// A request that a server might make unprompted: PyMySQL itself would send it.
const STEALS: &str = r#"
name = "steals"
title = "A file of the client's"
story = "None."
contenders = ["mariadb/pymysql"]

[[test]]
id = "1"
title = "LOAD DATA"
shows = "Nothing."
model = "statements"
statements = """
CREATE TABLE t(a TEXT);
LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE t;
"""
"#;

#[test]
fn no_file_of_the_clients_is_sent() {
    let place = place();
    if !contenders().contains(&"mariadb/pymysql") {
        return;
    }
    place.write("steals.toml", STEALS);
    let result = place.dyno("run ./steals.toml --trust --trials 1 --quiet").without_panic();
    assert!(result.code != Some(0), "{}", result.stdout);
    let trials = place.run_file()["trials"].to_string();
    assert!(trials.contains("the server asks for the file /etc/hostname"), "{trials}");
    place.assert_clean();
}

#[test]
fn a_server_that_takes_no_rows_from_its_clients_is_reported() {
    let place = place();
    if !contenders().contains(&"mariadb/pymysql") {
        return;
    }
    let contender = "mariadb/pymysql,local_infile=OFF";
    let arguments = format!("--rows 100 --trials 1 --quiet --only load-narrow --with {contender}");
    let result = place.dyno(&format!("run intuition {arguments}")).without_panic();
    assert!(result.code != Some(0), "{}", result.stdout);
    let run = place.run_file();
    let trials = run["trials"].to_string();
    assert!(trials.contains("SET GLOBAL local_infile = 1"), "{trials}");
    place.assert_clean();
}
