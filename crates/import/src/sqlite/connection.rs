//! An open SQLite database, reached through the bundled library.

use std::ffi::{CStr, CString, c_int};
use std::path::Path;
use std::ptr;

use anyhow::{Context, Error, Result, anyhow, bail};
use dyno_sqlite::Api;
use dyno_sqlite::api::{BUSY, DONE, FULL, OK, OPEN_READWRITE_CREATE, ROW, Sqlite3, Stmt};

/// How long to wait for others that have the database locked, milliseconds.
const PATIENCE: c_int = 5000;

/// A connection, closed when dropped.
pub struct Connection<'a> {
    /// The library.
    pub api: &'a Api,
    /// Open, and used by one thread; [`Interrupter`] alone is used by another.
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

impl<'a> Connection<'a> {
    /// Opens a file, making it where it is missing.
    pub fn open(api: &'a Api, path: &Path) -> Result<Connection<'a>> {
        use std::os::unix::ffi::OsStrExt;
        let name = CString::new(path.as_os_str().as_bytes()).context("the path holds a zero byte")?;
        let mut db = ptr::null_mut();
        // SAFETY: the strings end in NUL and `db` outlives the call.
        let code = unsafe {
            let code = (api.initialize)();
            if code != OK {
                bail!("SQLite did not initialise (error {code})");
            }
            (api.open_v2)(name.as_ptr(), &mut db, OPEN_READWRITE_CREATE, ptr::null())
        };
        if db.is_null() {
            bail!("SQLite has no memory for a connection (error {code})");
        }
        let connection = Connection { api, db };
        connection.check(code).with_context(|| format!("cannot open {}", path.display()))?;
        // SAFETY: the connection is open.
        unsafe {
            (api.extended_result_codes)(db, 1);
            (api.busy_timeout)(db, PATIENCE);
        }
        Ok(connection)
    }

    /// The connection for calls of the C API.
    pub fn raw(&self) -> *mut Sqlite3 {
        self.db
    }

    /// Executes statements that return nothing of interest.
    pub fn execute(&self, sql: &str) -> Result<()> {
        let sql = CString::new(sql).context("a name holds a zero byte")?;
        // SAFETY: the connection is open and the text ends in NUL; nobody wants rows or the message.
        let code =
            unsafe { (self.api.exec)(self.db, sql.as_ptr(), ptr::null(), ptr::null_mut(), ptr::null_mut()) };
        self.check(code)
    }

    /// The rows of a query, each value as text.
    pub fn rows(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let statement = self.prepare(sql)?;
        let mut rows = Vec::new();
        // SAFETY: the statement is prepared; a text is copied before the next call.
        unsafe {
            let columns = (self.api.column_count)(statement.0);
            let value = |column| {
                let text = (self.api.column_text)(statement.0, column);
                (!text.is_null()).then(|| CStr::from_ptr(text.cast()).to_string_lossy().into_owned())
            };
            loop {
                match (self.api.step)(statement.0) {
                    ROW => rows.push((0..columns).map(value).collect()),
                    DONE => return Ok(rows),
                    code => return Err(self.error(code).into()),
                }
            }
        }
    }

    /// The first value of a query's first row.
    pub fn value(&self, sql: &str) -> Result<Option<String>> {
        Ok(self.rows(sql)?.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
    }

    /// Prepares a statement.
    pub fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        let sql = CString::new(sql).context("a name holds a zero byte")?;
        let mut statement = ptr::null_mut();
        // SAFETY: the connection is open and the text ends in NUL.
        let code =
            unsafe { (self.api.prepare_v2)(self.db, sql.as_ptr(), -1, &mut statement, ptr::null_mut()) };
        self.check(code)?;
        Ok(Statement(statement, self.api))
    }

    /// An error for a code that is not OK.
    pub fn check(&self, code: c_int) -> Result<()> {
        if code == OK { Ok(()) } else { Err(Error::from(self.error(code)).context(advice(code))) }
    }

    /// The last call's error in SQLite's words.
    pub fn error(&self, code: c_int) -> SqliteError {
        // SAFETY: the connection is open, and the string is copied before the next call.
        let message = unsafe { CStr::from_ptr((self.api.errmsg)(self.db)) };
        SqliteError { code, message: message.to_string_lossy().into_owned() }
    }

    /// What can interrupt this connection from another thread.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter { db: self.db, interrupt: self.api.interrupt }
    }

    /// Closes the database.
    pub fn close(mut self) -> Result<()> {
        let db = std::mem::replace(&mut self.db, ptr::null_mut());
        // SAFETY: the connection is open and not used after this.
        match unsafe { (self.api.close)(db) } {
            OK => Ok(()),
            code => Err(anyhow!("cannot close the database (SQLite error {code})")),
        }
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        // SAFETY: null, which is let be, or open and not used after this.
        unsafe { (self.api.close)(self.db) };
    }
}

/// Interrupts a connection. It must not outlive it.
pub struct Interrupter {
    db: *mut Sqlite3,
    interrupt: unsafe extern "C" fn(*mut Sqlite3),
}

// SAFETY: `sqlite3_interrupt` is the function that other threads may call.
unsafe impl Send for Interrupter {}
// SAFETY: as above.
unsafe impl Sync for Interrupter {}

impl Interrupter {
    /// Ends what the connection does.
    ///
    /// # Safety
    /// The connection is open.
    pub unsafe fn interrupt(&self) {
        // SAFETY: as the caller promises.
        unsafe { (self.interrupt)(self.db) };
    }
}

/// A prepared statement, finalized when dropped.
pub struct Statement<'a>(pub *mut Stmt, &'a Api);

impl Drop for Statement<'_> {
    fn drop(&mut self) {
        // SAFETY: prepared once, and not used after this.
        unsafe { (self.1.finalize)(self.0) };
    }
}

/// What happened, for codes that people meet.
fn advice(code: c_int) -> &'static str {
    match code & 0xff {
        BUSY => "another program has the database locked; nothing was loaded",
        FULL => "the disk is full; nothing was loaded",
        _ => "SQLite refuses",
    }
}
