//! Names of files that are not UTF-8: such files are loaded and written, and messages escape what is no text.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::json;

use super::query;
use crate::common::{Place, Result};

/// A word of the command line with a byte that is no UTF-8 for each `%`.
fn word(text: &str) -> OsString {
    let bytes: Vec<u8> = text.bytes().map(|byte| if byte == b'%' { 0xe9 } else { byte }).collect();
    OsStr::from_bytes(&bytes).to_owned()
}

fn import(place: &Place, arguments: &str) -> Result {
    let mut command = place.command();
    command.arg("import").args(arguments.split_whitespace().map(word));
    Result::from(command.output().unwrap()).without_panic()
}

fn write(place: &Place, name: &str, text: &str) {
    fs::write(place.path("").join(word(name)), text).unwrap();
}

#[test]
fn files_whose_names_are_not_utf_8_are_loaded_and_written() {
    let place = Place::new();
    write(&place, "caf%.csv", "id,name\n1,Ann\n2,Bob\n");
    write(&place, "bad%.csv", "id,name\n3,Cid\nx,Dan\n");
    import(&place, "caf%.csv --into d%.db --table t").exits(0).prints("into table t from caf\\xe9.csv");
    let database = place.path("").join(word("d%.db"));
    import(&place, "bad%.csv --into d%.db --table t --append").exits(2).says("bad\\xe9.csv:3: column \"id\"");
    let reject = "--append --on-error reject --rejects r%.csv";
    import(&place, &format!("bad%.csv --into d%.db --table t {reject}"))
        .exits(3)
        .prints("it is in r\\xe9.csv");
    assert!(place.path("").join(word("r%.csv")).exists());
    // Python's sqlite3 takes no such path.
    fs::rename(database, place.path("d.db")).unwrap();
    assert_eq!(query(&place.path("d.db"), "SELECT sum(id), count(*) FROM t"), json!([[6, 3]]));
    let left = fs::read_dir(place.path(""))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().as_bytes().starts_with(b"."));
    assert_eq!(left.count(), 0);
}

#[test]
fn a_table_or_a_value_of_a_name_that_is_not_utf_8_is_asked_for() {
    let place = Place::new();
    write(&place, "caf%.csv", "id,name\n1,Ann\n");
    write(&place, "caf.csv", "id,name\n2,Bob\n");
    import(&place, "caf%.csv --into a.db")
        .exits(2)
        .says("caf\\xe9.csv gives the table no name: say --table NAME");
    import(&place, "caf.csv caf%.csv --into a.db --table t --file-column file")
        .exits(2)
        .says("the name caf\\xe9.csv is not UTF-8, so the column 'file' of --file-column cannot hold it");
    assert!(!place.path("a.db").exists());
    for arguments in ["caf%.csv --into a.db", "caf.csv --into d%.db"] {
        let explained = import(&place, &format!("{arguments} --table t --explain")).exits(0);
        let explained = explained.prints("a name of a file is not UTF-8");
        assert!(!explained.stdout.contains("--- C ---"), "{}", explained.stdout);
    }
    let secret = import(&place, "caf.csv --into postgres://ann:sec%ret@localhost/x").exits(2);
    let secret = secret.says("--into holds bytes that are not UTF-8, and no URL does");
    assert!(!secret.stderr.contains("sec"), "{}", secret.stderr);
}

#[test]
fn a_journal_beside_a_place_whose_name_is_not_utf_8_is_seen() {
    let place = Place::new();
    write(&place, "caf.csv", "id,name\n1,Ann\n");
    write(&place, "d%.db-journal", "of another database");
    import(&place, "caf.csv --into d%.db").exits(2).says("d\\xe9.db-journal is of another database");
    assert!(!place.path("").join(word("d%.db")).exists());
}
