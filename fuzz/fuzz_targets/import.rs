//! A file of delimited text: loaded whole into a database that another SQLite's own check finds whole, or refused, and
//! nothing left.
#![no_main]

use std::ffi::CString;
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use dyno_client::sqlite::Connection;
use dyno_import::{Plan, Request, Safety, Source, Sqlite};
use dyno_protocol::{Build, Value};
use dyno_sqlite::Api;
use libfuzzer_sys::fuzz_target;

/// The system's SQLite, which had no part in the import.
static SQLITE: LazyLock<Arc<Api>> =
    LazyLock::new(|| Arc::new(dyno_sqlite::load(&Build::System).expect("the system has a SQLite")));

/// The number of rows that SQLite finds in a database that it finds whole.
fn rows(database: &Path) -> i64 {
    let path = CString::new(database.to_string_lossy().as_bytes()).expect("a path");
    let connection = Connection::open(SQLITE.clone(), &path).expect("a database");
    let check = connection.rows(c"PRAGMA integrity_check").expect("a check");
    assert_eq!(check, [[Value::from_text(b"ok")]]);
    let counted = connection.rows(c"SELECT count(*) FROM data").expect("the table").concat();
    let [Value::Integer(count)] = counted[..] else { panic!("a count is one number, and not {counted:?}") };
    count
}

fuzz_target!(|input: (bool, bool, &[u8])| {
    let (is_tsv, has_index, bytes) = input;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join(if is_tsv { "data.tsv" } else { "data.csv" });
    let database = folder.path().join("data.db");
    fs::write(&file, bytes).expect("a temporary file");
    let mut request = Request::new(Source::new(&file));
    if has_index {
        request.indexes = vec![vec!["c1".into()]];
    }
    let target = Sqlite::new(&database, Safety::None, Duration::from_secs(1)).expect("a new database");
    let loaded = Plan::make(request, Box::new(target)).and_then(|plan| plan.load(&()));
    let left = fs::read_dir(folder.path()).expect("a temporary folder").count();
    match loaded {
        Ok(report) => assert_eq!((rows(&database), left), (report.rows as i64, 2)),
        Err(_) => assert_eq!(left, 1, "an import that failed left files"),
    }
});
