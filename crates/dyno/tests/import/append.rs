//! `dyno import` into a table that is there, which is kept unless asked. With `--append`, where nothing hangs on the table
//! dyno writes pages and SQLite moves their records to it, and that comes to the same as SQLite's inserts.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::{import, query};
use crate::common::Place;

/// Runs a program in Python on SQLite's side, `base` being the database, and gives what it prints.
fn python(place: &Place, script: &str) -> String {
    let script = format!("import sqlite3; base = sqlite3.connect('a.db')\n{script}\nbase.commit()");
    let output = Command::new("python3").args(["-c", &script]).current_dir(place.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The names in the folder that are hidden.
fn hidden(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.path("")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with('.')).collect()
}

/// Imports rows into a table of a schema, and says whether they were moved by their pages.
fn moved(schema: &str) -> bool {
    let place = Place::new();
    place.write("t.csv", "id,word,size\n1,Ann,1\n2,,0.25\n3,x,\n");
    python(&place, &format!("base.executescript({schema:?})"));
    // A row whose number is not that of its place, where rows have one: what comes goes on behind it.
    let is_numbered = !schema.contains("KEY");
    if is_numbered {
        python(&place, "base.execute(\"INSERT INTO t(rowid, id, word, size) VALUES (41, 7, 'y', 1)\")");
    }
    let result = place.dyno("import t.csv --into a.db --append").without_panic();
    let told = result.exits(0).prints("synchronous=3").stdout.clone();
    let found = python(
        &place,
        "print(base.execute(\"SELECT id, word, size + 0.0 FROM t WHERE id < 7 ORDER BY id\").fetchall())\n\
         print(base.execute('PRAGMA integrity_check').fetchall())",
    );
    assert_eq!(found, "[(1, 'Ann', 1.0), (2, '', 0.25), (3, 'x', None)]\n[('ok',)]", "{schema}");
    if is_numbered {
        let numbers = python(&place, "print(base.execute('SELECT rowid FROM t ORDER BY rowid').fetchall())");
        assert_eq!(numbers, "[(41,), (42,), (43,), (44,)]", "{schema}");
    }
    assert!(hidden(&place).is_empty(), "{schema}: {:?}", hidden(&place));
    assert_ne!(told.contains("wrote their pages"), told.contains("Parsing took"), "{told}");
    told.contains("wrote their pages")
}

#[test]
fn a_name_that_an_index_cannot_have_is_told_before_any_row_is_read() {
    let place = Place::new();
    place.write("t.csv", "id,v\n1,a\n");
    // A bad row would be told first if any were read.
    place.write("bad.csv", "id,v\n1,a\nx,b\n");
    import(&place, "t.csv --into a.db --index v --index id").exits(0);
    for options in ["--table t --append --index V", "--table T --append --index id"] {
        let said = import(&place, &format!("bad.csv --into a.db {options}")).exits(2);
        said.says("there is an index of that name already: leave that --index out");
    }
    python(&place, "base.execute('CREATE TABLE new_v (x)')");
    let said = import(&place, "bad.csv --into a.db --table new --index v").exits(2);
    said.says("the index on v would be called new_v, and there is a table of that name already");
    import(&place, "t.csv --into a.db --replace --index v").exits(0);
    let indexes = query(&place.path("a.db"), "SELECT name FROM sqlite_schema WHERE type = 'index'");
    assert_eq!(indexes, json!([["t_v"]]));
}

#[test]
fn a_table_that_is_there_is_kept_unless_asked() {
    let place = Place::new();
    place.write("t.csv", "id,v\n1,a\n");
    import(&place, "t.csv --into a.db").exits(0);
    import(&place, "t.csv --into a.db").exits(2).says("there is a table t already: --append");
    import(&place, "t.csv --into a.db --append").exits(0).prints("journal_mode=delete");
    assert_eq!(query(&place.path("a.db"), "SELECT count(*) FROM t"), json!([[2]]));
    place.write("u.csv", "id,w\nx,1\n");
    import(&place, "u.csv --into a.db --table t --append")
        .exits(2)
        .says("no column 'w', which the header names");
    place.write("v.csv", "id,v\n1.5,1\n");
    import(&place, "v.csv --into a.db --table t --append").exits(2).says("v.csv:2: column \"id\": \"1.5\"");
    import(&place, "u.csv --into a.db --table t --replace").exits(0);
    assert_eq!(query(&place.path("a.db"), "SELECT * FROM t"), json!([["x", 1]]));
    import(&place, "u.csv --into a.db --table t --replace --safety none").exits(0).prints("Survives none");
    import(&place, "u.csv --into b.db --safety process-crash").exits(0).prints("Survives process-crash");
    import(&place, "u.csv --into a.db --table z --dry-run").exits(0).prints("CREATE TABLE \"z\"");
    assert_eq!(query(&place.path("a.db"), "SELECT count(*) FROM sqlite_schema"), json!([[1]]));
    place.write(
        "no.db",
        "this is no database, although it is long enough to be taken for one\n".repeat(20).as_str(),
    );
    import(&place, "u.csv --into no.db").exits(2).says("no.db is no database of SQLite");
}

#[test]
fn rows_are_moved_by_their_pages_where_nothing_hangs_on_the_table() {
    for schema in [
        "CREATE TABLE t(id INTEGER, word TEXT, size REAL)",
        "CREATE TABLE t(id BIGINT, word VARCHAR(9), size DOUBLE)",
        "CREATE TABLE \"T\"(\"Id\" int, [word] text, 'size' float)",
        "PRAGMA journal_mode = WAL; CREATE TABLE t(id INT, word TEXT, size REAL)",
        "PRAGMA page_size = 512; PRAGMA auto_vacuum = FULL; CREATE TABLE t(id INT, word TEXT, size REAL)",
        "CREATE TABLE u(a REFERENCES t(id)); CREATE TABLE t(id INT, word TEXT, size REAL)",
    ] {
        assert!(moved(schema), "{schema}");
    }
}

#[test]
fn sqlite_inserts_rows_where_something_hangs_on_the_table() {
    for schema in [
        "PRAGMA encoding = 'UTF-16'; CREATE TABLE t(id INT, word TEXT, size REAL)",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT, size REAL)",
        "CREATE TABLE t(id INTEGER, word TEXT, size REAL, PRIMARY KEY(id)) WITHOUT ROWID",
        "CREATE TABLE t(id INTEGER NOT NULL, word TEXT, size REAL)",
        "CREATE TABLE t(id INTEGER, word TEXT UNIQUE, size REAL)",
        "CREATE TABLE t(id INTEGER, word TEXT, size REAL DEFAULT 1)",
        "CREATE TABLE t(id INTEGER, word TEXT, size REAL, CHECK (id < 100))",
        "CREATE TABLE t(id INTEGER, word TEXT, size REAL, twice AS (2 * id))",
        "CREATE TABLE t(id INTEGER, word TEXT COLLATE NOCASE, size REAL)",
        "CREATE TABLE t(id INTEGER, word TEXT, size NUMERIC)",
        "CREATE TABLE t(id INTEGER, word TEXT, size ANY)",
        "CREATE TABLE t(id INTEGER, word TEXT, size REAL) STRICT",
        "CREATE TABLE t(id INTEGER, word TEXT, size REAL); CREATE INDEX i ON t(word)",
        "CREATE TABLE t(id INTEGER, word TEXT, size REAL); CREATE TABLE log(a); \
         CREATE TRIGGER each AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.id); END",
        "CREATE TABLE t(word TEXT, id INTEGER, size REAL)",
        "CREATE TABLE t(id INTEGER, word TEXT, size REAL, more TEXT)",
    ] {
        assert!(!moved(schema), "{schema}");
    }
}

#[test]
fn a_table_that_others_have_locked_is_left_as_it_is() {
    let place = Place::new();
    place.write("t.csv", "1\n2\n");
    python(&place, "base.execute('CREATE TABLE t(a INTEGER)')");
    let mut holder = Command::new("python3");
    let hold = "import sqlite3, sys; base = sqlite3.connect('a.db'); base.execute('BEGIN IMMEDIATE'); print(flush=True); input()";
    holder.args(["-c", hold]).current_dir(place.path("")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut holder = holder.spawn().unwrap();
    std::io::Read::read(holder.stdout.as_mut().unwrap(), &mut [0]).unwrap();
    place.dyno("import t.csv --into a.db --append --no-header").without_panic().says("nothing was loaded");
    drop(holder.stdin.take());
    holder.wait().unwrap();
    assert_eq!(python(&place, "print(base.execute('SELECT count(*) FROM t').fetchall())"), "[(0,)]");
    assert!(hidden(&place).is_empty());
}

#[test]
fn a_killed_import_into_a_table_leaves_all_or_nothing() {
    let place = Place::new();
    let rows: String = (0..300_000).map(|row| format!("{row},word {}\n", row % 977)).collect();
    place.write("t.csv", &rows);
    let arguments = "import t.csv --into a.db --append --no-header";
    let make = "base.executescript('DROP TABLE IF EXISTS t; CREATE TABLE t(a INTEGER, b TEXT); INSERT INTO t VALUES (1, 2)')";
    let count =
        "print(base.execute('SELECT count(*), (SELECT * FROM pragma_integrity_check) FROM t').fetchall())";
    python(&place, make);
    let began = Instant::now();
    place.dyno(arguments).exits(0).prints("wrote their pages");
    let took = began.elapsed();
    let kills: u32 = std::env::var("DYNO_KILLS").map_or(20, |kills| kills.parse().unwrap());
    let (mut nothing, mut all) = (0, 0);
    for number in 0..kills {
        python(&place, make);
        let mut command = place.command();
        command.args(arguments.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(took * 3 / 2 * number / kills + Duration::from_micros(1));
        kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).unwrap();
        child.wait().unwrap();
        match python(&place, count).as_str() {
            "[(1, 'ok')]" => nothing += 1,
            "[(300001, 'ok')]" => all += 1,
            other => panic!("{other}"),
        }
        // For a moment the file has a name, by which SQLite opens it.
        for name in hidden(&place) {
            assert!(name.starts_with(".a.db.dyno-"), "{name}");
            fs::remove_file(place.path(&name)).unwrap();
        }
    }
    eprintln!("{nothing} of {kills} kills left nothing, {all} all");
    assert!(nothing > 0);
}
