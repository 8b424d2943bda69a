//! Headers that could be misread: with a stray quote, behind a file without a record, in a later file.

use serde_json::json;

use super::{import, names, query};
use crate::common::Place;

#[test]
fn a_stray_quote_in_a_header_swallows_no_rows() {
    let place = Place::new();
    place.write("h.csv", "id,\"name\n1,\"Ann\"\n2,Bob\n3,Cid\n");
    let rows = |ids: std::ops::Range<u32>| ids.map(|id| format!("{id},n\n")).collect::<String>();
    place.write("far.csv", &format!("id,\"name\n{}501,\"x y\"\n{}", rows(1..501), rows(502..600)));
    place.write("open.csv", "\"id,name\n1,a\n2,b\n");
    place.write("right.csv", "id,name\n1,a\n");
    let before = names(&place);
    let (behind, open) =
        ("the header has text behind a closing quote", "the header has a quote that is never");
    for (arguments, file, said) in [
        ("h.csv", "h.csv", behind),
        ("h.csv --on-error reject", "h.csv", behind),
        // SQLite inserts the rows.
        ("h.csv --comment #", "h.csv", behind),
        // No value is looked at for its type.
        ("h.csv --types INTEGER,TEXT", "h.csv", behind),
        ("far.csv", "far.csv", behind),
        ("open.csv --header", "open.csv", open),
        ("open.csv --header --dry-run", "open.csv", open),
        ("right.csv h.csv --table t", "h.csv", behind),
    ] {
        import(&place, &format!("{arguments} --into a.db")).exits(2).says(&format!("{file}:1: {said}"));
        assert_eq!(names(&place), before, "{arguments}");
    }
    import(&place, "h.csv --into a.db --header --no-quotes").exits(0).prints("3 rows into table h");
    // As a row it is a bad one.
    import(&place, "h.csv --into b.db --no-header --on-error reject").exits(3).prints("2 rows into table h");
}

#[test]
fn a_first_file_without_a_record_shows_nothing_of_the_others() {
    let place = Place::new();
    place.write("1.csv", "b,a\n1,2\n");
    query(&place.path("e.db"), "CREATE TABLE e(a TEXT, b TEXT)");
    let said = "0.csv has no record, and the first of several files shows how all of them are read";
    for (text, options) in [("", ""), ("\n\n", "--columns a"), ("# none\n", "--comment #")] {
        place.write("0.csv", text);
        import(&place, &format!("0.csv 1.csv --into e.db --table e --append {options}")).exits(2).says(said);
        import(&place, &format!("0.csv 1.csv --into f.db --table e {options}")).exits(2).says(said);
    }
    import(&place, "1.csv 0.csv --into e.db --table e --append --comment #").exits(0).prints("1 row into");
    assert_eq!(query(&place.path("e.db"), "SELECT a, b FROM e"), json!([["2", "1"]]));
}

#[test]
fn what_may_be_a_header_of_a_later_file_is_asked_for() {
    let place = Place::new();
    let people = "Ann,DE\nBob,DE\nAnn,FR\n";
    let import_both = |options: &str| import(&place, &format!("a.csv b.csv --table t --into t.db {options}"));
    for (first, later) in [
        ("1,2\n3,4\n", "How old are you?,How tall are you?\n5,6\n"),
        ("DE,1,2\nFR,3,4\n", "country,2019,2020\nIT,5,6\n"),
        (people, "name,country\nCid,IT\n"),
    ] {
        place.write("a.csv", first);
        place.write("b.csv", later);
        let result = import_both("").exits(2);
        result.says("that of b.csv may be a header, and that of a.csv reads like data. Say --header");
        assert!(!place.path("t.db").exists());
    }
    import_both("--no-header").exits(0).prints("5 rows");
    for (first, later) in [
        ("1,2\n3,4\n", "1,2\n5,6\n"),
        ("DE,1,2\nFR,3,4\n", "IT,5,6\n"),
        // A row of the first file, a text that comes again, and no record.
        (people, "Bob,DE\nCid,IT\n"),
        (people, "Cid,IT\nDan,IT\n"),
        (people, "\n"),
    ] {
        place.write("a.csv", first);
        place.write("b.csv", later);
        import_both("--replace").exits(0);
    }
    // The columns of a table to which rows are added decide.
    query(&place.path("e.db"), "CREATE TABLE e(name TEXT, country TEXT)");
    let append = "a.csv b.csv --table e --into e.db --append";
    for (later, said) in [("Name,Country\nCid,IT\n", "reads like a header"), ("name,IT\n", "may be a header")]
    {
        place.write("b.csv", later);
        import(&place, append).exits(2).says(&format!("that of b.csv {said}"));
    }
    place.write("b.csv", "Cid,IT\n");
    import(&place, append).exits(0).prints("4 rows");
}
