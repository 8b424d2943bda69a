//! Files, rows and options that are wrong: each is reported with its place, and nothing is loaded but what was asked
//! for.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::json;

use super::{import, names, query};
use crate::common::{Place, Result};

#[test]
fn a_database_that_would_be_gone_is_refused() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,2\n");
    // SQLite opens a database in memory where a file of this name is, too.
    fs::write(place.path(":memory:"), "").unwrap();
    for into in [":memory:", "sqlite::memory:"] {
        import(&place, &format!("t.csv --into {into}")).exits(2).says("gone when dyno ends");
    }
    import(&place, "t.csv --into ./:memory:").exits(0);
    assert_eq!(query(&place.path(":memory:"), "SELECT * FROM t"), json!([[1, 2]]));
}

#[test]
fn a_type_that_is_stated_twice_is_refused() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,2\n");
    place.write("schema", "a INTEGER\nA TEXT\n");
    import(&place, "t.csv --into a.db --types a:REAL,a:TEXT").exits(2).says("'a' is given a type twice");
    import(&place, "t.csv --into a.db --schema schema").exits(2).says("'A' is given a type twice");
    import(&place, "t.csv --into a.db --no-header --types a:TEXT,a:TEXT").exits(2).says("twice");
}

#[test]
fn files_that_the_command_line_confuses_are_refused() {
    let place = Place::new();
    place.write("t.csv", "1,2\n3\n");
    import(&place, "t.csv --into a.db --schema /dev/zero").exits(2).says("/dev/zero is longer than 4 MiB");
    import(&place, "t.csv --into a.db --no-header --on-error reject --rejects ./a.db")
        .exits(2)
        .says("--rejects and --into name the same file");
    for ending in ["-journal", "-wal", "-shm"] {
        let rejects = format!("bad.csv --into a.db --on-error reject --rejects ./a.db{ending}");
        import(&place, &rejects).exits(2).says(&format!("a file of SQLite's, a.db{ending}"));
    }
    assert!(!place.path("a.db").exists());
}

/// The most memory that an import into a new database has had, in MiB.
fn peak(place: &Place, arguments: &str) -> u64 {
    let script = "import resource,subprocess,sys;subprocess.run(sys.argv[1:],check=True);\
                  print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss//1024)";
    let dyno = place.command();
    let mut command = Command::new("python3");
    command.current_dir(place.path("")).args(["-c", script]).arg(dyno.get_program()).arg("import");
    for (name, value) in dyno.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.args(arguments.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}

#[test]
fn indexes_that_do_not_fit_the_memory_are_sorted_within_it() {
    let place = Place::new();
    let mut random = fastrand::Rng::with_seed(5);
    let text: String = (0..700_000).map(|_| format!("{},{}\n", random.u64(..), random.i32(..))).collect();
    place.write("t.csv", &text);
    let arguments = "t.csv -q --no-header --safety none --types TEXT,INTEGER --index c2 --index c1,c2";
    // The program's other memory: its own pages, and a piece of text and its records for each thread.
    let besides = 32;
    let most = peak(&place, &format!("{arguments} --into small.db --memory 8MiB"));
    assert!(most <= 8 + besides, "{most} MiB");
    // Without the bound they take more than that.
    let most = peak(&place, &format!("{arguments} --into large.db"));
    assert!(most > 8 + besides, "{most} MiB");
    for by in ["t_c2 WHERE c2 < 5", "t_c1_c2 WHERE c1 < '5'"] {
        let sql = format!("SELECT count(*), sum(c2) FROM t INDEXED BY {by}");
        assert_eq!(query(&place.path("small.db"), &sql), query(&place.path("large.db"), &sql));
    }
}

#[test]
fn a_bad_row_stops_with_its_place_or_is_put_aside() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,x\n\"2\n\",y\n3\n4,z,,\n5,ü\n");
    let types = "--types INTEGER,TEXT";
    import(&place, &format!("t.csv --into a.db {types}"))
        .exits(2)
        .says("t.csv:3: column \"a\": \"2\\n\" is no INTEGER")
        .says("Nothing was loaded; --on-error reject leaves such rows out");
    assert_eq!(names(&place), ["t.csv"]);
    import(&place, &format!("t.csv --into a.db {types} --on-error reject --rejects bad.csv"))
        .exits(3)
        .prints("2 rows into table t")
        .prints("3 bad rows were left out; they are in bad.csv");
    assert_eq!(query(&place.path("a.db"), "SELECT * FROM t"), json!([[1, "x"], [5, "ü"]]));
    let bad = fs::read_to_string(place.path("bad.csv")).unwrap();
    assert!(bad.contains("5,,\"has 1 field, not 2\",3,3\n"), "{bad}");
    assert!(bad.contains("6,,\"has 4 fields, not 2\",\"4, z, , \",4,z,,\n"), "{bad}");
    // Rejected rows of an earlier import are not written over, and nothing is loaded.
    import(&place, &format!("t.csv --into b.db {types} --on-error reject --rejects bad.csv"))
        .exits(2)
        .says("bad.csv is there already")
        .says("--rejects names another");
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

#[test]
fn bad_files_are_reported_and_leave_nothing() {
    let place = Place::new();
    place.write("empty.csv", "");
    place.write("quote.csv", "a,b\n1,2\n3,\"4\n5,6\n");
    place.write("many.csv", "a,b\n1,2\n1,2,3\n");
    place.write("zero.csv", "a\0,b\n");
    fs::write(place.path("table.xz"), b"\xfd7zXZ\0\0\x04").unwrap();
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
        ("quote.csv", "quote.csv:3: \"3, \\\"4\\n5,6\\n\" has a quote that is never closed"),
        ("many.csv", "many.csv:3: \"1, 2, 3\" has 3 fields, not 2"),
        ("zero.csv", "zero bytes are at least a tenth of the beginning of zero.csv"),
        ("wide.csv", "too many columns on wide"),
        ("long.csv", "long.csv:2001: the record that begins here is longer than 128 MiB"),
        ("long.csv --memory 16MiB", "longer than 4 MiB; more --memory holds longer ones"),
        ("cut.csv.gz", "cannot read cut.csv.gz"),
        ("cut.csv.zst", "cannot read cut.csv.zst"),
        ("none.csv", "cannot open none.csv"),
        ("data", "data is a folder"),
        ("many.csv --types INTEGER", "--types gives 1 of the types of 2 columns"),
        ("many.csv --types INTEGER,POINT", "SQLite has no type 'POINT'"),
        ("many.csv --types a:,b:TEXT", "leaves a column or its type out: write column:TYPE"),
        ("many.csv --types a:TEXT,:TEXT", "leaves a column or its type out: write column:TYPE"),
        ("many.csv --types INTEGER,DATE", "is no date of the form YYYY-MM-DD"),
        ("many.csv --index c", "the table has no column 'c'"),
        ("many.csv --index a,b,A", "names the column 'A' twice"),
        ("many.csv --index a,b --index a --index a,b", "two --index would have one name, a_b"),
        ("many.csv --primary-key b,b", "--primary-key names the column 'b' twice"),
        ("many.csv --table=", "--table names no table"),
        ("many.csv --memory 64", "--memory 64 means 64 bytes"),
        ("table.xz", "table.xz is packed by xz"),
        ("many.csv --encoding klingon", "no encoding is called 'klingon'"),
        ("many.csv --delimiter ab", "one ASCII character"),
        ("many.csv --rejects x.csv", "add --on-error reject"),
        ("many.csv --max-rejects 3", "add --on-error reject"),
    ] {
        import(&place, &format!("{file} --into a.db")).exits(2).says(said);
        assert_eq!(names(&place), before, "{file}");
    }
    for (into, said) in [
        ("nowhere/a.db", "cannot make a file in nowhere"),
        ("data", "data is a folder: name the database's file, as data/my.db"),
        ("new/", "new/ is a folder: name the database's file, as new/my.db"),
        ("/dev/null", "/dev/null is no file, so it can be no database"),
        ("many.csv", "many.csv is no database of SQLite, or an encrypted one"),
    ] {
        import(&place, &format!("many.csv --into {into}")).exits(2).says(said);
        assert_eq!(names(&place), before, "{into}");
    }
    place.write("twice.csv", "a,A,a\n1,2,3\n");
    import(&place, "twice.csv --into c.db --header").exits(0);
    assert_eq!(query(&place.path("c.db"), "SELECT a, A_2, a_3 FROM twice"), json!([[1, 2, 3]]));
    import(&place, "quote.csv --into a.db --no-quotes").exits(0).prints("3 rows");
    let said = import(&place, "wide.csv --into w.db").exits(2).stderr;
    assert!(said.len() < 1_000, "{said}");
    import(&place, "wide.csv --into w.db --columns c5,c7")
        .exits(0)
        .prints("2 columns (c5 INTEGER, c7 INTEGER)");
    place.write("header.csv", "a,b\n");
    import(&place, "header.csv --into b.db --header").exits(0).prints("0 rows");
    assert_eq!(query(&place.path("b.db"), "SELECT count(*) FROM header"), json!([[0]]));
}

#[test]
fn no_more_rows_are_left_out_than_allowed_and_not_all() {
    let place = Place::new();
    place.write("t.csv", "id,v\n1,a\nx,b\ny,c\n2,d\n");
    let reject = "--types INTEGER,TEXT --header --on-error reject";
    for key in ["", "--comment #"] {
        import(&place, &format!("t.csv --into a.db {reject} {key} --max-rejects 1"))
            .exits(2)
            .says("t.csv:4: column \"id\"")
            .says("Nothing was loaded, for --max-rejects 1 allows no more bad rows");
        assert_eq!(names(&place), ["t.csv"]);
        import(&place, &format!("t.csv --into a.db {reject} {key} --max-rejects 2")).exits(3);
        assert_eq!(query(&place.path("a.db"), "SELECT id FROM t"), json!([[1], [2]]));
        fs::remove_file(place.path("a.db")).unwrap();
        fs::remove_file(place.path("t.rejects.csv")).unwrap();
        place.write("all.csv", "id,v\nx,b\ny,c\n");
        import(&place, &format!("all.csv --into a.db {reject} {key}"))
            .exits(2)
            .says("all of its rows are bad (2)");
        fs::remove_file(place.path("all.csv")).unwrap();
        assert_eq!(names(&place), ["t.csv"]);
    }
}

#[test]
fn a_rejected_line_of_json_is_kept_as_it_is() {
    let place = Place::new();
    let lines = [
        r#"{"id":1,"v":"a"}"#,
        r#"{"id": 1, "v":""}"#,
        r#"{"id":1,"v":null}"#,
        r#"{"id":1}"#,
        r#"{"id":2,"v":"\u00e9"}"#,
        r#"{"id":"","v":"b"}"#,
    ];
    place.write("t.jsonl", &lines.join("\n"));
    for options in ["", " --skip-columns v"] {
        let into = "t.jsonl --into a.db --primary-key id --on-error reject --types id:INTEGER";
        import(&place, &format!("{into}{options}")).exits(3).prints("2 rows into");
        let mut rejects = csv::Reader::from_path(place.path("t.rejects.csv")).unwrap();
        // What the parser rejects comes before what SQLite refuses.
        let kept: BTreeSet<String> =
            rejects.records().map(|record| record.unwrap().iter().skip(4).collect()).collect();
        assert_eq!(kept, [lines[1], lines[2], lines[3], lines[5]].map(String::from).into(), "{options}");
        fs::remove_file(place.path("a.db")).unwrap();
        fs::remove_file(place.path("t.rejects.csv")).unwrap();
    }
}

#[test]
fn an_empty_key_is_a_bad_row_and_no_number_is_made_up() {
    let place = Place::new();
    place.write("t.csv", "id,x\n5,a\n,b\n7,c\n");
    for types in ["", "--types id:REAL,x:TEXT", "--primary-key id,x"] {
        let key = if types.starts_with("--primary") {
            types.to_owned()
        } else {
            format!("{types} --primary-key id")
        };
        import(&place, &format!("t.csv --into a.db {key}"))
            .exits(2)
            .says("t.csv:3: column \"id\": \"\" is no value, and the column needs one");
        import(&place, &format!("t.csv --into a.db {key} --on-error reject --rejects r.csv")).exits(3);
        assert_eq!(query(&place.path("a.db"), "SELECT x FROM t ORDER BY x"), json!([["a"], ["c"]]));
        import(&place, "t.csv --into a.db --append").exits(2).says("t.csv:3: column \"id\"");
        fs::remove_file(place.path("a.db")).unwrap();
        fs::remove_file(place.path("r.csv")).unwrap();
    }
}

#[test]
fn an_import_that_cannot_print_its_summary_is_an_import() {
    let place = Place::new();
    place.write("t.csv", "id,v\n1,a\n");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = place.command();
    command.args(["import", "t.csv", "--into", "a.db"]).stdout(full);
    let result = crate::common::Result::from(command.output().unwrap()).without_panic();
    result.exits(0).says("1 row is loaded, but: cannot write the result");
    assert_eq!(query(&place.path("a.db"), "SELECT id FROM t"), json!([[1]]));
}

#[test]
fn zeros_behind_what_gzip_packed_are_passed_over() {
    let place = Place::new();
    // gzip of "id,v\n1,a\n", stored and not compressed.
    let text = b"id,v\n1,a\n";
    let length = [text.len() as u8, 0, !(text.len() as u8), 0xff];
    let mut packed = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1][..], &length, text].concat();
    packed.extend(crc(text).to_le_bytes());
    packed.extend((text.len() as u32).to_le_bytes());
    fs::write(place.path("t.csv.gz"), [&packed[..], &[0; 1000]].concat()).unwrap();
    import(&place, "t.csv.gz --into a.db").exits(0).prints("1 row into table t");
    fs::write(place.path("u.csv.gz"), [&packed[..], b"\0\0x"].concat()).unwrap();
    import(&place, "u.csv.gz --into u.db").exits(2).says("neither packed by gzip nor zeros");
}

/// The checksum of gzip, bit by bit.
fn crc(text: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(
            sum ^ u32::from(*byte),
            |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 },
        )
    };
    !text.iter().fold(u32::MAX, step)
}

#[test]
fn a_pipe_that_would_be_read_twice_is_refused() {
    let place = Place::new();
    place.write("a.csv", "1,2\n3,4\n");
    place.write("b.csv", "5,6\n7,8\n");
    place.write("a.jsonl", "{\"a\":1}\n");
    let bash = |command: &str| {
        let program = env!("CARGO_BIN_EXE_dyno");
        let line = format!("{program} import {command}");
        let mut bash = Command::new("bash");
        Result::from(bash.args(["-c", &line]).current_dir(place.path("")).output().unwrap())
    };
    bash("a.csv <(cat b.csv) --table t --into a.db").exits(2).says("can be read only once: --header or");
    bash("a.csv <(cat b.csv) --table t --into a.db --no-header").exits(0).prints("4 rows");
    let json = "a.jsonl <(echo '{\"a\":2}') --table t --into b.db";
    bash(json).exits(2).says("can be read only once: name it as the first file");
}

#[test]
fn a_byte_order_mark_of_the_other_order_is_no_text() {
    let place = Place::new();
    let big: Vec<u8> = "\u{feff}a,b\n1,2\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    fs::write(place.path("big.csv"), big).unwrap();
    import(&place, "big.csv --encoding utf-16 --header --into a.db")
        .exits(2)
        .says("begins with the byte order mark of UTF-16BE");
    import(&place, "big.csv --header --into a.db").exits(0).prints("1 row");
}

#[test]
fn a_byte_order_mark_of_another_encoding_is_no_text() {
    let place = Place::new();
    let wide: Vec<u8> = "\u{feff}id,n\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(place.path("wide.csv"), wide).unwrap();
    place.write("marked.csv", "\u{feff}id,n\n1,é\n");
    for (file, encoding, mark, name) in [
        ("marked.csv", "latin1", "UTF-8", "windows-1252"),
        ("marked.csv", "shift_jis", "UTF-8", "Shift_JIS"),
        ("wide.csv", "utf-8", "UTF-16LE", "UTF-8"),
    ] {
        let said = import(&place, &format!("{file} --encoding {encoding} --into a.db")).exits(2);
        said.says(&format!(
            "{file}: it begins with the byte order mark of {mark}, and --encoding says {name}: leave --encoding out"
        ));
    }
    import(&place, "marked.csv --encoding utf-8 --into a.db").exits(0);
    assert_eq!(query(&place.path("a.db"), "SELECT id, n FROM marked"), json!([[1, "é"]]));
}
