//! `dyno import` as people use it: real files into real databases, read back by Python's own sqlite3.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use dyno_lab::placement;
use dyno_lab::scratch::Scratch;
use dyno_lab::server::PrivateServer;
use dyno_protocol::{Build, Setting};
use nix::mount::{MsFlags, mount, umount};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::common::{Place, Result, installation, wait_for};

const PEOPLE: &str = "id,name,size,code\n1,Ann,1.5,007\n2,\"B, \"\"ob\"\"\",,008\n3,Çem,2,\n";

/// The rows of a query, by a SQLite that is not dyno's.
fn query(database: &Path, sql: &str) -> Value {
    let script = "import json,sqlite3,sys;print(json.dumps(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall()))";
    let output = Command::new("python3").args(["-c", script]).arg(database).arg(sql).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn import(place: &Place, arguments: &str) -> Result {
    place.dyno(&format!("import {arguments}")).without_panic()
}

/// Runs dyno with something on its standard input.
fn import_input(place: &Place, arguments: &str, input: &[u8]) -> Result {
    let mut command = place.command();
    command.arg("import").args(arguments.split_whitespace());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It may have seen enough before the end.
    let _ = child.stdin.take().unwrap().write_all(input);
    Result::from(child.wait_with_output().unwrap()).without_panic()
}

/// The names in the folder, hidden ones too.
fn names(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.path("")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "data");
    names.sort();
    names
}

#[test]
fn types_are_inferred_and_every_value_is_kept() {
    let place = Place::new();
    place.write("people.csv", PEOPLE);
    import(&place, "people.csv --into app.db --index name,code --primary-key id")
        .exits(0)
        .prints("3 rows into table people")
        .prints("Survives power-loss");
    let database = place.path("app.db");
    assert_eq!(
        query(&database, "SELECT *, typeof(size) FROM people"),
        json!([
            [1, "Ann", 1.5, "007", "real"],
            [2, "B, \"ob\"", null, "008", "null"],
            [3, "Çem", 2.0, "", "real"]
        ])
    );
    let sql = query(&database, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC");
    assert_eq!(
        sql,
        json!([
            [
                "CREATE TABLE \"people\" (\"id\" INTEGER PRIMARY KEY, \"name\" TEXT, \"size\" REAL, \"code\" TEXT)"
            ],
            ["CREATE INDEX \"people_name_code\" ON \"people\" (\"name\", \"code\")"]
        ])
    );
    assert_eq!(query(&database, "PRAGMA integrity_check"), json!([["ok"]]));
    assert_eq!(names(&place), ["app.db", "people.csv"]);
    let mode = fs::metadata(&database).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, fs::metadata(place.path("people.csv")).unwrap().permissions().mode() & 0o777);
}

#[test]
fn packed_and_encoded_files_and_standard_input_are_read() {
    let place = Place::new();
    let wanted = json!([[1, "é"], [2, "z"]]);
    let pack = |program: &str, text: &[u8], to: &str| {
        fs::write(place.path("plain"), text).unwrap();
        let (from, to) = (fs::File::open(place.path("plain")), fs::File::create(place.path(to)));
        let status = Command::new(program).arg("-c").stdin(from.unwrap()).stdout(to.unwrap()).status();
        status.is_ok_and(|status| status.success())
    };
    let text = "1\té\n2\tz\n";
    let utf16: Vec<u8> = "\u{feff}1\té\n2\tz\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(place.path("plain.tsv"), text).unwrap();
    fs::write(place.path("mark.tsv"), format!("\u{feff}{text}")).unwrap();
    fs::write(place.path("wide.tsv"), &utf16).unwrap();
    fs::write(place.path("semi.csv"), "1;é\r\n2;z").unwrap();
    let mut files = vec!["plain.tsv", "mark.tsv", "wide.tsv", "semi.csv"];
    for (program, name) in [("gzip", "packed.tsv.gz"), ("zstd", "packed.tsv.zst")] {
        match pack(program, text.as_bytes(), name) {
            true => files.push(name),
            false => eprintln!("SKIPPED for {name}: there is no program {program}"),
        }
    }
    for (number, file) in files.iter().enumerate() {
        import(&place, &format!("{file} --into {number}.db --table t")).exits(0);
        let found = query(&place.path(&format!("{number}.db")), "SELECT * FROM t ORDER BY 1");
        assert_eq!(found, wanted, "{file}");
    }
    fs::write(place.path("old.tsv"), b"1\t\xe9\n2\tz\n").unwrap();
    import(&place, "old.tsv --into old.db").exits(2).says("old.tsv:1: column \"c2\"").says("not UTF-8");
    import(&place, "old.tsv --into old.db --encoding latin1").exits(0);
    assert_eq!(query(&place.path("old.db"), "SELECT * FROM old"), wanted);
    import_input(&place, "- --into in.db", text.as_bytes()).exits(2).says("--table");
    import_input(&place, "- --into sqlite:in.db --table t", text.as_bytes()).exits(0);
    assert_eq!(query(&place.path("in.db"), "SELECT * FROM t"), wanted);
}

#[test]
fn a_late_value_that_contradicts_the_types_changes_them() {
    let place = Place::new();
    let mut text = String::from("n,x\n");
    (0..400_000).for_each(|number| text += &format!("{number},1\n"));
    text += "007,2.5\n";
    place.write("late.csv", &text);
    import(&place, "late.csv --into a.db").exits(0).prints("400001 rows").prints("read the file again");
    let sql = "SELECT typeof(n), typeof(x), count(*), min(n) FROM late GROUP BY 1, 2";
    assert_eq!(query(&place.path("a.db"), sql), json!([["text", "real", 400_001, "0"]]));
    // What cannot be read again is long enough to reach beyond the beginning.
    let text =
        text.replacen("n,x\n", "n,x,padding\n", 1).replace("\n", ",paddingpaddingpaddingpaddingpadding\n");
    let text = text.replacen("n,x,padding,paddingpaddingpaddingpaddingpadding\n", "n,x,padding\n", 1);
    let said = import_input(&place, "- --into b.db --table t", text.as_bytes()).exits(2);
    said.says("standard input:400002: column \"n\": \"007\"").says("--types 'n:TEXT'");
    assert_eq!(names(&place), ["a.db", "late.csv"]);
}

#[test]
fn a_bad_row_stops_with_its_place_or_is_put_aside() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,x\n\"2\n\",y\n3\n4,z,,\n5,ü\n");
    let types = "--types INTEGER,TEXT";
    import(&place, &format!("t.csv --into a.db {types}"))
        .exits(2)
        .says("t.csv:3: column \"a\": \"2\\n\" is no INTEGER");
    assert_eq!(names(&place), ["t.csv"]);
    import(&place, &format!("t.csv --into a.db {types} --on-error reject --rejects bad.csv"))
        .exits(3)
        .prints("2 rows into table t")
        .prints("3 bad rows were left out; they are in bad.csv");
    assert_eq!(query(&place.path("a.db"), "SELECT * FROM t"), json!([[1, "x"], [5, "ü"]]));
    let bad = fs::read_to_string(place.path("bad.csv")).unwrap();
    assert!(bad.contains("5,,\"has 1 fields, not 2\",3,3\n"), "{bad}");
    assert!(bad.contains("6,,\"has 4 fields, not 2\",\"4, z, , \",4,z,,\n"), "{bad}");
    // Rejected rows of an earlier import are not written over, and nothing is loaded.
    import(&place, &format!("t.csv --into b.db {types} --on-error reject --rejects bad.csv"))
        .exits(2)
        .says("cannot make bad.csv");
    assert_eq!(names(&place), ["a.db", "bad.csv", "t.csv"]);
}

#[test]
fn rows_that_the_database_refuses_are_bad_rows() {
    let place = Place::new();
    place.write("t.csv", "id,v\n1,a\n2,b\n1,c\n3,d\n2,e\n4,f\n");
    import(&place, "t.csv --into a.db --primary-key id")
        .exits(2)
        .says("t.csv:4:")
        .says("UNIQUE constraint failed: t.id");
    assert_eq!(names(&place), ["t.csv"]);
    import(&place, "t.csv --into a.db --primary-key id --on-error reject").exits(3).prints("4 rows into");
    let rows = json!([[1, "a"], [2, "b"], [3, "d"], [4, "f"]]);
    assert_eq!(query(&place.path("a.db"), "SELECT * FROM t"), rows);
    let rejects = fs::read_to_string(place.path("t.rejects.csv")).unwrap();
    assert!(rejects.contains("\n4,,is refused: UNIQUE constraint failed: t.id,\"1, c\",1,c\n"), "{rejects}");
    // The same in a table that is there: what was loaded before the bad row is taken back.
    place.write("more.csv", "v,id\ng,5\nh,1\n");
    import(&place, "more.csv --into a.db --table t --append").exits(2).says("more.csv:3:");
    assert_eq!(query(&place.path("a.db"), "SELECT * FROM t"), rows);
    place.write("more.csv", "v,id\ng,5\n");
    import(&place, "more.csv --into a.db --table t --append").exits(0);
    assert_eq!(query(&place.path("a.db"), "SELECT v FROM t WHERE id = 5"), json!([["g"]]));
}

#[test]
fn a_journal_of_another_database_is_not_applied_to_the_new_one() {
    for ending in ["journal", "wal"] {
        let place = Place::new();
        place.write("t.csv", "a,b\n1,x\n");
        place.write(&format!("new.db-{ending}"), "old");
        let result = import(&place, "t.csv --into new.db").exits(2);
        result.says(&format!("new.db-{ending} is of another database")).says("move it away");
        assert!(!place.path("new.db").exists());
    }
}

/// The file is cut into many pieces, which several threads write, with indexes that are sorted apart.
#[test]
fn large_files_are_written_page_by_page_with_their_indexes() {
    let place = Place::new();
    let mut text = String::from("id,name,share,note\n");
    let mut expected = (0i64, 0.0f64);
    for row in 0..120_000i64 {
        let (id, share) = (row * 7_919 % 1_000_003 - 500_000, (row % 1_000) as f64 / 8.0);
        let note = if row % 3 == 0 { format!("\"a \"\"{row}\"\"\nline, two\"") } else { String::new() };
        text += &format!("{id},name {},{share},{note}\n", row % 977);
        expected = (expected.0 + id, expected.1 + share);
    }
    place.write("t.csv", &text);
    import(&place, "t.csv --into t.db --index id --index name,share").exits(0).prints("wrote their pages");
    let database = place.path("t.db");
    let value = |sql: &str| query(&database, sql);
    assert_eq!(value("PRAGMA integrity_check"), serde_json::json!([["ok"]]));
    let sums =
        value("SELECT count(*) AS n, sum(id) AS ids, total(share) AS shares, max(rowid) AS last FROM t");
    let (ids, shares) = expected;
    assert_eq!(sums, serde_json::json!([[120_000, ids, shares, 120_000]]));
    let notes = value("SELECT count(note) AS n, note FROM t WHERE rowid = 4");
    assert_eq!(notes, serde_json::json!([[1, "a \"3\"\nline, two"]]));
    for (index, sql) in [
        ("t_id", "SELECT count(*) AS n FROM t INDEXED BY t_id WHERE id > -500001"),
        ("t_name_share", "SELECT count(*) AS n FROM t INDEXED BY t_name_share WHERE name > ''"),
    ] {
        assert_eq!(value(sql), serde_json::json!([[120_000]]), "{index}");
    }
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
    import(&place, "u.csv --into no.db").exits(2).says("file is not a database");
}

#[test]
fn bad_files_are_told_and_leave_nothing() {
    let place = Place::new();
    place.write("empty.csv", "");
    place.write("quote.csv", "a,b\n1,2\n3,\"4\n5,6\n");
    place.write("many.csv", "a,b\n1,2\n1,2,3\n");
    place.write("zero.csv", "a\0,b\n");
    fs::write(place.path("cut.csv.gz"), [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0x4b, 0xd4]].concat())
        .unwrap();
    fs::write(place.path("cut.csv.zst"), [0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x10]).unwrap();
    let names_of =
        |columns: std::ops::Range<u32>| columns.map(|column| format!("c{column}")).collect::<Vec<_>>();
    place.write("wide.csv", &format!("{}\n{}\n", names_of(0..30_000).join(","), vec!["1"; 30_000].join(",")));
    // A record of a gigabyte, most of which is a hole that takes no room.
    place.write("long.csv", &format!("{}1,", "1,2\n".repeat(2_000)));
    let long = fs::OpenOptions::new().append(true).open(place.path("long.csv")).unwrap();
    long.set_len(1 << 30).unwrap();
    let before = names(&place);
    for (file, said) in [
        ("empty.csv", "empty.csv is empty"),
        ("quote.csv", "quote.csv:3: a quote in the record that begins here is never closed"),
        ("many.csv", "many.csv:3: \"1, 2, 3\" has 3 fields, not 2"),
        ("zero.csv", "zero.csv holds zero bytes"),
        ("wide.csv", "too many columns on wide"),
        ("long.csv", "long.csv:2001: the record that begins here is longer than 128 MiB"),
        ("long.csv --memory 16MiB", "longer than 4 MiB; more --memory holds longer ones"),
        ("cut.csv.gz", "cannot read cut.csv.gz"),
        ("cut.csv.zst", "cannot read cut.csv.zst"),
        ("none.csv", "cannot open none.csv"),
        ("data", "data is a folder"),
        ("many.csv --types INTEGER", "--types gives 1 types for 2 columns"),
        ("many.csv --types INTEGER,DATE", "SQLite has no type 'DATE'"),
        ("many.csv --index c", "the table has no column 'c'"),
        ("many.csv --encoding klingon", "no encoding is called 'klingon'"),
        ("many.csv --delimiter ab", "one ASCII character"),
        ("many.csv --rejects x.csv", "--on-error reject, which is not asked"),
    ] {
        import(&place, &format!("{file} --into a.db")).exits(2).says(said);
        assert_eq!(names(&place), before, "{file}");
    }
    import(&place, "many.csv --into nowhere/a.db").exits(2).says("cannot make a database in nowhere");
    place.write("twice.csv", "a,A,a\n1,2,3\n");
    import(&place, "twice.csv --into c.db --header").exits(0);
    assert_eq!(query(&place.path("c.db"), "SELECT a, A_2, a_3 FROM twice"), json!([[1, 2, 3]]));
    import(&place, "quote.csv --into a.db --no-quotes").exits(0).prints("3 rows");
    let said = import(&place, "wide.csv --into w.db").exits(2).stderr;
    assert!(said.len() < 1_000, "{said}");
    place.write("header.csv", "a,b\n");
    import(&place, "header.csv --into b.db").exits(0).prints("0 rows");
    assert_eq!(query(&place.path("b.db"), "SELECT count(*) FROM header"), json!([[0]]));
}

/// What DuckDB 2.0 wrote by COPY … (FORMAT parquet) of a BIGINT, a VARCHAR, a DOUBLE, a BOOLEAN, a DATE and a
/// DECIMAL(8,2).
const PARQUET: &[u8] = include_bytes!("data/people.parquet");

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_file_is_loaded_with_the_types_that_it_states() {
    let place = Place::new();
    fs::write(place.path("people.parquet"), PARQUET).unwrap();
    import(&place, "people.parquet --into a.db").exits(0).prints("3 rows into table people");
    assert_eq!(
        query(&place.path("a.db"), "SELECT *, typeof(price) FROM people"),
        json!([
            [1, "Ann", 1.5, 1, "2024-01-31", "12.30", "text"],
            [i64::MIN, "Çem, \"x\"", null, 0, null, "-0.05", "text"],
            [null, "", 0.1, null, "1969-12-31", null, "null"],
        ])
    );
    import(&place, "people.parquet --into a.db --append").exits(0).prints("wrote their pages");
    let list = "SELECT json_group_array(json_array(id, typeof(id), name, size, ok, day, price)) FROM people";
    let both = format!("SELECT ({list} WHERE rowid <= 3) = ({list} WHERE rowid > 3)");
    assert_eq!(query(&place.path("a.db"), &both), json!([[1]]));
    import(&place, "people.parquet --into d.db --primary-key id").exits(0);
    assert_eq!(query(&place.path("d.db"), "SELECT id FROM people"), json!([[i64::MIN], [1], [2]]));
    import(&place, "people.parquet --into e.db --types size:INTEGER --null Ann")
        .exits(2)
        .says("people.parquet:1: column \"size\": \"1.5\" is no INTEGER");
    import(&place, "people.parquet --into b.db --types price:REAL").exits(0);
    assert_eq!(query(&place.path("b.db"), "SELECT price FROM people WHERE id = 1"), json!([[12.3]]));
    import_input(&place, "- --into c.db --table t", PARQUET)
        .exits(2)
        .says("it cannot be read from standard input");
    fs::write(place.path("cut.parquet"), &PARQUET[..PARQUET.len() - 9]).unwrap();
    import(&place, "cut.parquet --into c.db").exits(2).says("cannot read cut.parquet");
    assert!(!place.path("c.db").exists());
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_parquet_file_is_refused_with_how_to_get_a_dyno_that_reads_it() {
    let place = Place::new();
    fs::write(place.path("people.parquet"), PARQUET).unwrap();
    import(&place, "people.parquet --into a.db").exits(2).says("--features parquet");
    assert_eq!(names(&place), ["people.parquet"]);
}

/// Whether a process has a file open in the folder that has no name there.
fn is_building(pid: u32, place: &Place) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let mut targets = open.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    targets
        .any(|target| target.starts_with(place.path("")) && target.to_string_lossy().ends_with("(deleted)"))
}

#[test]
fn a_killed_import_leaves_all_or_nothing() {
    let place = Place::new();
    let mut text = String::from("id,word,size\n");
    for row in 0..150_000 {
        text += &format!("{row},word {},{}\n", row % 977, row * 7919 % 10_007);
    }
    place.write("t.csv", &text);
    let sure = "SELECT count(*), sum(id), sum(size), count(DISTINCT word) FROM t";
    let arguments = ["import", "t.csv", "--into", "a.db", "--primary-key", "id", "--index", "word"];
    let kills = std::env::var("DYNO_KILLS").map_or(30, |kills| kills.parse().unwrap());
    let began = std::time::Instant::now();
    place.dyno(&arguments.join(" ")).exits(0);
    let took = began.elapsed();
    let whole = query(&place.path("a.db"), sure);
    let (mut nothing, mut all) = (0, 0);
    for number in 0..kills {
        let _ = fs::remove_file(place.path("a.db"));
        let mut child =
            place.command().args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // From the first moment to well behind the last.
        std::thread::sleep(took * 3 / 2 * number / kills);
        kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).unwrap();
        child.wait().unwrap();
        match place.path("a.db").exists() {
            true => {
                assert_eq!(names(&place), ["a.db", "t.csv"]);
                assert_eq!(query(&place.path("a.db"), sure), whole);
                assert_eq!(query(&place.path("a.db"), "PRAGMA integrity_check"), json!([["ok"]]));
                all += 1;
            }
            false => {
                assert_eq!(names(&place), ["t.csv"]);
                nothing += 1;
            }
        }
    }
    eprintln!("{nothing} of {kills} kills left nothing, {all} all");
    assert!(nothing > 0);
}

#[test]
fn an_interrupt_leaves_nothing() {
    let place = Place::new();
    let mut command = place.command();
    command.args(["import", "-", "--into", "a.db", "--table", "t"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // More than is looked at before the load begins, and no end.
    let line = b"1,abcdefghijklmnopqrstuvwxyz\n".repeat(1000);
    (0..800).for_each(|_| input.write_all(&line).unwrap());
    wait_for("a database being built", 30, || is_building(child.id(), &place));
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    // The input is neither written nor closed until dyno has ended: nobody waits for it.
    let result = Result::from(child.wait_with_output().unwrap());
    drop(input);
    result.without_panic().exits(130).says("nothing was loaded");
    assert!(names(&place).is_empty(), "{:?}", names(&place));
}

#[test]
fn a_full_disk_leaves_nothing() {
    let place = Place::new();
    let disk = place.path("disk");
    fs::create_dir(&disk).unwrap();
    if let Err(error) = mount(Some("tmpfs"), &disk, Some("tmpfs"), MsFlags::empty(), Some("size=2m")) {
        eprintln!("SKIPPED: a small disk cannot be mounted: {error}");
        return;
    }
    let text: String = (0..200_000).map(|number| format!("{number},some text\n")).collect();
    place.write("t.csv", &text);
    let fresh = import(&place, "t.csv --into disk/a.db");
    let left = fs::read_dir(&disk).unwrap().count();
    place.write("small.csv", "1,a\n");
    let small = import(&place, "small.csv --into disk/b.db --table s");
    let there = import(&place, "t.csv --into disk/b.db --table t");
    let rows = query(&disk.join("b.db"), "SELECT (SELECT count(*) FROM s), count(*) FROM sqlite_schema");
    umount(&disk).unwrap();
    fresh.exits(4).says("full");
    assert_eq!(left, 0);
    small.exits(0);
    there.exits(4).says("full");
    assert_eq!(rows, json!([[1, 1]]));
}

#[test]
fn the_programs_that_explain_load_the_same_table() {
    let place = Place::new();
    let text = "id;name;x;note\n1;\"a;b\";1.5;NA\n2;;;\"two\nlines\"\n3;c \"\"d;-2;NA\n";
    place.write("p.csv", text);
    let options = "--null NA --index name --header --delimiter ;";
    let explained = import(&place, &format!("p.csv --into c.db {options} --explain")).exits(0);
    assert!(explained.stdout.contains("delimiter \";\": as asked"), "{}", explained.stdout);
    let program = |language: &str| {
        let (_, rest) = explained.stdout.split_once(&format!("--- {language} ---\n")).unwrap();
        rest.split("\n--- ").next().unwrap().to_owned()
    };
    import(&place, &format!("p.csv --into dyno.db {options}")).exits(0);
    let table = |name: &str| {
        let rows = query(&place.path(name), "SELECT *, typeof(x), typeof(id) FROM p ORDER BY id");
        (rows, query(&place.path(name), "SELECT type, name, sql FROM sqlite_schema ORDER BY name"))
    };
    let wanted = table("dyno.db");
    assert_eq!(wanted.0[1], json!([2, "", null, "two\nlines", "null", "integer"]));

    place.write("load.py", &program("Python"));
    let run = |command: &mut Command| {
        let output = command.current_dir(place.path("")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(Command::new("python3").arg("load.py"));
    assert_eq!(table("c.db"), wanted, "Python");
    fs::remove_file(place.path("c.db")).unwrap();

    // The bundled SQLite lies with its header beside dyno.
    let programs = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap();
    place.write("load.c", &program("C"));
    let library = programs.join("libdyno_sqlite3.so");
    run(Command::new("cc")
        .args(["-O1", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(programs)
        .args(["-o", "load", "load.c"])
        .arg(&library)
        .arg("-Wl,-rpath")
        .arg(programs));
    run(Command::new("./load").stdin(fs::File::open(place.path("p.csv")).unwrap()));
    assert_eq!(table("c.db"), wanted, "C");
    fs::remove_file(place.path("c.db")).unwrap();

    place.write("load.sql", &program("SQL"));
    if Command::new("sqlite3").arg("-version").output().is_err() {
        eprintln!("SKIPPED for SQL: there is no program sqlite3");
        return;
    }
    run(Command::new("sqlite3").arg("-bail").stdin(fs::File::open(place.path("load.sql")).unwrap()));
    assert_eq!(table("c.db.building"), wanted, "SQL");
}

#[test]
fn any_table_of_texts_comes_back_as_it_was() {
    let place = Place::new();
    let field = prop_oneof![
        "[a-z0-9 ]{0,8}",
        "[,;\t\"\r\n|'\\\\]{0,4}",
        "\\PC{0,6}",
        Just("NULL".to_owned()),
        "-?[0-9]{1,20}(\\.[0-9]{1,3})?"
    ];
    let tables = (1..5usize).prop_flat_map(move |columns| {
        proptest::collection::vec(proptest::collection::vec(field.clone(), columns), 1..20)
    });
    let mut runner = TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
    runner
        .run(&tables, |rows| {
            let mut writer = csv::Writer::from_path(place.path("t.csv")).unwrap();
            rows.iter().for_each(|row| writer.write_record(row).unwrap());
            writer.flush().unwrap();
            let types = vec!["TEXT"; rows[0].len()].join(",");
            import(
                &place,
                &format!(
                    "t.csv --into t.db --replace --safety none --no-header --delimiter , --types {types}"
                ),
            )
            .exits(0);
            let found = query(&place.path("t.db"), "SELECT * FROM t ORDER BY rowid");
            prop_assert_eq!(found, json!(rows));
            // Inferred types keep every value, too: what is read back is printed as it was, or is the
            // same number.
            import(&place, "t.csv --into t.db --replace --safety none --no-header --delimiter ,").exits(0);
            let found = query(&place.path("t.db"), "SELECT * FROM t ORDER BY rowid");
            for (found, given) in found.as_array().unwrap().iter().zip(&rows) {
                for (value, given) in found.as_array().unwrap().iter().zip(given) {
                    let same = match value {
                        Value::Null => given.is_empty(),
                        Value::String(text) => text == given,
                        Value::Number(number) if number.is_f64() => number.as_f64() == given.parse().ok(),
                        number => number.as_i64() == given.parse().ok(),
                    };
                    prop_assert!(same, "{} became {}", given, value);
                }
            }
            Ok(())
        })
        .unwrap();
}

/// A private server of an engine, and the URL of a database of it; none, and said so, where it is not
/// installed.
struct Server {
    url: String,
    server: PrivateServer,
    _scratch: Scratch,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start(engine: &str) -> Option<Server> {
        Server::start_with(engine, &[])
    }

    fn start_with(engine: &str, settings: &[Setting]) -> Option<Server> {
        let installation = match installation(engine, &Build::System) {
            Ok(installation) => installation,
            Err(error) => {
                eprintln!("SKIPPED for {engine}: {error:#}");
                return None;
            }
        };
        // Every account may enter: the server has one of its own.
        let folder = tempfile::Builder::new().prefix("dyno-test-").tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let scratch = Scratch::create(folder.path()).unwrap();
        let trial = scratch.trial().unwrap();
        let run = trial.path().parent().unwrap();
        let placement = placement::choose(None, None).unwrap();
        let server = PrivateServer::start(&installation, settings, run, &placement).unwrap();
        let at = server.connection("");
        let url = match engine {
            "postgres" => {
                format!("postgres://{}@/postgres?host={}&port={}", at.user, at.host, at.port.unwrap())
            }
            _ => format!("{engine}://{}@/mysql?socket={}", at.user, at.host),
        };
        Some(Server { url, server, _scratch: scratch, _folder: folder })
    }
}

/// What both servers do alike. Rows are read back by importing nothing: a table's rows are counted by
/// what the server's own program prints.
fn serves(engine: &str, program: impl Fn(&str) -> Command) {
    let Some(server) = Server::start(engine) else { return };
    let place = Place::new();
    let sql = |text: &str| printed(program(&server.url).current_dir(place.path(".")), text);
    place.write("people.csv", &PEOPLE.replace("008", "a\\b\tc"));
    let into = |arguments: &str| {
        let mut command = place.command();
        command.arg("import").args(arguments.split_whitespace()).args(["--into", &server.url]);
        Result::from(command.output().unwrap()).without_panic()
    };
    into("people.csv --primary-key id --index name")
        .exits(0)
        .prints("3 rows into table people")
        .prints("Survives");
    let rows = sql(
        "SELECT id, name, size, CASE WHEN code = 'a\\b\tc' THEN 'kept' ELSE code END FROM people ORDER BY id",
    );
    let odd = sql("SELECT id, length(code) FROM people WHERE id = 2");
    assert_eq!(odd, "2|5", "{rows}");
    assert!(rows.contains("1|Ann|1.5|007") && rows.contains("3|Çem|2"), "{rows}");
    let explained =
        into("people.csv --table explained --primary-key id --index name --explain").exits(0).stdout;
    let (_, load) = explained.split_once("--- SQL ---\n").unwrap();
    sql(load);
    let all = |table: &str| sql(&format!("SELECT * FROM {table} ORDER BY id"));
    assert_eq!(all("explained"), all("people"), "{load}");
    into("people.csv").exits(2).says("there is a table people already");
    into("people.csv --append").exits(2).says("nothing was loaded");
    assert_eq!(sql("SELECT count(*) FROM people"), "3");
    place.write("more.csv", "name,id,code\nX,7,Y\n");
    into("more.csv --table people --append").exits(0);
    assert_eq!(sql("SELECT name, code FROM people WHERE id = 7"), "X|Y");
    place.write("bad.csv", "id,day\n1,2024-01-01\n2,2024-13-01\n");
    into("bad.csv --types id:INTEGER,day:DATE").exits(2).says("nothing was loaded");
    assert!(!into("bad.csv --types id:INTEGER,day:DATE --dry-run").exits(0).stdout.is_empty());
    place.write("bad.csv", "id,day\n1,2024-01-01\n2,\n");
    into("bad.csv --types id:INTEGER,day:DATE").exits(0);
    assert!(sql("SELECT * FROM bad ORDER BY id").starts_with("1|2024-01-01"));
    place.write("people.csv", "only\n1.25\n");
    into("people.csv --replace --safety none").exits(0);
    assert_eq!(sql("SELECT * FROM people"), "1.25");
    let tables = "SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'dyno_import%'";
    assert_eq!(sql(tables), "0");
}

/// What a server's program prints of a script.
fn printed(command: &mut Command, script: &str) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{script};").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().replace('\t', "|")
}

#[test]
fn postgres_is_loaded() {
    serves("postgres", |url| {
        let mut command = Command::new("psql");
        command.args(["-XqAt", "-v", "ON_ERROR_STOP=1", url]);
        command
    });
}

#[test]
fn one_connection_or_many_load_the_same_rows() {
    let Some(server) = Server::start("postgres") else { return };
    let place = Place::new();
    let rows: String = (0..50_000).map(|row| format!("{row},{}\n", row * 7919 % 50_021)).collect();
    place.write("rows.csv", &format!("a,b\n{rows}"));
    let mut sums = Vec::new();
    for connections in ["1", "2", "5"] {
        let arguments =
            ["import", "rows.csv", "--replace", "--connections", connections, "--into", &server.url];
        let result = Result::from(place.command().args(arguments).output().unwrap()).without_panic();
        result.exits(0).prints("50000 rows into table rows");
        let mut psql = Command::new("psql");
        psql.args(["-XqAt", &server.url]);
        sums.push(printed(&mut psql, "SELECT count(*), sum(a), sum(b), sum(a::numeric * b) FROM rows"));
    }
    assert!(sums[0].starts_with("50000|1249975000|") && sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
    let sqlite = ["import", "rows.csv", "--connections", "2", "--into", "app.db"];
    let refused = Result::from(place.command().args(sqlite).output().unwrap()).without_panic();
    refused.exits(2).says("--connections is for a new table of PostgreSQL");
    assert!(!place.path("app.db").exists());
}

#[test]
fn a_second_attempt_does_not_inherit_the_haste_of_the_first() {
    let settings = [("log_statement", "all"), ("log_line_prefix", "")];
    let settings = settings.map(|(name, value)| Setting { name: name.into(), value: value.into() });
    let Some(server) = Server::start_with("postgres", &settings) else { return };
    let place = Place::new();
    // The last row makes the types of the others wrong.
    let rows: String = (0..400_000).map(|row| format!("{row}\n")).collect();
    place.write("rows.csv", &format!("n\n{rows}late\n"));
    let arguments = ["import", "rows.csv", "--connections", "2", "--into", &server.url];
    let result = Result::from(place.command().args(arguments).output().unwrap()).without_panic();
    result.exits(0).prints("read the file again");
    let log = fs::read_to_string(server.server.folder().join("log")).unwrap();
    let (_, after) = log.split_once("statement: ROLLBACK").expect("the first attempt is taken back");
    let (between, _) = after.split_once("CREATE TABLE").expect("there is a second attempt");
    assert!(between.contains("statement: RESET synchronous_commit"), "{between}");
}

#[test]
fn mariadb_is_loaded() {
    serves("mariadb", |url| {
        let (_, rest) = url.split_once("://").unwrap();
        let (user, socket) = (rest.split('@').next().unwrap(), url.split("socket=").nth(1).unwrap());
        let mut command = Command::new("mariadb");
        command.args(["--no-defaults", "-N", "-B", "-r", "-u", user, "-S", socket, "mysql"]);
        command.args(["--default-character-set=utf8mb4", "--local-infile=1"]);
        command
    });
}
