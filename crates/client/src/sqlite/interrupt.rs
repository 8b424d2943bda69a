//! Lets another thread end the statement that a connection executes.

use dyno_sqlite::Api;
use dyno_sqlite::api::Sqlite3;

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
    /// That of a connection.
    pub(super) fn new(api: &Api, db: *mut Sqlite3) -> Interrupter {
        Interrupter { db, interrupt: api.interrupt }
    }

    /// Ends what the connection does.
    ///
    /// # Safety
    /// The connection is open.
    pub unsafe fn interrupt(&self) {
        // SAFETY: as the caller promises.
        unsafe { (self.interrupt)(self.db) };
    }
}
