//! `dyno import` into a table that is there, which is kept unless asked. With `--append`, where nothing hangs on the table
//! dyno writes pages and SQLite moves their records to it, and that comes to the same as SQLite's inserts.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::{import, query};
use crate::common::{Place, kills};

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
    let reported = result.exits(0).prints("synchronous=3").stdout.clone();
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
    assert_ne!(reported.contains("wrote their pages"), reported.contains("Parsing took"), "{reported}");
    reported.contains("wrote their pages")
}

#[test]
fn a_name_that_an_index_cannot_have_is_reported_before_any_row_is_read() {
    let place = Place::new();
    place.write("t.csv", "id,v\n1,a\n");
    // A bad row would be reported first if any were read.
    place.write("bad.csv", "id,v\n1,a\nx,b\n");
    import(&place, "t.csv --into a.db --index v --index id").exits(0);
    for options in ["--table t --append --index V", "--table T --append --index id"] {
        let said = import(&place, &format!("bad.csv --into a.db {options}")).exits(2);
        said.says("there is an index of that name already: leave that --index out");
    }
    python(&place, "base.execute('CREATE TABLE new_v (x)')");
    let said = import(&place, "bad.csv --into a.db --table new --index v --header").exits(2);
    said.says("the index on v would be called new_v, and there is a table of that name already");
    import(&place, "t.csv --into a.db --replace --index v").exits(0);
    let indexes =
        query(&place.path("a.db"), "SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name");
    assert_eq!(indexes, json!([["t_id"], ["t_v"]]));
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
    import(&place, "u.csv --into a.db --table t --append").exits(2).says("no column 'w' that a file fills");
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
    for lock in ["IMMEDIATE", "EXCLUSIVE"] {
        let mut holder = Command::new("python3");
        let hold = format!(
            "import sqlite3; base = sqlite3.connect('a.db'); base.execute('BEGIN {lock}'); print(flush=True); input()"
        );
        holder.args(["-c", &hold]).current_dir(place.path("")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut holder = holder.spawn().unwrap();
        std::io::Read::read(holder.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let result =
            import(&place, "t.csv --into a.db --append --no-header --wait 0").exits(4).stderr.clone();
        let by = format!("a.db is locked by process {} (python3): dyno waited 0 s", holder.id());
        assert!(
            result.contains(&by) && result.matches("nothing was loaded").count() == 1,
            "{lock}: {result}"
        );
        drop(holder.stdin.take());
        holder.wait().unwrap();
    }
    assert_eq!(python(&place, "print(base.execute('SELECT count(*) FROM t').fetchall())"), "[(0,)]");
    assert!(hidden(&place).is_empty());
}

#[test]
fn rows_are_added_to_a_table_that_is_there_alone() {
    let place = Place::new();
    place.write("t.csv", "id,v\n1,a\n");
    import(&place, "t.csv --into a.db --append")
        .exits(2)
        .says("there is no table t to which --append could add rows");
    assert!(!place.path("a.db").exists());
    import(&place, "t.csv --into a.db").exits(0);
    import(&place, "t.csv --into a.db --append --table tpyo").exits(2).says("there is no table tpyo");
}

#[test]
fn added_rows_are_held_against_foreign_keys() {
    let place = Place::new();
    let schema = "CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1), (2); \
        CREATE TABLE c(x TEXT, p INTEGER REFERENCES p(id)); \
        CREATE TABLE late(x TEXT, p INTEGER REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED); \
        CREATE TABLE tree(id INTEGER PRIMARY KEY, up INTEGER REFERENCES tree(id))";
    python(&place, &format!("base.executescript({schema:?})"));
    place.write("c.csv", "x,p\na,1\nb,9\nc,2\nd,\n");
    import(&place, "c.csv --into a.db --append")
        .exits(2)
        .says("c.csv:3: ")
        .says("FOREIGN KEY constraint failed");
    assert_eq!(query(&place.path("a.db"), "SELECT count(*) FROM c"), json!([[0]]));
    import(&place, "c.csv --into a.db --append --on-error reject").exits(3).prints("1 bad row was left out");
    assert_eq!(query(&place.path("a.db"), "SELECT x, p FROM c"), json!([["a", 1], ["c", 2], ["d", null]]));
    import(&place, "c.csv --into a.db --append --table late").exits(2).says("FOREIGN KEY constraint failed");
    assert_eq!(query(&place.path("a.db"), "SELECT count(*) FROM late"), json!([[0]]));
    // A row may refer to one that comes later.
    place.write("tree.csv", "id,up\n1,2\n2,\n3,1\n");
    import(&place, "tree.csv --into a.db --append").exits(0);
    place.write("tree.csv", "id,up\n4,5\n");
    import(&place, "tree.csv --into a.db --append").exits(2).says("FOREIGN KEY constraint failed");
    assert_eq!(query(&place.path("a.db"), "SELECT count(*) FROM tree"), json!([[3]]));
    assert_eq!(query(&place.path("a.db"), "PRAGMA foreign_key_check"), json!([]));
}

#[test]
fn triggers_do_what_they_do_for_an_insert_of_one_row() {
    let place = Place::new();
    let schema = "CREATE TABLE seen(n UNIQUE); \
        CREATE TABLE lax(a INTEGER); CREATE TRIGGER i AFTER INSERT ON lax BEGIN INSERT OR IGNORE INTO seen VALUES (new.a % 2); END; \
        CREATE TABLE hard(a INTEGER); CREATE TRIGGER h AFTER INSERT ON hard BEGIN INSERT INTO seen VALUES (new.a % 2 + 7); END; \
        CREATE TABLE same(a INTEGER PRIMARY KEY, up INTEGER REFERENCES same(a)); \
        CREATE TRIGGER s AFTER INSERT ON same BEGIN INSERT INTO seen VALUES (new.a + 20); END; \
        CREATE TABLE kept(a INTEGER UNIQUE ON CONFLICT REPLACE); CREATE TRIGGER k AFTER INSERT ON kept BEGIN SELECT 1; END; \
        INSERT INTO kept VALUES (2)";
    python(&place, &format!("base.executescript({schema:?})"));
    place.write("t.csv", "a\n1\n2\n3\n4\n");
    let tables = |sql: &str| query(&place.path("a.db"), sql);
    let reject = |table: &str| {
        let arguments = format!("t.csv --into a.db --append --table {table} --on-error reject");
        import(&place, &arguments)
    };
    // The trigger's own OR IGNORE is in force.
    import(&place, "t.csv --into a.db --append --table lax").exits(0).prints("4 rows into table lax");
    assert_eq!(tables("SELECT count(*), (SELECT count(*) FROM seen) FROM lax"), json!([[4, 2]]));
    // A row that its trigger refuses is not in the table.
    reject("hard").exits(3).prints("2 rows into table hard").prints("2 bad rows were left out");
    assert_eq!(tables("SELECT a FROM hard"), json!([[1], [2]]));
    // Rows may refer to later ones, and each is a statement all the same.
    python(&place, "base.execute('INSERT INTO seen VALUES (22)')");
    place.write("same.csv", "a,up\n1,3\n2,1\n3,\n");
    import(&place, "same.csv --into a.db --append --on-error reject").exits(3);
    assert_eq!(tables("SELECT a FROM same"), json!([[1], [3]]));
    place.write("same.csv", "a,up\n5,9\n");
    import(&place, "same.csv --into a.db --append").exits(2).says("FOREIGN KEY constraint failed");
    // No row is replaced without a word.
    reject("kept").exits(3).prints("1 bad row was left out");
    assert_eq!(tables("SELECT a FROM kept ORDER BY rowid"), json!([[2], [1], [3], [4]]));
}

#[test]
fn a_trigger_that_ends_the_transaction_or_keeps_a_refused_row_ends_the_import() {
    for (raise, said) in
        [("ROLLBACK", "rolled the transaction back"), ("FAIL", "which leaves the row in the table")]
    {
        let place = Place::new();
        let schema = format!(
            "CREATE TABLE t(a INTEGER); \
             CREATE TRIGGER r AFTER INSERT ON t WHEN new.a = 5 BEGIN SELECT RAISE({raise}, 'no'); END"
        );
        python(&place, &format!("base.executescript({schema:?})"));
        place.write("t.csv", "a\n1\n2\n3\n4\n5\n6\n7\n");
        import(&place, "t.csv --into a.db --append --on-error reject").exits(2).says(said);
        assert_eq!(query(&place.path("a.db"), "SELECT * FROM t"), json!([]), "{raise}");
        assert!(!place.path("t.rejects.csv").exists(), "{raise}");
        import(&place, "t.csv --into a.db --append").exits(2);
        assert_eq!(query(&place.path("a.db"), "SELECT * FROM t"), json!([]), "{raise}");
    }
}

#[test]
fn a_table_that_is_replaced_keeps_its_indexes_and_triggers() {
    let place = Place::new();
    let schema = "CREATE TABLE t(id INTEGER, v TEXT); CREATE INDEX by_v ON t(v); CREATE TABLE log(x); \
        CREATE TRIGGER each AFTER DELETE ON t BEGIN INSERT INTO log VALUES (old.id); END";
    python(&place, &format!("base.executescript({schema:?})"));
    place.write("t.csv", "id,v\n1,a\n2,b\n");
    import(&place, "t.csv --into a.db --replace --index id").exits(0);
    let found = python(
        &place,
        "print(base.execute(\"SELECT name FROM sqlite_schema WHERE tbl_name = 't' ORDER BY name\").fetchall())\n\
         base.execute('DELETE FROM t WHERE id = 2')\nprint(base.execute('SELECT * FROM log').fetchall())",
    );
    assert_eq!(found, "[('by_v',), ('each',), ('t',), ('t_id',)]\n[(2,)]");
    place.write("t.csv", "id,w\n1,a\n");
    let said = import(&place, "t.csv --into a.db --replace").exits(2);
    said.says("CREATE INDEX by_v ON t(v)").says("drop it first");
    assert_eq!(query(&place.path("a.db"), "SELECT v FROM t"), json!([["a"]]));
}

#[test]
fn what_no_longer_does_what_it_did_is_named_when_a_table_is_replaced() {
    let place = Place::new();
    let schema = "CREATE TABLE t(id INTEGER, v TEXT, w TEXT); CREATE TABLE log(x); \
        CREATE TRIGGER kept AFTER UPDATE OF v ON t BEGIN INSERT INTO log VALUES (old.id); END; \
        CREATE TRIGGER idle AFTER UPDATE OF \"W\", v ON t BEGIN INSERT INTO log VALUES (old.id); END; \
        CREATE VIRTUAL TABLE found USING fts5(v, content='t', content_rowid='id'); \
        CREATE VIRTUAL TABLE other USING fts5(t, content='log')";
    python(&place, &format!("base.executescript({schema:?})"));
    place.write("t.csv", "id,v\n1,a\n2,b\n");
    for dry in [" --dry-run", ""] {
        let said = import(&place, &format!("t.csv --into a.db --replace{dry}")).exits(0);
        let said = said
            .prints("The trigger idle is for updates of w, which the new table does not have.")
            .prints("INSERT INTO found(found) VALUES ('rebuild') makes it anew");
        for unsaid in ["The trigger kept", "other still finds"] {
            assert!(!said.stdout.contains(unsaid), "{}", said.stdout);
        }
    }
}

#[test]
fn moved_rows_need_no_journal_for_two_databases() {
    if Command::new("strace").arg("-V").output().is_err() {
        eprintln!("SKIPPED: there is no program strace");
        return;
    }
    let place = Place::new();
    python(&place, "base.execute('CREATE TABLE t(id INTEGER, v TEXT)')");
    place.write("t.csv", "id,v\n1,a\n2,b\n");
    let mut command = Command::new("strace");
    command.args(["-f", "-o", "calls", "-e", "trace=openat,fsync,fdatasync"]);
    let dyno = place.command();
    command.arg(dyno.get_program()).args("import t.csv --into a.db --append".split(' '));
    command.current_dir(dyno.get_current_dir().unwrap());
    for (name, value) in dyno.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let result = crate::common::Result::from(command.output().unwrap()).without_panic();
    if result.stderr.contains("ptrace") {
        eprintln!("SKIPPED: processes cannot be traced here");
        return;
    }
    result.exits(0).prints("wrote their pages");
    let calls = fs::read_to_string(place.path("calls")).unwrap();
    let syncs = calls.lines().filter(|line| line.contains("sync(")).count();
    assert!((1..=5).contains(&syncs) && !calls.contains("a.db-mj"), "{syncs} syncs: {calls}");
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
    let kills = kills(20);
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
