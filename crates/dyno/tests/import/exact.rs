//! Values that servers would change without a word, lose or report wrongly. If one is not installed, its part is
//! skipped.

use std::fs;

use super::servers::{Server, printed, program};
use crate::common::{Place, Result, wait_for};

/// A server with a folder of files.
pub struct Case {
    pub server: Server,
    pub place: Place,
}

impl Case {
    pub fn of(engine: &str) -> Option<Case> {
        Some(Case { server: Server::start(engine)?, place: Place::new() })
    }

    pub fn sql(&self, text: &str) -> String {
        printed(&mut program(&self.server.url), text)
    }

    pub fn import(&self, arguments: &str) -> Result {
        self.import_into(arguments, &self.server.url)
    }

    /// Imports as another user of MariaDB or MySQL.
    pub fn import_as(&self, user: &str, arguments: &str) -> Result {
        let (engine, rest) = self.server.url.split_once("://").unwrap();
        let (_, place) = rest.split_once('@').unwrap();
        self.import_into(arguments, &format!("{engine}://{user}@{place}"))
    }

    fn import_into(&self, arguments: &str, url: &str) -> Result {
        let mut command = self.place.command();
        command.arg("import").args(arguments.split_whitespace()).args(["--into", url]);
        Result::from(command.output().unwrap()).without_panic()
    }

    /// Each value either comes back as it is, or is a bad row and nothing is loaded.
    pub fn check(&self, declared: &str, kept: &[&str], others: &[&str]) {
        for (values, is_kept) in [(kept, true), (others, false)] {
            for value in values {
                self.sql(&format!("DROP TABLE IF EXISTS v; CREATE TABLE v (k INTEGER, v {declared})"));
                self.place.write("v.csv", &format!("k,v\n1,\"{value}\"\n"));
                let result = self.import("v.csv --append --header");
                match is_kept {
                    true => assert_eq!(result.code, Some(0), "{declared}, {value}: {}", result.stderr),
                    false => {
                        result.exits(2).says("v.csv:2: ").says("column \"v\"");
                        assert_eq!(self.sql("SELECT count(*) FROM v"), "0", "{declared}, {value}");
                    }
                }
            }
        }
    }
}

#[test]
fn mariadb_changes_no_value_without_a_word() {
    let Some(case) = Case::of("mariadb") else { return };
    case.check("double(8,2)", &["1.25"], &["1.005"]);
    case.check("float(8,2)", &["1.25"], &["1.005"]);
    case.check("float", &["0.1", "0.10000000149011612"], &["0.1000000014901161", "16777217"]);
    case.check("datetime", &["2024-01-01 10:00:00", "2024-01-01T10:00"], &["2024-01-01 10:00:00.6"]);
    case.check("datetime(3)", &["2024-01-01 10:00:00.123"], &["2024-01-01 10:00:00.1234"]);
    case.check("timestamp null", &["2024-01-01 10:00:00"], &["2024-01-01 10:00:00.6"]);
    case.check("time", &["10:00:00", "-838:59:59"], &["10:00:00.6"]);
    case.check("date", &["2024-01-02", "2024-01-02 00:00:00"], &["2024-01-02 10:00:00", "24-01-02"]);
    case.check("enum('a','b')", &["a"], &["1", "A"]);
    case.check("set('a','b')", &["a,b"], &["3", "b,a"]);
    case.check("char(5)", &["a", "abcde"], &["a  "]);
    case.check("binary(5)", &["abcde"], &["ab"]);
    case.check("bit(8)", &[], &["1"]);
    case.check("year", &["2024"], &["24"]);
}

#[test]
fn postgres_changes_no_value_without_a_word() {
    let Some(case) = Case::of("postgres") else { return };
    case.check("date", &["2024-01-02", "infinity"], &["2024-01-02 23:59:59", "01/02/2024"]);
    case.check(
        "timestamp",
        &["2024-01-01 10:00:00.123456"],
        &["2024-01-01 10:00:00+05", "2024-01-01 10:00:00.123456789"],
    );
    case.check("timestamp(0)", &["2024-01-01 10:00:00"], &["2024-01-01 10:00:00.6"]);
    case.check(
        "timestamptz",
        &["2024-01-01 10:00:00+05", "2024-01-01T10:00:00Z"],
        &["2024-01-01 10:00:00.1234567Z"],
    );
    case.check("time(0)", &["10:00:00"], &["10:00:00.6"]);
    case.check("interval(0)", &["1 day 10:00:00"], &["00:00:00.6"]);
    case.check("money", &[], &["1.005"]);
    case.check("real", &["0.1", "0.10000000149011612"], &["0.1000000014901161", "16777217"]);
    case.check("numeric", &["7", "0.1", "12345678901234567890.5"], &["007"]);
    case.check("name", &["x"], &[&"x".repeat(64)]);
    case.check("char(5)", &["a", "a    "], &["a  "]);
    case.check("numeric(5,2)[]", &["{1.25,NULL}"], &["{1.005}"]);
    case.sql("CREATE DOMAIN cents AS numeric(5,2)");
    case.check("cents", &["1.25"], &["1.005"]);
    // Doubles and floats as its own COPY prints them come back.
    case.sql("CREATE TABLE f (r real, d double precision); INSERT INTO f SELECT (random() * 16777216)::real, random() * 1e15 FROM generate_series(1, 20000)");
    case.place.write("f.csv", &(case.sql("COPY f TO STDOUT CSV HEADER") + "\n"));
    case.sql("CREATE TABLE g (r real, d double precision)");
    case.import("f.csv --append --table g").exits(0).prints("20000 rows");
    assert_eq!(case.sql("SELECT count(*) FROM (SELECT * FROM f EXCEPT SELECT * FROM g) x"), "0");
}

#[test]
fn a_type_that_the_user_names_is_what_the_server_makes_of_it() {
    let of_mysql = [
        ("DEC(8,2)", "1.25", "1.005"),
        ("FIXED(8,2)", "1.25", "1.005"),
        ("DOUBLE PRECISION(8,2)", "1.25", "1.005"),
        ("NCHAR(5)", "a", "a  "),
        ("NATIONAL VARCHAR(3)", "abc", "abcd"),
        ("INTEGER NOT NULL", "7", "007"),
        ("BOOLEAN", "yes", "2"),
    ];
    let of_postgres = [
        ("DEC(8,2)", "1.25", "1.005"),
        ("NUMERIC(8,2) NOT NULL", "1.25", "1.005"),
        ("NCHAR(5)", "a", "a  "),
        ("BPCHAR(5)", "a", "a  "),
        ("CHAR VARYING(3)", "abc", "abcd"),
        ("FLOAT", "0.1234567890123", "0.12345678901234567"),
        ("FLOAT(3)", "0.1", "0.1234567890123"),
        ("SERIAL", "7", "007"),
        ("SMALLINT ARRAY", "{7}", "x"),
    ];
    let all = [("postgres", &of_postgres[..]), ("mariadb", &of_mysql[..]), ("mysql", &of_mysql[..])];
    for (engine, types) in all {
        let Some(case) = Case::of(engine) else { continue };
        for (declared, kept, other) in types {
            case.place.write("schema", &format!("k INTEGER\nv {declared}\n"));
            let load = |value: &str| {
                case.place.write("v.csv", &format!("k,v\n1,\"{value}\"\n"));
                case.import("v.csv --table fresh --header --schema schema")
            };
            // An array is the server's to read.
            let place = if declared.contains("ARRAY") { "v.csv:2: " } else { "v.csv:2: column \"v\"" };
            load(other).exits(2).says(place);
            load(kept).exits(0);
            case.sql("DROP TABLE fresh");
        }
        let unknown = case.import("v.csv --table fresh --header --types k:INTEGER,v:nothing_such").exits(2);
        unknown.says("the server makes no column 'v' of the type nothing_such");
        let left = "SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'dyno_import%'";
        assert_eq!(case.sql(left), "0", "{engine}");
        if engine != "postgres" {
            takes_no_empty_field(&case, engine);
        }
    }
}

/// In some columns MariaDB and MySQL store another value for NULL. Such a column takes no empty field.
fn takes_no_empty_field(case: &Case, engine: &str) {
    let is_bad = |arguments: &str, column: &str| {
        let said = format!("e.csv:3: column \"{column}\": \"\" is no value, and the column needs one");
        case.import(&format!("e.csv --header {arguments}")).exits(2).says(&said);
    };
    let of_times = "id,v\n5,2024-01-01 10:00:00\n6,\n";
    for declared in ["TIMESTAMP NOT NULL", "TIMESTAMP(6)NOT NULL DEFAULT current_timestamp(6)"] {
        case.place.write("e.csv", of_times);
        case.place.write("schema", &format!("id INTEGER\nv {declared}\n"));
        is_bad("--schema schema", "v");
        case.sql(&format!(
            "CREATE TABLE e (id INTEGER PRIMARY KEY, v {declared}); INSERT INTO e VALUES (5, '2020-02-02 02:02:02')"
        ));
        is_bad("--append", "v");
        is_bad("--append --on-conflict update", "v");
        assert_eq!(case.sql("SELECT count(*) FROM e"), "1", "{engine}");
        // It is no part of the key for that.
        case.place.write("e.csv", "id,v\n5,2024-01-01 10:00:00\n");
        case.import("e.csv --header --append --on-conflict update").exits(0);
        assert_eq!(case.sql("SELECT year(v) FROM e"), "2024", "{engine}");
        case.sql("DROP TABLE e");
    }
    case.place.write("e.csv", "id,v\n5,a\n,b\n");
    for declared in ["BIGINT AUTO_INCREMENT PRIMARY KEY", "INT NOT NULL AUTO_INCREMENT UNIQUE", "SERIAL"] {
        case.place.write("schema", &format!("id {declared}\nv TEXT\n"));
        is_bad("--schema schema", "id");
    }
    // MySQL does not let this user change the setting back, by which the column needs a value.
    case.sql(
        "SET GLOBAL explicit_defaults_for_timestamp = 0; CREATE USER few@localhost; \
         GRANT ALL ON files.* TO few@localhost",
    );
    case.place.write("e.csv", of_times);
    case.place.write("schema", "id INTEGER\nv TIMESTAMP\n");
    let result = case.import_as("few", "e.csv --header --schema schema");
    match result.code {
        Some(0) => assert_eq!(case.sql("SELECT id FROM e WHERE v IS NULL"), "6", "{engine}"),
        _ => drop(result.exits(2).says("e.csv:3: column \"v\"")),
    }
}

#[test]
fn a_table_that_postgres_does_not_log_survives_nothing() {
    let Some(case) = Case::of("postgres") else { return };
    case.sql(
        "CREATE UNLOGGED TABLE ul (a INTEGER); CREATE TABLE pa (a INTEGER) PARTITION BY LIST (a); \
         CREATE UNLOGGED TABLE part PARTITION OF pa DEFAULT; CREATE TABLE lo (a INTEGER)",
    );
    case.place.write("t.csv", "a\n1\n");
    for (table, of) in [("ul", "ul"), ("pa", "part")] {
        let result = case.import(&format!("t.csv --append --header --table {table}")).exits(0);
        result.prints("Survives none: ").prints(&format!("log does not hold the rows of {of}"));
    }
    case.import("t.csv --append --header --table lo").exits(0).prints("Survives power-loss: ");
    case.sql("ALTER SYSTEM SET full_page_writes = off; SELECT pg_reload_conf()");
    wait_for("a server without whole pages in its log", 60, || case.sql("SHOW full_page_writes") == "off");
    let result = case.import("t.csv --append --header --table lo").exits(0);
    result.prints("Survives process-crash: ").prints("full_page_writes=off");
}

#[test]
fn rows_without_a_key_are_all_merged() {
    for engine in ["postgres", "mariadb", "mysql"] {
        let Some(case) = Case::of(engine) else { continue };
        case.place.write("t.csv", "k,v\n,a\n,b\n1,c\n,d\n1,e\n");
        for (how, last) in [("skip", "c"), ("update", "e")] {
            case.sql("DROP TABLE IF EXISTS t; CREATE TABLE t (k INTEGER UNIQUE, v VARCHAR(9))");
            case.import(&format!("t.csv --append --on-conflict {how} --key k")).exits(0);
            assert_eq!(
                case.sql("SELECT v FROM t ORDER BY v").replace('\n', ""),
                format!("ab{}", if last == "c" { "cd" } else { "de" }),
                "{engine}, {how}"
            );
        }
    }
}

#[test]
fn an_id_is_the_files() {
    let Some(case) = Case::of("mariadb") else { return };
    case.sql("CREATE TABLE a (id INTEGER AUTO_INCREMENT PRIMARY KEY, n VARCHAR(9))");
    case.place.write("a.csv", "id,n\n0,zero\n5,five\n");
    case.import("a.csv --append").exits(0);
    assert_eq!(case.sql("SELECT id, n FROM a ORDER BY id"), "0|zero\n5|five");
    case.place.write("a.csv", "id,n\n,none\n");
    case.import("a.csv --append --header").exits(2).says("a.csv:2: ");
}

#[test]
fn an_index_with_append_commits_nothing_in_mariadb() {
    let Some(case) = Case::of("mariadb") else { return };
    case.sql("CREATE TABLE ai (a INTEGER, b VARCHAR(9))");
    case.place.write("ai.csv", "a,b\n1,x\n2,y\n");
    case.import("ai.csv --append --index a").exits(2).says("leave --index out");
    assert_eq!(case.sql("SELECT count(*) FROM ai"), "0");
    case.import("ai.csv --replace --index a").exits(0);
}

#[test]
fn a_table_that_others_refer_to_is_not_replaced_in_mariadb() {
    let Some(case) = Case::of("mariadb") else { return };
    case.sql("CREATE TABLE pa (id INTEGER PRIMARY KEY, v INTEGER); CREATE TABLE ch (x INTEGER, FOREIGN KEY (x) REFERENCES pa (id)); INSERT INTO pa VALUES (1, 1), (2, 2); INSERT INTO ch VALUES (2)");
    case.place.write("pa.csv", "id,v\n1,7\n");
    case.import("pa.csv --replace --primary-key id").exits(2).says(" of ch without the table");
    assert_eq!(case.sql("SELECT count(*) FROM pa"), "2");
    // A table of a dead import that cannot be dropped does not keep others from being removed.
    let (kept, removed) = ("dyno_import_0123456789abcde0", "dyno_import_0123456789abcde1");
    case.sql(&format!("CREATE TABLE {kept} (id INTEGER PRIMARY KEY); CREATE TABLE d (x INTEGER, FOREIGN KEY (x) REFERENCES {kept} (id)); CREATE TABLE {removed} (id INTEGER)"));
    let cleaned = case.import("--clean-up").exits(4);
    cleaned.prints(&format!("Removed {removed}")).says(&format!("Cannot remove {kept}"));
}

#[test]
fn computed_columns_take_no_value() {
    for engine in ["postgres", "mariadb", "mysql"] {
        let Some(case) = Case::of(engine) else { continue };
        case.sql("CREATE TABLE gv (b VARCHAR(9), g VARCHAR(9) GENERATED ALWAYS AS (lower(b)) STORED)");
        case.place.write("gv.csv", "b,g\nx,y\n");
        case.import("gv.csv --append --header").exits(2).says("has no column 'g'").says("--skip-columns");
        case.import("gv.csv --append --header --skip-columns g").exits(0);
        assert_eq!(case.sql("SELECT b, g FROM gv"), "x|x", "{engine}");
    }
}

#[test]
fn a_violated_key_names_its_line_in_mariadb() {
    let Some(case) = Case::of("mariadb") else { return };
    case.sql("CREATE TABLE p (id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1), (3), (4), (9); CREATE TABLE dd (id INTEGER PRIMARY KEY, d DATE, CHECK (id < 9), FOREIGN KEY (id) REFERENCES p (id)); INSERT INTO dd VALUES (3, NULL)");
    for (id, said) in [(3, "Duplicate entry"), (5, "foreign key"), (9, "failed for")] {
        case.place.write("dd.csv", &format!("id,d\n1,\n{id},\n4,\n"));
        case.import("dd.csv --append").exits(2).says("dd.csv:3: ").says(said);
        case.import("dd.csv --append --on-error reject").exits(3).prints("2 rows into table dd");
        fs::remove_file(case.place.path("dd.rejects.csv")).unwrap();
        case.sql("DELETE FROM dd WHERE id <> 3");
    }
}

#[test]
fn constraints_that_wait_are_judged_before_the_commit() {
    let Some(case) = Case::of("postgres") else { return };
    case.sql("CREATE TABLE df (a INTEGER UNIQUE DEFERRABLE INITIALLY DEFERRED, b TEXT)");
    case.place.write("df.csv", "a,b\n1,x\n1,y\n");
    case.import("df.csv --append").exits(2).says("nothing was loaded").says("duplicate key");
    assert_eq!(case.sql("SELECT count(*) FROM df"), "0");
}

#[test]
fn rows_that_a_trigger_of_postgres_leaves_out_are_not_counted() {
    let Some(case) = Case::of("postgres") else { return };
    case.sql("CREATE TABLE tr (a INTEGER, b TEXT); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF new.a = 2 THEN RETURN NULL; END IF; RETURN new; END'; CREATE TRIGGER g BEFORE INSERT ON tr FOR EACH ROW EXECUTE FUNCTION f()");
    case.place.write("tr.csv", "a,b\n1,x\n2,y\n3,z\n");
    let result = case.import("tr.csv --append").exits(0);
    result.prints("2 rows into table tr").prints("1 row of the file is not in the table");
}

#[test]
fn a_table_of_another_name_is_not_cleaned_up_in_mariadb() {
    let Some(case) = Case::of("mariadb") else { return };
    let own = "dyno_import_0123456789abcdef";
    for name in [own.to_owned(), format!("{own}_synced"), format!("{own}_old"), format!("{own}_backup")] {
        case.sql(&format!("CREATE TABLE {name} (id INTEGER)"));
    }
    case.place.write("t.csv", "id\n1\n");
    let loaded = case.import("t.csv --header").exits(0);
    loaded.prints(&format!("Removed {own}, {own}_synced, left by")).prints(&format!("{own}_old is kept"));
    assert_eq!(case.sql("SHOW TABLES"), format!("{own}_backup\n{own}_old\nt"));
}

#[test]
fn a_name_that_is_exact_is_preferred() {
    let Some(case) = Case::of("postgres") else { return };
    case.sql("CREATE TABLE cs (a INTEGER, \"A\" INTEGER)");
    case.place.write("cs.csv", "A\n5\n");
    case.import("cs.csv --append --header").exits(0);
    assert_eq!(case.sql("SELECT a, \"A\" FROM cs"), "|5");
}
