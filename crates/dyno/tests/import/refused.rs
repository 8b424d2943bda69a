//! Values that a server would change within types that are made of others, keys that would leave rows behind, and requests
//! that could be read in two ways: all of them are refused.

use std::fs;

use serde_json::json;

use super::exact::Case;
use super::{import, query};
use crate::common::Place;

/// Executes SQL by a SQLite that is not dyno's, and gives the rows of the last statement.
fn sqlite(place: &Place, sql: &str) -> serde_json::Value {
    let (before, last) = sql.rsplit_once("; ").unwrap_or(("", sql));
    let script = "import sqlite3,sys;sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])";
    let mut command = std::process::Command::new("python3");
    let output = command.args(["-c", script]).arg(place.path("a.db")).arg(before).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    query(&place.path("a.db"), last)
}

#[test]
fn postgres_changes_no_value_within_a_type_that_is_made_of_others() {
    let Some(case) = Case::of("postgres") else { return };
    case.sql(
        "CREATE DOMAIN cents AS numeric(5,2); CREATE DOMAIN coins AS cents; CREATE DOMAIN purse AS cents[]; \
         CREATE TYPE pair AS (a numeric(5,2), b text); CREATE TYPE words AS (a text, b integer); \
         CREATE TYPE reals AS RANGE (subtype = float4)",
    );
    case.check("coins", &["1.25"], &["1.005"]);
    case.check("cents[]", &["{1.25,NULL}"], &["{1.005}", "{{1},{1.005}}"]);
    case.check("purse", &["{1.25}"], &["{1.005}"]);
    case.check("pair", &[], &["(1.005,x)"]);
    case.check("pair[]", &["{}"], &["{\"\"(1.005,x)\"\"}"]);
    case.check("words", &["(a,5)"], &[]);
    case.check("varchar(3)[]", &["{abc,d}"], &["{\"\"abc  \"\"}"]);
    case.check("numeric(5,2)[]", &["[0:0]={1.25}"], &["[0:0]={1.005}"]);
    case.check("oid", &["5", "4294967295"], &["-1"]);
    case.check("oid[]", &["{5}"], &["{-1}"]);
    case.check("reals", &["[0.5,1.5)", "empty"], &["[0.12345678901,1)"]);
    case.check("tsrange", &["[2024-01-01 10:00,2024-01-02)"], &["[2024-01-01 10:00:00.1234567,)"]);
    case.check("tsmultirange", &["{[2024-01-01,2024-01-02)}"], &["{[2024-01-01 10:00:00.1234567,)}"]);
    case.check("daterange", &["[2024-01-01,)"], &["[2024-01-01 23:59:59,)"]);
    case.check("time", &["24:00:00"], &["10:00:60", "23:59:60"]);
    case.check("timestamp", &["2024-01-01 23:59:59"], &["2024-01-01 24:00:00", "2024-01-01 10:00:60"]);
    // A type that the user names for a new table is looked up, too.
    case.place.write("v.csv", "k,v\n1,1.005\n");
    case.import("v.csv --table fresh --types k:INTEGER,v:coins").exits(2).says("v.csv:2: column \"v\"");
    assert_eq!(case.sql("SELECT to_regclass('fresh') IS NULL"), "t");
}

#[test]
fn of_rows_on_one_line_only_the_refused_one_is_rejected() {
    for engine in ["postgres", "mariadb", "mysql"] {
        let Some(case) = Case::of(engine) else { continue };
        // Plain text goes to the server by chunks, other text by cells. Of both some rows are bad before the server sees them.
        for options in ["", "--comment #"] {
            case.place.write(
                "t.csv",
                "id,d\r1,2024-01-01\rx,2024-01-01\r2,2024-13-01\r3,2024-12-01\r4,2024-02-30\r5,\r",
            );
            let types = "--types id:INTEGER,d:DATE --on-error reject --rejects r.csv";
            let result = case.import(&format!("t.csv --replace {types} {options}"));
            result.exits(3).prints("3 rows into table t").prints("3 bad rows were left out");
            assert_eq!(case.sql("SELECT id FROM t ORDER BY id"), "1\n3\n5", "{engine}, {options}");
            let rejects = fs::read_to_string(case.place.path("r.csv")).unwrap();
            assert!(rejects.contains(",2,2024-13-01\n") && rejects.contains(",4,2024-02-30\n"), "{rejects}");
            fs::remove_file(case.place.path("r.csv")).unwrap();
        }
    }
}

#[test]
fn a_key_to_which_rows_refer_is_not_changed_under_them() {
    let place = Place::new();
    sqlite(
        &place,
        "CREATE TABLE p (id INTEGER PRIMARY KEY, code TEXT UNIQUE); INSERT INTO p VALUES (1, 'a'), (2, 'b'); \
         CREATE TABLE c (x REFERENCES p (code)); INSERT INTO c VALUES ('a'); SELECT 1",
    );
    place.write("p.csv", "id,code\n1,z\n2,y\n3,c\n");
    let arguments = "p.csv --into a.db --append --on-conflict update";
    import(&place, arguments).exits(2).says("p.csv:2: ").says("FOREIGN KEY constraint failed");
    import(&place, &format!("{arguments} --on-error reject")).exits(3).prints("1 bad row was left out");
    assert_eq!(query(&place.path("a.db"), "SELECT code FROM p"), json!([["a"], ["y"], ["c"]]));
    assert_eq!(query(&place.path("a.db"), "PRAGMA foreign_key_check"), json!([]));
}

#[test]
fn autoincrement_uses_no_id_again_after_a_refused_row() {
    let place = Place::new();
    sqlite(&place, "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT UNIQUE); SELECT 1");
    place.write("t.csv", "v\na\nb\nc\na\n");
    import(&place, "t.csv --into a.db --append --header --on-error reject").exits(3);
    let last =
        sqlite(&place, "DELETE FROM t WHERE id = 3; INSERT INTO t (v) VALUES ('d'); SELECT max(id) FROM t");
    assert_eq!(last, json!([[4]]));
    // A number that is greater stays.
    place.write("t.csv", "id,v\n2,b\n1,x\n");
    sqlite(&place, "DELETE FROM t; SELECT 1");
    import(&place, "t.csv --into a.db --append").exits(0);
    assert_eq!(sqlite(&place, "INSERT INTO t (v) VALUES ('e'); SELECT max(id) FROM t"), json!([[5]]));
}

#[test]
fn a_name_that_the_header_has_is_that_of_its_column() {
    let place = Place::new();
    place.write("t.csv", "a,a,a_2\n1,2,3\n");
    import(&place, "t.csv --into a.db --header").exits(0);
    assert_eq!(query(&place.path("a.db"), "SELECT a, a_3, a_2 FROM t"), json!([[1, 2, 3]]));
    import(&place, "t.csv --into a.db --append --header").exits(0);
    assert_eq!(query(&place.path("a.db"), "SELECT sum(a), sum(a_3), sum(a_2) FROM t"), json!([[2, 4, 6]]));
    // The second `a` of one file is not the `a_2` of another, and a field without a name not the `c2`.
    for (first, second) in [("a,a", "a,a_2"), ("a,a_2", "a,a"), ("a,", "a,c2"), ("a,c2", "a,")] {
        place.write("f.csv", &format!("{first}\n1,2\n"));
        place.write("g.csv", &format!("{second}\n3,4\n"));
        let said = import(&place, "f.csv g.csv --table m --into m.db --header").exits(2);
        said.says("files of one import have the same");
        place.write("g.csv", &format!("{first}\n3,4\n"));
        import(&place, "f.csv g.csv --table m --into m.db --header").exits(0);
        fs::remove_file(place.path("m.db")).unwrap();
    }
    // A zero byte is no part of a name, whichever way reads the header.
    place.write("z.csv", "a\0x,b\n1,2\n3,4\n5,6\n");
    import(&place, "z.csv --into z.db --header --columns b").exits(0);
    assert_eq!(query(&place.path("z.db"), "SELECT sum(b) FROM z"), json!([[12]]));
}

#[test]
fn a_character_in_two_roles_is_refused() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,2\n");
    for (options, said) in [
        ("--delimiter , --quote ,", "both --delimiter and --quote"),
        ("--delimiter ; --escape ;", "both --delimiter and --escape"),
        ("--delimiter # --comment #", "both --delimiter and --comment"),
        ("--comment \"", "both --comment and --quote"),
        ("--quote ' --comment '", "both --comment and --quote"),
        ("--escape # --comment #", "both --comment and --escape"),
        // The delimiter is not guessed to be what has another role.
        ("--quote ,", "both --delimiter and --quote"),
    ] {
        import(&place, &format!("t.csv --into a.db {options}")).exits(2).says(said);
        assert!(!place.path("a.db").exists(), "{options}");
    }
    place.write("u.txt", "a;,b;,\n1;,x;,\n");
    import(&place, "u.txt --into a.db --quote , --header").exits(0).prints("Delimiter ';'");
    assert_eq!(query(&place.path("a.db"), "SELECT * FROM u"), json!([[1, "x;"]]));
}

#[test]
fn system_tables_are_refused() {
    let place = Place::new();
    sqlite(
        &place,
        "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT); CREATE VIRTUAL TABLE f USING fts5(x); SELECT 1",
    );
    place.write("s.csv", "name,seq\nt,1\n");
    for how in ["", "--append", "--replace"] {
        let said = import(&place, &format!("s.csv --into a.db --table SQLITE_sequence {how}")).exits(2);
        said.says("a name that SQLite keeps");
    }
    place.write("d.csv", "id,block\n1,x\n");
    for how in ["--append", "--replace"] {
        import(&place, &format!("d.csv --into a.db --table f_data {how}"))
            .exits(2)
            .says("of a virtual table");
    }
    if let Some(case) = Case::of("postgres") {
        case.place.write("s.csv", "oid,relname\n1,t\n");
        for table in ["pg_class", "pg_catalog.pg_class", "information_schema.sql_features"] {
            let said = case.import(&format!("s.csv --append --table {table}")).exits(2);
            said.says("in which the server keeps what it knows");
        }
    }
    if let Some(case) = Case::of("mariadb") {
        case.place.write("s.csv", "host,user\nx,y\n");
        for how in ["", "--append", "--replace"] {
            let url = case.server.url.replace("/files?", "/mysql?");
            let arguments = format!("import s.csv --table db {how} --into {url}");
            case.place.dyno(&arguments).without_panic().exits(2).says("name another database in --into");
        }
    }
}

#[test]
fn a_server_that_is_set_to_check_and_report_nothing_does_so_all_the_same() {
    let Some(case) = Case::of("mariadb") else { return };
    case.sql(
        "SET GLOBAL max_error_count = 0; SET GLOBAL foreign_key_checks = 0; SET GLOBAL unique_checks = 0; \
         SET GLOBAL sql_notes = 0; SET GLOBAL check_constraint_checks = 0; \
         SET GLOBAL old_mode = 'NO_DUP_KEY_WARNINGS_WITH_IGNORE'; SET GLOBAL sql_select_limit = 1",
    );
    case.sql("CREATE TABLE d (id INTEGER, d DATE)");
    case.place.write("d.csv", "id,d\n1,2024-01-01\n2,2024-02-30\n");
    case.import("d.csv --append").exits(2).says("d.csv:3: ");
    assert_eq!(case.sql("SELECT count(*) FROM d"), "0");
    case.sql("CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (id INTEGER, FOREIGN KEY (id) REFERENCES p (id))");
    case.place.write("c.csv", "id\n1\n");
    case.import("c.csv --append --header").exits(2).says("foreign key");
    assert_eq!(case.sql("SELECT count(*) FROM c"), "0");
    case.sql("CREATE TABLE k (id INTEGER UNIQUE, CHECK (id < 9))");
    for (rows, said) in [("1\n9\n", "failed for"), ("1\n1\n", "Duplicate entry")] {
        case.place.write("k.csv", &format!("id\n{rows}"));
        case.import("k.csv --append --header").exits(2).says("k.csv:3: ").says(said);
    }
    assert_eq!(case.sql("SELECT count(*) FROM k"), "0");
}

#[test]
fn a_value_that_looks_like_a_message_of_postgres_blames_no_other_row() {
    let Some(case) = Case::of("postgres") else { return };
    case.sql("CREATE TABLE t (id INTEGER, u UUID)");
    let uuid = "00000000-0000-0000-0000-000000000000";
    for (bad, is_named) in [("x", true), ("x, line 3", true), ("x\nCOPY t, line 3, column u: \"\"y", false)] {
        case.place.write("t.csv", &format!("id,u\n1,{uuid}\n2,\"{bad}\"\n3,{uuid}\n"));
        let result = case.import("t.csv --append --on-error reject --rejects r.csv");
        match is_named {
            true => {
                result.exits(3).prints("2 rows into table t");
                let rejects = fs::read_to_string(case.place.path("r.csv")).unwrap();
                assert!(rejects.contains("\n3,,\"is refused by the server: "), "{rejects}");
                fs::remove_file(case.place.path("r.csv")).unwrap();
                assert_eq!(case.sql("SELECT id FROM t ORDER BY id; DELETE FROM t"), "1\n3", "{bad}");
            }
            false => {
                result.exits(2).says("the server refuses the rows; nothing was loaded");
                assert_eq!(case.sql("SELECT count(*) FROM t"), "0");
            }
        }
    }
}

#[test]
fn what_postgres_refuses_within_a_value_or_a_trigger_names_its_line() {
    let Some(case) = Case::of("postgres") else { return };
    case.sql("CREATE TABLE j (id INTEGER, j JSON)");
    case.sql("CREATE TABLE tr (id INTEGER, j TEXT); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF new.id = 2 THEN RAISE EXCEPTION $$no$$; END IF; RETURN new; END'; CREATE TRIGGER g BEFORE INSERT ON tr FOR EACH ROW EXECUTE FUNCTION f()");
    for table in ["j", "tr"] {
        case.place.write("t.csv", "id,j\n1,{}\n2,{\n3,[]\n");
        let append = format!("t.csv --table {table} --append --header");
        case.import(&append).exits(2).says("t.csv:3: the server refuses the row: ");
        case.import(&format!("{append} --on-error reject --rejects r.csv")).exits(3).prints("2 rows into");
        fs::remove_file(case.place.path("r.csv")).unwrap();
        assert_eq!(case.sql(&format!("SELECT id FROM {table} ORDER BY id")), "1\n3", "{table}");
    }
}

#[test]
fn a_value_that_looks_like_a_message_of_mariadb_or_mysql_blames_no_other_row() {
    for engine in ["mariadb", "mysql"] {
        let Some(case) = Case::of(engine) else { continue };
        case.sql("CREATE TABLE d (v VARCHAR(50) UNIQUE); INSERT INTO d VALUES ('x at row 3')");
        case.place.write("d.csv", "v\na\nx at row 3\nb\n");
        let result = case.import("d.csv --append --header --on-error reject --rejects r.csv");
        let rows = case.sql("SELECT v FROM d ORDER BY v").replace('\n', ",");
        match engine {
            "mariadb" => {
                result.exits(3).prints("2 rows into table d");
                assert_eq!(rows, "a,b,x at row 3");
            }
            // It does not say which row it was.
            _ => {
                result.exits(2).says("nothing was loaded").says("Duplicate entry");
                assert_eq!(rows, "x at row 3");
            }
        }
    }
}
