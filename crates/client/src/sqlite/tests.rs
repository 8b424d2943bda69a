//! Connections, and statements that are executed once, on a database in memory.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use anyhow::bail;
use dyno_protocol::{Build, Value};

use super::{Connection, load};

fn connection() -> Connection {
    Connection::open(Arc::new(load(&Build::Bundled).unwrap()), c":memory:").unwrap()
}

fn complaint(connection: &Connection, sql: &CStr) -> String {
    format!("{:#}", connection.rows(sql).unwrap_err())
}

#[test]
fn values_of_every_type_are_fetched() {
    let connection = connection();
    let rows = connection.rows(c"SELECT 1, -0.5, 'a b', x'00ff', NULL, '', x'', 9e999 ; \n").unwrap();
    let blob = |text: &str| Value::Blob { blob: text.to_owned() };
    let row = [
        Value::Integer(1),
        Value::Real(-0.5),
        Value::Text("a b".into()),
        blob("00ff"),
        Value::Null,
        Value::Text(String::new()),
        blob(""),
        Value::Text("inf".into()),
    ];
    assert_eq!(rows, [row]);
    connection.close().unwrap();
}

#[test]
fn changes_are_counted() {
    let connection = connection();
    connection.rows(c"CREATE TABLE t(a)").unwrap();
    connection.rows(c"INSERT INTO t VALUES (1), (2)").unwrap();
    connection.rows(c"DELETE FROM t").unwrap();
    assert_eq!(connection.total_changes(), 4);
}

#[test]
fn errors_have_the_engines_words_and_extended_code() {
    let connection = connection();
    connection.rows(c"CREATE TABLE t(a PRIMARY KEY)").unwrap();
    connection.rows(c"INSERT INTO t VALUES (1)").unwrap();
    let said = complaint(&connection, c"INSERT INTO t VALUES (1)");
    assert_eq!(said, "UNIQUE constraint failed: t.a (SQLite error 1555)");
    assert_eq!(complaint(&connection, c"SELEC"), "near \"SELEC\": syntax error (SQLite error 1)");
}

#[test]
fn a_statement_is_one_statement() {
    let connection = connection();
    assert!(complaint(&connection, c"-- nothing").contains("no statement in it"));
    let said = complaint(&connection, c"SELECT 1; SELECT 2");
    assert!(said.ends_with("what begins with: SELECT 2"), "{said}");
}

#[test]
fn a_database_that_did_not_open_again_is_refused_and_not_touched() {
    let mut connection = connection();
    let failed = connection.replace(|| bail!("no"), c":memory:").unwrap_err();
    assert_eq!((failed.to_string().as_str(), connection.total_changes()), ("no", 0));
    assert!(complaint(&connection, c"SELECT 1").contains("SQLite error 21"));
    connection.reopen(c":memory:").unwrap();
    assert_eq!(connection.rows(c"SELECT 1").unwrap(), [[Value::Integer(1)]]);
}

#[test]
fn no_database_is_made_and_no_link_followed_where_one_must_be_there() {
    let api = Arc::new(load(&Build::Bundled).unwrap());
    let folder = std::env::temp_dir().canonicalize().unwrap();
    let folder = folder.join(format!("dyno-client-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let path = |name: &str| CString::new(folder.join(name).to_str().unwrap()).unwrap();
    assert!(Connection::open_unlinked(api.clone(), &path("missing.db")).is_err());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    let made = Connection::open(api.clone(), &path("a.db")).unwrap();
    made.rows(c"CREATE TABLE t(a)").unwrap();
    made.close().unwrap();
    std::os::unix::fs::symlink("a.db", folder.join("link.db")).unwrap();
    assert!(Connection::open_unlinked(api.clone(), &path("link.db")).is_err());
    Connection::open_unlinked(api, &path("a.db")).unwrap().rows(c"SELECT * FROM t").unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_place_that_cannot_be_opened_is_named() {
    let api = Arc::new(load(&Build::Bundled).unwrap());
    let error = Connection::open(api, c"/nowhere/dyno.db").err().unwrap();
    let said = format!("{error:#}");
    assert!(said.starts_with("cannot open /nowhere/dyno.db: unable to open database file"), "{said}");
}
