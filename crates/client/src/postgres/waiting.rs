//! A connection whose thread does other work while the server's answer is not there: libpq's asynchronous calls.

use std::ffi::c_int;
use std::os::fd::BorrowedFd;

use anyhow::Result;
use nix::poll::PollFlags;

use super::api::PgResult;
use super::connection::Connection;
use crate::WaitForSocket;

impl Connection {
    /// Has `wait` wait for the server's answers to statements that are executed; without it libpq waits, and the thread
    /// with it. No statement is under way.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn wait_by(&mut self, wait: Option<WaitForSocket>) -> Result<()> {
        // SAFETY: the connection is open.
        let code = unsafe { (self.api().set_nonblocking)(self.raw(), c_int::from(wait.is_some())) };
        if code != 0 {
            return Err(self.trouble());
        }
        self.set_wait(wait);
        Ok(())
    }

    /// The next result of the statement under way, once it is there; null after the last one.
    ///
    /// # Safety
    /// Each result is cleared once.
    #[inline]
    pub(super) unsafe fn next_result(&self) -> *mut PgResult {
        if let Some(wait) = self.wait() {
            self.await_result(wait);
        }
        // SAFETY: the connection is open.
        unsafe { (self.api().get_result)(self.raw()) }
    }

    /// Waits until the statement is sent and its next result is there. libpq reports a lost connection as a result.
    #[inline]
    fn await_result(&self, wait: WaitForSocket) {
        let (api, raw) = (self.api(), self.raw());
        // SAFETY: the connection is open.
        unsafe {
            while (api.flush)(raw) > 0 {
                if !self.progress(wait, PollFlags::POLLIN | PollFlags::POLLOUT) {
                    return;
                }
            }
            while (api.is_busy)(raw) != 0 {
                if !self.progress(wait, PollFlags::POLLIN) {
                    return;
                }
            }
        }
    }

    /// Waits for the socket, and takes what has come. Returns false if the connection is lost.
    #[inline]
    fn progress(&self, wait: WaitForSocket, events: PollFlags) -> bool {
        let (api, raw) = (self.api(), self.raw());
        // SAFETY: the connection is open.
        let socket = unsafe { (api.socket)(raw) };
        if socket < 0 {
            return false;
        }
        // SAFETY: libpq closes the socket in no call but those that this connection makes, and it makes none meanwhile.
        wait(unsafe { BorrowedFd::borrow_raw(socket) }, events);
        // SAFETY: the connection is open.
        unsafe { (api.consume_input)(raw) != 0 }
    }
}
