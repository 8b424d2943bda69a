//! A client's connection to a node, whose operations have a time limit: a node that stopped never answers.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, bail, ensure};
use dyno_client::{Sql, mysql, postgres};
use dyno_engine::Protocol;
use dyno_protocol::{Build, Server, Value};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::subject::DATABASE;

/// The time limit of a connection, in seconds: the shortest that libpq takes.
const CONNECT_TIMEOUT: &str = "2";
/// The time in which a server of PostgreSQL must answer its first request. One that is stopped accepts connections, and
/// libpq would wait for its answer for two seconds, in which another node may become the leader.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(200);
/// PostgreSQL's usual port.
const POSTGRES_PORT: u16 = 5432;
/// PostgreSQL's request for TLS: a length and a code. Any server answers it with one byte, and ends without a word where
/// the client then leaves (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SSL).
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

thread_local! {
    /// The moment by which the operation under way must be answered.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The client libraries, loaded once.
#[derive(Clone)]
pub enum ClientLibrary {
    /// libpq.
    Postgres(Arc<postgres::Api>),
    /// libmariadb.
    MySql(Arc<mysql::Api>),
}

impl ClientLibrary {
    /// That of a protocol.
    ///
    /// # Errors
    /// It is not installed.
    pub fn load(speaks: Protocol) -> Result<ClientLibrary> {
        Ok(match speaks {
            Protocol::Postgres => ClientLibrary::Postgres(Arc::new(postgres::load(&Build::System)?)),
            Protocol::MySql => ClientLibrary::MySql(Arc::new(mysql::load(&Build::System)?)),
        })
    }
}

/// A connection to a node. It stays with the thread that opened it.
pub enum NodeLink {
    /// PostgreSQL's.
    Postgres(postgres::Connection),
    /// MySQL's.
    MySql(mysql::Connection),
}

impl NodeLink {
    /// Connects to the server of a node, and to no database of MySQL's.
    ///
    /// # Errors
    /// The node does not answer, or refuses.
    pub fn open(library: &ClientLibrary, server: &Server) -> Result<NodeLink> {
        let mut server = server.clone();
        let name = match library {
            ClientLibrary::Postgres(_) => "connect_timeout",
            ClientLibrary::MySql(_) => "connect-timeout",
        };
        server.options.insert(name.to_owned(), CONNECT_TIMEOUT.to_owned());
        Ok(match library {
            ClientLibrary::Postgres(api) => {
                let mut connection = postgres::connect(api, &server, postgres::maintenance(&server))?;
                connection.wait_by(Some(wait))?;
                NodeLink::Postgres(connection)
            }
            ClientLibrary::MySql(api) => {
                let mut connection = mysql::connect(api, &server, false)?;
                ensure!(
                    connection.wait_by(Some(wait))?,
                    "the client library of MySQL that is installed gives a statement no time limit, as clients of a cluster need \
                     it; install MariaDB's (Debian: sudo apt-get install libmariadb3)"
                );
                NodeLink::MySql(connection)
            }
        })
    }

    /// Connects, and goes to the database of the proof.
    ///
    /// # Errors
    /// As for [`NodeLink::open`]; or the database is not there.
    pub fn enter(library: &ClientLibrary, server: &Server, limit: Duration) -> Result<NodeLink> {
        let link = NodeLink::open(library, server)?;
        if let NodeLink::MySql(_) = link {
            link.rows(&format!("USE {DATABASE}"), limit)?;
        }
        Ok(link)
    }

    /// The same with a node that may be lost, which is found soon.
    ///
    /// # Errors
    /// As for [`NodeLink::enter`].
    pub fn try_enter(library: &ClientLibrary, server: &Server, limit: Duration) -> Result<NodeLink> {
        if let ClientLibrary::Postgres(_) = library {
            ask(server)?;
        }
        NodeLink::enter(library, server, limit)
    }

    /// The rows of a statement. When the time is over, the connection is lost.
    ///
    /// # Errors
    /// The server says so, or the connection is lost.
    pub fn rows(&self, sql: &str, limit: Duration) -> Result<Vec<Vec<Value>>> {
        DEADLINE.set(Some(Instant::now() + limit));
        match self {
            NodeLink::Postgres(connection) => connection.rows(sql),
            NodeLink::MySql(connection) => connection.rows(sql),
        }
    }

    /// Executes statements in turn, each with the time limit.
    ///
    /// # Errors
    /// As for [`NodeLink::rows`].
    pub fn execute(&self, statements: &[String], limit: Duration) -> Result<()> {
        statements.iter().try_for_each(|sql| self.rows(sql, limit).map(drop))
    }
}

/// Asks a server of PostgreSQL for an answer of any kind.
///
/// # Errors
/// It gives none in time.
fn ask(server: &Server) -> Result<()> {
    let port = server.port.unwrap_or(POSTGRES_PORT);
    if server.host.starts_with('/') {
        let stream = UnixStream::connect(format!("{}/.s.PGSQL.{port}", server.host))?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        return await_answer(stream);
    }
    let address =
        (server.host.as_str(), port).to_socket_addrs()?.next().context("the node has no address")?;
    let stream = TcpStream::connect_timeout(&address, ANSWER_TIMEOUT)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    await_answer(stream)
}

fn await_answer(mut stream: impl Read + Write) -> Result<()> {
    stream.write_all(&TLS_REQUEST)?;
    if stream.read(&mut [0])? == 0 {
        bail!("the node closes connections");
    }
    Ok(())
}

/// True if the server rolled the transaction back because of another one: it is not there.
pub fn is_rolled_back(error: &Error) -> bool {
    let by_postgres =
        error.downcast_ref().map(|error: &postgres::ServerError| postgres::is_retryable(&error.code));
    let by_mysql = error.downcast_ref().map(|error: &mysql::ServerError| mysql::is_retryable(error.number));
    by_postgres.or(by_mysql).unwrap_or(false)
}

/// Waits for the socket until the deadline, and then hangs up, which the library takes for a lost connection.
fn wait(socket: BorrowedFd<'_>, events: PollFlags) {
    let left = DEADLINE.get().map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
    let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
    let mut sockets = [PollFd::new(socket, events)];
    if matches!(poll(&mut sockets, timeout), Ok(0))
        && let Ok(copy) = socket.try_clone_to_owned()
    {
        let _ = UnixStream::from(copy).shutdown(Shutdown::Both);
    }
}
