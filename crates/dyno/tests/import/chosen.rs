//! Several files, chosen columns, other ways to write values, keys that are there already, and JSON Lines.

use serde_json::json;

use super::{import, names, query};
use crate::common::Place;

#[test]
fn several_files_go_into_one_table_with_their_names() {
    let place = Place::new();
    place.write("a.csv", "id,n\n1,10\n2,\n");
    place.write("b.csv", "n,id\n30,3\n");
    place.write("c.csv", "id,n\n4,late\n");
    import(&place, "a.csv b.csv --into a.db").exits(2).says("name it by --table");
    let said = import(&place, "a.csv b.csv --table t --file-column file --into a.db").exits(0).stdout.clone();
    assert!(said.contains("3 rows into table t from a.csv and 1 more"), "{said}");
    let rows = json!([[1, 10, "a.csv"], [2, null, "a.csv"], [3, 30, "b.csv"]]);
    assert_eq!(query(&place.path("a.db"), "SELECT id, n, file FROM t"), rows);
    // Types see all files, and a bad row is one of its own file.
    import(&place, "a.csv b.csv c.csv --table u --into a.db").exits(0).prints("n TEXT");
    for preview in ["--dry-run", "--explain"] {
        import(&place, &format!("a.csv b.csv c.csv --table w --into a.db {preview}"))
            .exits(0)
            .prints("n TEXT: line 2 of c.csv has \"late\"")
            .prints("as \"1\" on line 2 of a.csv");
    }
    import(&place, "a.csv c.csv --table v --types n:INTEGER --into a.db")
        .exits(2)
        .says("c.csv:2: column \"n\": \"late\"");
    place.write("d.csv", "id,m\n4,5\n");
    import(&place, "a.csv d.csv --table v --into a.db")
        .exits(2)
        .says("d.csv has the columns id, m, and the first file has id, n");
}

#[test]
fn columns_are_chosen_renamed_and_left_out() {
    let place = Place::new();
    place.write("t.csv", "id,first name,size\n1,Ann,2.5\n2,Bob,\n");
    import(&place, "t.csv --into a.db --columns size,id=number").exits(0).prints("size REAL, number INTEGER");
    assert_eq!(query(&place.path("a.db"), "SELECT * FROM t"), json!([[2.5, 1], [null, 2]]));
    import(&place, "t.csv --into b.db --skip-columns size --primary-key id").exits(0);
    assert_eq!(query(&place.path("b.db"), "SELECT * FROM t"), json!([[1, "Ann"], [2, "Bob"]]));
    import(&place, "t.csv --into c.db --columns id,weight").exits(2).says("the file has no column 'weight'");
    place.write("bad.csv", "id,first name,size\n1,Ann\n");
    import(&place, "bad.csv --header --into c.db --columns id")
        .exits(2)
        .says("bad.csv:2: ")
        .says("has 2 fields, not 3");
}

#[test]
fn values_are_read_as_their_types_say_they_are_written() {
    let place = Place::new();
    place.write("t.csv", "day;price;paid\n31.12.2024;1.234,50;yes\n29.02.2024;;no\n");
    place.write("schema", "# as the shop writes it\nday DATE(DD.MM.YYYY)\nprice REAL(,)\npaid BOOLEAN\n");
    import(&place, "t.csv --into a.db --schema schema").exits(0).prints("day TEXT, price REAL, paid INTEGER");
    let rows = json!([["2024-12-31", 1234.5, 1], ["2024-02-29", null, 0]]);
    assert_eq!(query(&place.path("a.db"), "SELECT * FROM t"), rows);
    import(&place, "t.csv --into a.db --append --types day:DATE(DD.MM.YYYY),price:REAL(,),paid:BOOLEAN")
        .exits(0);
    assert_eq!(query(&place.path("a.db"), "SELECT count(*), count(DISTINCT day) FROM t"), json!([[4, 2]]));
    place.write("t.csv", "day;price;paid\n31.02.2024;1;yes\n");
    import(&place, "t.csv --into b.db --schema schema")
        .exits(2)
        .says("t.csv:2: column \"day\": \"31.02.2024\" is no date of the form DD.MM.YYYY");
    for line in ["day", "\"day\"", "\"day TEXT", "\"\" TEXT"] {
        place.write("schema", &format!("{line}\n"));
        import(&place, "t.csv --into b.db --schema schema")
            .exits(2)
            .says("schema:1: write a column and its type, as id INTEGER or \"order date\" TEXT");
    }
}

#[test]
fn a_file_of_types_may_put_names_in_quotes_and_begin_with_a_mark() {
    let place = Place::new();
    place.write("t.csv", "order date,\"a \"\"b\"\"\",n\n2024,5,6\n");
    place.write("schema", "\u{feff}\"order date\" TEXT,\n\"a \"\"b\"\"\"\tREAL\nn TEXT\n");
    let made = "3 columns (order date TEXT, a \"b\" REAL, n TEXT)";
    import(&place, "t.csv --into a.db --header --schema schema").exits(0).prints(made);
    place.write("schema", "\u{feff}n REAL\n");
    import(&place, "t.csv --into b.db --header --schema schema").exits(0).prints("n REAL)");
}

#[test]
fn types_name_the_columns_of_a_file_without_a_header_unless_they_have_such_names() {
    let place = Place::new();
    place.write("t.csv", "1,x\n2,y\n");
    let load =
        |types: &str| import(&place, &format!("t.csv --into a.db --no-header --replace --types {types}"));
    for types in ["c2:TEXT,c1:INTEGER", "C1:INTEGER,c2:TEXT"] {
        load(types).exits(0).prints("(c1 INTEGER, c2 TEXT)");
        assert_eq!(
            query(&place.path("a.db"), "SELECT c1, c2 FROM t"),
            json!([[1, "x"], [2, "y"]]),
            "{types}"
        );
    }
    load("a:INTEGER,b:TEXT").exits(0).prints("(a INTEGER, b TEXT)");
    load("a:INTEGER,c2:TEXT").exits(2).says("--types names 'a', which is no column; there are c1, c2");
}

#[test]
fn null_is_looked_for_before_a_value_is_written_in_another_form() {
    let place = Place::new();
    place.write("t.csv", "d,b,r\nNA,no,NA\n31.12.2020,NA,\"0,0\"\n");
    let types = "--types d:DATE(DD.MM.YYYY),b:BOOLEAN,r:REAL(,)";
    import(&place, &format!("t.csv --into a.db --header --null NA --null 0 --null 0.0 {types}")).exits(0);
    let rows = json!([[null, 0, null], ["2020-12-31", null, 0.0]]);
    assert_eq!(query(&place.path("a.db"), "SELECT * FROM t"), rows);
}

#[test]
fn rejected_rows_are_written_as_their_file_has_them() {
    let place = Place::new();
    place.write("make.csv", "k,d,b,r\n9,2020-01-01,1,0.5\n");
    import(&place, "make.csv --into a.db --table t --primary-key k").exits(0);
    let head = "k,d,b,r,more";
    let rows = "1,31.02.2020,yes,\"1,5\",a\n2,31.12.2020,Yes,NA,b\n2,31.12.2020,no,\"1,50\",c\n";
    place.write("t.csv", &format!("{head}\n{rows}"));
    let arguments = "t.csv --into a.db --append --skip-columns more --null NA --on-error reject";
    let types = "--types d:DATE(DD.MM.YYYY),b:BOOLEAN,r:REAL(,)";
    import(&place, &format!("{arguments} {types}")).exits(3).prints("2 bad rows were left out");
    let rejects = std::fs::read_to_string(place.path("t.rejects.csv")).unwrap();
    let records: Vec<&str> = rejects.lines().skip(1).collect();
    assert!(records[0].ends_with(",31.02.2020,1,31.02.2020,yes,\"1,5\",a"), "{rejects}");
    assert!(records[1].ends_with(",2,31.12.2020,no,\"1,50\",c"), "{rejects}");
    // A number that the database refuses is spelled as in the file, too.
    place.write("u.csv", "k,r\n9,1.10\n10,2\n");
    import(&place, "u.csv --into a.db --table t --append --on-error reject --rejects u.rejects").exits(3);
    let rejects = std::fs::read_to_string(place.path("u.rejects")).unwrap();
    assert!(rejects.trim_end().ends_with(",9,1.10"), "{rejects}");
}

#[test]
fn rows_whose_key_is_there_are_skipped_or_updated() {
    let place = Place::new();
    place.write("t.csv", "id,n,x\n1,10,a\n2,20,b\n");
    import(&place, "t.csv --into a.db --primary-key id").exits(0);
    place.write("more.csv", "id,n\n2,21\n3,30\n3,31\n");
    let load = |what: &str| import(&place, &format!("more.csv --table t --into a.db --append {what}"));
    load("").exits(2).says("more.csv:2:").says("UNIQUE constraint failed");
    load("--on-conflict skip")
        .exits(0)
        .prints("3 rows merged into table t from more.csv (1 added, 2 skipped), 2 columns");
    assert_eq!(
        query(&place.path("a.db"), "SELECT * FROM t"),
        json!([[1, 10, "a"], [2, 20, "b"], [3, 30, null]])
    );
    load("--on-conflict update")
        .exits(0)
        .prints("3 rows merged into table t from more.csv (0 added, 3 updated), 2 columns");
    assert_eq!(
        query(&place.path("a.db"), "SELECT * FROM t"),
        json!([[1, 10, "a"], [2, 21, "b"], [3, 31, null]])
    );
    // A row that another constraint refuses takes none of those before it with it.
    query(&place.path("a.db"), "CREATE UNIQUE INDEX u ON t (x)");
    place.write("other.csv", "id,x\n4,d\n1,b\n5,e\n");
    let other =
        "other.csv --table t --into a.db --append --on-conflict update --on-error reject --rejects r.csv";
    import(&place, other).exits(3).prints("2 rows merged");
    let ids = query(&place.path("a.db"), "SELECT id, x FROM t ORDER BY id");
    assert_eq!(ids, json!([[1, "a"], [2, "b"], [3, null], [4, "d"], [5, "e"]]));
    load("--on-conflict update --key n").exits(2).says("ON CONFLICT clause does not match");
    import(&place, "t.csv --into b.db --on-conflict skip").exits(2).says("add --append");
}

#[test]
fn lines_of_json_are_rows() {
    let place = Place::new();
    let text = "{\"id\": 1, \"zip\": \"01234\", \"n\": 1.5}\n\n{\"id\":2,\"zip\":\"12345\",\"tags\":[1,\"a\"],\"n\":null}\n";
    place.write("t.jsonl", text);
    import(&place, "t.jsonl --into a.db").exits(0).prints("id INTEGER, zip TEXT, n REAL, tags TEXT");
    let rows = json!([[1, "01234", 1.5, null], [2, "12345", null, "[1,\"a\"]"]]);
    assert_eq!(query(&place.path("a.db"), "SELECT * FROM t"), rows);
    // A string is a text, also where only numbers came before it, and however late it comes.
    let rows: String = (0..100_000).map(|row| format!("{{\"id\":{row},\"code\":{row}}}\n")).collect();
    place.write("late.jsonl", &format!("{rows}{{\"id\":7,\"code\":\"7\",\"more\":1}}\n"));
    import(&place, "late.jsonl --into b.db").exits(0).prints("id INTEGER, code TEXT, more INTEGER");
    place.write("bad.jsonl", "{\"id\":1}\n{\"id\":2\n");
    import(&place, "bad.jsonl --into c.db").exits(2).says("bad.jsonl:2: ").says("is no object of JSON");
    assert_eq!(names(&place), ["a.db", "b.db", "bad.jsonl", "late.jsonl", "t.jsonl"]);
}

#[test]
fn names_that_differ_only_in_case_are_kept_apart() {
    let place = Place::new();
    place.write("f1.csv", "a,A,c\n1,2,9\n");
    place.write("f2.csv", "A,a,c\n3,4,9\n");
    place.write("f3.csv", "c,A,a\n9,5,6\n");
    import(&place, "f1.csv f2.csv f3.csv --header --into a.db --table t").exits(0);
    assert_eq!(
        query(&place.path("a.db"), "SELECT a, A_2, c FROM t"),
        json!([[1, 2, 9], [4, 3, 9], [6, 5, 9]])
    );
    place.write("j.jsonl", "{\"a\":1,\"A\":5}\n{\"a\":3}\n");
    for file in ["f1.csv --header", "j.jsonl"] {
        for option in [
            "--columns A",
            "--skip-columns A",
            "--types A:TEXT",
            "--primary-key A",
            "--index A",
            "--null-in A=2",
        ] {
            import(&place, &format!("{file} --into b.db {option}"))
                .exits(2)
                .says("which differ only in case, so A is called A_2 here");
        }
        import(&place, &format!("{file} --into b.db --table t --columns A_2 --replace")).exits(0);
    }
    assert_eq!(query(&place.path("b.db"), "SELECT A_2 FROM t"), json!([[5], [null]]));
    // The file that made a table can be added to it; another order of names cannot be taken for it.
    import(&place, "f1.csv --header --into a.db --table t --append").exits(0);
    import(&place, "f2.csv --header --into a.db --table t --append")
        .exits(2)
        .says("the table t has no column");
    import(&place, "f2.csv --header --into a.db --table t --append --columns A=A_2,a_2=a,c").exits(0);
    assert_eq!(query(&place.path("a.db"), "SELECT sum(a), sum(A_2) FROM t"), json!([[16, 15]]));
}

#[test]
fn numbers_of_json_have_no_decimal_comma() {
    let place = Place::new();
    place.write("p.jsonl", "{\"p\":\"1.234,5\"}\n{\"p\":2.125}\n{\"p\":null}\n");
    import(&place, "p.jsonl --into a.db --types p:REAL(,)").exits(0);
    assert_eq!(query(&place.path("a.db"), "SELECT p FROM p"), json!([[1234.5], [2.125], [null]]));
}

#[test]
fn what_triggers_make_of_merged_rows_is_not_guessed() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,1\n2,2\n2,3\n4,4\n");
    let make = "CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER); INSERT INTO t VALUES (1, 0); \
                CREATE TRIGGER g BEFORE INSERT ON t WHEN new.a = 2 BEGIN SELECT raise(IGNORE); END";
    let script = "import sqlite3, sys; sqlite3.connect('a.db').executescript(sys.argv[1])";
    let mut python = std::process::Command::new("python3");
    assert!(python.args(["-c", script, make]).current_dir(place.path("")).status().unwrap().success());
    let merged = import(&place, "t.csv --into a.db --append --on-conflict update").exits(0);
    merged.prints("(a row whose key is there is updated, unless a trigger does otherwise)");
    assert_eq!(query(&place.path("a.db"), "SELECT a, b FROM t"), json!([[1, 1], [4, 4]]));
}
