//! The inspector that a proxy asks before it passes bytes on: a recorder keeps them, and a proof of failures withholds
//! them.

use std::fmt::Debug;

/// The end of a connection that sent some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerRole {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// The fate of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// They are passed on.
    Pass,
    /// They are dropped, and the connection stays open.
    Drop,
    /// They are dropped, and both ends of the connection are closed.
    Cut,
}

/// Sees all bytes that go through a proxy, in the order in which the client sends and receives them: those of a client
/// before they are delayed, those of a server after that.
pub trait Inspector: Debug + Send + Sync {
    /// Decides about the bytes of one read from a connection, by its number: the proxy numbers them from 0 as they
    /// come.
    fn inspect(&self, connection: u64, origin: PeerRole, bytes: &[u8]) -> Passage;
}
