//! Tables of servers that are replaced: what is lost with them is named, and what another table needs is kept.

use super::exact::Case;

#[test]
fn what_a_server_loses_with_a_table_is_named() {
    for engine in ["postgres", "mariadb", "mysql"] {
        let Some(case) = Case::of(engine) else { continue };
        case.sql("CREATE TABLE sr (id INTEGER, v INTEGER NOT NULL DEFAULT 5, u INTEGER UNIQUE, CONSTRAINT few CHECK (v < 9))");
        if engine == "postgres" {
            case.sql(
                "GRANT SELECT ON sr TO PUBLIC; COMMENT ON TABLE sr IS 'x'; GRANT UPDATE (id) ON sr TO PUBLIC; \
                 CREATE RULE ru AS ON UPDATE TO sr DO ALSO NOTHING; ALTER TABLE sr ENABLE ROW LEVEL SECURITY; \
                 ALTER TABLE sr SET (fillfactor = 50); CREATE STATISTICS st ON id, v FROM sr; \
                 CREATE PUBLICATION pu FOR TABLE sr; ALTER TABLE sr ADD w TEXT COLLATE \"C\"; \
                 ALTER TABLE sr REPLICA IDENTITY FULL, ALTER w SET STORAGE EXTERNAL, ALTER w SET COMPRESSION pglz, \
                 ALTER id SET STATISTICS 7, ALTER id SET (n_distinct = 5); \
                 CREATE ROLE owns; ALTER TABLE sr OWNER TO owns",
            );
        }
        case.place.write("sr.csv", "id,v,u\n1,7,8\n");
        let said = case.import("sr.csv --replace").exits(0).stdout.clone();
        for lost in ["index ", "NOT NULL of v", "the default of v", "few"] {
            assert!(said.contains(lost), "{engine}, {lost}: {said}");
        }
        let of_postgres = [
            "privileges of PUBLIC",
            "comments",
            "privileges on the columns id",
            "rule ru",
            "row security",
            "the options fillfactor=50",
            "statistics st",
            "the publication pu",
            "the owner owns",
            "the replica identity",
            "the collation of w",
            "the storage of w",
            "the compression of w",
            "the statistics target of id",
            "the options of id",
        ];
        for lost in of_postgres.iter().filter(|_| engine == "postgres") {
            assert!(said.contains(lost), "{lost}: {said}");
        }
        case.sql("CREATE VIEW vw AS SELECT 1 AS a");
        if engine == "mariadb" {
            case.import("sr.csv --table vw --append").exits(2).says("vw is a view");
            case.sql("CREATE TABLE sv (id INTEGER) WITH SYSTEM VERSIONING");
            let versioned = case.import("sr.csv --table sv --replace --dry-run").exits(0);
            versioned.prints("--replace drops with the old table: all history (SYSTEM VERSIONING).");
        }
        if engine != "postgres" {
            names_options_of_a_table(&case);
            case.sql(
                "CREATE USER plain@localhost; \
                 GRANT SELECT, INSERT, CREATE, DROP, ALTER, LOCK TABLES ON files.* TO plain@localhost",
            );
            names_triggers_that_are_hidden(&case, engine);
            is_not_replaced_under_a_key_that_is_hidden(&case, engine);
        }
    }
}

/// Names what MariaDB and MySQL lose, and nothing of a table that has nothing to lose.
fn names_options_of_a_table(case: &Case) {
    case.sql(
        "CREATE TABLE pt (id INTEGER COMMENT 'x', v VARCHAR(9) COLLATE utf8mb4_bin) CHARSET = utf8mb4 COMMENT = 'y' \
         PARTITION BY HASH (id) PARTITIONS 2",
    );
    case.place.write("pt.csv", "id,v\n1,a\n");
    for options in ["--dry-run", ""] {
        let replaced = case.import(&format!("pt.csv --replace {options}")).exits(0);
        replaced.prints(
            "--replace drops with the old table: the collation of v, the comments of id, its comment, partitions.",
        );
    }
    let again = case.import("pt.csv --replace").exits(0);
    assert!(!again.stdout.contains("--replace drops"), "{}", again.stdout);
}

/// A user without the privilege TRIGGER is told that there may be triggers, and no row is named by a number that these may
/// have changed.
fn names_triggers_that_are_hidden(case: &Case, engine: &str) {
    case.sql(
        "CREATE TABLE seen (n INTEGER); CREATE TABLE tg (id INTEGER, day DATE); \
         CREATE TRIGGER each_row AFTER INSERT ON tg FOR EACH ROW INSERT INTO seen VALUES (NEW.id)",
    );
    case.place.write("tg.csv", "id,day\n1,2024-01-01\n2,2024-13-01\n");
    let refused = case.import_as("plain", "tg.csv --append").exits(2).says("nothing was loaded");
    assert!(!refused.stderr.contains("tg.csv:"), "{engine}: {}", refused.stderr);
    assert_eq!(case.sql("SELECT count(*) FROM tg"), "0", "{engine}");
    case.place.write("tg.csv", "id,day\n1,2024-01-01\n");
    let said = "so tg may have some that dyno does not name; --replace drops these, too.";
    for options in ["--dry-run", ""] {
        let replaced = case.import_as("plain", &format!("tg.csv --replace {options}")).exits(0);
        // MariaDB shows it all the same.
        let is_named = replaced.stdout.contains("drops with the old table: trigger each_row.");
        assert!(is_named || replaced.stdout.contains(said), "{engine}: {}", replaced.stdout);
    }
    let triggers = "SELECT count(*) FROM information_schema.triggers WHERE event_object_table = 'tg'";
    assert_eq!(case.sql(triggers), "0", "{engine}");
    case.import_as("plain", "tg.csv --replace").exits(0).prints(said);
    case.sql("GRANT TRIGGER ON files.* TO plain@localhost");
    let replaced = case.import_as("plain", "tg.csv --replace").exits(0);
    assert!(!replaced.stdout.contains("triggers"), "{engine}: {}", replaced.stdout);
}

/// The server hides the foreign keys of a database in which a user has no rights. Such a key would follow the old table to
/// its other name.
fn is_not_replaced_under_a_key_that_is_hidden(case: &Case, engine: &str) {
    case.sql(
        "CREATE TABLE fk (a INTEGER PRIMARY KEY); INSERT INTO fk VALUES (1), (2); CREATE DATABASE other; \
         CREATE TABLE other.child (a INTEGER, FOREIGN KEY (a) REFERENCES files.fk (a)); \
         INSERT INTO other.child VALUES (2)",
    );
    case.place.write("fk.csv", "a\n1\n3\n");
    let refused = case.import_as("plain", "fk.csv --header --replace --primary-key a").exits(2);
    refused.says(
        "--replace would leave a foreign key that the server does not show to this user without the table fk",
    );
    let left = "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'dyno%'";
    assert_eq!(
        (case.sql("SELECT a FROM fk"), case.sql(left)),
        ("1\n2".to_owned(), String::new()),
        "{engine}"
    );
    let child = case.sql("SHOW CREATE TABLE other.child");
    assert!(child.contains("REFERENCES `files`.`fk` (`a`)"), "{engine}: {child}");
    // The key is in force as before.
    case.sql("INSERT INTO other.child VALUES (1); DROP DATABASE other");
    case.import_as("plain", "fk.csv --header --replace --primary-key a").exits(0);
    assert_eq!(
        (case.sql("SELECT a FROM fk"), case.sql(left)),
        ("1\n3".to_owned(), String::new()),
        "{engine}"
    );
}
