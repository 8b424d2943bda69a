//! Parquet files, by a dyno that was built to read them and by one that was not.

use std::fs;
#[cfg(feature = "parquet")]
use std::process::Command;

#[cfg(feature = "parquet")]
use serde_json::json;

use super::import;
#[cfg(not(feature = "parquet"))]
use super::names;
#[cfg(feature = "parquet")]
use super::{import_input, query};
use crate::common::Place;

/// A file that was written byte by byte: `a`, a DECIMAL(18,0) of eight bytes, and `b`, a DECIMAL(38,0) of sixteen, hold 123, -5,
/// 0 and 7; `c`, a string, holds 1, an empty string, nothing and 4.
#[cfg(feature = "parquet")]
const WHOLE: &[u8] = include_bytes!("../data/whole.parquet");

/// A file that DuckDB 2.0 wrote by COPY … (FORMAT parquet) of a BIGINT, a VARCHAR, a DOUBLE, a BOOLEAN, a DATE and a
/// DECIMAL(8,2).
const PARQUET: &[u8] = include_bytes!("../data/people.parquet");

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
    let key = "people.parquet --into d.db --primary-key id";
    import(&place, key).exits(2).says("people.parquet:3: column \"id\"").says("the column needs one");
    import(&place, &format!("{key} --on-error reject")).exits(3);
    assert_eq!(query(&place.path("d.db"), "SELECT id FROM people"), json!([[i64::MIN], [1]]));
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

#[cfg(feature = "parquet")]
#[test]
fn texts_and_numbers_of_a_parquet_file_stay_what_they_are_in_a_column_without_a_type() {
    let place = Place::new();
    fs::write(place.path("people.parquet"), PARQUET).unwrap();
    query(&place.path("a.db"), "CREATE TABLE t(id, name, size, ok, day, price)");
    import(&place, "people.parquet --into a.db --table t --append").exits(0);
    assert_eq!(
        query(&place.path("a.db"), "SELECT typeof(id), typeof(name), length(name), typeof(size) FROM t"),
        json!([["integer", "text", 3, "real"], ["integer", "text", 8, "null"], ["null", "text", 0, "real"],])
    );
}

#[cfg(feature = "parquet")]
#[test]
fn a_decimal_without_digits_behind_the_point_has_no_point() {
    let place = Place::new();
    fs::write(place.path("w.parquet"), WHOLE).unwrap();
    // dyno writes the pages, and SQLite inserts the rows.
    for options in ["", "--skip-columns c"] {
        import(&place, &format!("w.parquet --into a.db --replace {options}"))
            .exits(0)
            .prints("a TEXT, b TEXT");
        let rows = json!([["123", "123"], ["-5", "-5"], ["0", "0"], ["7", "7"]]);
        assert_eq!(query(&place.path("a.db"), "SELECT a, b FROM w"), rows);
        let types = format!("w.parquet --into a.db --replace --types a:INTEGER,b:INTEGER {options}");
        import(&place, &types).exits(0);
        assert_eq!(query(&place.path("a.db"), "SELECT a + b FROM w"), json!([[246], [-10], [0], [14]]));
    }
}

#[cfg(feature = "parquet")]
#[test]
fn an_empty_string_is_no_number_by_whichever_way_it_comes() {
    let place = Place::new();
    fs::write(place.path("w.parquet"), WHOLE).unwrap();
    for (schema, way) in [("", "wrote their pages"), ("; CREATE INDEX i ON t(a)", "Parsing took")] {
        let script = "import sqlite3,sys;sqlite3.connect('a.db').executescript(sys.argv[1])";
        let make = format!("DROP TABLE IF EXISTS t; CREATE TABLE t(a TEXT, b TEXT, c INTEGER){schema}");
        let made = Command::new("python3").args(["-c", script, &make]).current_dir(place.path("")).status();
        assert!(made.unwrap().success());
        let append = "w.parquet --into a.db --table t --append";
        import(&place, append).exits(2).says(
            "w.parquet:2: column \"c\": \"\" is an empty string, which the column's type does not take",
        );
        import(&place, &format!("{append} --on-error reject")).exits(3).prints(way);
        assert_eq!(query(&place.path("a.db"), "SELECT c FROM t"), json!([[1], [null], [4]]));
        import(&place, &format!("{append} --null=")).exits(0).prints(way);
        fs::remove_file(place.path("t.rejects.csv")).unwrap();
    }
}

#[cfg(feature = "parquet")]
#[test]
fn one_parquet_file_is_loaded_at_a_time() {
    let place = Place::new();
    for name in ["people.parquet", "more.parquet"] {
        fs::write(place.path(name), PARQUET).unwrap();
    }
    place.write("people.csv", "id,name,size,ok,day,price\n1,Ann,1.5,1,2024-01-31,12.30\n");
    for files in ["people.parquet more.parquet", "*.parquet", "people.parquet people.csv"] {
        let result = import(&place, &format!("{files} --table t --into a.db")).exits(2);
        result.says("is a Parquet file, of which dyno loads one at a time: load the others with --append");
    }
    let mixed = import(&place, "people.csv people.parquet --table t --into a.db --header").exits(2);
    mixed.says("people.parquet is a Parquet file, and people.csv is not");
    for encoding in ["latin1", "utf-16le", "shift_jis"] {
        let said = import(&place, &format!("people.parquet --into a.db --encoding {encoding}")).exits(2);
        said.says("people.parquet is a Parquet file, whose texts are UTF-8: leave --encoding out");
    }
    assert!(!place.path("a.db").exists());
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_parquet_file_is_refused_with_how_to_get_a_dyno_that_reads_it() {
    let place = Place::new();
    fs::write(place.path("people.parquet"), PARQUET).unwrap();
    import(&place, "people.parquet --into a.db").exits(2).says("without the feature parquet");
    assert_eq!(names(&place), ["people.parquet"]);
}
