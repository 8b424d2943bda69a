//! Unix sockets and TCP alike: where a server is, a connection, and the socket on which a proxy listens.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, UnixAddr, setsockopt, sockopt};
use nix::sys::time::{TimeVal, TimeValLike};

/// The time that a host has to accept a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// The address at which a server accepts connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerPlace {
    /// At a socket of the file system.
    Socket(PathBuf),
    /// At a port of a host, which is a name or an address.
    Port(String, u16),
    /// At an address in a network namespace, which a file stands for.
    Within(PathBuf, SocketAddr),
}

impl ServerPlace {
    /// Opens a connection.
    pub(crate) fn connect(&self) -> io::Result<Stream> {
        match self {
            ServerPlace::Socket(path) => connect_socket(path, PATIENCE).map(Stream::Unix),
            ServerPlace::Port(host, port) => connect(host, *port).and_then(at_once),
            ServerPlace::Within(network, address) => {
                connect_within(network, *address, PATIENCE).and_then(at_once)
            }
        }
    }
}

impl fmt::Display for ServerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerPlace::Socket(path) => write!(f, "{}", path.display()),
            ServerPlace::Port(host, port) => write!(f, "{host}:{port}"),
            ServerPlace::Within(network, address) => write!(f, "{address} in {}", network.display()),
        }
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    /// Reads what is there, or waits for more; 0 at the end.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match self {
                Stream::Unix(stream) => (&mut &*stream).read(buffer),
                Stream::Tcp(stream) => (&mut &*stream).read(buffer),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }

    /// Writes all bytes.
    pub fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => (&mut &*stream).write_all(bytes),
            Stream::Tcp(stream) => (&mut &*stream).write_all(bytes),
        }
    }

    /// Ends the connection, or one direction of it. One that has ended already needs nothing.
    pub fn shutdown(&self, directions: Shutdown) {
        let _ = match self {
            Stream::Unix(stream) => stream.shutdown(directions),
            Stream::Tcp(stream) => stream.shutdown(directions),
        };
    }
}

/// A listening socket.
#[derive(Debug)]
pub(crate) enum Listening {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listening {
    /// On a port of this machine's own address that is free.
    pub fn on_a_free_port() -> io::Result<(Listening, u16)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        Ok((Listening::Tcp(listener), port))
    }

    /// Ends the waiting for connections, which then fails.
    pub fn shutdown(&self) {
        let socket = match self {
            Listening::Unix(listener) => listener.as_fd(),
            Listening::Tcp(listener) => listener.as_fd(),
        };
        // The call is the same for sockets of every kind.
        if let Ok(copy) = socket.try_clone_to_owned() {
            let _ = UnixStream::from(copy).shutdown(Shutdown::Both);
        }
    }

    /// Waits for the next connection.
    pub fn accept(&self) -> io::Result<Stream> {
        match self {
            Listening::Unix(listener) => Ok(Stream::Unix(listener.accept()?.0)),
            Listening::Tcp(listener) => at_once(listener.accept()?.0),
        }
    }
}

/// Connects with the first of a host's addresses that accepts.
fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut found = Err(io::ErrorKind::AddrNotAvailable.into());
    for address in (host, port).to_socket_addrs()? {
        found = TcpStream::connect_timeout(&address, PATIENCE);
        if found.is_ok() {
            break;
        }
    }
    found
}

/// Connects with an address in a network namespace, which a file stands for. A socket stays in the namespace in which it was
/// made, and any thread may use it.
///
/// # Errors
/// The namespace is gone, dyno is not root, or nothing accepts connections there in time.
pub fn connect_within(network: &Path, address: SocketAddr, patience: Duration) -> io::Result<TcpStream> {
    let network = File::open(network)?;
    // A thread that has left the machine's network must not do anything else.
    let connected = thread::spawn(move || {
        setns(&network, CloneFlags::CLONE_NEWNET)?;
        TcpStream::connect_timeout(&address, patience)
    });
    connected.join().unwrap_or_else(|_| Err(io::Error::other("the thread that connects panicked")))
}

/// Connects with a socket of the file system. Where the server is stopped and its queue is full, the kernel waits for as
/// long as the new socket may wait to send (unix(7), connect(2)).
fn connect_socket(path: &Path, patience: Duration) -> io::Result<UnixStream> {
    let socket = socket::socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    setsockopt(&socket, sockopt::SendTimeout, &TimeVal::milliseconds(patience.as_millis() as i64))?;
    socket::connect(socket.as_raw_fd(), &UnixAddr::new(path)?)?;
    setsockopt(&socket, sockopt::SendTimeout, &TimeVal::seconds(0))?;
    Ok(UnixStream::from(socket))
}

/// A connection that sends each write at once: the proxy gathers nothing.
fn at_once(stream: TcpStream) -> io::Result<Stream> {
    stream.set_nodelay(true)?;
    Ok(Stream::Tcp(stream))
}

#[cfg(test)]
mod tests {
    use nix::sys::socket::Backlog;

    use super::*;

    #[test]
    fn a_server_that_takes_no_connections_ends_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server");
        // Nothing accepts: the queue takes a few and no more.
        let listener = UnixListener::bind(&path).unwrap();
        socket::listen(&listener, Backlog::new(1).unwrap()).unwrap();
        let connect = || connect_socket(&path, Duration::from_millis(50));
        let kept: Vec<_> = (0..10).map(|_| connect()).collect();
        assert!(kept[0].is_ok(), "{kept:?}");
        assert_eq!(connect().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
