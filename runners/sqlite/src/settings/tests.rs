//! Settings against the bundled SQLite.

use std::path::Path;
use std::sync::Arc;

use dyno_client::sqlite;
use dyno_protocol::Build;

use super::*;
use crate::location;

/// Settings that are read back though the job does not set them.
const READ_BACK: [&str; 5] = ["journal_mode", "synchronous", "page_size", "temp_store", "threads"];

fn settings(asked: &[(&str, &str)]) -> Result<Settings> {
    let asked: Vec<Setting> =
        asked.iter().map(|(name, value)| Setting { name: (*name).into(), value: (*value).into() }).collect();
    let values = [
        ("synchronous", &["OFF", "NORMAL", "FULL", "EXTRA"][..]),
        ("temp_store", &["DEFAULT", "FILE", "MEMORY"]),
        ("auto_vacuum", &["NONE", "FULL", "INCREMENTAL"]),
    ];
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Settings::parse(&Job {
        settings: asked,
        read_back: names(&READ_BACK),
        values: values.map(|(name, values)| (name.to_owned(), names(values))).into(),
        ..Job::new("sqlite", "c", Build::Bundled, "/nowhere".into())
    })
}

/// The settings in force after these have been applied to a fresh database.
fn in_force(asked: &[(&str, &str)]) -> Result<Vec<InForce>> {
    let folder = tempfile::tempdir()?;
    let settings = settings(asked)?;
    let place = location(settings.database, folder.path())?;
    let connection = Connection::open(Arc::new(sqlite::load(&Build::Bundled)?), &place)?;
    settings.apply(&connection, None)?;
    let found = settings.in_force(&connection)?;
    connection.close()?;
    Ok(found)
}

fn value<'a>(settings: &'a [InForce], name: &str) -> &'a str {
    let mut found = settings.iter().filter(|setting| setting.name == name);
    let value = &found.next().unwrap_or_else(|| panic!("no {name} in {settings:?}")).value;
    assert!(found.next().is_none(), "{name} twice");
    value
}

fn complaint(asked: &[(&str, &str)]) -> String {
    format!("{:#}", in_force(asked).unwrap_err())
}

#[test]
fn defaults_are_told() {
    let found = in_force(&[]).unwrap();
    let expected = [("journal_mode", "delete"), ("synchronous", "FULL"), ("page_size", "4096")];
    for (name, expected) in expected.into_iter().chain([("temp_store", "DEFAULT"), ("database", "file")]) {
        assert_eq!(value(&found, name), expected, "{name}");
    }
    assert!(READ_BACK.iter().all(|name| !value(&found, name).is_empty()));
}

#[test]
fn what_was_asked_for_is_in_force_in_whatever_order() {
    let asked = [
        ("cache_size", "-65536"),
        ("journal_mode", "wal"),
        ("synchronous", "normal"),
        ("page_size", "8192"),
        ("locking_mode", "exclusive"),
        ("auto_vacuum", "full"),
        ("mmap_size", "1048576"),
        ("foreign_keys", "on"),
    ];
    let found = in_force(&asked).unwrap();
    for (name, expected) in [
        ("cache_size", "-65536"),
        ("journal_mode", "wal"),
        ("synchronous", "NORMAL"),
        ("page_size", "8192"),
        ("locking_mode", "exclusive"),
        ("auto_vacuum", "FULL"),
        ("mmap_size", "1048576"),
        ("foreign_keys", "1"),
    ] {
        assert_eq!(value(&found, name), expected, "{name}");
    }
}

#[test]
fn where_the_data_lives_is_a_setting() {
    for place in [":memory:", "temporary", "file"] {
        assert_eq!(value(&in_force(&[("database", place)]).unwrap(), "database"), place);
    }
    assert!(complaint(&[("database", "ram")]).contains("one of file, :memory:, temporary, not 'ram'"));
}

#[test]
fn what_sqlite_does_not_know_is_refused() {
    assert!(
        complaint(&[("no_such", "1")]).starts_with("SQLite has no setting 'no_such' that can be read back")
    );
    assert!(complaint(&[("synchronous", "4")]).contains("one of OFF, NORMAL, FULL, EXTRA, not '4'"));
    assert_eq!(value(&in_force(&[("synchronous", "1")]).unwrap(), "synchronous"), "NORMAL");
}

#[test]
fn a_setting_cannot_carry_a_statement() {
    for name in ["a=1; DROP TABLE t", "", "main.x", "Journal_mode", "1a"] {
        assert!(complaint(&[(name, "1")]).contains("cannot be a setting of SQLite"), "{name}");
    }
    let found = in_force(&[("user_version", "7'; PRAGMA page_size='512")]).unwrap();
    assert_eq!(value(&found, "page_size"), "4096");
    assert!(complaint(&[("user_version", "1\0")]).contains("NUL byte"));
}

#[test]
fn a_setting_that_does_not_take_is_told_as_it_is() {
    let found = in_force(&[("database", ":memory:"), ("journal_mode", "wal")]).unwrap();
    assert_eq!(value(&found, "journal_mode"), "memory");
}

/// The library of a build that dyno makes next to the programs.
fn library(name: &str) -> Option<Build> {
    let programs = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().to_owned();
    let file = programs.join(name);
    if !file.is_file() {
        eprintln!("not run: {} was not built", file.display());
    }
    file.is_file().then_some(Build::Path(file))
}

/// Opens a database in a folder, reads its settings back, and makes a table if there is none.
fn open(build: &Build, folder: &Path, asked: &[(&str, &str)], key: Option<&str>) -> Result<Vec<InForce>> {
    let settings = settings(asked)?;
    let place = location(settings.database, folder)?;
    let connection = Connection::open(Arc::new(sqlite::load(build)?), &place)?;
    settings.apply(&connection, key.map(Secret::new).as_ref())?;
    connection.rows(c"CREATE TABLE IF NOT EXISTS t(a)")?;
    let found = settings.in_force(&connection)?;
    connection.close()?;
    Ok(found)
}

const KEY: &str = "b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef";

#[test]
fn a_cipher_and_its_settings_are_read_back() {
    let folder = || tempfile::tempdir().unwrap();
    if let Some(build) = library("libdyno_sqlcipher.so") {
        let asked = [("cipher_page_size", "8192"), ("key", "passphrase"), ("kdf_iter", "4000")];
        let found = open(&build, folder().path(), &asked, Some(KEY)).unwrap();
        for (name, expected) in [("key", "passphrase"), ("kdf_iter", "4000"), ("page_size", "8192")] {
            assert_eq!(value(&found, name), expected, "{name}");
        }
        assert!(!format!("{found:?}").contains(KEY));
    }
    if let Some(build) = library("libdyno_sqlite3mc.so") {
        // Its settings are those of the cipher that is chosen, whatever stands first.
        let asked = [("kdf_iter", "5000"), ("cipher", "ascon128"), ("key", "passphrase")];
        let found = open(&build, folder().path(), &asked, Some(KEY)).unwrap();
        assert_eq!((value(&found, "cipher"), value(&found, "kdf_iter")), ("ascon128", "5000"));
    }
}

#[test]
fn what_does_not_fit_a_key_is_told_without_it() {
    let complaint = |build: &Build, folder: &Path, asked: &[(&str, &str)], key: Option<&str>| {
        let said = format!("{:#}", open(build, folder, asked, key).unwrap_err());
        assert!(!said.contains(KEY) && !said.contains("hunter2"), "{said}");
        said
    };
    let folder = tempfile::tempdir().unwrap();
    let plain = Build::Bundled;
    open(&plain, folder.path(), &[], None).unwrap();
    assert!(complaint(&plain, folder.path(), &[("key", "hunter2")], None).contains("one of passphrase, raw"));
    assert!(complaint(&plain, folder.path(), &[("hexkey", "hunter2")], None).contains("cannot be a setting"));
    assert!(complaint(&plain, folder.path(), &[("key", "raw")], Some(KEY)).contains("has no encryption"));
    assert!(complaint(&plain, folder.path(), &[("key", "raw")], None).contains("brings no key"));
    assert!(complaint(&plain, folder.path(), &[], Some(KEY)).contains("no setting 'key' says what it is"));
    for name in ["libdyno_sqlcipher.so", "libdyno_sqlite3mc.so"] {
        let Some(build) = library(name) else { continue };
        let raw = [("key", "raw")];
        // A plain database opened with a key, and an encrypted one with another and with none.
        assert!(complaint(&build, folder.path(), &raw, Some(KEY)).contains("not encrypted at all"));
        let folder = tempfile::tempdir().unwrap();
        open(&build, folder.path(), &raw, Some(KEY)).unwrap();
        let other = KEY.replace('b', "c");
        assert!(complaint(&build, folder.path(), &raw, Some(&other)).contains("of another key"));
        assert!(complaint(&build, folder.path(), &[], None).contains("file is not a database"));
        assert!(complaint(&build, folder.path(), &raw, Some("hunter2")).contains("64 hexadecimal digits"));
        assert!(complaint(&build, folder.path(), &raw, Some("")).contains("is empty"));
    }
}
