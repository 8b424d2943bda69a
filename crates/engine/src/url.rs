//! Servers that run already, named by a URL.
//!
//! `postgres://user:password@host:5432/database?sslmode=require`, `mysql://…`, `mariadb://…`; a socket
//! as `postgres:///database?host=/run/postgresql` and `mysql://user@/database?socket=/run/mysqld.sock`.
//! The schemes are data of `engines/*.toml`. A driver may stand behind a scheme, as in
//! `postgres+pgx://…`. What a URL leaves out comes from where the engine's own programs look for it
//! ([`super::passwords`]).
//!
//! A password leaves this module in the connection only. No error repeats a part of the URL, since with
//! one slip of the finger any part may be a part of the password.

mod demands;
mod hidden;
mod parts;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use dyno_protocol::{Secret, Server};

use super::passwords::{MyCnf, PasswordEnvironment, pgpass};
use crate::{Protocol, ScratchServer, ServerEngine};

use demands::Demands;
pub use hidden::{is_address, may_hold_password, repeatable};
use parts::{UrlParts, port, take_apart};

/// A running server that dyno did not start.
#[derive(Debug, Clone)]
pub struct ServerUrl {
    /// The engine whose scheme it has.
    pub engine: ServerEngine,
    /// The driver that the URL names, as `pgx` in `postgres+pgx://`.
    pub driver: Option<String>,
    /// Problems of the files that could have named a password, in sentences for people.
    pub warnings: Vec<String>,
    /// The database, if the URL names one.
    database: Option<String>,
    /// The server, with the database that the URL names or leaves out.
    server: Server,
}

/// The error in a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It names no engine.
    #[error("the URL begins with the scheme of no engine, as postgres://, mysql:// and mariadb:// are")]
    Scheme,
    /// Characters that end the part they are in.
    #[error(
        "the URL has a `#`, or an `@` after the host's end; within a user, password or database write `@` \
         as %40, `/` as %2F, `?` as %3F, `#` as %23 and `%` as %25"
    )]
    Reserved,
    /// The port.
    #[error("the URL's port is no number from 1 to 65535; an IPv6 address is written in [brackets]")]
    Port,
    /// More than one host.
    #[error("the URL names several hosts; name the one to measure")]
    Hosts,
    /// Bytes that are no text.
    #[error("the URL has a part that is not UTF-8 after its %-codes are decoded, or a zero byte")]
    Text,
    /// An option without a value.
    #[error("the URL has an option that is not written name=value")]
    Option,
    /// An option that no driver knows.
    #[error("the URL has an option that dyno does not know; there are {0}")]
    Unknown(&'static str),
    /// An option with two values.
    #[error("the URL has one option twice")]
    Twice,
    /// A mode of encryption that there is not.
    #[error(
        "the URL's {0} is no mode of encryption; sslmode is disable, allow, prefer, require, verify-ca or \
             verify-full, and ssl-mode DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY"
    )]
    Mode(&'static str),
    /// Certificates that nothing would look at.
    #[error("the URL has options of encryption that its {0} does not keep; they need {1} or a stricter mode")]
    Weak(&'static str, &'static str),
    /// A certificate or key that is missing.
    #[error("the file of the URL's option {0} is not there, or has a name that is not UTF-8")]
    File(&'static str),
    /// The URL asks for encryption on a connection that is never encrypted.
    #[error(
        "the URL asks for encryption, and PostgreSQL encrypts no connection through a socket of the file system; \
             name a host and port, or leave the options ssl… out"
    )]
    Socket,
    /// A password that a runner could not keep to itself.
    #[error("the URL gives a password for a TLS key; use a key without one that only you can read")]
    KeyPassword,
}

/// The port of PostgreSQL where a URL names none.
const POSTGRES_PORT: u16 = 5432;
/// The same of MySQL and MariaDB.
const MYSQL_PORT: u16 = 3306;

impl ServerUrl {
    /// Reads a URL of one of these engines, and what it leaves out from the environment and the user's files.
    ///
    /// # Errors
    /// It is no URL of a server; the message repeats nothing of it.
    pub fn parse(text: &str, engines: &[ServerEngine]) -> Result<ServerUrl, UrlError> {
        ServerUrl::parse_within(text, engines, &PasswordEnvironment::here())
    }

    /// The same in surroundings of one's choice.
    fn parse_within(
        text: &str,
        engines: &[ServerEngine],
        around: &PasswordEnvironment,
    ) -> Result<ServerUrl, UrlError> {
        let (scheme, rest) = text.trim().split_once("://").ok_or(UrlError::Scheme)?;
        let (scheme, driver) = scheme.split_once('+').map_or((scheme, None), |(s, driver)| (s, Some(driver)));
        let (scheme, driver) = (scheme.to_ascii_lowercase(), driver.map(str::to_owned));
        let engine = engines.iter().find(|engine| engine.url.schemes.contains(&scheme));
        let engine = engine.ok_or(UrlError::Scheme)?;
        let mut parts = take_apart(rest)?;
        let database = parts.database.take();
        let mut warnings = Vec::new();
        let server = match engine.speaks {
            Protocol::Postgres => postgres(parts, database.clone(), around, &mut warnings)?,
            Protocol::MySql => mysql(parts, database.clone(), &engine.url.groups, around, &mut warnings)?,
        };
        let database = if engine.speaks == Protocol::Postgres { server.database.clone() } else { database };
        Ok(ServerUrl { engine: engine.clone(), driver, warnings, database, server })
    }

    /// The server, with the name of a trial's database on it. Through a network a mode of encryption is always named,
    /// so that all drivers have the same.
    pub fn connection(&self, scratch: &str) -> ScratchServer {
        let speaks = self.engine.speaks;
        let server = self.server_with(Demands::of(speaks).usual_mode());
        ScratchServer { speaks, server, scratch: scratch.to_owned(), keep: false, catch_up: Vec::new() }
    }

    /// The server for connections of dyno itself, which are compared with no driver's: without a mode in the URL they are
    /// encrypted where the server offers it.
    pub fn own_connection(&self) -> Server {
        self.server_with(Demands::of(self.engine.speaks).preferring_mode())
    }

    /// The server, with a mode of encryption if the URL leads through a network and names none.
    fn server_with(&self, (name, mode): (&str, &str)) -> Server {
        let mut server = self.server.clone();
        if !server.host.starts_with('/') {
            server.options.entry(name.to_owned()).or_insert_with(|| mode.to_owned());
        }
        server
    }

    /// The same server through its socket in the file system. None if it is reached so, has no such socket that dyno
    /// knows, or may refuse the user there: PostgreSQL usually admits the account of the same name alone, and a
    /// socket encrypts nothing.
    pub fn by_socket(&self) -> Option<ServerUrl> {
        self.by_socket_within(&PasswordEnvironment::here())
    }

    fn by_socket_within(&self, around: &PasswordEnvironment) -> Option<ServerUrl> {
        let Server { host, port, user, options, .. } = &self.server;
        let is_here = ["localhost", "127.0.0.1", "::1"].contains(&host.as_str());
        if !is_here || !options.is_empty() {
            return None;
        }
        let mut server = self.server.clone();
        server.host = match self.engine.speaks {
            Protocol::Postgres if *user != around.account => return None,
            Protocol::Postgres => postgres_socket(port.unwrap_or(POSTGRES_PORT), around, &mut Vec::new())?,
            // The name of the socket has no port, so it may be that of another server.
            Protocol::MySql if port.is_some_and(|port| port != MYSQL_PORT) => return None,
            Protocol::MySql => mysql_socket(around, &mut Vec::new())?,
        }
        .to_owned();
        if self.engine.speaks == Protocol::MySql {
            server.port = None;
        }
        Some(ServerUrl { server, ..self.clone() })
    }

    /// The server for tables and records: a URL without password and options.
    pub fn label(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Server { host, port, user, .. } = &self.server;
        let is_socket = host.starts_with('/');
        f.write_str(self.engine.scheme())?;
        if let Some(driver) = &self.driver {
            write!(f, "+{driver}")?;
        }
        write!(f, "://{user}@")?;
        if host.contains(':') && !is_socket {
            write!(f, "[{host}]")?;
        } else if !is_socket {
            f.write_str(host)?;
        }
        if let Some(port) = port {
            write!(f, ":{port}")?;
        }
        if let Some(database) = &self.database {
            write!(f, "/{database}")?;
        }
        match self.engine.speaks {
            Protocol::Postgres if is_socket => write!(f, "?host={host}"),
            _ if is_socket => write!(f, "?socket={host}"),
            _ => Ok(()),
        }
    }
}

/// The options, checked. On the way to another machine those of encryption that the URL leaves out come from where the
/// engine's own programs look for them.
fn demands(
    mut options: BTreeMap<String, String>,
    protocol: Protocol,
    socket: bool,
    elsewhere: impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, UrlError> {
    let demands = Demands::of(protocol);
    let is_silent = !options.keys().any(|name| name.to_ascii_lowercase().starts_with("ssl"));
    if is_silent && !socket {
        options.extend(demands.of_encryption().filter_map(|name| Some((name.to_owned(), elsewhere(name)?))));
    }
    demands.settle(options, socket)
}

/// The folder of a PostgreSQL server's socket, among those that are usual.
fn postgres_socket(
    port: u16,
    around: &PasswordEnvironment,
    warnings: &mut Vec<String>,
) -> Option<&'static str> {
    let mut folders = ["/var/run/postgresql", "/run/postgresql", "/tmp"].into_iter();
    let socket = |folder: &str| Path::new(folder).join(format!(".s.PGSQL.{port}"));
    folders.find(|folder| around.has_socket(&socket(folder), "postgres", warnings))
}

/// The socket of a MySQL or MariaDB server, among those that are usual.
fn mysql_socket(around: &PasswordEnvironment, warnings: &mut Vec<String>) -> Option<&'static str> {
    let mut usual = ["/run/mysqld/mysqld.sock", "/var/run/mysqld/mysqld.sock", "/tmp/mysql.sock"].into_iter();
    usual.find(|path| around.has_socket(Path::new(path), "mysql", warnings))
}

/// Fills in what libpq would, but for the database to connect to, which `psql` names after the user.
fn postgres(
    parts: UrlParts,
    database: Option<String>,
    around: &PasswordEnvironment,
    warnings: &mut Vec<String>,
) -> Result<Server, UrlError> {
    let port = parts.port.unwrap_or(POSTGRES_PORT);
    let mut socket = || postgres_socket(port, around, warnings);
    let host = parts.host.or_else(|| socket().map(str::to_owned)).unwrap_or_else(|| "localhost".into());
    let user = parts.user.or_else(|| around.variable("PGUSER")).unwrap_or_else(|| around.account.clone());
    let database = database.unwrap_or_else(|| "postgres".into());
    let password = parts.password.or_else(|| around.variable("PGPASSWORD").map(Secret::new));
    let password = password.or_else(|| {
        let file = around.variable("PGPASSFILE").map(PathBuf::from).or_else(|| around.file(".pgpass"))?;
        pgpass(&file, [&host, &port.to_string(), &database, &user], warnings)
    });
    let options = demands(parts.options, Protocol::Postgres, host.starts_with('/'), |name| {
        around.variable(&format!("PG{}", name.to_ascii_uppercase().replace('_', "")))
    })?;
    Ok(Server {
        host,
        port: parts.port,
        user,
        password,
        database: Some(database),
        options,
        process: None,
        further: Vec::new(),
        further_processes: Vec::new(),
    })
}

/// Fills in what the `mysql` program would.
fn mysql(
    parts: UrlParts,
    database: Option<String>,
    groups: &[String],
    around: &PasswordEnvironment,
    warnings: &mut Vec<String>,
) -> Result<Server, UrlError> {
    let file = around.file(".my.cnf").map(|file| MyCnf::read(&file, groups, warnings)).unwrap_or_default();
    let named = parts.host.or_else(|| file.value("host"));
    let port = match (parts.port, file.value("port")) {
        (None, Some(text)) => Some(port(&text)?),
        (given, _) => given,
    };
    let is_here = named.as_deref().is_none_or(|host| host == "localhost");
    let mut socket = || file.value("socket").or_else(|| mysql_socket(around, warnings).map(str::to_owned));
    // A host of this machine means a socket, unless a port is named too.
    let host = if is_here && port.is_none() { socket() } else { None };
    let password = parts.password.or_else(|| around.variable("MYSQL_PWD").map(Secret::new));
    let host = host.or(named).unwrap_or_else(|| "localhost".into());
    let options = demands(parts.options, Protocol::MySql, host.starts_with('/'), |name| file.value(name))?;
    Ok(Server {
        host,
        port,
        user: parts.user.or_else(|| file.value("user")).unwrap_or_else(|| around.account.clone()),
        password: password.or_else(|| file.value("password").map(Secret::new)),
        database,
        options,
        process: None,
        further: Vec::new(),
        further_processes: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
