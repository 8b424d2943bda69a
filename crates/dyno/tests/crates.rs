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
             postgres/sqlx postgres/sqlx+multirow postgres/sqlx+insert
             postgres/sea-orm postgres/sea-orm+insert",
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

#[test]
fn all_statements_of_a_mix_stay_prepared() {
    CRATES.keep_all_statements_prepared(&["postgres/sqlx", "mariadb/sqlx", "mariadb/mysql_async"]);
}

#[test]
fn sessions_have_the_collation_of_the_server() {
    CRATES.have_the_same_collation();
}

#[test]
fn no_file_of_the_clients_is_sent() {
    CRATES.send_no_file(&[
        ("mariadb/sqlx", "statement 2 of 2"),
        ("mariadb/mysql_async", "Handler is not specified"),
    ]);
}

/// Nothing listens on port 1, so an attempt to connect would fail with other words.
#[test]
fn a_demand_for_encryption_is_refused_before_anything_is_sent() {
    let Some(place) = CRATES.place() else { return };
    for (url, words) in [
        ("postgres+sqlx://u@127.0.0.1:1/d?sslmode=require", "sslmode=require asks for an encrypted"),
        ("postgres+sqlx://u@127.0.0.1:1/d?sslmode=allow", "write sslmode=disable, or name another driver"),
        ("postgres+sqlx://u@127.0.0.1:1/d", "sslmode=prefer, the mode of a URL that names none, asks for"),
        ("postgres+tokio-postgres://u@127.0.0.1:1/d", "write sslmode=disable, or name another driver"),
        ("mariadb+sqlx://u@127.0.0.1:1/d?ssl-mode=PREFERRED", "write ssl-mode=DISABLED, or name another"),
        ("mariadb+sqlx://u@127.0.0.1:1/d?ssl-mode=REQUIRED", "ssl-mode=REQUIRED asks for an encrypted"),
        (
            "mariadb+mysql_async://u@127.0.0.1:1/d?ssl-mode=VERIFY_CA",
            "ssl-mode=VERIFY_CA asks for an encrypted",
        ),
    ] {
        let result = place.dyno(&format!("run speedtest --scale 0.02 --trials 1 --only 1 --url {url}"));
        result.without_panic().says(words);
    }
    place.assert_clean();
}
