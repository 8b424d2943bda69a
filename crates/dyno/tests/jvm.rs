//! The runner on the Java virtual machine, with every driver of engines that this machine has.

use std::path::Path;

use dyno_protocol::Build;

use crate::common::{Place, Result, SETTINGS, installation};

/// Every driver, and every way of loading that is not its usual one.
const EMBEDDED: &str = "sqlite/sqlite-jdbc sqlite/sqlite-jdbc+insert";
const POSTGRES: &str = "postgres/pgjdbc postgres/pgjdbc+rewrite postgres/pgjdbc+batch postgres/pgjdbc+insert";
const MARIADB: &str = "mariadb/mariadb-java-client mariadb/mariadb-java-client+batch \
                       mariadb/mariadb-java-client+insert mariadb/mysql-connector-j \
                       mariadb/mysql-connector-j+batch \
                       mariadb/mysql-connector-j+insert";

/// A place, if the private folder of libraries is there. Where it cannot be had, the reason is printed.
fn place() -> Option<Place> {
    let programs = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap();
    let java = programs.join("../jvm/bin/java");
    if java.is_file() {
        return Some(Place::in_memory());
    }
    eprintln!("SKIPPED: {} is missing; `sh scripts/build-jvm.sh` makes it, or says why not", java.display());
    None
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
    let mut contenders: Vec<&str> = EMBEDDED.split(' ').collect();
    for (engine, drivers) in [("postgres", POSTGRES), ("mariadb", MARIADB)] {
        if is_here(engine) {
            contenders.extend(drivers.split(' ').filter(|name| !name.is_empty()));
        }
    }
    contenders
}

fn usual() -> Vec<&'static str> {
    contenders().into_iter().filter(|name| !name.contains('+')).collect()
}

#[test]
fn the_drivers_keep_the_protocol() {
    let Some(place) = place() else { return };
    place.conforms(&[usual(), vec!["null/jvm"]].concat(), &[]);
}

#[test]
fn profiles_keep_the_protocol_in_what_they_differ() {
    let Some(place) = place() else { return };
    place.conforms(&["sqlite/sqlite-jdbc:wal", "sqlite/sqlite-jdbc:memory"], &SETTINGS);
}

#[test]
fn the_fifteen_tests_have_the_answers_of_sqlite() {
    let Some(place) = place() else { return };
    let arguments = format!("--scale 0.02 --trials 1 --quiet --with sqlite,{}", usual().join(","));
    // Another code than 0 would mean that an answer differs.
    place.dyno(&format!("run speedtest {arguments}")).exits(0).without_panic();
    place.assert_clean();
}

#[test]
fn a_folder_with_other_letters_than_ascii_serves_in_the_locale_c() {
    let Some(place) = place() else { return };
    place.serves_in_the_locale_c(&["sqlite/sqlite-jdbc"]);
}

#[test]
fn every_way_of_loading_stores_the_same_rows() {
    let Some(place) = place() else { return };
    let arguments = format!("--rows 3000 --trials 1 --quiet --with sqlite,{}", contenders().join(","));
    place.dyno(&format!("run intuition {arguments}")).exits(0).without_panic();
    let run = place.run_file();
    let trials = run["trials"].as_array().unwrap();
    assert!(trials.iter().all(|trial| trial["failure"].is_null()), "{trials:?}");
    place.assert_clean();
}

/// Its tests are several mixes on one connection.
#[test]
fn many_clients_keep_the_invariants() {
    let Some(place) = place() else { return };
    let arguments = "run bank --clients 3 --set duration=0.5 --trials 1 --no-warm-up --quiet";
    place.dyno(&format!("{arguments} --with {}", usual().join(","))).exits(0).without_panic();
    place.assert_clean();
}

#[test]
fn another_build_of_sqlite_is_refused() {
    let Some(place) = place() else { return };
    let arguments = "run speedtest --scale 0.02 --trials 1 --only 1 --with sqlite@system/sqlite-jdbc";
    let result = place.dyno(arguments).without_panic();
    assert!(result.code != Some(0), "{}", result.stdout);
    result.says("sqlite-jdbc has its own SQLite and takes no other: name the contender sqlite/sqlite-jdbc");
}

/// A request that a server might make unprompted.
const STEALS: &str = r#"
name = "steals"
title = "A file of the client's"
story = "None."
contenders = ["mariadb/DRIVER"]

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
    for driver in ["mariadb-java-client", "mysql-connector-j"] {
        let Some(place) = place() else { return };
        if !contenders().contains(&format!("mariadb/{driver}").as_str()) {
            return;
        }
        place.write("steals.toml", &STEALS.replace("DRIVER", driver));
        let result = place.dyno("run ./steals.toml --trust --trials 1 --quiet").without_panic();
        assert!(result.code != Some(0), "{}", result.stdout);
        let trials = place.run_file()["trials"].to_string();
        assert!(trials.contains("statement 2 of 2"), "{trials}");
        place.assert_clean();
    }
}

#[test]
fn a_runner_without_its_libraries_is_named_with_the_command_that_fetches_them() {
    let place = Place::in_memory();
    let mut command = place.command();
    let arguments = "run speedtest --scale 0.02 --trials 1 --only 1 --with sqlite/sqlite-jdbc";
    command.env("DYNO_JAVA", "/nowhere/bin/java").args(arguments.split(' '));
    let result: Result = command.output().unwrap().into();
    result.exits(2).says("build it with `sh scripts/build-jvm.sh`").says("(/nowhere/bin/java is missing)");
}
