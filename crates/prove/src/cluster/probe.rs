//! Asks whether a node answers. A paused node accepts connections, and both client libraries would wait for its answer for
//! seconds, in which another node may take commits.

use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use dyno_engine::Protocol;
use dyno_lab::server::node_address;
use dyno_protocol::Server;
use dyno_wire::connect_within;
use nix::poll::PollFlags;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};

use super::patience;

/// The time in which a node must answer.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(200);
/// PostgreSQL's usual port.
const POSTGRES_PORT: u16 = 5432;
/// PostgreSQL's request for TLS: a length and a code. Any server answers it with one byte, and ends without a word where
/// the client then leaves (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SSL).
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// A question to a store that its node answers without the others.
const VERSION_REQUEST: &[u8] = b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Asks a node for an answer of any kind.
///
/// # Errors
/// It gives none in time.
pub fn ask(speaks: Option<Protocol>, server: &Server) -> Result<()> {
    let asked = match speaks {
        Some(Protocol::Postgres) => {
            let port = server.port.unwrap_or(POSTGRES_PORT);
            await_answer(connected(&format!("{}/.s.PGSQL.{port}", server.host)), &TLS_REQUEST)
        }
        // Its server speaks first.
        Some(Protocol::MySql) => await_answer(connected(&server.host), &[]),
        None => await_answer(reach(server), VERSION_REQUEST),
    };
    asked.with_context(|| format!("the node at {} does not answer", server.host))
}

fn await_answer(stream: Result<UnixStream>, request: &[u8]) -> Result<()> {
    let mut stream = stream?;
    stream.write_all(request)?;
    patience::limit(ANSWER_TIMEOUT);
    ensure!(patience::is_ready(stream.as_fd(), PollFlags::POLLIN), "it was waited for long enough");
    ensure!(stream.read(&mut [0])? > 0, "it closes connections");
    Ok(())
}

/// Connects with a node of a store: by its socket, or in its network. Reads, writes and waits are the same for both.
///
/// # Errors
/// As for [`connected`], or it takes too long.
pub fn reach(server: &Server) -> Result<UnixStream> {
    let Some((network, address)) = node_address(server)? else { return connected(&server.host) };
    let stream = connect_within(&network, address, ANSWER_TIMEOUT)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(UnixStream::from(OwnedFd::from(stream)))
}

/// Connects without a wait: the kernel would have it for a place among the connections that a paused node never takes.
///
/// # Errors
/// Nothing takes connections there, or no more of them.
fn connected(path: &str) -> Result<UnixStream> {
    let made: OwnedFd = socket(
        AddressFamily::Unix,
        SockType::Stream,
        SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
        None,
    )?;
    connect(made.as_raw_fd(), &UnixAddr::new(path)?)?;
    Ok(UnixStream::from(made))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::thread;
    use std::time::Instant;

    use super::*;

    fn server(host: &str) -> Server {
        serde_json::from_value(serde_json::json!({"host": host, "user": "u"})).unwrap()
    }

    #[test]
    fn a_node_that_takes_no_connection_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket").display().to_string();
        assert!(ask(Some(Protocol::MySql), &server(&path)).is_err());
        // As a paused one: the kernel accepts for it, up to a number of connections.
        let _listener = UnixListener::bind(&path).unwrap();
        let begin = Instant::now();
        let said = format!("{:#}", ask(Some(Protocol::MySql), &server(&path)).unwrap_err());
        assert!(said.ends_with("does not answer: it was waited for long enough"), "{said}");
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
        let waiting: Vec<_> = std::iter::from_fn(|| connected(&path).ok()).take(1 << 16).collect();
        let full = Instant::now();
        assert!(ask(Some(Protocol::MySql), &server(&path)).is_err());
        assert!(full.elapsed() < Duration::from_secs(1), "{:?} after {}", full.elapsed(), waiting.len());
    }

    #[test]
    fn a_node_that_answers_or_hangs_up_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let host = folder.path().display().to_string();
        let listener = UnixListener::bind(format!("{host}/.s.PGSQL.5432")).unwrap();
        let answers = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = TLS_REQUEST;
            stream.read_exact(&mut request).unwrap();
            stream.write_all(b"N").unwrap();
            drop(listener.accept().unwrap());
            request
        });
        ask(Some(Protocol::Postgres), &server(&host)).unwrap();
        assert!(ask(Some(Protocol::Postgres), &server(&host)).is_err());
        assert_eq!(answers.join().unwrap(), TLS_REQUEST);
    }
}
