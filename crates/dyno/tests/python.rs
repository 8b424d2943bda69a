//! The runner in Python, with every driver of engines that this machine has. What of it needs no server and no
//! dyno is tested next to it, in runners/python/tests.

use crate::common::drivers::Drivers;
use crate::common::{LOADING, SETTINGS};

const PYTHON: Drivers = Drivers {
    program: "../python/bin/python",
    build: "sh scripts/build-python.sh",
    embedded: "sqlite/sqlite3 sqlite/apsw sqlite/sqlalchemy \
               duckdb duckdb/python+appender duckdb/python+executemany",
    servers: &[
        (
            "postgres",
            "postgres/psycopg postgres/psycopg+pipeline postgres/psycopg+insert postgres/asyncpg \
             postgres/asyncpg+copy postgres/asyncpg+executemany postgres/asyncpg+insert postgres/sqlalchemy",
        ),
        (
            "mariadb",
            "mariadb/pymysql mariadb/pymysql+multirow mariadb/pymysql+insert mariadb/mysqlclient \
             mariadb/mysqlclient+insert mariadb/sqlalchemy mariadb/sqlalchemy+mysqlclient",
        ),
    ],
};

#[test]
fn the_environment_is_here() {
    let program = PYTHON.program();
    assert!(program.is_file(), "{} is missing: make build-python", program.display());
}

#[test]
fn the_drivers_keep_the_protocol() {
    PYTHON.keep_the_protocol("null/python");
}

#[test]
fn other_ways_and_profiles_keep_the_protocol_in_what_they_differ() {
    let Some(place) = PYTHON.place() else { return };
    place.conforms(&["duckdb/python+csv"], &LOADING);
    let profiles = ["sqlite@system/sqlite3", "sqlite/apsw:tuned", "duckdb,memory_limit=1GB,threads=1"];
    place.conforms(&profiles, &SETTINGS);
    // It is no usual way, and has another driver below.
    if PYTHON.contenders().contains(&"mariadb/sqlalchemy+mysqlclient") {
        place.conforms(&["mariadb/sqlalchemy+mysqlclient"], &["clients", "mix"]);
    }
}

#[test]
fn values_are_written_as_the_server_does() {
    PYTHON.write_values_as_the_server_does();
}

#[test]
fn all_statements_of_a_mix_stay_prepared() {
    PYTHON.keep_all_statements_prepared(&["postgres/psycopg", "postgres/asyncpg"]);
}

#[test]
fn dates_are_parameters() {
    PYTHON.take_dates(&["postgres/psycopg", "postgres/asyncpg"]);
}

#[test]
fn sessions_have_the_collation_of_the_server() {
    PYTHON.have_the_same_collation();
}

#[test]
fn the_fifteen_tests_have_the_answers_of_sqlite() {
    PYTHON.answer_as_sqlite();
}

#[test]
fn every_way_of_loading_stores_the_same_rows() {
    PYTHON.store_the_same_rows();
}

#[test]
fn money_that_moves_between_accounts_is_kept() {
    PYTHON.keep_the_invariants();
}

#[test]
fn no_file_of_the_clients_is_sent() {
    let refused = "has disabled the local infile capability";
    PYTHON.send_no_file(&[
        ("mariadb/pymysql", "the server asks for the file /etc/hostname"),
        ("mariadb/mysqlclient", refused),
        ("mariadb/sqlalchemy+mysqlclient", refused),
    ]);
}

#[test]
fn a_server_that_takes_no_rows_from_its_clients_is_reported() {
    let Some(place) = PYTHON.place() else { return };
    if !PYTHON.contenders().contains(&"mariadb/pymysql") {
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
