//! A client's connection to a node, whose operations have a time limit: a node that stopped never answers.

use std::net::Shutdown;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Error, Result, bail, ensure};
use dyno_client::{Sql, mysql, postgres};
use dyno_engine::Protocol;
use dyno_protocol::{Build, Server, Value};
use nix::poll::PollFlags;

use super::store::{StoreKind, StoreLink};
use super::{patience, probe};
use crate::subject::DATABASE;

/// The time limit of a connection, in seconds: the shortest that libpq takes.
const CONNECT_TIMEOUT: &str = "2";

/// The client libraries, loaded once.
#[derive(Clone)]
pub enum ClientLibrary {
    /// libpq.
    Postgres(Arc<postgres::Api>),
    /// libmariadb.
    MySql(Arc<mysql::Api>),
    /// None: dyno speaks to a store itself.
    Store(StoreKind),
}

impl ClientLibrary {
    /// That of a protocol.
    ///
    /// # Errors
    /// It is not installed, or it waits for a node without end.
    pub fn load(speaks: Protocol) -> Result<ClientLibrary> {
        Ok(match speaks {
            Protocol::Postgres => ClientLibrary::Postgres(Arc::new(postgres::load(&Build::System)?)),
            Protocol::MySql => {
                let api = mysql::load(&Build::System)?;
                check_waits(&mysql::version(&api), api.can_wait())?;
                ClientLibrary::MySql(Arc::new(api))
            }
        })
    }

    fn speaks(&self) -> Option<Protocol> {
        match self {
            ClientLibrary::Postgres(_) => Some(Protocol::Postgres),
            ClientLibrary::MySql(_) => Some(Protocol::MySql),
            ClientLibrary::Store(_) => None,
        }
    }
}

/// A connection to a node. It stays with the thread that opened it.
pub enum NodeLink {
    /// PostgreSQL's.
    Postgres(postgres::Connection),
    /// MySQL's.
    MySql(mysql::Connection),
    /// A store's.
    Store(Box<dyn StoreLink>),
}

impl NodeLink {
    /// Connects to the server of a node, and to no database of MySQL's.
    ///
    /// # Errors
    /// The node does not answer, or refuses.
    pub fn open(library: &ClientLibrary, server: &Server) -> Result<NodeLink> {
        let limited = |name: &str| {
            let mut server = server.clone();
            server.options.insert(name.to_owned(), CONNECT_TIMEOUT.to_owned());
            server
        };
        Ok(match library {
            ClientLibrary::Postgres(api) => {
                let server = limited("connect_timeout");
                let mut connection = postgres::connect(api, &server, postgres::maintenance(&server))?;
                connection.wait_by(Some(wait))?;
                NodeLink::Postgres(connection)
            }
            ClientLibrary::MySql(api) => {
                let mut connection = mysql::connect(api, &limited("connect-timeout"), false)?;
                check_waits(&mysql::version(api), connection.wait_by(Some(wait))?)?;
                NodeLink::MySql(connection)
            }
            ClientLibrary::Store(kind) => NodeLink::Store(kind.open(server)?),
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
        probe::ask(library.speaks(), server)?;
        NodeLink::enter(library, server, limit)
    }

    /// The rows of a statement. When the time is over, or the leader that the thread works with is replaced, the connection is lost.
    ///
    /// # Errors
    /// The server says so, or the connection is lost.
    pub fn rows(&self, sql: &str, limit: Duration) -> Result<Vec<Vec<Value>>> {
        patience::limit(limit);
        match self {
            NodeLink::Postgres(connection) => connection.rows(sql),
            NodeLink::MySql(connection) => connection.rows(sql),
            NodeLink::Store(_) => bail!("a store has no SQL"),
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

/// # Errors
/// A library of MySQL has no calls that do not block.
fn check_waits(library: &str, can_wait: bool) -> Result<()> {
    ensure!(
        can_wait,
        "{library} gives a statement no time limit, as clients of a cluster need it where a node is lost; install \
         MariaDB's client library, which dyno takes first (Debian: sudo apt-get install libmariadb3)"
    );
    Ok(())
}

/// True if the server rolled the transaction back because of another one: it is not there.
pub fn is_rolled_back(error: &Error) -> bool {
    let by_postgres =
        error.downcast_ref().map(|error: &postgres::ServerError| postgres::is_retryable(&error.code));
    let by_mysql = error.downcast_ref().map(|error: &mysql::ServerError| mysql::is_retryable(error.number));
    by_postgres.or(by_mysql).unwrap_or(false)
}

/// Waits for the socket as long as the thread's patience lasts, and then hangs up, which the library takes for a lost
/// connection.
fn wait(socket: BorrowedFd<'_>, events: PollFlags) {
    if !patience::is_ready(socket, events)
        && let Ok(copy) = socket.try_clone_to_owned()
    {
        let _ = UnixStream::from(copy).shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_waits_without_end_is_refused_with_what_to_do() {
        check_waits("libmariadb 10.11.6", true).unwrap();
        let said = check_waits("libmysqlclient 9.1.0", false).unwrap_err().to_string();
        assert!(said.starts_with("libmysqlclient 9.1.0 gives a statement no time limit"), "{said}");
        assert!(said.contains("sudo apt-get install libmariadb3"), "{said}");
    }
}
