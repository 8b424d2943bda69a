//! An open database: opening, closing, unlocking, and the settings and version that it reports.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Error, Result, bail, ensure};
use dyno_library::file_title;
use dyno_sqlite::Api;
use dyno_sqlite::api::{BUSY, LOCKED, OK, OPEN_READWRITE_CREATE, OPEN_READWRITE_UNLINKED, Sqlite3};

use super::Interrupter;
use crate::text::text;

/// A connection to one database, closed when dropped.
pub struct Connection {
    api: Arc<Api>,
    /// Open, and used by one thread. Null where opening it again has failed: of a null connection SQLite itself
    /// refuses to prepare a statement.
    db: *mut Sqlite3,
}

/// The error of a failed call, as SQLite reports it.
#[derive(Debug, thiserror::Error)]
#[error("{message} (SQLite error {code})")]
pub struct SqliteError {
    /// The extended code.
    pub code: c_int,
    /// The message.
    pub message: String,
}

impl SqliteError {
    /// True if the statement may succeed when it is repeated: another connection had the database locked.
    pub fn is_retryable(&self) -> bool {
        // The lowest byte is the primary code.
        matches!(self.code & 0xff, BUSY | LOCKED)
    }
}

impl Connection {
    /// Opens a database with SQLite's defaults, creating it where it is missing.
    pub fn open(api: Arc<Api>, location: &CStr) -> Result<Connection> {
        Connection::open_by(api, location, OPEN_READWRITE_CREATE)
    }

    /// Opens a database that is there, by an absolute path on which no link is. Statements may attach others by URIs.
    pub fn open_unlinked(api: Arc<Api>, path: &CStr) -> Result<Connection> {
        Connection::open_by(api, path, OPEN_READWRITE_UNLINKED)
    }

    fn open_by(api: Arc<Api>, location: &CStr, flags: c_int) -> Result<Connection> {
        let mut connection = Connection { api, db: ptr::null_mut() };
        connection.connect(location, flags)?;
        Ok(connection)
    }

    /// Closes the database and opens one anew by the same library.
    pub fn reopen(&mut self, location: &CStr) -> Result<()> {
        self.disconnect()?;
        self.connect(location, OPEN_READWRITE_CREATE)
    }

    /// Closes the database, does something to its file, and opens one anew.
    pub fn replace(&mut self, between: impl FnOnce() -> Result<()>, location: &CStr) -> Result<()> {
        self.disconnect()?;
        between()?;
        self.connect(location, OPEN_READWRITE_CREATE)
    }

    fn connect(&mut self, location: &CStr, flags: c_int) -> Result<()> {
        let api = &self.api;
        let mut db = ptr::null_mut();
        // SAFETY: the strings end in NUL and `db` outlives the call.
        let code = unsafe {
            // Builds without automatic initialisation need the first call; for the others it is idle.
            let code = (api.initialize)();
            ensure!(code == OK, "SQLite did not initialise (error {code})");
            (api.open_v2)(location.as_ptr(), &mut db, flags, ptr::null())
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

    /// Sets how long a statement waits for a locked database, to the millisecond.
    pub fn wait_for_locks(&self, timeout: Duration) {
        let milliseconds = c_int::try_from(timeout.as_millis()).unwrap_or(c_int::MAX);
        if !self.db.is_null() {
            // SAFETY: the connection is open.
            unsafe { (self.api.busy_timeout)(self.db, milliseconds) };
        }
    }

    /// A handle that interrupts this connection from another thread.
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
        // SQLite's message might quote the key.
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
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: null, which is let be, or open and not used after this.
        unsafe { (self.api.close)(self.db) };
    }
}
