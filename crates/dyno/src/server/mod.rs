//! Database servers: found on this machine, started for one run, addressed and stopped.
//!
//! An engine that is a server is measured on a *private* server, which dyno starts from an
//! [`Installation`] and which dies with it, or on one that runs already and that a [`ServerUrl`] names.
//! Either way a runner gets a [`dyno_protocol::Server`].
//!
//! Nothing here speaks to a database: making the trial's own database is the runner's work, and no
//! client library is linked. A private server reads no configuration of the machine's and listens on no
//! network; a server that runs already is never started, stopped or looked at.

mod account;
mod copy;
mod differences;
mod folders;
mod guard;
mod install;
mod installation;
mod key_file;
mod mysql;
mod passwords;
mod pool;
mod postgres;
mod private;
mod process;
mod segments;
mod template;
mod url;

pub use install::{engines_folder, install, installed};
pub use installation::Installation;
pub use pool::ServerPool;
pub use private::PrivateServer;
pub use process::descendants;
pub use segments::sweep as sweep_segments;
pub use url::{ServerUrl, UrlError, is_address, may_hold_password, repeatable, scratch_name};

/// The engines that dyno can start a server of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerEngine {
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    MariaDb,
    /// MySQL of Oracle, and what calls itself by its name, as Percona's.
    MySql,
}

impl ServerEngine {
    /// The engine of a name, as contenders spell it; none if it is no server.
    pub fn from_name(name: &str) -> Option<ServerEngine> {
        [ServerEngine::Postgres, ServerEngine::MariaDb, ServerEngine::MySql]
            .into_iter()
            .find(|engine| engine.name() == name)
    }

    /// The name by which contenders call it.
    pub fn name(self) -> &'static str {
        match self {
            ServerEngine::Postgres => "postgres",
            ServerEngine::MariaDb => "mariadb",
            ServerEngine::MySql => "mysql",
        }
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            ServerEngine::Postgres => "PostgreSQL",
            ServerEngine::MariaDb => "MariaDB",
            ServerEngine::MySql => "MySQL",
        }
    }
}
