//! Every value comes to the database as it was in the file, whatever the file and by whichever way.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::{PEOPLE, import, import_input, most, names, query};
use crate::common::Place;

#[test]
fn types_are_inferred_and_every_value_is_kept() {
    let place = Place::new();
    place.write("people.csv", PEOPLE);
    import(&place, "people.csv --into app.db --index name,code --primary-key id")
        .exits(0)
        .prints("3 rows into table people")
        .prints(most(&place.path("")));
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
    // A source that cannot be read again is long enough to reach beyond the beginning.
    let text =
        text.replacen("n,x\n", "n,x,padding\n", 1).replace("\n", ",paddingpaddingpaddingpaddingpadding\n");
    let text = text.replacen("n,x,padding,paddingpaddingpaddingpaddingpadding\n", "n,x,padding\n", 1);
    let said = import_input(&place, "- --into b.db --table t", text.as_bytes()).exits(2);
    said.says("standard input:400002: column \"n\": \"007\"").says("--types 'n:TEXT'");
    assert_eq!(names(&place), ["a.db", "late.csv"]);
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
    // They would not merge rows by a key.
    import(&place, "p.csv --into keyed.db --primary-key id").exits(0);
    let merged = import(&place, "p.csv --into keyed.db --append --on-conflict update --explain").exits(0);
    let merged = merged.prints("nor --on-conflict");
    assert!(!merged.stdout.contains("--- C ---"), "{}", merged.stdout);

    place.write("load.py", &program("Python"));
    let run = |command: &mut Command| {
        let output = command.current_dir(place.path("")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(Command::new("python3").arg("load.py"));
    assert_eq!(table("c.db"), wanted, "Python");
    fs::remove_file(place.path("c.db")).unwrap();

    // The bundled SQLite lies with its header next to dyno.
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
