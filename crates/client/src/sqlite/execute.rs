//! The statement that is executed once: prepared, stepped to its end and finalized.

use std::ffi::{CStr, c_char, c_int};
use std::{ptr, slice};

use anyhow::{Error, Result, anyhow};
use dyno_protocol::{RowCollector, Sink, Value};
use dyno_sqlite::api::{BLOB, DONE, FLOAT, INTEGER, OK, ROW, Stmt, TEXT};

use super::Connection;
use crate::text::text;

impl Connection {
    /// Executes one statement to its end and fetches every value of every row by the type it has.
    ///
    /// It allocates nothing, and beyond SQLite's calls it does what puts a value into the sink.
    #[inline]
    pub fn execute<S: Sink>(&self, sql: &CStr, sink: &mut S) -> Result<()> {
        let Ok(length) = c_int::try_from(sql.count_bytes() + 1) else {
            return Err(anyhow!("it is longer than SQLite can take"));
        };
        let (api, db) = (self.api(), self.raw());
        let mut statement = ptr::null_mut();
        let mut tail = ptr::null();
        // SAFETY: the connection is open or null; text and length, with its NUL byte, belong together; the
        // statement is finalized once and not used after that; `tail` points into the text.
        unsafe {
            let code = (api.prepare_v2)(db, sql.as_ptr(), length, &mut statement, &mut tail);
            if code != OK || statement.is_null() {
                return Err(self.unprepared(code));
            }
            if *tail != 0 && follows(tail) {
                (api.finalize)(statement);
                return Err(more_than_one(tail));
            }
            let mut code = (api.step)(statement);
            if code == ROW {
                let columns = (api.column_count)(statement);
                while code == ROW {
                    self.fetch(statement, columns, sink);
                    code = (api.step)(statement);
                }
            }
            let finalized = (api.finalize)(statement);
            if code != DONE || finalized != OK { Err(self.error(finalized).into()) } else { Ok(()) }
        }
    }

    /// Puts the current row into the sink.
    ///
    /// # Safety
    /// The statement has just returned a row of this many columns.
    #[inline]
    pub(super) unsafe fn fetch<S: Sink>(&self, statement: *mut Stmt, columns: c_int, sink: &mut S) {
        let api = self.api();
        for column in 0..columns {
            // SAFETY: as the caller promises. The bytes are read before the next call that could
            // change them, in the order that SQLite's manual recommends.
            unsafe {
                match (api.column_type)(statement, column) {
                    INTEGER => sink.integer((api.column_int64)(statement, column)),
                    FLOAT => sink.real((api.column_double)(statement, column)),
                    TEXT => {
                        let text = (api.column_text)(statement, column);
                        sink.text(bytes(text, (api.column_bytes)(statement, column)));
                    }
                    BLOB => {
                        let blob = (api.column_blob)(statement, column).cast();
                        sink.blob(bytes(blob, (api.column_bytes)(statement, column)));
                    }
                    _ => sink.null(),
                }
            }
        }
        sink.end_row();
    }

    /// Executes a statement and returns its rows.
    pub fn rows(&self, sql: &CStr) -> Result<Vec<Vec<Value>>> {
        let mut kept = RowCollector::default();
        self.execute(sql, &mut kept)?;
        Ok(kept.rows)
    }

    #[cold]
    fn unprepared(&self, code: c_int) -> Error {
        if code == OK {
            anyhow!("there is no statement in it, only a comment")
        } else {
            self.error(code).into()
        }
    }
}

/// The bytes of a value. SQLite has no pointer for an empty blob.
///
/// # Safety
/// `start` is null or has `length` bytes, which stay as they are while the result is in use.
#[inline]
pub(super) unsafe fn bytes<'a>(start: *const u8, length: c_int) -> &'a [u8] {
    if start.is_null() || length <= 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { slice::from_raw_parts(start, length as usize) }
}

/// True if anything but white space follows a statement.
///
/// # Safety
/// `tail` ends in NUL.
#[cold]
unsafe fn follows(tail: *const c_char) -> bool {
    // SAFETY: as the caller promises.
    !unsafe { CStr::from_ptr(tail) }.to_bytes().trim_ascii().is_empty()
}

/// # Safety
/// `tail` ends in NUL.
#[cold]
unsafe fn more_than_one(tail: *const c_char) -> Error {
    // SAFETY: as the caller promises.
    let tail: String = unsafe { text(tail) }.trim().chars().take(60).collect();
    anyhow!("it holds more than one statement, of which SQLite would ignore what begins with: {tail}")
}
