//! The runner in Node.js, with every driver of engines that this machine has. What of it needs no server and no dyno is
//! tested next to it, in runners/node/tests.

use crate::common::SETTINGS;
use crate::common::drivers::Drivers;

const NODE: Drivers = Drivers {
    program: "../node/bin/node",
    build: "sh scripts/build-node.sh",
    embedded: "sqlite/better-sqlite3 sqlite/node-sqlite sqlite/node-sqlite3 sqlite/bun-sqlite",
    servers: &[
        (
            "postgres",
            "postgres/pg postgres/pg+pipeline postgres/pg+multirow postgres/pg+insert \
             postgres/postgres postgres/postgres+pipeline postgres/postgres+multirow postgres/postgres+insert \
             postgres/kysely postgres/kysely+insert postgres/knex postgres/knex+insert \
             postgres/drizzle postgres/drizzle+insert",
        ),
        (
            "mariadb",
            "mariadb/mysql2 mariadb/mysql2+multirow mariadb/mysql2+insert \
             mariadb/mariadb mariadb/mariadb+insert",
        ),
    ],
};

/// The layers above MySQL2 and better-sqlite3.
const LAYERS: Drivers = Drivers {
    embedded: "sqlite/kysely sqlite/kysely+insert sqlite/knex sqlite/knex+insert \
               sqlite/drizzle sqlite/drizzle+insert",
    servers: &[(
        "mariadb",
        "mariadb/kysely mariadb/kysely+insert mariadb/knex mariadb/knex+insert \
         mariadb/drizzle mariadb/drizzle+insert",
    )],
    ..NODE
};

#[test]
fn the_drivers_keep_the_protocol() {
    NODE.keep_the_protocol("null/node");
}

#[test]
#[ignore = "make soak: a minute for each engine"]
fn the_layers_above_other_drivers_keep_the_protocol() {
    let Some(place) = LAYERS.place() else { return };
    LAYERS.keep_the_protocol("null/node");
    place.conforms(&["sqlite/drizzle+prepared"], &[]);
    if LAYERS.contenders().contains(&"mariadb/drizzle") {
        place.conforms(&["mariadb/drizzle+prepared"], &[]);
    }
}

#[test]
fn the_layers_above_other_drivers_store_the_same_rows_and_keep_the_invariants() {
    LAYERS.store_the_same_rows();
    LAYERS.keep_the_invariants();
}

#[test]
fn profiles_keep_the_protocol_in_what_they_differ() {
    let Some(place) = NODE.place() else { return };
    place.conforms(
        &["sqlite/better-sqlite3:wal", "sqlite/node-sqlite:tuned", "sqlite/node-sqlite3:memory"],
        &SETTINGS,
    );
}

#[test]
#[ignore = "make soak: PGlite makes a database of PostgreSQL for each check, in seconds"]
fn pglite_keeps_the_protocol() {
    let Some(place) = NODE.place() else { return };
    place.conforms(&["pglite"], &[]);
}

#[test]
fn pglite_answers_as_sqlite_and_says_that_it_does_not_sync() {
    let Some(place) = NODE.place() else { return };
    place
        .dyno(
            "run speedtest --scale 0.02 --only 1,2,3,5 --trials 1 --no-warm-up --quiet --with sqlite,pglite",
        )
        .exits(0);
    let run = place.run_file();
    assert_eq!(run["contenders"][1]["safety"]["level"], "process-crash");
    place.assert_clean();
}

/// Drivers that have no mixes.
const PARTIAL: [&str; 4] =
    ["sqlite/libsql", "sqlite/libsql+insert", "duckdb/node-api", "duckdb/node-api+insert"];

#[test]
fn drivers_of_fewer_models_keep_the_protocol() {
    let Some(place) = NODE.place() else { return };
    place.conforms(&PARTIAL, &[]);
    place.conforms(&["sqlite/libsql:memory", "duckdb/node-api:memory"], &SETTINGS);
    if NODE.contenders().contains(&"postgres/drizzle") {
        place.conforms(&["postgres/drizzle+prepared"], &[]);
    }
}

/// Each row is there, by every way of loading, and the answers of the fifteen tests are SQLite's.
#[test]
fn drivers_of_fewer_models_store_and_answer_as_sqlite() {
    let Some(place) = NODE.place() else { return };
    let run = |suite: &str, contenders: &[&str]| {
        let contenders = [&["sqlite"], contenders].concat().join(",");
        place
            .dyno(&format!("run {suite} --trials 1 --no-warm-up --quiet --with {contenders}"))
            .exits(0)
            .without_panic();
    };
    run("speedtest --scale 0.02", &["sqlite/libsql", "duckdb/node-api"]);
    run("intuition --rows 3000", &PARTIAL);
    place.assert_clean();
}

#[test]
fn values_are_written_as_the_server_does() {
    NODE.write_values_as_the_server_does();
}

#[test]
fn dates_are_parameters() {
    NODE.take_dates(&["postgres/pg", "postgres/postgres"]);
}

#[test]
fn sessions_have_the_collation_of_the_server() {
    NODE.have_the_same_collation();
}

#[test]
fn the_fifteen_tests_have_the_answers_of_sqlite() {
    NODE.answer_as_sqlite();
}

#[test]
fn every_way_of_loading_stores_the_same_rows() {
    NODE.store_the_same_rows();
}

#[test]
fn many_clients_keep_the_invariants() {
    NODE.keep_the_invariants();
}

#[test]
fn another_build_of_sqlite_is_refused() {
    NODE.refuse(
        "sqlite@system/better-sqlite3",
        "better-sqlite3 has its own SQLite and takes no other: name the contender sqlite/better-sqlite3",
    );
}

#[test]
fn no_file_of_the_clients_is_sent() {
    NODE.send_no_file(&[("mariadb/mysql2", "statement 2 of 2"), ("mariadb/mariadb", "statement 2 of 2")]);
}

#[test]
fn a_runner_without_its_packages_is_named_with_the_command_that_fetches_them() {
    NODE.are_named_with_the_command_that_fetches_them("DYNO_NODE", "sqlite/better-sqlite3");
}
