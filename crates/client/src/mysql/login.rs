//! Opens a connection: in plain text, or encrypted or not at all.

use std::ffi::{CStr, CString, c_char, c_uint};
use std::ptr;
use std::time::Duration;

use anyhow::{Result, bail};

use super::api::{CLIENT_FOUND_ROWS, OPT_NONBLOCK};
use super::connection::{Connection, NO_ENCRYPTION, ServerError};
use super::greeting::{self, Greeting};
use super::library;
use super::waiting::STACK;

/// Error: no connection could be made.
const NO_ANSWER: u32 = 2003;

/// The address of a server.
#[derive(Debug)]
pub struct Address {
    /// A host's name or address; `None` for a socket in the file system.
    pub host: Option<CString>,
    /// The port; 0 for a socket.
    pub port: c_uint,
    /// The socket's path.
    pub socket: Option<CString>,
}

/// The account to log in with, and the database to enter.
pub struct Account {
    /// The user's name.
    pub user: CString,
    /// The password; empty for an account without one.
    pub password: CString,
    /// The database; `None` to enter no database.
    pub database: Option<CString>,
}

impl Connection {
    /// Connects. The error never contains the password.
    pub(super) fn connect(&self, at: &Address, account: &Account) -> Result<()> {
        // SAFETY: the connection is not open yet, and the strings outlive the call.
        let connected = unsafe {
            (self.api().real_connect)(
                self.raw(),
                pointer(at.host.as_deref()),
                account.user.as_ptr(),
                account.password.as_ptr(),
                pointer(account.database.as_deref()),
                at.port,
                pointer(at.socket.as_deref()),
                CLIENT_FOUND_ROWS,
            )
        };
        if connected.is_null() { Err(self.server_error().into()) } else { Ok(()) }
    }

    /// Connects with libmariadb to a server that encrypts, and sends nothing to one that does not. `greeting_timeout`
    /// limits the wait for the server's greeting, if there is a limit.
    pub(super) fn connect_encrypted(
        &self,
        at: &Address,
        account: &Account,
        greeting_timeout: Option<Duration>,
    ) -> Result<()> {
        let api = &**self.api();
        let (Some(start), Some(go_on), Some(socket), Some(timeout)) =
            (api.real_connect_start, api.real_connect_cont, api.get_socket, api.get_timeout_value_ms)
        else {
            bail!("{} cannot be kept from plain text; use a newer one", library::version(api));
        };
        self.set_size(OPT_NONBLOCK, STACK)?;
        let (mut connected, mut refusal) = (ptr::null_mut(), None);
        let mut has_greeted = false;
        // SAFETY: the connection is not open yet, and the strings outlive all of the calls. Each call but the first
        // goes on where the one before it stopped, with what it waited for; the socket is that of the connection.
        unsafe {
            let mut status = start(
                &mut connected,
                self.raw(),
                pointer(at.host.as_deref()),
                account.user.as_ptr(),
                account.password.as_ptr(),
                pointer(account.database.as_deref()),
                at.port,
                pointer(at.socket.as_deref()),
                CLIENT_FOUND_ROWS,
            );
            while status != 0 {
                let socket = socket(self.raw());
                let time = || Duration::from_millis(timeout(self.raw()).into());
                let time = (status & greeting::WAIT_TIMEOUT != 0).then(time);
                let (ready, is_broken) = greeting::wait(socket, status, time);
                let is_connected = ready & (greeting::WAIT_READ | greeting::WAIT_WRITE) != 0 && !is_broken;
                if is_connected && !has_greeted {
                    has_greeted = true;
                    refusal = refusal_of(greeting::read(socket, greeting_timeout));
                    if refusal.is_some() {
                        greeting::close_for_sending(socket);
                    }
                }
                status = go_on(&mut connected, self.raw(), ready);
            }
        }
        match refusal {
            Some(refusal) => Err(refusal.into()),
            None if connected.is_null() => Err(self.server_error().into()),
            None => Ok(()),
        }
    }
}

fn pointer(text: Option<&CStr>) -> *const c_char {
    text.map_or(ptr::null(), CStr::as_ptr)
}

/// The error of a greeting after which nothing is sent.
fn refusal_of(greeting: Greeting) -> Option<ServerError> {
    let (number, message) = match greeting {
        Greeting::Encrypts | Greeting::Over => return None,
        Greeting::Plain => (NO_ENCRYPTION, "the server offers no encryption, so nothing was sent to it"),
        Greeting::Silent => (NO_ANSWER, "the server has sent no greeting"),
    };
    Some(ServerError { number, state: "HY000".into(), message: message.into() })
}
