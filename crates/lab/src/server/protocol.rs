//! The differences between servers by protocol that cannot be data: where their socket is, how they
//! report their version, and when they are ready.

use dyno_engine::Protocol;
use dyno_protocol::Server;

use super::folders::Folders;
use super::{mysql, postgres};

/// The name of the socket within its folder.
pub fn socket(speaks: Protocol) -> &'static str {
    match speaks {
        Protocol::Postgres => postgres::SOCKET,
        Protocol::MySql => mysql::SOCKET,
    }
}

/// The address of a private server by its socket, for a user without a password.
pub fn connection(speaks: Protocol, folders: &Folders, user: &str) -> Server {
    let sockets = folders.sockets.display().to_string();
    let (host, port, database) = match speaks {
        Protocol::Postgres => (sockets, Some(postgres::PORT), Some(postgres::DATABASE.to_owned())),
        Protocol::MySql => (format!("{sockets}/{}", mysql::SOCKET), None, None),
    };
    Server {
        host,
        port,
        user: user.to_owned(),
        password: None,
        database,
        options: Default::default(),
        process: None,
        further: Vec::new(),
        further_processes: Vec::new(),
    }
}

/// The version in what a server program says when asked for it; none where it speaks another protocol.
pub fn version(speaks: Protocol, said: &str) -> Option<String> {
    match speaks {
        Protocol::Postgres => postgres::version(said),
        Protocol::MySql => mysql::version(said),
    }
}

/// Returns true if a private server accepts connections.
pub fn is_ready(speaks: Protocol, folders: &Folders) -> bool {
    match speaks {
        Protocol::Postgres => postgres::is_ready(folders),
        Protocol::MySql => mysql::is_ready(folders),
    }
}

/// Returns true if a server that is killed leaves shared memory behind.
pub fn leaves_segments(speaks: Protocol) -> bool {
    speaks == Protocol::Postgres
}
