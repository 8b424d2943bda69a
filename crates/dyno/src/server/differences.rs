//! What differs between the engines while a server of theirs runs.

use std::process::Command;

use dyno_protocol::Setting;
use nix::sys::signal::Signal;

use super::folders::Folders;
use super::installation::Installation;
use super::{ServerEngine, mysql, postgres};

impl ServerEngine {
    /// What dyno sends the server to end it.
    pub(super) fn stop_signal(self) -> Signal {
        match self {
            ServerEngine::Postgres => postgres::STOP,
            ServerEngine::MariaDb | ServerEngine::MySql => mysql::STOP,
        }
    }

    /// The name of the socket within its folder.
    pub(super) fn socket(self) -> &'static str {
        match self {
            ServerEngine::Postgres => postgres::SOCKET,
            ServerEngine::MariaDb | ServerEngine::MySql => mysql::SOCKET,
        }
    }

    /// What the kernel sends the server when dyno dies. PostgreSQL's main process must live to end its
    /// children; MariaDB's and MySQL's has none.
    pub(super) fn death_signal(self) -> Signal {
        match self {
            ServerEngine::Postgres => postgres::STOP,
            ServerEngine::MariaDb | ServerEngine::MySql => Signal::SIGKILL,
        }
    }

    /// The command that runs the server.
    pub(super) fn start_command(
        self,
        installation: &Installation,
        settings: &[Setting],
        folders: &Folders,
    ) -> Command {
        match self {
            ServerEngine::Postgres => postgres::start_command(installation, settings, folders),
            ServerEngine::MariaDb | ServerEngine::MySql => {
                mysql::start_command(installation, settings, folders)
            }
        }
    }

    /// What takes a key at its start. The others have no encryption of their own.
    pub(super) fn takes_key(self) -> bool {
        self == ServerEngine::MariaDb
    }

    /// Whether the server accepts connections.
    pub(super) fn is_ready(self, folders: &Folders) -> bool {
        match self {
            ServerEngine::Postgres => postgres::is_ready(folders),
            ServerEngine::MariaDb | ServerEngine::MySql => mysql::is_ready(folders),
        }
    }
}
