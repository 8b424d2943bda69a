//! The calls by which a connection executes statements: the library waits for the server's answer, or a function does,
//! and the thread does other work meanwhile.

use std::ffi::{CStr, c_int, c_ulong};
use std::ptr;

use anyhow::Result;

use super::api::{OPT_NONBLOCK, Res, Stmt};
use super::connection::Connection;
use super::waiting::{Call, STACK, WaitingCalls};
use crate::WaitForSocket;

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
