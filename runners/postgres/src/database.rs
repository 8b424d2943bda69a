//! The trial's own database: how it is reached, made and removed.

use std::ffi::CString;
use std::rc::Rc;

use anyhow::{Context, Error, Result, anyhow, ensure};
use dyno_protocol::Server;
use dyno_runner::server::Client;

use crate::api::Api;
use crate::connection::{Connection, ServerError};
use crate::load::Way;

/// The database that every PostgreSQL has for this purpose.
const MAINTENANCE: &str = "postgres";
/// Seconds to wait for an answer to a connection, where the URL does not say.
const PATIENCE: &str = "10";
/// The oldest version that is served, as libpq numbers them.
const OLDEST: i32 = 100_000;
/// The first version that can be told whose collations are meant.
const WITH_PROVIDERS: i32 = 150_000;

/// Error code: the user may not do that.
const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// The order of texts and the kinds of letters that a database has, fixed when it is made.
#[derive(Debug, Clone, PartialEq)]
pub struct Locale {
    /// How texts compare.
    pub collate: String,
    /// What is a letter, and which letters differ by case.
    pub ctype: String,
}

/// Connects to a database of a server.
pub fn connect(api: &Rc<Api>, server: &Server, database: &str, way: Way) -> Result<Connection> {
    let connection = Connection::open(api.clone(), &options(server, database)?, way);
    connection.map_err(|error| {
        let advice = advice(&error.to_string());
        anyhow!("cannot connect to the database '{database}' of {}: {error}{advice}", server.host)
    })
}

/// The database from which the trial's is made and removed.
pub fn maintenance(server: &Server) -> &str {
    server.database.as_deref().unwrap_or(MAINTENANCE)
}

/// Makes the trial's database.
pub fn make(maintenance: &Connection, engine: &str, server: &Server, locale: &Locale) -> Result<()> {
    let version = maintenance.server_version();
    ensure!(
        version >= OLDEST,
        "the server is PostgreSQL {}.{}, and dyno works with version 10 and later",
        version / 10_000,
        version / 100 % 100
    );
    let told = maintenance.value("SELECT version()").context("the server does not tell its version")?;
    let told = told.unwrap_or_default();
    ensure!(
        server.version.allows(&told),
        "the server is {told}, not {engine}: name the engine that it is, or another server"
    );
    let sql = create(&told, maintenance.server_version(), &server.scratch, locale);
    maintenance.rows(&sql).map(drop).map_err(|error| explain(error, server))
}

/// libpq's keywords and their values. Those of the user's URL come first, because of a keyword given
/// twice the last counts: they cannot lead to another server or database.
fn options(server: &Server, database: &str) -> Result<Vec<(CString, CString)>> {
    let mut options = vec![("application_name", "dyno"), ("connect_timeout", PATIENCE)];
    options.extend(server.options.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let port = server.port.map(|port| port.to_string());
    options.extend(port.as_deref().map(|port| ("port", port)));
    options.extend(server.password.as_ref().map(|password| ("password", password.reveal())));
    options.extend([
        ("host", server.host.as_str()),
        ("user", server.user.as_str()),
        ("dbname", database),
        ("client_encoding", "UTF8"),
    ]);
    let text = |name: &str, text: &str| {
        CString::new(text).map_err(|_| anyhow!("the {name} of the connection holds a NUL byte"))
    };
    options.into_iter().map(|(name, value)| Ok((text("option", name)?, text(name, value)?))).collect()
}

/// What to do about a connection that failed, for the usual reasons in libpq's words.
fn advice(message: &str) -> &'static str {
    const ADVICE: [(&str, &str); 5] = [
        ("no password supplied", "; give the password in the URL, in PGPASSWORD or in ~/.pgpass"),
        ("authentication failed", "; check user and password in the URL, PGPASSWORD or ~/.pgpass"),
        ("could not translate host name", "; check the host's name in the URL"),
        ("is too long", "; use a folder with a shorter name for the socket"),
        ("does not exist", "; name a database and a user of the server in the URL"),
    ];
    ADVICE.iter().find(|(words, _)| message.contains(words)).map_or("", |(_, advice)| advice)
}

/// The statement that makes the database, from the template that nobody has changed.
///
/// Texts are UTF-8 and compare by their bytes, whatever the server was set up with: so answers are in
/// the same order as SQLite's, and the locale of the machine where `initdb` ran is no part of the
/// measurement. Other systems that speak PostgreSQL's protocol have rules of their own.
fn create(told: &str, version: i32, name: &str, locale: &Locale) -> String {
    if !told.starts_with("PostgreSQL") {
        return format!("CREATE DATABASE \"{name}\"");
    }
    let quoted = |text: &str| text.replace('\'', "''");
    let provider = if version >= WITH_PROVIDERS { " LOCALE_PROVIDER libc" } else { "" };
    format!(
        "CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE '{}' LC_CTYPE '{}'{provider}",
        quoted(&locale.collate),
        quoted(&locale.ctype)
    )
}

/// Removes a database if it is there. Where a runner that was killed has left a statement running in
/// it, that is ended first: PostgreSQL would wait five seconds for it and then refuse.
pub fn remove(maintenance: &Connection, name: &str) -> Result<()> {
    let end = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    // What only speaks the protocol may not know how; if it is needed, the next statement fails.
    let _ = maintenance.rows(&end);
    let dropped = maintenance.rows(&format!("DROP DATABASE IF EXISTS \"{name}\""));
    dropped.map(drop).with_context(|| format!("cannot remove the database {name}"))
}

fn explain(error: Error, server: &Server) -> Error {
    let name = &server.scratch;
    match error.downcast_ref::<ServerError>() {
        Some(ServerError { code, .. }) if code == INSUFFICIENT_PRIVILEGE => anyhow!(
            "cannot make the database {name}: {error}; dyno works in a database of its own, so let an \
             administrator run: ALTER ROLE \"{}\" CREATEDB",
            server.user
        ),
        _ => error.context(format!("cannot make the database {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Server {
        let json = serde_json::json!({
            "host": "/run/x", "port": 5433, "user": "u", "password": "hunter2", "scratch": "dyno_1",
            "options": {"sslmode": "require", "dbname": "production"},
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn options_of_the_url_come_before_what_must_hold() {
        let options = options(&server(), "dyno_1").unwrap();
        let of = |name: &str| {
            let last = options.iter().rev().find(|(known, _)| known.to_str() == Ok(name));
            last.map(|(_, value)| value.to_str().unwrap().to_owned()).unwrap_or_default()
        };
        assert_eq!(
            (of("dbname"), of("sslmode"), of("port")),
            ("dyno_1".into(), "require".into(), "5433".into())
        );
        assert_eq!(of("password"), "hunter2");
    }

    #[test]
    fn a_secret_with_a_nul_byte_is_not_told() {
        let server = Server { password: Some(dyno_protocol::Secret::new("hunter\0")), ..server() };
        let error = options(&server, "x").unwrap_err().to_string();
        assert!(error.contains("password") && !error.contains("hunter"), "{error}");
    }

    #[test]
    fn the_usual_troubles_have_advice() {
        let wrong = "FATAL:  password authentication failed for user \"u\"";
        assert!(advice(wrong).contains("check user and password"));
        assert!(advice("Unix-domain socket path \"/x\" is too long (maximum 107 bytes)").contains("shorter"));
        assert_eq!(advice("something new"), "");
    }
}
