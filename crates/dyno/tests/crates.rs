//! The runners for client libraries of Rust, where `make build-crates` has built them.

use crate::common::SETTINGS;
use crate::common::drivers::Drivers;

const CRATES: Drivers = Drivers {
    program: "dyno-runner-rusqlite",
    build: "sh scripts/build-crates.sh",
    embedded: "sqlite/rusqlite sqlite/sqlx",
    servers: &[
        (
            "postgres",
            "postgres/tokio-postgres postgres/tokio-postgres+pipeline postgres/tokio-postgres+insert
             postgres/sqlx postgres/sqlx+multirow postgres/sqlx+insert",
        ),
        (
            "mariadb",
            "mariadb/sqlx mariadb/sqlx+insert mariadb/mysql_async mariadb/mysql_async+batch
             mariadb/mysql_async+multirow mariadb/mysql_async+insert",
        ),
    ],
};

#[test]
fn the_drivers_keep_the_protocol() {
    CRATES.keep_the_protocol("null");
}

#[test]
fn profiles_keep_the_protocol_in_what_they_differ() {
    let Some(place) = CRATES.place() else { return };
    place.conforms(&["sqlite/rusqlite:wal", "sqlite/rusqlite:memory", "sqlite/sqlx:wal"], &SETTINGS);
}

#[test]
fn the_fifteen_tests_have_the_answers_of_sqlite() {
    CRATES.answer_as_sqlite();
}

#[test]
fn every_way_of_loading_stores_the_same_rows() {
    CRATES.store_the_same_rows();
}

#[test]
fn many_clients_keep_the_invariants() {
    CRATES.keep_the_invariants();
}

#[test]
fn another_build_of_sqlite_is_refused() {
    CRATES.refuse(
        "sqlite@system/rusqlite",
        "rusqlite has its own SQLite and takes no other: name the contender sqlite/rusqlite",
    );
}
