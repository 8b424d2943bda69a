//! Opens a connection from a server's URL.

use std::ffi::CString;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use dyno_protocol::Server;

use super::api::Api;
use super::connection::Connection;

/// The database that every PostgreSQL server has, to connect to while others are created or dropped.
const MAINTENANCE: &str = "postgres";
/// The seconds to wait for a connection, unless the URL has `connect_timeout`.
const CONNECT_TIMEOUT: &str = "10";
/// Options that libpq would take from `PGHOSTADDR`, `PGOPTIONS` and `PGTARGETSESSIONATTRS`, and by which it would reach
/// another server or have other settings. A value that is empty counts as given only within a connection string, as
/// which libpq reads the first `dbname` (`PQconnectdbParams`,
/// <https://www.postgresql.org/docs/current/libpq-connect.html>).
const NOT_FROM_ENVIRONMENT: &str = "hostaddr='' options='' target_session_attrs=any";

/// Without a mode a job asks for plain text, of every driver: the default of libpq, and `PGSSLMODE`, are not asked.
const ENCRYPTION: &str = "disable";

/// Connects to a database of a server.
pub fn connect(api: &Arc<Api>, server: &Server, database: &str) -> Result<Connection> {
    let connection = Connection::open(api.clone(), &options(server, database)?);
    connection.map_err(|error| {
        let advice = advice(&error.to_string());
        anyhow!("cannot connect to the database '{database}' of {}: {error}{advice}", server.host)
    })
}

/// The database from which others are made and removed.
pub fn maintenance(server: &Server) -> &str {
    server.database.as_deref().unwrap_or(MAINTENANCE)
}

/// libpq's keywords and their values. libpq takes the last value of a keyword that is given twice, so the URL's options
/// come first and cannot replace the host, the user or the database.
fn options(server: &Server, database: &str) -> Result<Vec<(CString, CString)>> {
    let mut options = vec![
        ("dbname", NOT_FROM_ENVIRONMENT),
        ("application_name", "dyno"),
        ("connect_timeout", CONNECT_TIMEOUT),
        ("sslmode", ENCRYPTION),
    ];
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

/// Advice for a server that has no free connection.
const FULL: &str = "; the server accepts no more connections: take fewer clients, close other connections, or raise its \
     max_connections";

/// Advice on a failed connection, found by the words of libpq's message.
fn advice(message: &str) -> &'static str {
    const ADVICE: [(&str, &str); 10] = [
        ("no password supplied", "; give the password in the URL, in PGPASSWORD or in ~/.pgpass"),
        ("authentication failed", "; check user and password in the URL, PGPASSWORD or ~/.pgpass"),
        ("could not translate host name", "; check the host's name in the URL"),
        ("root certificate", "; name the authority's certificate by sslrootcert, or another sslmode"),
        ("is too long", "; use a folder with a shorter name for the socket"),
        ("does not exist", "; name a database and a user of the server in the URL"),
        ("too many clients", FULL),
        ("connection slots", FULL),
        (
            "too many connections for",
            "; the server accepts no more connections of this role or to this database: take fewer clients, or raise the limit \
             (ALTER ROLE or ALTER DATABASE … CONNECTION LIMIT)",
        ),
        (
            "Too many open files",
            "; the limit of open files is reached: take fewer clients, or raise it (ulimit -n)",
        ),
    ];
    ADVICE.iter().find(|(words, _)| message.contains(words)).map_or("", |(_, advice)| advice)
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
    fn a_job_without_a_mode_of_encryption_asks_for_plain_text() {
        let without = Server { options: Default::default(), ..server() };
        let options = options(&without, "x").unwrap();
        assert!(options.contains(&(c"sslmode".into(), c"disable".into())), "{options:?}");
    }

    #[test]
    fn a_secret_with_a_nul_byte_is_not_shown() {
        let server = Server { password: Some(dyno_protocol::Secret::new("hunter\0")), ..server() };
        let error = options(&server, "x").unwrap_err().to_string();
        assert!(error.contains("password") && !error.contains("hunter"), "{error}");
    }

    #[test]
    fn the_usual_troubles_have_advice() {
        let wrong = "FATAL:  password authentication failed for user \"u\"";
        assert!(advice(wrong).contains("check user and password"));
        assert!(advice("Unix-domain socket path \"/x\" is too long (maximum 107 bytes)").contains("shorter"));
        assert!(advice("FATAL:  sorry, too many clients already").contains("raise its max_connections"));
        assert!(advice("too many connections for role \"u\"").contains("CONNECTION LIMIT"));
        let missing = "root certificate file \"/home/u/.postgresql/root.crt\" does not exist";
        assert!(advice(missing).contains("sslrootcert"));
        assert_eq!(advice("something new"), "");
    }
}
