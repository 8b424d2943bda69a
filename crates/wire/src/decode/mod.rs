//! Reads what clients ask of servers out of the bytes of a connection: PostgreSQL's protocol 3, and that of MySQL and
//! MariaDB.
//!
//! It reads no more than statements and preparations need. Bytes may come in pieces of any size; the pieces make no
//! difference. Nothing that either side sends makes it panic.

mod frames;
mod mysql;
mod postgres;

use std::sync::Arc;

use mysql::MySqlDecoder;
use postgres::PostgresDecoder;

use crate::inspect::PeerRole;

/// A protocol between clients and servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireProtocol {
    /// PostgreSQL's, version 3.
    Postgres,
    /// That of MySQL and MariaDB.
    MySql,
}

/// A request of a client to its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// To prepare a statement: a message `Parse` of PostgreSQL, a command `COM_STMT_PREPARE` of MySQL.
    Prepare(Arc<str>),
    /// To execute one, by its text or by the name under which it was prepared.
    Execute(Arc<str>),
}

/// The reason that a connection cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// It is encrypted.
    Encrypted,
    /// It is compressed.
    Compressed,
    /// It does not keep the protocol.
    Foreign,
}

/// The protocol of a connection, as far as it was read.
#[derive(Debug)]
pub struct Conversation {
    state: State,
    obstacle: Option<Obstacle>,
}

#[derive(Debug)]
enum State {
    Postgres(PostgresDecoder),
    MySql(MySqlDecoder),
}

impl Conversation {
    /// A connection whose first bytes are still to come.
    pub fn new(protocol: WireProtocol) -> Conversation {
        let state = match protocol {
            WireProtocol::Postgres => State::Postgres(PostgresDecoder::default()),
            WireProtocol::MySql => State::MySql(MySqlDecoder::default()),
        };
        Conversation { state, obstacle: None }
    }

    /// Reads further bytes, and gives what the messages ask that end in them.
    pub fn hear(&mut self, origin: PeerRole, bytes: &[u8]) -> Vec<Ask> {
        let mut asked = Vec::new();
        if self.obstacle.is_none() {
            let heard = match (&mut self.state, origin) {
                (State::Postgres(state), PeerRole::Client) => state.client(bytes, &mut asked),
                (State::Postgres(state), PeerRole::Server) => state.server(bytes, &mut asked),
                (State::MySql(state), PeerRole::Client) => state.client(bytes, &mut asked),
                (State::MySql(state), PeerRole::Server) => state.server(bytes),
            };
            self.obstacle = heard.err();
        }
        asked
    }

    /// The reason that it cannot be read, once that is known.
    pub fn obstacle(&self) -> Option<Obstacle> {
        self.obstacle
    }
}

/// A text as a server reads it.
fn text(bytes: &[u8]) -> Arc<str> {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').into()
}

#[cfg(test)]
mod tests;
