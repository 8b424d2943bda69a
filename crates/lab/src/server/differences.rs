//! What differs between the engines while a server of theirs runs.

use std::process::Command;

use dyno_engine::ServerEngine;
use dyno_protocol::Setting;
use nix::sys::signal::Signal;

use super::folders::Folders;
use super::installation::Installation;
use super::{mysql, postgres};

/// What dyno sends the server to end it.
pub(super) fn stop_signal(engine: ServerEngine) -> Signal {
    match engine {
        ServerEngine::Postgres => postgres::STOP,
        ServerEngine::MariaDb | ServerEngine::MySql => mysql::STOP,
    }
}

/// The name of the socket within its folder.
pub(super) fn socket(engine: ServerEngine) -> &'static str {
    match engine {
        ServerEngine::Postgres => postgres::SOCKET,
        ServerEngine::MariaDb | ServerEngine::MySql => mysql::SOCKET,
    }
}

/// What the kernel sends the server when dyno dies. PostgreSQL's main process must live to end its
/// children; MariaDB's and MySQL's has none.
pub(super) fn death_signal(engine: ServerEngine) -> Signal {
    match engine {
        ServerEngine::Postgres => postgres::STOP,
        ServerEngine::MariaDb | ServerEngine::MySql => Signal::SIGKILL,
    }
}

/// The command that runs the server.
pub(super) fn start_command(
    engine: ServerEngine,
    installation: &Installation,
    settings: &[Setting],
    folders: &Folders,
) -> Command {
    match engine {
        ServerEngine::Postgres => postgres::start_command(installation, settings, folders),
        ServerEngine::MariaDb | ServerEngine::MySql => mysql::start_command(installation, settings, folders),
    }
}

/// What takes a key at its start. The others have no encryption of their own.
pub(super) fn takes_key(engine: ServerEngine) -> bool {
    engine == ServerEngine::MariaDb
}

/// Whether the server accepts connections.
pub(super) fn is_ready(engine: ServerEngine, folders: &Folders) -> bool {
    match engine {
        ServerEngine::Postgres => postgres::is_ready(folders),
        ServerEngine::MariaDb | ServerEngine::MySql => mysql::is_ready(folders),
    }
}
