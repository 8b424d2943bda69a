//! Files that a hostile reader lost or got wrong with SQLite: headers, JSON, replaced tables, rejects.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use super::{import, import_input, names, query};
use crate::common::{Place, Result};

/// Executes SQL by a SQLite that is not dyno's.
fn execute(place: &Place, database: &str, sql: &str) {
    let script = "import sqlite3,sys;sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])";
    let output =
        Command::new("python3").args(["-c", script]).arg(place.path(database)).arg(sql).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn rejected_rows_are_on_the_disk_before_the_others_are_loaded() {
    let place = Place::new();
    fs::create_dir(place.path("gone")).unwrap();
    for into in ["--into t.db --table t", "--into old.db --table t --append"] {
        execute(&place, "old.db", "CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, n TEXT)");
        let _ = fs::create_dir(place.path("gone"));
        let mut command = place.command();
        command.args(["import", "-", "--header", "--on-error", "reject", "--rejects", "gone/r.csv"]);
        command.args(into.split(' ')).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let half =
            "id,n\n1,a\n2\n".to_owned() + &(3..400_000).map(|id| format!("{id},text\n")).collect::<String>();
        input.write_all(half.as_bytes()).unwrap();
        // The folder of the rejects goes away while the rows are read.
        fs::remove_dir_all(place.path("gone")).unwrap();
        drop(input);
        let result = Result::from(child.wait_with_output().unwrap()).without_panic();
        assert!(matches!(result.code, Some(2 | 4)), "{:?}: {}", result.code, result.stderr);
        assert!(result.stderr.contains("r.csv"), "{}", result.stderr);
        assert!(!place.path("t.db").exists());
        assert_eq!(query(&place.path("old.db"), "SELECT count(*) FROM t"), json!([[0]]));
    }
}

#[test]
fn a_table_called_as_dynos_own_is_not_taken_for_the_file() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,x\n2,y\n3,z\n");
    for other in [
        "CREATE TABLE dyno_rows (a, b); INSERT INTO dyno_rows VALUES (100, 'old')",
        "CREATE VIEW dyno_rows AS SELECT 7, 'v'",
    ] {
        execute(&place, "x.db", &format!("{other}; CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)"));
        import(&place, "t.csv --into x.db --append").exits(0).prints("3 rows into table t");
        assert_eq!(query(&place.path("x.db"), "SELECT * FROM t"), json!([[1, "x"], [2, "y"], [3, "z"]]));
        fs::remove_file(place.path("x.db")).unwrap();
    }
    let input = b"a,b\n1,x\n2,y\n3,z\n";
    import_input(&place, "- --into new.db --table dyno_rows --primary-key a", input).exits(0);
    assert_eq!(query(&place.path("new.db"), "SELECT count(*) FROM dyno_rows"), json!([[3]]));
}

#[test]
fn numbers_that_a_column_would_change_are_bad_rows() {
    let place = Place::new();
    for (declared, values) in [
        ("ANY", "007 9223372036854775808 1234567890123456.6 1e400 -0"),
        ("STRING", "1e400 12e4567 -9e999"),
        ("DATE", "+1 00"),
    ] {
        for value in values.split(' ') {
            execute(
                &place,
                "x.db",
                &format!("DROP TABLE IF EXISTS t; CREATE TABLE t (k INTEGER, v {declared})"),
            );
            place.write("t.csv", &format!("k,v\n1,{value}\n"));
            import(&place, "t.csv --into x.db --append").exits(2).says("t.csv:2: column \"v\"");
        }
    }
    execute(&place, "x.db", "DROP TABLE t; CREATE TABLE t (k INTEGER, v ANY) STRICT");
    place.write("t.csv", "k,v\n1,007\n");
    import(&place, "t.csv --into x.db --append").exits(0);
    assert_eq!(query(&place.path("x.db"), "SELECT v FROM t"), json!([["007"]]));
}

#[test]
fn doubles_of_other_programs_are_reals() {
    let place = Place::new();
    place.write("ms.csv", "id,ms\n1,1732464000123.0312\n2,874789728335885.2\n3,1732464000123.0313\n");
    import(&place, "ms.csv --into a.db").exits(0).prints("ms REAL");
    assert_eq!(query(&place.path("a.db"), "SELECT ms = 1732464000123.03125 FROM ms"), json!([[1], [0], [1]]));
}

#[test]
fn the_tables_columns_decide_on_a_header() {
    let place = Place::new();
    for (header, rows) in [("name,ok?", "Ann,yes\nBob,no\n"), ("word,translation", "word,Wort\nhouse,Haus\n")]
    {
        place.write("q.csv", &format!("{header}\n{rows}"));
        import(&place, "q.csv --into q.db --header --replace").exits(0);
        import(&place, "q.csv --into q.db --append").exits(0).prints("2 rows into table q");
        assert_eq!(query(&place.path("q.db"), "SELECT count(*) FROM q"), json!([[4]]));
    }
    place.write("q.csv", "word,other?\nx,y\nx,z\n");
    import(&place, "q.csv --into q.db --append").exits(2).says("some of the table's columns");
    place.write("q.csv", "word,translation\nx,y\nword,translation\n");
    import(&place, "q.csv --into q.db --append").exits(2).says("record 3 is the first one again");
}

#[test]
fn a_header_of_a_later_file_is_no_row() {
    let place = Place::new();
    place.write("g.csv", "1,a\n2,b\n");
    for header in ["id,n\n1,a\n", "id,n\n"] {
        place.write("f.csv", header);
        import(&place, "g.csv f.csv --into m.db --table m").exits(2).says("f.csv reads like a header");
    }
    place.write("f.csv", "3,c\n");
    import(&place, "g.csv f.csv --into m.db --table m").exits(0).prints("3 rows");
}

#[test]
fn a_line_that_states_the_delimiter_is_no_record_in_any_file() {
    let place = Place::new();
    for line in ["sep=;\n", "\"sep=;\"\r\n"] {
        place.write("a.csv", &format!("{line}id;n\n1;a\n"));
        place.write("b.csv", "id;n\n2;b\n");
        for (options, rows) in
            [("", 1), ("--delimiter ;", 1), ("b.csv --table a", 2), ("--delimiter ; b.csv --table a", 2)]
        {
            import(&place, &format!("a.csv {options} --into x.db --replace")).exits(0);
            assert_eq!(
                query(&place.path("x.db"), "SELECT sum(id), count(*) FROM a"),
                json!([[rows * (rows + 1) / 2, rows]])
            );
        }
        import(&place, "b.csv a.csv --table a --into x.db --replace").exits(0).prints("2 rows");
    }
    place.write("m.csv", "report of 2024\rid,n\r1,x\r2,c\r");
    import(&place, "m.csv --into x.db --skip 1").exits(0).prints("2 rows into table m");
}

#[test]
fn json_is_loaded_as_it_is() {
    let place = Place::new();
    place.write("j.jsonl", "{\"a\":1,\"a\":2}\n{\"a\":3}\n");
    import(&place, "j.jsonl --into j.db").exits(2).says("j.jsonl:1: ").says("a key twice");
    place.write("j.jsonl", "{\"a\":1}\n{\"a\":2}\n");
    for option in ["--skip 1", "--no-header", "--comment #", "--no-quotes"] {
        let name = option.split(' ').next().unwrap();
        import(&place, &format!("j.jsonl --into j.db {option}")).exits(2).says("is JSON Lines").says(name);
    }
    place.write("j.jsonl", "{\"a\":NaN}\n{\"a\":2}\n");
    import(&place, "j.jsonl --into j.db").exits(2).says("j.jsonl:1: ");
    execute(&place, "x.db", "CREATE TABLE t (a INTEGER, c)");
    place.write("t.jsonl", "{\"a\":5,\"c\":5}\n{\"c\":\"5\"}\n{\"c\":\"\"}\n{\"c\":1.5}\n{\"c\":null}\n");
    import(&place, "t.jsonl --into x.db --append").exits(0);
    let stored = query(&place.path("x.db"), "SELECT c, typeof(c) FROM t");
    assert_eq!(stored, json!([[5, "integer"], ["5", "text"], ["", "text"], [1.5, "real"], [null, "null"]]));
    place.write("t.jsonl", "{\"a\":\"\"}\n");
    import(&place, "t.jsonl --into x.db --append").exits(2).says("is an empty string");
}

#[test]
fn rows_that_a_trigger_leaves_out_are_not_counted() {
    let place = Place::new();
    let guard = "CREATE TRIGGER g BEFORE INSERT ON t WHEN new.a = 2 BEGIN SELECT raise(ignore); END";
    place.write("t.csv", "a,b\n1,1\n2,1\n3,1\n1,1\n");
    for table in [
        "CREATE TABLE t (a INTEGER UNIQUE, b)",
        "CREATE TABLE p (i INTEGER PRIMARY KEY); INSERT INTO p VALUES (1); CREATE TABLE t (a INTEGER UNIQUE, b INTEGER REFERENCES p)",
    ] {
        execute(&place, "tr.db", &format!("{table}; {guard}"));
        import(&place, "t.csv --into tr.db --append --on-error reject --rejects r.csv")
            .exits(3)
            .prints("2 rows into table t")
            .prints("1 row of the file is not in the table");
        assert_eq!(query(&place.path("tr.db"), "SELECT count(*) FROM t"), json!([[2]]));
        fs::remove_file(place.path("tr.db")).unwrap();
        fs::remove_file(place.path("r.csv")).unwrap();
    }
}

#[test]
fn what_is_lost_with_a_replaced_table_is_named() {
    let place = Place::new();
    let table = "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL UNIQUE CHECK (length(b) < 9), c TEXT DEFAULT 'q', g INTEGER AS (a * 2)) STRICT";
    execute(&place, "rp.db", table);
    place.write("t.csv", "a,b\n1,x\n2,y\n");
    let lost = [
        "the primary key (a)",
        "NOT NULL of b",
        "UNIQUE (b)",
        "CHECK",
        "the default of c",
        "the generated column g",
        "STRICT",
    ];
    for options in ["--dry-run", ""] {
        let said = import(&place, &format!("t.csv --into rp.db --replace {options}")).exits(0).stdout.clone();
        lost.iter().for_each(|lost| assert!(said.contains(lost), "{lost}: {said}"));
    }
}

#[test]
fn a_virtual_table_whose_module_may_round_takes_no_rows() {
    let place = Place::new();
    place.write("t.csv", "id,x,y\n1,0.1,0.2\n");
    execute(
        &place,
        "f.db",
        "CREATE VIRTUAL TABLE t USING rtree(id, x, y); CREATE VIRTUAL TABLE f USING fts5(x)",
    );
    for options in ["--replace", "--append", "--append --table f --columns x", ""] {
        import(&place, &format!("t.csv --into f.db {options}")).exits(2).says("is a virtual table");
    }
    let rows = query(&place.path("f.db"), "SELECT (SELECT count(*) FROM t) + count(*) FROM f");
    assert_eq!(rows, json!([[0]]));
}

#[test]
fn a_new_table_fits_what_uses_it_or_is_refused() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,x\n2,y\n");
    for (uses, options) in [
        ("CREATE VIEW v AS SELECT zz FROM t", ""),
        (
            "CREATE TABLE log (x); CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.zz); END",
            "",
        ),
        ("CREATE TABLE o (x); CREATE TRIGGER g AFTER INSERT ON o BEGIN UPDATE t SET zz = 1; END", ""),
        ("CREATE TABLE ch (x REFERENCES t (a)); INSERT INTO ch VALUES (9)", "--primary-key a"),
        ("CREATE TABLE ch (x REFERENCES t (a)); INSERT INTO ch VALUES (1)", ""),
    ] {
        execute(
            &place,
            "x.db",
            &format!(
                "CREATE TABLE t (a INTEGER PRIMARY KEY, zz TEXT); INSERT INTO t VALUES (1, 'u'), (9, 'v'); {uses}"
            ),
        );
        import(&place, &format!("t.csv --into x.db --replace {options}")).exits(2).says("nothing was loaded");
        assert_eq!(query(&place.path("x.db"), "SELECT zz FROM t"), json!([["u"], ["v"]]), "{uses}");
        fs::remove_file(place.path("x.db")).unwrap();
    }
    execute(
        &place,
        "x.db",
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b); CREATE TABLE ch (x REFERENCES t (a)); INSERT INTO t VALUES (1, 2); INSERT INTO ch VALUES (1); CREATE VIEW v AS SELECT b FROM t",
    );
    import(&place, "t.csv --into x.db --replace --primary-key a").exits(0);
}

#[test]
fn slips_are_refused() {
    let place = Place::new();
    place.write("t.csv", "id,d\n1,31:12:1999\n");
    execute(&place, "x.db", "CREATE TABLE old (id)");
    import(&place, "t.csv --into x.db --index id --index ID").exits(2).says("two --index");
    import(&place, "t.csv --into duckdb:z").exits(2).says("write ./duckdb:z");
    import(&place, "t.csv --into sqlite:duckdb.db --encoding ascii")
        .exits(2)
        .says("leave --encoding ascii out");
    assert_eq!(names(&place), ["t.csv", "x.db"]);
    import(&place, "t.csv --into x.db --types d:DATE(DD:MM:YYYY)").exits(0);
    assert_eq!(query(&place.path("x.db"), "SELECT d FROM t"), json!([["1999-12-31"]]));
}

#[test]
fn a_files_name_is_no_command_of_the_programs() {
    let place = Place::new();
    let name = "x\n.shell touch PWNED\n.csv";
    fs::write(place.path(name), "a,b\n1,x\n").unwrap();
    let output = place
        .command()
        .args(["import", name, "--into", "n.db", "--table", "t", "--explain"])
        .output()
        .unwrap();
    let said = Result::from(output).without_panic().exits(0).stdout.clone();
    assert!(
        said.contains("Programs are left out") && !said.lines().any(|line| line.starts_with(".shell")),
        "{said}"
    );
    assert!(!names(&place).contains(&"PWNED".to_owned()));
}

#[test]
fn a_header_that_comes_again_behind_a_mark_of_utf_8_is_no_row() {
    let place = Place::new();
    for again in ["\u{feff}id,x", " id, x"] {
        place.write("cat.csv", &format!("id,x\n1,b\n{again}\n2,b\n"));
        import(&place, "cat.csv --into a.db").exits(2).says("record 3 is the first one again");
    }
    place.write("t.csv", "id,x\n0,a\n");
    import(&place, "t.csv --into a.db --types id:TEXT,x:TEXT").exits(0);
    import(&place, "cat.csv --into a.db --append --table t").exits(2).says("record 3 is the first one again");
}

/// Runs dyno with something on its standard input, of which the first byte comes earlier than the rest.
fn import_late(place: &Place, arguments: &str, input: &[u8]) {
    let mut command = place.command();
    command.arg("import").args(arguments.split_whitespace());
    let mut dyno =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = dyno.stdin.take().unwrap();
    pipe.write_all(&input[..1]).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    pipe.write_all(&input[1..]).unwrap();
    drop(pipe);
    Result::from(dyno.wait_with_output().unwrap()).without_panic().exits(0);
}

#[test]
fn the_first_bytes_of_a_pipe_may_come_one_by_one() {
    let place = Place::new();
    let text = "\u{feff}id,n\n1,2\n";
    import_late(&place, "- --table t --into a.db", text.as_bytes());
    assert_eq!(query(&place.path("a.db"), "SELECT id, n FROM t"), json!([[1, 2]]));
    let file = place.write("t.csv", text);
    let packed = Command::new("gzip").args(["-c", &file]).output().unwrap();
    assert!(packed.status.success());
    import_late(&place, "- --table t --into b.db", &packed.stdout);
    assert_eq!(query(&place.path("b.db"), "SELECT id, n FROM t"), json!([[1, 2]]));
}

#[test]
fn a_later_file_that_is_no_text_is_refused() {
    let place = Place::new();
    place.write("a.csv", "id\n1\n");
    fs::write(place.path("b.csv"), b"i\0d\0\n\0\x32\0\n\0").unwrap();
    place.write("c.csv", "<!DOCTYPE html>\n<p>Not found\n");
    let refused = |files: &str| import(&place, &format!("{files} --table t --into x.db")).exits(2);
    refused("a.csv b.csv").says("UTF-16 without its mark");
    refused("a.csv c.csv --no-header").says("c.csv is a page of HTML");
    assert!(!place.path("x.db").exists());
}

#[test]
fn a_long_first_line_of_json_is_read_whole() {
    let place = Place::new();
    let long = "a".repeat(1_100_000);
    place.write("t.jsonl", &format!("{{\"id\":1,\"text\":\"{long}\"}}\n{{\"id\":2,\"text\":\"x\"}}\n"));
    import(&place, "t.jsonl --into a.db").exits(0).prints("2 rows");
    assert_eq!(query(&place.path("a.db"), "SELECT id, length(text) FROM t"), json!([[1, 1_100_000], [2, 1]]));
}

#[test]
fn memory_limits_a_record_however_it_is_read() {
    let place = Place::new();
    let long = "a".repeat(2 << 20);
    place.write("t.csv", &format!("id,text\n1,b\n2,{long}\n"));
    place.write("t.jsonl", &format!("{{\"id\":1}}\n{{\"id\":2,\"text\":\"{long}\"}}\n"));
    for file in ["t.csv", "t.csv --comment #", "t.jsonl"] {
        let result = import(&place, &format!("{file} --memory 1MiB --table t --into a.db")).exits(2);
        result.says("the record that begins here is longer than 1 MiB; more --memory holds longer ones");
    }
    import(&place, "t.csv --comment # --into a.db").exits(0);
}
