//! The runner for MariaDB, MySQL and whatever speaks their protocol: loads the client library and calls
//! it directly. One code path serves all engines.
//!
//! The client is [`dyno_client::mysql`], and the rest of a server's runner [`dyno_runner::server`]. `session` is a
//! connection: `load` puts rows into tables by it, `import` the records of a file. `database` makes and removes the
//! trial's own database, `encryption` waits for a server that encrypts, `settings` sets system variables and reads them
//! back.

mod database;
mod encryption;
mod import;
mod load;
mod mix;
mod session;
mod settings;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use dyno_client::Sql;
use dyno_client::mysql::{self, Api, Connection, ServerError};
use dyno_protocol::{Hello, Job, PROTOCOL, Server, VersionRule};
use dyno_runner::server::{self, Access, Asked, Parameters, Scratch};

use load::Variant;
use session::Session;

/// The oldest versions that are served, of MariaDB and of others.
const OLDEST_MARIADB: (u32, u32) = (10, 2);
const OLDEST: (u32, u32) = (5, 7);
/// The part of a version by which MariaDB is recognized.
const MARIADB: &str = "-MariaDB";

/// A server as the client library reaches it.
struct MySql {
    api: Arc<Api>,
    /// The engine's name, for messages.
    engine: String,
    server: Server,
    /// The same, and the trial's own database.
    own: Server,
    settings: Asked,
    /// Settings that are read back though the job does not set them.
    read_back: Vec<String>,
    variant: Variant,
}

impl Access for MySql {
    type Session = Session;

    fn new(job: &Job, server: &Server) -> Result<MySql> {
        dyno_runner::expect(job, "mysql", &["rust"])?;
        let variant = dyno_runner::variant(job, &Variant::ALL)?;
        server::check_names(&job.settings, Session::TITLE)?;
        let api = Arc::new(mysql::load(&job.build)?);
        let (settings, read_back) = (Asked::new(job.settings.clone()), job.read_back.clone());
        let engine = job.engine.clone();
        let own = Server { database: Some(server.scratch.clone()), ..server.clone() };
        Ok(MySql { api, engine, server: server.clone(), own, settings, read_back, variant })
    }

    fn connect(&self) -> Result<Session> {
        let connection = mysql::connect(&self.api, &self.server, self.variant == Variant::LoadData)?;
        Ok(Session { connection, variant: self.variant })
    }

    fn make(&self, session: &Session) -> Result<()> {
        let connection = &session.connection;
        check_version(&self.engine, &self.server.version, &version(connection)?, self.variant)?;
        // The database is made by some of the settings.
        self.settings.apply(session)?;
        database::make(connection, &self.server.scratch)?;
        encryption::settle(self.settings.all(), connection)
    }

    fn enter(&self, session: Session) -> Result<Session> {
        session.connection.rows(&format!("USE `{}`", self.server.scratch))?;
        Ok(session)
    }

    fn enter_again(&self) -> Result<Session> {
        let connection = mysql::connect(&self.api, &self.own, self.variant == Variant::LoadData)?;
        let session = Session { connection, variant: self.variant };
        self.settings.apply(&session)?;
        Ok(session)
    }

    fn remove(&self, session: &Session) -> Result<()> {
        database::remove(&session.connection, &self.server.scratch)
    }

    fn hello(&self, session: &Session) -> Result<Hello> {
        let connection = &session.connection;
        let version = version(connection)?;
        Ok(Hello {
            protocol: PROTOCOL,
            runner: concat!("mysql ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: short(&version).to_owned(),
            driver_version: mysql::version(connection.api()),
            build: identity(connection, version)?,
            settings: server::in_force(session, self.settings.all().iter(), &self.read_back)?,
        })
    }

    fn database_bytes(&self, session: &Session) -> Result<u64> {
        database_bytes(&session.connection)
    }
}

fn version(connection: &Connection) -> Result<String> {
    connection.value("SELECT version()")?.context("the server tells no version")
}

/// Refuses a server that is not the engine that was asked for, because those that speak the protocol have drifted
/// apart, and one that is too old or has no such way of loading.
fn check_version(engine: &str, rule: &VersionRule, version: &str, variant: Variant) -> Result<()> {
    let reported = short(version);
    ensure!(
        rule.allows(version),
        "the server is {reported}, not {engine}: name the engine that it is, or another server"
    );
    let is_mariadb = version.contains(MARIADB);
    let mut parts =
        version.split(|letter: char| !letter.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    let number = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    let oldest = if is_mariadb { OLDEST_MARIADB } else { OLDEST };
    if number < oldest {
        let (major, minor) = oldest;
        bail!("the server is {engine} {reported}, and dyno works with version {major}.{minor} and later");
    }
    ensure!(
        variant != Variant::Array || is_mariadb,
        "the server is {engine} {reported}, and the variant array is for MariaDB: the protocol of others has no such call"
    );
    Ok(())
}

/// `10.11.19-MariaDB-0+deb12u1` without what a distribution adds.
fn short(version: &str) -> &str {
    version.find(MARIADB).map_or(version, |start| &version[..start + MARIADB.len()])
}

/// The files of the trial's tables, as far as the server reports them. InnoDB's come from its list of files,
/// which takes a privilege; its statistics, which need none, lag behind.
fn database_bytes(connection: &Connection) -> Result<u64> {
    let lists = ["innodb_sys_tablespaces", "innodb_tablespaces"];
    for list in lists {
        let files = connection.value(&format!(
            "SELECT (SELECT coalesce(sum(file_size), 0) FROM information_schema.{list} \
             WHERE name LIKE concat(replace(database(), '_', '\\_'), '/%')) \
             + (SELECT coalesce(sum(data_length + index_length), 0) FROM information_schema.tables \
             WHERE table_schema = database() AND engine <> 'InnoDB')"
        ));
        match files {
            Ok(bytes) => return Ok(bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)),
            // No such list, or no privilege.
            Err(error) if error.is::<ServerError>() => {}
            Err(error) => return Err(error),
        }
    }
    let tables = connection.value(
        "SELECT coalesce(sum(data_length + index_length), 0) FROM information_schema.tables \
         WHERE table_schema = database()",
    )?;
    Ok(tables.and_then(|bytes| bytes.parse().ok()).unwrap_or(0))
}

/// Versions and options that distinguish this server and client from any other.
fn identity(connection: &Connection, version: String) -> Result<BTreeMap<String, Vec<String>>> {
    let comment = connection.value("SELECT @@version_comment")?.unwrap_or_default();
    let encryption = connection.cipher().unwrap_or_else(|| "none".to_owned());
    Ok(BTreeMap::from([
        ("version".to_owned(), vec![version, comment]),
        ("library".to_owned(), vec![mysql::file(connection.api())]),
        ("encryption".to_owned(), vec![encryption]),
    ]))
}

fn main() -> ExitCode {
    dyno_runner::run::<Scratch<MySql>>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(engine: &str, version: &str) -> Result<()> {
        let word = vec![MARIADB.to_owned()];
        let rule = match engine {
            "mariadb" => VersionRule { holds: word, lacks: Vec::new() },
            _ => VersionRule { holds: Vec::new(), lacks: word },
        };
        check_version(engine, &rule, version, Variant::LoadData)
    }

    fn complaint(engine: &str, version: &str) -> String {
        check(engine, version).unwrap_err().to_string()
    }

    #[test]
    fn the_engine_asked_for_must_be_the_one_that_answers() {
        assert!(check("mariadb", "10.11.19-MariaDB-0+deb12u1").is_ok());
        assert!(check("mysql", "8.0.36-0ubuntu0.22.04.1").is_ok());
        assert!(check("mysql", "8.0.11-TiDB-v7.5.0").is_ok());
        let said = complaint("mysql", "10.11.19-MariaDB-0+deb12u1");
        assert!(said.starts_with("the server is 10.11.19-MariaDB, not mysql"), "{said}");
        assert!(complaint("mariadb", "9.7.0").contains("is 9.7.0, not mariadb: name the engine"));
    }

    #[test]
    fn an_old_server_is_refused() {
        assert!(complaint("mariadb", "10.1.48-MariaDB").contains("version 10.2 and later"));
        assert!(complaint("mysql", "5.6.51").contains("version 5.7 and later"));
    }

    #[test]
    fn a_way_of_mariadbs_is_refused_elsewhere() {
        let any = VersionRule::default();
        assert!(check_version("mariadb", &any, "10.11.19-MariaDB", Variant::Array).is_ok());
        let said = check_version("mysql", &any, "9.7.0", Variant::Array).unwrap_err().to_string();
        assert!(said.contains("the variant array is for MariaDB"), "{said}");
    }
}
