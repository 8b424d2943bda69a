//! The engines that are servers.

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
