//! A connection whose thread does other work while the server's answer is not there: libmariadb's calls that do not
//! block.
//!
//! Each is in two parts. `_start` begins, and returns what the call waits for on the socket, or 0 once it is done;
//! `_cont` goes on with what has come. libmysqlclient has none for prepared statements.

use std::ffi::{CStr, c_char, c_int, c_ulong};
use std::os::fd::BorrowedFd;
use std::ptr;

use anyhow::Result;
use nix::poll::PollFlags;

use super::api::{Api, Mysql, OPT_NONBLOCK, Res, Stmt};
use super::connection::Connection;
use super::greeting::{WAIT_READ, WAIT_TIMEOUT, WAIT_WRITE};
use crate::WaitForSocket;

/// Bytes of the stack of a call that does not block. The library's own is too small for some certificates.
pub(super) const STACK: usize = 512 << 10;

/// The two parts of a call on an object of type `O` that returns an `R`.
type Call<O, R> =
    (unsafe extern "C" fn(*mut R, *mut O) -> c_int, unsafe extern "C" fn(*mut R, *mut O, c_int) -> c_int);

/// The calls that statements are executed by, and the function that waits for them.
#[derive(Clone, Copy)]
pub(super) struct WaitingCalls {
    wait: WaitForSocket,
    socket: unsafe extern "C" fn(*mut Mysql) -> c_int,
    query: (
        unsafe extern "C" fn(*mut c_int, *mut Mysql, *const c_char, c_ulong) -> c_int,
        unsafe extern "C" fn(*mut c_int, *mut Mysql, c_int) -> c_int,
    ),
    store_result: Call<Mysql, *mut Res>,
    next_result: Call<Mysql, c_int>,
    execute: Call<Stmt, c_int>,
    store: Call<Stmt, c_int>,
}

impl WaitingCalls {
    /// Those of a library; `None` if it has none.
    fn of(api: &Api, wait: WaitForSocket) -> Option<WaitingCalls> {
        Some(WaitingCalls {
            wait,
            socket: api.get_socket?,
            query: (api.real_query_start?, api.real_query_cont?),
            store_result: (api.store_result_start?, api.store_result_cont?),
            next_result: (api.next_result_start?, api.next_result_cont?),
            execute: (api.stmt_execute_start?, api.stmt_execute_cont?),
            store: (api.stmt_store_result_start?, api.stmt_store_result_cont?),
        })
    }

    /// Completes a call that waits for `status`, on a connection, by `go_on`.
    ///
    /// # Safety
    /// The call is one of this connection, which is open.
    #[inline]
    unsafe fn complete(&self, mysql: *mut Mysql, mut status: c_int, mut go_on: impl FnMut(c_int) -> c_int) {
        while status != 0 {
            // Of a connection without a socket the call finds out.
            // SAFETY: as the caller promises.
            let socket = unsafe { (self.socket)(mysql) };
            if socket >= 0 {
                let mut events = PollFlags::empty();
                events.set(PollFlags::POLLIN, status & !WAIT_WRITE & !WAIT_TIMEOUT != 0);
                events.set(PollFlags::POLLOUT, status & WAIT_WRITE != 0);
                // SAFETY: the library closes the socket in no call but those of this connection, which makes none now.
                (self.wait)(unsafe { BorrowedFd::borrow_raw(socket) }, events);
            }
            // Statements have no time limit: dyno sets none but that of connecting.
            status = go_on(status & (WAIT_READ | WAIT_WRITE));
        }
    }
}

impl Api {
    /// True if connections of the library can leave the wait for an answer to a function: see [`Connection::wait_by`].
    pub fn can_wait(&self) -> bool {
        WaitingCalls::of(self, |_, _| ()).is_some()
    }
}

impl Connection {
    /// Has `wait` wait for the server's answers to statements that are executed; without it the library waits, and the
    /// thread with it. No statement is under way. Returns false if the library cannot do that.
    ///
    /// # Errors
    /// The library does not take the option.
    pub fn wait_by(&mut self, wait: Option<WaitForSocket>) -> Result<bool> {
        let Some(wait) = wait else {
            self.set_waiting(None);
            return Ok(true);
        };
        let Some(calls) = WaitingCalls::of(self.api(), wait) else { return Ok(false) };
        self.set_size(OPT_NONBLOCK, STACK)?;
        self.set_waiting(Some(calls));
        Ok(true)
    }

    /// Sends a statement as text, and reads the beginning of the answer. Returns 0 if that is no error.
    #[inline]
    pub(super) fn query(&self, sql: &CStr) -> c_int {
        let (mysql, text, length) = (self.raw(), sql.as_ptr(), sql.count_bytes() as c_ulong);
        // SAFETY: the connection is open; text and length belong together, and the text outlives the call.
        unsafe {
            let Some(calls) = self.waiting() else { return (self.api().real_query)(mysql, text, length) };
            let (mut code, (start, go_on)) = (0, calls.query);
            let status = start(&mut code, mysql, text, length);
            calls.complete(mysql, status, |ready| go_on(&mut code, mysql, ready));
            code
        }
    }

    /// The whole result of the statement; null if it has none, or after an error.
    ///
    /// # Safety
    /// A statement was executed, and the result is freed once.
    #[inline]
    pub(super) unsafe fn store_result(&self) -> *mut Res {
        let mysql = self.raw();
        // SAFETY: the connection is open, and the rest is as the caller promises.
        unsafe {
            let Some(calls) = self.waiting() else { return (self.api().store_result)(mysql) };
            let (mut result, (start, go_on)) = (ptr::null_mut(), calls.store_result);
            let status = start(&mut result, mysql);
            calls.complete(mysql, status, |ready| go_on(&mut result, mysql, ready));
            result
        }
    }

    /// Goes to the statement's next result.
    ///
    /// # Safety
    /// There is one.
    #[inline]
    pub(super) unsafe fn next_result(&self) -> c_int {
        let mysql = self.raw();
        // SAFETY: the connection is open, and the rest is as the caller promises.
        unsafe {
            let Some(calls) = self.waiting() else { return (self.api().next_result)(mysql) };
            let (mut code, (start, go_on)) = (0, calls.next_result);
            let status = start(&mut code, mysql);
            calls.complete(mysql, status, |ready| go_on(&mut code, mysql, ready));
            code
        }
    }

    /// Executes a prepared statement.
    ///
    /// # Safety
    /// It is one of this connection, and what it is bound to is there.
    #[inline]
    pub(super) unsafe fn execute_statement(&self, stmt: *mut Stmt) -> c_int {
        // SAFETY: as the caller promises.
        unsafe {
            match self.waiting() {
                None => (self.api().stmt_execute)(stmt),
                Some(calls) => self.call(calls, calls.execute, stmt),
            }
        }
    }

    /// Takes all rows of a prepared statement's result from the connection.
    ///
    /// # Safety
    /// It is one of this connection, and was executed.
    #[inline]
    pub(super) unsafe fn store_statement(&self, stmt: *mut Stmt) -> c_int {
        // SAFETY: as the caller promises.
        unsafe {
            match self.waiting() {
                None => (self.api().stmt_store_result)(stmt),
                Some(calls) => self.call(calls, calls.store, stmt),
            }
        }
    }

    #[inline]
    unsafe fn call(&self, calls: &WaitingCalls, call: Call<Stmt, c_int>, stmt: *mut Stmt) -> c_int {
        let (mut code, (start, go_on)) = (0, call);
        // SAFETY: as the callers promise.
        unsafe {
            let status = start(&mut code, stmt);
            calls.complete(self.raw(), status, |ready| go_on(&mut code, stmt, ready));
        }
        code
    }
}

#[cfg(test)]
mod tests {
    use dyno_protocol::Build;

    use crate::mysql::api::Family;
    use crate::mysql::load;

    #[test]
    fn a_library_without_one_of_the_calls_cannot_wait() {
        let mut api = load(&Build::System).unwrap();
        assert_eq!(api.can_wait(), api.family() == Family::MariaDb);
        api.stmt_execute_start = None;
        assert!(!api.can_wait());
    }
}
