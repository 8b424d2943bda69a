//! Refuses a server without encryption before libmariadb sends it anything.
//!
//! `MYSQL_OPT_SSL_ENFORCE` asks a server for encryption. If the greeting offers none, libmariadb continues in plain text
//! and sends the user's name, the answer to the challenge, and later the statements. A check after the connection would
//! come too late. Therefore libmariadb connects by its non-blocking calls, and between them dyno peeks at the greeting in
//! the socket's buffer. If it offers no encryption, dyno shuts the socket down for sending before libmariadb reads the
//! same bytes.

use std::ffi::c_int;
use std::io::{ErrorKind, Result};
use std::mem::ManuallyDrop;
use std::net::{Shutdown, TcpStream};
use std::os::fd::FromRawFd;
use std::thread;
use std::time::{Duration, Instant};

use libc::{POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, pollfd};

/// Events that a non-blocking call waits for, and those that occurred: bits of `MYSQL_WAIT_…`.
pub const WAIT_READ: c_int = 1;
/// The socket takes bytes.
pub const WAIT_WRITE: c_int = 2;
/// Bytes out of order.
const WAIT_EXCEPT: c_int = 4;
/// The time is over.
pub const WAIT_TIMEOUT: c_int = 8;

/// Bit of the greeting's capabilities: the server can encrypt.
const CLIENT_SSL: u16 = 0x0800;
/// First byte of an error that a server sends in place of a greeting.
const ERROR: u8 = 0xff;
/// Bytes of a packet's header.
const HEADER: usize = 4;
/// Bytes between the version's end and the capabilities: the connection's number, the challenge and a zero byte.
const BEFORE_CAPABILITIES: usize = 4 + 8 + 1;

/// The server's answer to whether it encrypts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Greeting {
    /// The server encrypts if asked.
    Encrypts,
    /// The server does not.
    Plain,
    /// An error, or the connection is over: libmariadb reports it and sends nothing.
    Over,
    /// It has not come in time.
    Silent,
}

/// Waits until the socket is ready for what a call waits for. Returns what has come, and whether the connection
/// is broken.
pub fn wait(socket: c_int, status: c_int, time: Option<Duration>) -> (c_int, bool) {
    let pairs = [(WAIT_READ, POLLIN), (WAIT_WRITE, POLLOUT), (WAIT_EXCEPT, POLLPRI)];
    let asked = pairs.iter().filter(|(bit, _)| status & bit != 0);
    let mut watched = pollfd { fd: socket, events: asked.fold(0, |all, (_, flag)| all | flag), revents: 0 };
    let milliseconds = time.map_or(-1, |time| time.as_millis().try_into().unwrap_or(c_int::MAX));
    // SAFETY: it is one entry, which lives through the call.
    if unsafe { libc::poll(&mut watched, 1, milliseconds) } == 0 {
        return (WAIT_TIMEOUT, false);
    }
    let broken = watched.revents & (POLLERR | POLLHUP | POLLNVAL) != 0;
    // A broken connection is found out by the call itself.
    let ready = pairs.iter().filter(|(_, flag)| broken || watched.revents & flag != 0);
    (ready.fold(0, |bits, (bit, _)| bits | bit & status), broken)
}

/// Reads what the greeting says and leaves it to be read again.
pub fn read(socket: c_int, within: Option<Duration>) -> Greeting {
    let until = within.map(|within| Instant::now() + within);
    let mut buffer = [0; 512];
    loop {
        match with_stream(socket, |stream| stream.peek(&mut buffer)) {
            Ok(0) => return Greeting::Over,
            Ok(length) => match parse(&buffer[..length]) {
                Some(greeting) => return greeting,
                // A version that fills the whole buffer is not valid.
                None if length == buffer.len() => return Greeting::Plain,
                None => thread::sleep(Duration::from_millis(1)),
            },
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let left = until.map(|until| until.saturating_duration_since(Instant::now()));
                wait(socket, WAIT_READ, left);
            }
            Err(_) => return Greeting::Over,
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            return Greeting::Silent;
        }
    }
}

/// Lets nothing more leave through the socket.
pub fn close_for_sending(socket: c_int) {
    // Of a socket that is closed already nothing can leave.
    let _ = with_stream(socket, |stream| stream.shutdown(Shutdown::Both));
}

/// Lends the library's socket to the standard library. It may be one of the file system: nothing is called that
/// differs between them.
fn with_stream<T>(socket: c_int, call: impl FnOnce(&TcpStream) -> Result<T>) -> Result<T> {
    // SAFETY: the socket is open while a call that waits for it is under way, and is not closed here.
    let stream = ManuallyDrop::new(unsafe { TcpStream::from_raw_fd(socket) });
    call(&stream)
}

/// Reads the greeting from its first bytes; `None` if more bytes are needed.
fn parse(bytes: &[u8]) -> Option<Greeting> {
    let payload = bytes.get(HEADER..)?;
    if *payload.first()? == ERROR {
        return Some(Greeting::Over);
    }
    let version = payload[1..].iter().position(|&byte| byte == 0)?;
    let at = 1 + version + 1 + BEFORE_CAPABILITIES;
    let capabilities = payload.get(at..at + 2)?;
    let encrypts = u16::from_le_bytes([capabilities[0], capabilities[1]]) & CLIENT_SSL != 0;
    Some(if encrypts { Greeting::Encrypts } else { Greeting::Plain })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greeting(capabilities: u16) -> Vec<u8> {
        let mut payload = vec![10];
        payload.extend(b"10.11.19-MariaDB\0");
        payload.extend([7; BEFORE_CAPABILITIES]);
        payload.extend(capabilities.to_le_bytes());
        payload.extend([0; 30]);
        let mut packet = vec![payload.len() as u8, 0, 0, 0];
        packet.extend(payload);
        packet
    }

    #[test]
    fn a_greeting_is_read_from_as_many_bytes_as_it_takes() {
        let (plain, encrypts) = (greeting(!CLIENT_SSL), greeting(CLIENT_SSL));
        let needed = HEADER + 1 + "10.11.19-MariaDB\0".len() + BEFORE_CAPABILITIES + 2;
        for length in 0..plain.len() {
            let expected = |whole| (length >= needed).then_some(whole);
            assert_eq!(parse(&plain[..length]), expected(Greeting::Plain), "{length}");
            assert_eq!(parse(&encrypts[..length]), expected(Greeting::Encrypts), "{length}");
        }
        assert_eq!(parse(b"\x10\0\0\0\xff\x10\x04Too many"), Some(Greeting::Over));
    }
}
