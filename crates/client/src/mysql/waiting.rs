//! A connection whose thread does other work while the server's answer is not there: libmariadb's calls that do not
//! block.
//!
//! Each is in two parts. `_start` begins, and returns what the call waits for on the socket, or 0 once it is done;
//! `_cont` goes on with what has come. libmysqlclient has none for prepared statements.

use std::ffi::{c_char, c_int, c_ulong};
use std::os::fd::BorrowedFd;

use nix::poll::PollFlags;

use super::api::{Api, Mysql, Res, Stmt};
use super::greeting::{WAIT_READ, WAIT_TIMEOUT, WAIT_WRITE};
use crate::WaitForSocket;

/// Bytes of the stack of a call that does not block. The library's own is too small for some certificates.
pub(super) const STACK: usize = 512 << 10;

/// The two parts of a call on an object of type `O` that returns an `R`.
pub(super) type Call<O, R> =
    (unsafe extern "C" fn(*mut R, *mut O) -> c_int, unsafe extern "C" fn(*mut R, *mut O, c_int) -> c_int);

/// The calls that statements are executed by, and the function that waits for them.
#[derive(Clone, Copy)]
pub(super) struct WaitingCalls {
    wait: WaitForSocket,
    socket: unsafe extern "C" fn(*mut Mysql) -> c_int,
    pub query: (
        unsafe extern "C" fn(*mut c_int, *mut Mysql, *const c_char, c_ulong) -> c_int,
        unsafe extern "C" fn(*mut c_int, *mut Mysql, c_int) -> c_int,
    ),
    pub store_result: Call<Mysql, *mut Res>,
    pub next_result: Call<Mysql, c_int>,
    pub execute: Call<Stmt, c_int>,
    pub store: Call<Stmt, c_int>,
}

impl WaitingCalls {
    /// Those of a library; `None` if it has none.
    pub fn of(api: &Api, wait: WaitForSocket) -> Option<WaitingCalls> {
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
    pub unsafe fn complete(
        &self,
        mysql: *mut Mysql,
        mut status: c_int,
        mut go_on: impl FnMut(c_int) -> c_int,
    ) {
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
