//! Types see the whole file, however long it is: random files of more than a mebibyte against an oracle that knows how
//! each value was made.

use std::fs;

use fastrand::Rng;
use serde_json::json;

use super::{import, query};
use crate::common::Place;

/// The type that a value needs, the narrowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Needs {
    Nothing,
    Integer,
    Real,
    Text,
}

fn value(needs: Needs, random: &mut Rng) -> String {
    match needs {
        Needs::Nothing => String::new(),
        Needs::Integer => random.i32(..).to_string(),
        Needs::Real => format!("{}.5", random.i32(1..1_000_000)),
        Needs::Text => ["007", "x", "1e999", "+1", "a \"\"b\"\"", "2024-01-01"][random.usize(..6)].to_owned(),
    }
}

/// A file and what each of its columns is: most values are empty, or of one kind, up to a place of which one value or
/// more are of a wider kind.
fn file(random: &mut Rng) -> (String, Vec<Needs>) {
    let kinds = [Needs::Nothing, Needs::Integer, Needs::Real, Needs::Text];
    let columns = random.usize(2..6);
    let usual: Vec<Needs> = (0..columns).map(|_| kinds[random.usize(..4)]).collect();
    let late: Vec<Option<Needs>> =
        (0..columns).map(|_| random.bool().then(|| kinds[random.usize(..4)])).collect();
    let length = random.usize((1 << 20) + 1..3 << 20);
    let turn = random.usize(1 << 20..length);
    let header: Vec<String> = (0..columns).map(|column| format!("name_{column}")).collect();
    let (mut text, mut found) = (format!("id,{}\n", header.join(",")), vec![Needs::Nothing; columns]);
    let quoted = random.bool();
    for row in 0.. {
        let is_last = text.len() >= length;
        text += &row.to_string();
        for column in 0..columns {
            let is_late = is_last || text.len() > turn && random.u32(..2_000) == 0;
            let needs = late[column].filter(|_| is_late).unwrap_or(usual[column]);
            let needs = if random.u32(..3) == 0 && !is_late { Needs::Nothing } else { needs };
            found[column] = found[column].max(needs);
            let value = value(needs, random);
            match quoted || value.contains('"') {
                true => text += &format!(",\"{value}\""),
                false => text += &format!(",{value}"),
            }
        }
        text.push('\n');
        if is_last {
            break;
        }
    }
    (text, found)
}

fn types_are_those_of_the_whole_file(seeds: std::ops::Range<u64>) {
    let place = Place::new();
    for seed in seeds {
        let (text, found) = file(&mut Rng::with_seed(seed));
        place.write("t.csv", &text);
        let key = if seed.is_multiple_of(2) { "" } else { "--comment #" };
        import(&place, &format!("t.csv --into t.db --header --replace --safety none {key}")).exits(0);
        for (column, needs) in found.iter().enumerate() {
            let declared = match needs {
                Needs::Integer => "INTEGER",
                Needs::Real => "REAL",
                Needs::Nothing | Needs::Text => "TEXT",
            };
            let name = format!("name_{column}");
            let sql = format!("SELECT type FROM pragma_table_info('t') WHERE name = '{name}'");
            assert_eq!(
                query(&place.path("t.db"), &sql),
                json!([[declared]]),
                "seed {seed}, {name}: {needs:?}"
            );
            let odd = format!(
                "SELECT count(*) FROM t WHERE \"{name}\" IS NOT NULL AND typeof(\"{name}\") <> '{}'",
                declared.to_lowercase()
            );
            assert_eq!(query(&place.path("t.db"), &odd), json!([[0]]), "seed {seed}, {name}");
        }
    }
}

#[test]
fn types_see_the_whole_file() {
    types_are_those_of_the_whole_file(0..8);
}

#[test]
#[ignore = "make soak: a thousand files of one to three mebibytes"]
fn types_see_the_whole_of_a_thousand_files() {
    types_are_those_of_the_whole_file(1000..2000);
}

#[test]
fn a_column_that_is_empty_in_the_beginning_gets_the_type_of_what_comes_later() {
    let place = Place::new();
    let empty: String = (0..200_000).map(|row| format!("{row},,,\n")).collect();
    let full: String = (0..100).map(|row| format!("{row},{row},0.5,\n")).collect();
    place.write("sp.csv", &format!("id,n,r,nothing\n{empty}{full}"));
    import(&place, "sp.csv --into a.db").exits(0).prints("n INTEGER, r REAL, nothing TEXT");
    let sql = "SELECT count(*) FROM sp WHERE n < 5 AND typeof(r) = 'real'";
    assert_eq!(query(&place.path("a.db"), sql), json!([[5]]));
    // The first record is longer than the beginning that is looked at.
    let long = "a ".repeat(1 << 20);
    place.write("b.csv", &format!("id,n,x\n1,2,\"{long}\"\n2,3,b\n"));
    import(&place, "b.csv --into b.db --header").exits(0).prints("id INTEGER, n INTEGER, x TEXT");
    // So is the header, or what would be it.
    place.write("c.csv", &format!("1,2,\"{long}\"\n2,3,b\n"));
    import(&place, "c.csv --into c.db --no-header").exits(0).prints("c1 INTEGER, c2 INTEGER, c3 TEXT");
    let long = "a ".repeat(5 << 20);
    place.write("d.csv", &format!("id,n,\"x\n{long}\"\n2,3,b\n"));
    import(&place, "d.csv --into d.db --header --types INTEGER,REAL,TEXT")
        .exits(0)
        .prints("1 row into table d");
    import(&place, "d.csv --into e.db --header --memory 16MiB").exits(2).says("more --memory looks at more");
}

#[test]
fn a_number_that_the_end_of_the_beginning_cuts_is_no_text() {
    let place = Place::new();
    // The first MiB ends behind the sign of a number.
    let text = String::from("id,x\n") + &"1,-0.12\n".repeat(140_000);
    assert_eq!(&text[(1 << 20) - 3..1 << 20], "1,-");
    place.write("t.csv", &text);
    import(&place, "t.csv --into a.db").exits(0).prints("(id INTEGER, x REAL)");
    assert_eq!(query(&place.path("a.db"), "SELECT DISTINCT typeof(x) FROM t"), json!([["real"]]));
}

#[test]
fn what_is_null_or_in_a_rejected_row_decides_no_type() {
    let place = Place::new();
    let lines =
        |rows: u32| (0..rows).map(|row| format!("{{\"id\":{row},\"a\":{row}}}\n")).collect::<String>();
    let records = |rows: u32| (0..rows).map(|row| format!("{row},{row},x\n")).collect::<String>();
    // In the beginning of the file, and far behind it.
    for rows in [2, 100_000] {
        place.write("j.jsonl", &format!("{}{{\"id\":1,\"a\":\"NA\"}}\n", lines(rows)));
        let said = import(&place, "j.jsonl --into j.db --replace --null NA").exits(0).prints("a INTEGER");
        assert!(!said.stdout.contains("read the file again"), "{}", said.stdout);
        assert_eq!(query(&place.path("j.db"), "SELECT count(*) - count(a) FROM j"), json!([[1]]));
        // A file in another encoding: its one row with such a letter is rejected.
        let text = [format!("id,n,name\n{}2,-,caf", records(rows)).as_bytes(), b"\xe9\n3,4,y\n"].concat();
        fs::write(place.path("u.csv"), text).unwrap();
        // By the page writer, and by SQLite's inserts.
        for options in ["", "--comment #"] {
            let arguments = format!("u.csv --into u.db --on-error reject {options}");
            let said =
                import(&place, &arguments).exits(3).prints("n INTEGER").prints("1 bad row was left out");
            assert!(!said.stdout.contains("read the file again"), "{}", said.stdout);
            let rejects = fs::read(place.path("u.rejects.csv")).unwrap();
            assert!(String::from_utf8_lossy(&rejects).contains(",name,is not UTF-8; --encoding"));
            fs::remove_file(place.path("u.rejects.csv")).unwrap();
            fs::remove_file(place.path("u.db")).unwrap();
        }
        import(&place, "u.csv --into u.db").exits(2).says("column \"name\": ").says("is not UTF-8");
    }
}
