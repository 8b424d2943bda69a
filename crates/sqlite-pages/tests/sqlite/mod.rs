//! SQLite itself, as the judge of what was written.

use std::ffi::{CStr, CString};
use std::path::Path;
use std::ptr;

use dyno_protocol::Build;
use dyno_sqlite::Api;
use dyno_sqlite::api::{BLOB, DONE, FLOAT, INTEGER, OK, OPEN_READWRITE_CREATE, ROW, Sqlite3, TEXT};

/// A value as SQLite gives it.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

/// An open database.
pub struct Judge {
    api: Api,
    db: *mut Sqlite3,
}

impl Judge {
    pub fn open(path: &Path) -> Judge {
        let api = dyno_sqlite::load(&Build::Bundled).unwrap();
        let name = CString::new(path.to_str().unwrap()).unwrap();
        let mut db = ptr::null_mut();
        // SAFETY: the name ends in NUL and `db` outlives the call.
        let code = unsafe {
            assert_eq!((api.initialize)(), OK);
            (api.open_v2)(name.as_ptr(), &mut db, OPEN_READWRITE_CREATE, ptr::null())
        };
        assert_eq!(code, OK);
        Judge { api, db }
    }

    /// The rows of a statement.
    pub fn rows(&self, sql: &str) -> Vec<Vec<Found>> {
        let (api, text) = (&self.api, CString::new(sql).unwrap());
        let (mut statement, mut rows) = (ptr::null_mut(), Vec::new());
        // SAFETY: the connection is open, the text ends in NUL, and each value is copied before the next call.
        unsafe {
            let code = (api.prepare_v2)(self.db, text.as_ptr(), -1, &mut statement, ptr::null_mut());
            assert_eq!(code, OK, "{sql}: {}", self.error());
            let bytes = |column, start: *const u8| match (api.column_bytes)(statement, column) as usize {
                0 => Vec::new(),
                length => std::slice::from_raw_parts(start, length).to_vec(),
            };
            let value = |column| match (api.column_type)(statement, column) {
                INTEGER => Found::Integer((api.column_int64)(statement, column)),
                FLOAT => Found::Real((api.column_double)(statement, column)),
                TEXT => Found::Text(bytes(column, (api.column_text)(statement, column))),
                BLOB => Found::Blob(bytes(column, (api.column_blob)(statement, column).cast())),
                _ => Found::Null,
            };
            loop {
                match (api.step)(statement) {
                    ROW => rows.push((0..(api.column_count)(statement)).map(value).collect()),
                    DONE => break,
                    code => panic!("{sql}: {code}: {}", self.error()),
                }
            }
            (api.finalize)(statement);
        }
        rows
    }

    /// One number.
    pub fn number(&self, sql: &str) -> i64 {
        match self.rows(sql)[..] {
            [ref row] if matches!(row[..], [Found::Integer(_)]) => match row[0] {
                Found::Integer(number) => number,
                _ => unreachable!(),
            },
            ref other => panic!("{sql}: {other:?}"),
        }
    }

    /// SQLite finds nothing wrong with the file, of which every page is used.
    pub fn assert_whole(&self) {
        self.assert_sound();
        assert_eq!(self.number("PRAGMA freelist_count"), 0);
    }

    /// SQLite finds nothing wrong with the file.
    pub fn assert_sound(&self) {
        assert_eq!(self.rows("PRAGMA integrity_check"), [[Found::Text(b"ok".to_vec())]]);
        assert_eq!(self.rows("PRAGMA foreign_key_check"), Vec::<Vec<Found>>::new());
    }

    fn error(&self) -> String {
        // SAFETY: the connection is open, and the string is copied at once.
        unsafe { CStr::from_ptr((self.api.errmsg)(self.db)) }.to_string_lossy().into_owned()
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // SAFETY: open, and not used after this.
        unsafe { (self.api.close)(self.db) };
    }
}
