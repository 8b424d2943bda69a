//! An open database, and the statement that is executed once.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;
use std::time::Duration;
use std::{ptr, slice};

use anyhow::{Error, Result, anyhow, bail, ensure};
use dyno_library::file_title;
use dyno_protocol::{Kept, Sink, Value};
use dyno_sqlite::Api;
use dyno_sqlite::api::{
    BLOB, BUSY, DONE, FLOAT, INTEGER, LOCKED, OK, OPEN_READWRITE_CREATE, ROW, Sqlite3, Stmt, TEXT,
};

use super::Interrupter;

/// A connection to one database, closed when dropped.
pub struct Connection {
    api: Arc<Api>,
    /// Open, and used by one thread. Null where opening it again has failed: of a null connection SQLite itself
    /// refuses to prepare a statement.
    db: *mut Sqlite3,
}

/// What SQLite said of a call that failed.
#[derive(Debug, thiserror::Error)]
#[error("{message} (SQLite error {code})")]
pub struct SqliteError {
    /// The extended code.
    pub code: c_int,
    /// The message.
    pub message: String,
}

impl SqliteError {
    /// Whether another try may succeed: somebody else had the database locked.
    pub fn may_pass(&self) -> bool {
        // The lowest byte is the primary code.
        matches!(self.code & 0xff, BUSY | LOCKED)
    }
}

impl Connection {
    /// Opens a database with SQLite's defaults, creating it where it is missing.
    pub fn open(api: Arc<Api>, location: &CStr) -> Result<Connection> {
        let mut connection = Connection { api, db: ptr::null_mut() };
        connection.connect(location)?;
        Ok(connection)
    }

    /// Closes the database and opens one anew by the same library.
    pub fn reopen(&mut self, location: &CStr) -> Result<()> {
        self.disconnect()?;
        self.connect(location)
    }

    /// Closes the database, does something to its file, and opens one anew.
    pub fn replace(&mut self, between: impl FnOnce() -> Result<()>, location: &CStr) -> Result<()> {
        self.disconnect()?;
        between()?;
        self.connect(location)
    }

    fn connect(&mut self, location: &CStr) -> Result<()> {
        let api = &self.api;
        let mut db = ptr::null_mut();
        // SAFETY: the strings end in NUL and `db` outlives the call.
        let code = unsafe {
            // Builds without automatic initialisation need the first call; for the others it is idle.
            let code = (api.initialize)();
            ensure!(code == OK, "SQLite did not initialise (error {code})");
            (api.open_v2)(location.as_ptr(), &mut db, OPEN_READWRITE_CREATE, ptr::null())
        };
        ensure!(!db.is_null(), "SQLite has no memory for a connection (error {code})");
        self.db = db;
        if code != OK {
            return Err(
                Error::from(self.error(code)).context(format!("cannot open {}", location.to_string_lossy()))
            );
        }
        // SAFETY: the connection is open.
        unsafe { (self.api.extended_result_codes)(db, 1) };
        Ok(())
    }

    fn disconnect(&mut self) -> Result<()> {
        // SAFETY: the connection is open, or null, which is let be.
        let code = unsafe { (self.api.close)(self.db) };
        if code != OK {
            return Err(self.error(code).into());
        }
        self.db = ptr::null_mut();
        Ok(())
    }

    /// Executes one statement to its end and fetches every value of every row by the type it has.
    ///
    /// It allocates nothing, and beyond SQLite's calls it does what puts a value into the sink.
    #[inline]
    pub fn execute<S: Sink>(&self, sql: &CStr, sink: &mut S) -> Result<()> {
        let Ok(length) = c_int::try_from(sql.count_bytes() + 1) else {
            return Err(anyhow!("it is longer than SQLite can take"));
        };
        let mut statement = ptr::null_mut();
        let mut tail = ptr::null();
        // SAFETY: the connection is open or null; text and length, with its NUL byte, belong together; the
        // statement is finalized once and not used after that; `tail` points into the text.
        unsafe {
            let code = (self.api.prepare_v2)(self.db, sql.as_ptr(), length, &mut statement, &mut tail);
            if code != OK || statement.is_null() {
                return Err(self.unprepared(code));
            }
            if *tail != 0 && follows(tail) {
                (self.api.finalize)(statement);
                return Err(more_than_one(tail));
            }
            let mut code = (self.api.step)(statement);
            if code == ROW {
                let columns = (self.api.column_count)(statement);
                while code == ROW {
                    self.fetch(statement, columns, sink);
                    code = (self.api.step)(statement);
                }
            }
            let finalized = (self.api.finalize)(statement);
            if code != DONE || finalized != OK { Err(self.error(finalized).into()) } else { Ok(()) }
        }
    }

    /// Puts the current row into the sink.
    ///
    /// # Safety
    /// The statement has just returned a row of this many columns.
    #[inline]
    pub(super) unsafe fn fetch<S: Sink>(&self, statement: *mut Stmt, columns: c_int, sink: &mut S) {
        let api = &self.api;
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
        let mut kept = Kept::default();
        self.execute(sql, &mut kept)?;
        Ok(kept.rows)
    }

    /// How long to wait for others that have the database locked, to the millisecond.
    pub fn wait_for_locks(&self, patience: Duration) {
        let milliseconds = c_int::try_from(patience.as_millis()).unwrap_or(c_int::MAX);
        if !self.db.is_null() {
            // SAFETY: the connection is open.
            unsafe { (self.api.busy_timeout)(self.db, milliseconds) };
        }
    }

    /// What can interrupt this connection from another thread.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter::new(&self.api, self.db)
    }

    /// The library in use.
    #[inline]
    pub fn api(&self) -> &Arc<Api> {
        &self.api
    }

    /// The connection as the library knows it, open while this is not dropped.
    #[inline]
    pub fn raw(&self) -> *mut Sqlite3 {
        self.db
    }

    /// Rows inserted, updated and deleted since the connection was opened.
    pub fn total_changes(&self) -> u64 {
        if self.db.is_null() {
            return 0;
        }
        // SAFETY: the connection is open.
        let total = unsafe {
            match self.api.total_changes64 {
                Some(total_changes64) => total_changes64(self.db),
                None => (self.api.total_changes)(self.db).into(),
            }
        };
        u64::try_from(total).unwrap_or(0)
    }

    /// Closes the database.
    pub fn close(mut self) -> Result<()> {
        self.disconnect()
    }

    /// Gives the connection its key, before anything is read or written. Neither it nor any message holds
    /// the key afterwards.
    pub fn unlock(&self, key: &[u8]) -> Result<()> {
        let Some(give) = self.api.key else {
            bail!("{} has no encryption; sqlite@sqlcipher and sqlite@mc have", self.library());
        };
        ensure!(!self.db.is_null(), "the database is closed");
        // SAFETY: the connection is open; the key is read during the call.
        let code = unsafe { give(self.db, key.as_ptr().cast(), key.len() as c_int) };
        // What the library says of a key may quote it.
        ensure!(code == OK, "the library does not take the key (SQLite error {code})");
        Ok(())
    }

    /// The version of SQLite3 Multiple Ciphers, if the library is that.
    pub fn multiple_ciphers(&self) -> Option<String> {
        // SAFETY: it takes nothing and returns a constant string.
        self.api.multiple_ciphers.map(|version| unsafe { text(version()) })
    }

    /// The library's version, as `3.40.1`.
    pub fn version(&self) -> String {
        // SAFETY: it takes nothing and returns a constant string.
        unsafe { text((self.api.libversion)()) }
    }

    /// The check-in that the library was made from.
    pub fn source_id(&self) -> String {
        // SAFETY: it takes nothing and returns a constant string.
        unsafe { text((self.api.sourceid)()) }
    }

    /// The library's file.
    pub fn library(&self) -> String {
        file_title(self.api.libversion as *const c_void)
    }

    /// The last call's error in SQLite's words, with its extended code.
    #[cold]
    pub fn error(&self, code: c_int) -> SqliteError {
        // SAFETY: the connection is open or null, and the string is copied before the next call.
        let message = unsafe { text((self.api.errmsg)(self.db)) };
        SqliteError { code, message }
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

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: null, which is let be, or open and not used after this.
        unsafe { (self.api.close)(self.db) };
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

/// A C string as text.
///
/// # Safety
/// It ends in NUL.
unsafe fn text(string: *const c_char) -> String {
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

/// Whether anything but white space follows a statement.
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

#[cfg(test)]
mod tests {
    use dyno_protocol::Build;
    use dyno_sqlite::load;

    use super::*;

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
    fn a_place_that_cannot_be_opened_is_named() {
        let api = Arc::new(load(&Build::Bundled).unwrap());
        let error = Connection::open(api, c"/nowhere/dyno.db").err().unwrap();
        let said = format!("{error:#}");
        assert!(said.starts_with("cannot open /nowhere/dyno.db: unable to open database file"), "{said}");
    }
}
