//! The shape of a file: what is decided about header, delimiter, quotes and types is reported, and where two readings
//! are plausible nothing is loaded.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::{import, import_input, names, query};
use crate::common::Place;

#[test]
fn a_header_or_a_delimiter_that_is_not_clear_is_asked_for() {
    let place = Place::new();
    place.write("people.csv", "Ann,Bonn\nBob,Rome\nCid,Oslo\n");
    place.write("years.csv", "country,2019,2020\nDE,1,2\nFR,3,4\n");
    place.write("all.csv", "id,n\n1,2\nid,n\n3,4\n");
    place.write("comma.csv", "1,5;2,5\n3,5;4,5\n");
    place.write("words.txt", "hello\nworld\n");
    place.write("days.csv", "2024-01-01,offline\n2024-01-02,5\n2024-01-03,7\n");
    place.write("year.csv", "country,2019\nDE,5\nFR,7\n");
    place.write("steps.csv", "region,1,2,3\na,5,6,7\n");
    // As pandas writes an index without a name.
    place.write("index.csv", ",0,1,2\n0,5,6,7\n1,8,9,10\n");
    place.write("unnamed.csv", ",2019\nDE,5\nFR,7\n");
    place.write("form.csv", "What is your name?,City\nAnn,Bonn\n");
    place.write("ragged.csv", "id;name\n1;a\n2;b;c\n3;d;e;f\n4;g;h;i;j\n");
    let before = names(&place);
    for (file, asked) in [
        ("people.csv", "Say --header if it does, --no-header if it is data"),
        ("words.txt", "Say --header if it does, --no-header if it is data"),
        ("years.csv", "numbers that may be years"),
        ("all.csv", "record 3 is the first one again"),
        ("comma.csv", "Say --delimiter"),
        ("days.csv", "a field that reads like those below it. Say --header"),
        ("year.csv", "numbers that may be names of columns"),
        ("steps.csv", "numbers that may be names of columns"),
        ("index.csv", "numbers that may be names of columns"),
        ("unnamed.csv", "numbers that may be names of columns"),
        ("form.csv", "neither names as most columns have them nor values. Say --header"),
        ("ragged.csv", "';' stands in 100 % of the first records"),
    ] {
        import(&place, &format!("{file} --into a.db")).exits(2).says(asked);
        assert_eq!(names(&place), before, "{file}");
    }
    let load = |arguments: &str, table: &str| {
        let said = import(&place, &format!("{arguments} --into a.db --replace")).exits(0).stdout.clone();
        (said, query(&place.path("a.db"), &format!("SELECT * FROM {table}")))
    };
    let (said, rows) = load("people.csv --no-header", "people");
    assert_eq!(rows, json!([["Ann", "Bonn"], ["Bob", "Rome"], ["Cid", "Oslo"]]));
    assert!(said.contains("the first record is data (as asked; --header takes names from it)"), "{said}");
    let (said, rows) = load("years.csv --header", "years");
    assert_eq!(rows, json!([["DE", 1, 2], ["FR", 3, 4]]));
    let last =
        "2 rows into table years from years.csv, 3 columns (country TEXT, 2019 INTEGER, 2020 INTEGER), in ";
    assert!(said.lines().last().unwrap().starts_with(last), "{said}");
    let (said, rows) = load("comma.csv --delimiter ; --no-header", "comma");
    assert_eq!(rows, json!([["1,5", "2,5"], ["3,5", "4,5"]]));
    assert!(said.contains("Delimiter ';' (as asked; --delimiter names another)"), "{said}");
    // The table's own columns say what the first record is.
    place.write("more.csv", "Dan,Lima\nEve,Kiel\n");
    import(&place, "more.csv --into a.db --table people --append")
        .exits(0)
        .prints("no name of the table's columns");
    place.write("more.csv", "C2,C1\nRiga,Fay\n");
    import(&place, "more.csv --into a.db --table people --append").exits(0);
    assert_eq!(query(&place.path("a.db"), "SELECT count(*), max(c1) FROM people"), json!([[6, "Fay"]]));
}

#[test]
fn a_ragged_row_does_not_hide_the_delimiter() {
    let place = Place::new();
    place.write("f.csv", "id;name\n1;a\n2;b;c\n");
    import(&place, "f.csv --into a.db").exits(2).says("f.csv:3: \"2, b, c\" has 3 fields, not 2");
    import(&place, "f.csv --into a.db --on-error reject").exits(3).prints("Delimiter ';'");
    assert_eq!(query(&place.path("a.db"), "SELECT id, name FROM f"), json!([[1, "a"]]));
    place.write("sheet.csv", "sep=;\r\nid;price\r\n1;2,50\r\n");
    import(&place, "sheet.csv --into a.db").exits(0).prints("(the first line is sep=;");
    assert_eq!(query(&place.path("a.db"), "SELECT id, price FROM sheet"), json!([[1, "2,50"]]));
}

#[test]
fn a_pattern_that_no_shell_expanded_names_files() {
    let place = Place::new();
    for (name, id) in [("b.csv", 2), ("a.csv", 1), (".c.csv", 3), ("d.tsv", 4)] {
        place.write(name, &format!("id,n\n{id},5\n"));
    }
    import(&place, "*.csv --table t --into a.db").exits(0);
    assert_eq!(query(&place.path("a.db"), "SELECT id FROM t"), json!([[1], [2]]));
    import(&place, "*.json --table t --into a.db --append").exits(2).says("no file matches '*.json'");
    // A file of that very name is no pattern, and one that a pattern finds alone names its table.
    place.write("?.csv", "id,n\n9,5\n");
    import(&place, "?.csv --table q --into a.db").exits(0);
    assert_eq!(query(&place.path("a.db"), "SELECT id FROM q"), json!([[9]]));
    import(&place, "*.tsv --into a.db --delimiter ,").exits(0).prints("1 row into table d from d.tsv");
}

#[test]
fn types_are_read_from_a_pipe() {
    let place = Place::new();
    place.write("t.csv", "id\n1\n");
    let mut shell = Command::new("sh");
    shell.args(["-c", "echo 'id TEXT' | \"$DYNO\" import t.csv --into a.db --header --schema /dev/stdin"]);
    shell.current_dir(place.path("")).env("DYNO", place.command().get_program()).env("TMPDIR", place.data());
    assert!(shell.status().unwrap().success());
    assert_eq!(query(&place.path("a.db"), "SELECT typeof(id) FROM t"), json!([["text"]]));
}

#[test]
fn a_header_that_comes_again_far_behind_is_no_text_in_every_column() {
    let place = Place::new();
    let rows: String = (0..200_000).map(|row| format!("{row},{row}\n")).collect();
    place.write("all.csv", &format!("id,n\n{rows}id,n\n1,2\n"));
    import(&place, "all.csv --into a.db").exits(2).says("all.csv:200002: the record repeats the header");
    assert_eq!(names(&place), ["all.csv"]);
}

#[test]
fn what_is_no_table_of_text_is_refused() {
    let place = Place::new();
    place.write("e.csv", "<!DOCTYPE html>\n<html><body>Not, found</body></html>\n");
    place.write("j.json", "[\n {\"id\": 1, \"n\": 2},\n {\"id\": 2, \"n\": 3}\n]\n");
    import(&place, "e.csv --into a.db").exits(2).says("e.csv is a page of HTML or XML");
    import(&place, "j.json --into a.db")
        .exits(2)
        .says("j.json is JSON, of which dyno reads one object on each line");
    assert_eq!(names(&place), ["e.csv", "j.json"]);
}

#[test]
fn what_stands_behind_a_closing_quote_is_a_bad_row() {
    let place = Place::new();
    let text =
        "id,x,y\n1,\"5\" pipe,a\n2,5\" pipe,b\n3,\"a \\\", b\"\n4,\"say \"\"hi\"\"\",c\n5,\"C:\\\",\"d\"\n";
    place.write("q.csv", text);
    import(&place, "q.csv --into a.db").exits(2).says("q.csv:2: ").says("has text behind a closing quote");
    let rows = json!([[2, "5\" pipe", "b"], [4, "say \"hi\"", "c"], [5, "C:\\", "d"]]);
    // By the page writer, and by SQLite's inserts.
    for (into, key) in [("a.db", ""), ("b.db", "--comment #")] {
        let arguments = format!("q.csv --into {into} --on-error reject --rejects {into}.csv {key}");
        import(&place, &arguments).exits(3).prints("2 bad rows were left out");
        assert_eq!(query(&place.path(into), "SELECT * FROM q"), rows, "{into}");
        let rejects = fs::read_to_string(place.path(&format!("{into}.csv"))).unwrap();
        assert!(rejects.contains("\n2,,\"has text behind a closing quote"), "{rejects}");
        assert!(rejects.contains("\n4,,\"has a backslash before a closing quote"), "{rejects}");
        assert!(rejects.contains(",1,\"\"\"5\"\" pipe\",a\n"), "{rejects}");
    }
    place.write("e.csv", "id,x,y\n1,\"a \\\", b\",c\n2,\"\\\\ \\n\",d\n");
    import(&place, "e.csv --into e.db --escape \\").exits(0);
    assert_eq!(
        query(&place.path("e.db"), "SELECT * FROM e"),
        json!([[1, "a \", b", "c"], [2, "\\ \\n", "d"]])
    );
}

#[test]
fn a_quote_that_is_never_closed_is_one_bad_row() {
    let place = Place::new();
    place.write("q.csv", "id,x\n1,a\n2,\"b\n3,c\n");
    import(&place, "q.csv --into a.db").exits(2).says("q.csv:3: ").says("never closed");
    for (into, key) in [("a.db", ""), ("b.db", "--comment #")] {
        let arguments = format!("q.csv --into {into} --on-error reject --rejects {into}.csv {key}");
        import(&place, &arguments).exits(3);
        assert_eq!(query(&place.path(into), "SELECT * FROM q"), json!([[1, "a"]]));
        let rejects = fs::read_to_string(place.path(&format!("{into}.csv"))).unwrap();
        assert!(
            rejects.contains("has a quote that is never closed") && rejects.contains("b\n3,c"),
            "{rejects}"
        );
    }
}

#[test]
fn quotes_comments_skipped_lines_and_spellings_of_null_are_as_asked() {
    let place = Place::new();
    place.write("t.txt", "made by x\n# and y\nid;name;code\n1;'it''s; so';NA\n# no;row\n2;NA;NA\n");
    import(&place, "t.txt --into a.db --skip 1 --comment # --quote ' --null-in code=NA")
        .exits(0)
        .prints("';'");
    let rows = json!([[1, "it's; so", null], [2, "NA", null]]);
    place.write("n.csv", "id,n\n1,NA\n2,5\n");
    import(&place, "n.csv --into n.db --null-in n=NA").exits(0).prints("n INTEGER");
    assert_eq!(query(&place.path("a.db"), "SELECT * FROM t"), rows);
    import(&place, "t.txt --into b.db --skip 2 --comment # --quote ' --null-in kode=NA")
        .exits(2)
        .says("--null-in names 'kode', which is no column");
    place.write("u.csv", "a report\n\nid,n\n1,2\n");
    import(&place, "u.csv --into b.db --skip 1").exits(0);
    import(&place, "u.csv --into b.db --skip 1 --table v --types INTEGER,INTEGER --no-header")
        .exits(2)
        .says("u.csv:3: column \"c1\"");
    assert_eq!(query(&place.path("b.db"), "SELECT id, n FROM u"), json!([[1, 2]]));
    import(&place, &format!("n.csv --into b.db --skip {}", u64::MAX))
        .exits(2)
        .says("n.csv is empty behind the lines that --skip leaves out");
}

#[test]
fn a_zero_byte_is_a_letter_wherever_it_stands() {
    let place = Place::new();
    let long = "x".repeat(50);
    for padding in [50, 9_000] {
        let text = format!("id,x\n{}1,a\0b {long}\n", format!("0,{long}\n").repeat(padding / 50));
        place.write("z.csv", &text);
        import(&place, "z.csv --into z.db --replace").exits(0);
        let found = query(&place.path("z.db"), "SELECT hex(x) LIKE '61006220%' FROM z WHERE id = 1");
        assert_eq!(found, json!([[1]]), "{padding}");
    }
    let wide: Vec<u8> = "id,x\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(place.path("w.csv"), wide).unwrap();
    import(&place, "w.csv --into w.db").exits(2).says("--encoding utf-16le");
    import(&place, "w.csv --into w.db --encoding utf-16le").exits(0);
}

#[test]
fn a_preview_says_which_value_decided_each_type() {
    let place = Place::new();
    let rows: String = (0..200_000).map(|row| format!("{row},{row},\n")).collect();
    place.write("t.csv", &format!("id,code,none\n{rows}7,007,\n"));
    let said = import(&place, "t.csv --into a.db --dry-run").exits(0).stdout.clone();
    for wanted in [
        "-- id INTEGER: every value is a whole number, as \"0\" on line 2",
        "-- code TEXT: line 200002 has \"007\", which is a text, or a number that would print differently",
        "-- none TEXT: no value was seen",
        "-- Delimiter ',' (by the file's name;",
        "-- row: 0 | 0 | \n-- row: 1 | 1 | \n-- row: 2 | 2 | \n",
        "CREATE TABLE \"t\"",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    let columns = "t.csv --into a.db --columns code,id=n --dry-run --skip 1 --no-header";
    import(&place, columns).exits(2).says("code");
    import(&place, "t.csv --into a.db --columns code,id=n --dry-run").exits(0).prints("-- row: 1 | 1\n");
    import(&place, "t.csv --into a.db --explain").exits(0).prints("line 200002 has \"007\"");
    assert_eq!(names(&place), ["t.csv"]);
}

#[test]
fn nothing_of_a_file_gets_out_of_the_comments_of_a_preview() {
    let place = Place::new();
    let hostile = "x\nDROP TABLE a;--";
    place.write("t.csv", &format!("\"{hostile}\",n\n\"{hostile}\",1\n"));
    let said = import(&place, "t.csv --header --into a.db --dry-run").exits(0).stdout.clone();
    // One statement is left, whose quoted name holds the ends of lines.
    let script: Vec<&str> = said.split_inclusive('\n').skip_while(|line| line.starts_with("--")).collect();
    assert_eq!(script.concat(), format!("CREATE TABLE \"t\" (\"{hostile}\" TEXT, \"n\" INTEGER);\n"));
}

#[test]
fn standard_input_that_is_not_clear_is_asked_about_too() {
    let place = Place::new();
    import_input(&place, "- --into a.db --table t", b"Ann,Bonn\nBob,Rome\n").exits(2).says("--no-header");
    assert!(names(&place).is_empty());
}
