//! The runner on the Java virtual machine, with every driver of engines that this machine has.

use crate::common::drivers::Drivers;
use crate::common::{SETTINGS, is_thorough};

const JVM: Drivers = Drivers {
    program: "../jvm/bin/java",
    build: "sh scripts/build-jvm.sh",
    embedded: "sqlite/sqlite-jdbc sqlite/sqlite-jdbc+insert sqlite/jooq",
    servers: &[
        ("postgres", "postgres/pgjdbc postgres/pgjdbc+rewrite postgres/pgjdbc+batch postgres/pgjdbc+insert"),
        (
            "mariadb",
            "mariadb/mariadb-java-client mariadb/mariadb-java-client+batch mariadb/mariadb-java-client+insert \
             mariadb/mysql-connector-j mariadb/mysql-connector-j+batch mariadb/mysql-connector-j+insert",
        ),
    ],
};

/// The layers above these drivers. Each trial starts them anew, which takes seconds of processor time.
const LAYERS: Drivers = Drivers {
    embedded: "sqlite/jooq sqlite/jooq+insert",
    servers: &[
        ("postgres", "postgres/jooq postgres/jooq+insert postgres/hibernate postgres/hibernate+insert"),
        ("mariadb", "mariadb/jooq mariadb/jooq+insert mariadb/hibernate mariadb/hibernate+insert"),
    ],
    ..JVM
};

/// The engines that are written in Java.
pub const ENGINES: Drivers =
    Drivers { embedded: "h2 h2+insert hsqldb hsqldb+insert derby derby+insert", servers: &[], ..JVM };

#[test]
fn the_drivers_keep_the_protocol() {
    JVM.keep_the_protocol("null/jvm");
}

#[test]
#[ignore = "make soak: minutes of starting Hibernate and jOOQ"]
fn the_layers_keep_the_protocol_and_what_they_store() {
    LAYERS.keep_the_protocol("null/jvm");
    LAYERS.answer_as_sqlite();
    LAYERS.store_the_same_rows();
    LAYERS.keep_the_invariants();
}

#[test]
#[ignore = "make soak: a minute for each"]
fn the_engines_keep_the_protocol_and_what_they_store() {
    ENGINES.keep_the_protocol("null/jvm");
    ENGINES.store_the_same_rows();
    ENGINES.keep_the_invariants();
}

#[test]
fn the_engines_answer_as_sqlite() {
    ENGINES.answer_as_sqlite();
}

/// The answers are those of SQLite, and what clients did leaves no invariant broken. At the level that these engines have when
/// nothing is set, updates of `orders` may be lost where several clients work, so there is one.
#[test]
fn suites_are_written_in_the_dialects_of_the_engines() {
    let contenders = [&["sqlite"], ENGINES.usual().as_slice()].concat();
    ENGINES.run("micro --set rows=2000 --set n=50", &contenders);
    ENGINES.run("ycsb --set records=300 --clients 3 --set duration=0.4 --set warm_up=0.1", &ENGINES.usual());
    // Derby compiles each statement to a class, and takes a minute for this.
    let ready: Vec<_> =
        ENGINES.usual().into_iter().filter(|&name| name != "derby" || is_thorough()).collect();
    ENGINES.run("orders --scale 0.01 --clients 1 --set duration=1 --set warm_up=0.1", &ready);
}

/// MySQL Connector/J sends a statement each time that it is asked for automatic commits, also where they are on.
#[test]
fn drivers_of_mariadb_wait_for_the_server_equally_often() {
    let Some(place) = JVM.place() else { return };
    if !JVM.contenders().contains(&"mariadb/mysql-connector-j") {
        return;
    }
    let arguments =
        "run bank --clients 2 --set duration=0.3 --round-trips --trials 1 --no-warm-up --quiet -o run.jsonl";
    let drivers = "mariadb/mysql-connector-j,mariadb/mariadb-java-client";
    place.dyno(&format!("{arguments} --with {drivers}")).exits(0);
    let run = crate::common::read_json(&place.path("run.jsonl"));
    for contender in run["contenders"].as_array().unwrap().iter().take(2) {
        for (class, each) in [("look-up", 1), ("transfer", 6)] {
            let records = contender["traffic"].as_array().unwrap();
            let record = records.iter().find(|record| record["class"] == class).unwrap();
            let number = |value: &serde_json::Value| value.as_f64().unwrap();
            // On a busy machine a count may miss an operation.
            let trips = number(&record["passes"][0]["round_trips"]) / number(&record["operations"]);
            assert_eq!(trips.round() as u32, each, "{record}");
        }
    }
    place.assert_clean();
}

#[test]
fn clients_share_the_connections_of_a_pool_and_keep_the_invariants() {
    let Some(place) = JVM.place() else { return };
    if JVM.contenders().contains(&"postgres/pgjdbc") {
        let pools = "postgres/hikaricp,postgres/hikaricp+pool-2";
        place
            .dyno(&format!(
                "run bank --clients 5 --set duration=0.5 --no-warm-up --trials 1 --quiet --with {pools}"
            ))
            .exits(0);
        place.assert_clean();
    }
}

/// Opened one after another in the background, they would be a part of what the first operations pay.
#[test]
fn the_connections_of_a_pool_are_there_before_the_first_operation() {
    let Some(place) = JVM.place() else { return };
    if JVM.contenders().contains(&"postgres/hikaricp") {
        place.write("pool.toml", POOL);
        place.dyno("run ./pool.toml --trust --trials 1 --no-warm-up --quiet").exits(0).without_panic();
        place.assert_clean();
    }
}

const POOL: &str = r#"
name = "pool"
title = "Pool"
story = "None."
contenders = ["postgres/hikaricp"]

[[test]]
id = "table"
title = "Table"
shows = "Nothing."
model = "statements"
statements = "CREATE TABLE seen(connections BIGINT);"

[[test]]
id = "look"
title = "Look"
shows = "Nothing."
model = "mix"
clients = 2
count = 3

[[test.class]]
name = "look"
statements = """
INSERT INTO seen SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
"""

[[test.invariant]]
says = "every operation finds the ten connections of the pool, and that of the trial"
query = "SELECT count(*) FROM seen WHERE connections <> 11"
"#;

#[test]
fn an_engine_refuses_settings_that_are_not_its_own() {
    for (contender, words) in [
        ("h2,init=x", "h2 has no setting 'init' here; it has database, isolation, write_delay"),
        ("derby,isolation=none", "the setting 'isolation' is one of read-committed, read-uncommitted"),
        ("hsqldb,hsqldb.tx=locks;shutdown=true", "the value of the setting 'hsqldb.tx' holds a semicolon"),
    ] {
        ENGINES.refuse(contender, words);
    }
}

#[test]
fn what_an_engine_survives_follows_from_the_settings_that_it_reports() {
    let Some(place) = ENGINES.place() else { return };
    let contenders = "h2,h2:no-delay,hsqldb,hsqldb:sync,derby,derby:nosync";
    place
        .dyno(&format!(
            "run speedtest --scale 0.02 --only 1 --trials 1 --no-warm-up --quiet --with {contenders}"
        ))
        .exits(0);
    let run = place.run_file();
    let levels: Vec<&str> = run["contenders"]
        .as_array()
        .unwrap()
        .iter()
        // The last is the harness.
        .take(6)
        .map(|contender| contender["safety"]["level"].as_str().unwrap())
        .collect();
    assert_eq!(levels, ["none", "process-crash", "none", "process-crash", "process-crash", "process-crash"]);
}

/// The engine's file is its archive, and that of sqlite-jdbc the library in C: not the Java machine.
#[test]
fn an_engine_in_java_is_identified_by_its_archive() {
    let Some(place) = ENGINES.place() else { return };
    place
        .dyno("run speedtest --scale 0.02 --only 1 --trials 1 --no-warm-up --quiet --with h2,derby,sqlite/sqlite-jdbc")
        .exits(0);
    let run = place.run_file();
    let of = |contender: usize, what: &str| run["contenders"][contender]["executed"][what]["sha256"].clone();
    let checksums = include_str!("../../../runners/jvm/checksums");
    for (contender, archive) in [(0, "h2-"), (1, "derby-")] {
        let line = checksums.lines().find(|line| line.contains(&format!("  {archive}"))).unwrap();
        assert_eq!(of(contender, "engine"), line.split(' ').next().unwrap());
    }
    assert!(of(2, "engine").is_string() && of(2, "engine") != of(2, "runner"));
}

#[test]
fn profiles_keep_the_protocol_in_what_they_differ() {
    let Some(place) = JVM.place() else { return };
    place.conforms(&["sqlite/sqlite-jdbc:wal", "sqlite/sqlite-jdbc:memory"], &SETTINGS);
}

#[test]
fn values_are_written_as_the_server_does() {
    JVM.write_values_as_the_server_does();
}

#[test]
fn dates_are_parameters() {
    JVM.take_dates(&["postgres/pgjdbc", "postgres/hikaricp"]);
}

#[test]
fn sessions_have_the_collation_of_the_server() {
    JVM.have_the_same_collation();
}

#[test]
fn the_fifteen_tests_have_the_answers_of_sqlite() {
    JVM.answer_as_sqlite();
}

#[test]
fn a_folder_with_other_letters_than_ascii_serves_in_the_locale_c() {
    let Some(place) = JVM.place() else { return };
    place.serves_in_the_locale_c(&["sqlite/sqlite-jdbc"]);
}

#[test]
fn every_way_of_loading_stores_the_same_rows() {
    JVM.store_the_same_rows();
}

#[test]
fn many_clients_keep_the_invariants() {
    JVM.keep_the_invariants();
}

#[test]
fn another_build_of_sqlite_is_refused() {
    JVM.refuse(
        "sqlite@system/sqlite-jdbc",
        "sqlite-jdbc has its own SQLite and takes no other: name the contender sqlite/sqlite-jdbc",
    );
}

#[test]
fn no_file_of_the_clients_is_sent() {
    JVM.send_no_file(&[
        ("mariadb/mariadb-java-client", "statement 2 of 2"),
        ("mariadb/mysql-connector-j", "statement 2 of 2"),
    ]);
}

#[test]
fn a_runner_without_its_libraries_is_named_with_the_command_that_fetches_them() {
    JVM.are_named_with_the_command_that_fetches_them("DYNO_JAVA", "sqlite/sqlite-jdbc");
}
