//! Opens a connection from a server's URL.

use std::ffi::CString;
use std::sync::Arc;

use anyhow::{Error, Result, anyhow, ensure};
use dyno_protocol::Server;

use super::api::{
    Api, Family, OPT_LOCAL_INFILE, OPT_PROTOCOL, PROTOCOL_SOCKET, PROTOCOL_TCP, SET_CHARSET_NAME,
};
use super::connection::{Connection, NO_ENCRYPTION, ServerError};
use super::login::{Account, Address};
use super::options::{Encryption, Options};
use crate::Sql;

/// MySQL's usual port.
const PORT: u16 = 3306;
/// Most bytes of a socket's path: one less than the kernel's `sun_path`.
const LONGEST_PATH: usize = 107;

/// Error: the user may not do that with a database.
const DATABASE_ACCESS_DENIED: u32 = 1044;

/// Connects to a server and to the database of its URL, if it names one. LOAD DATA LOCAL is allowed only if
/// `loads_data` is set.
pub fn connect(api: &Arc<Api>, server: &Server, loads_data: bool) -> Result<Connection> {
    let options = Options::parse(&server.options)?;
    let connected = attempt(api, server, &options, loads_data);
    let connected = match connected {
        // libmariadb has no word for this: it is asked twice.
        Err(error)
            if options.encryption == Encryption::Preferred && number(&error) == Some(NO_ENCRYPTION) =>
        {
            attempt(api, server, &options.without_encryption(), loads_data)
        }
        connected => connected,
    };
    connected.map_err(|error| {
        let advice = number(&error).map_or("", advice);
        anyhow!("cannot connect to {}: {error:#}{advice}", server.host)
    })
}

fn attempt(api: &Arc<Api>, server: &Server, options: &Options, loads_data: bool) -> Result<Connection> {
    let connection = Connection::new(api.clone())?;
    let address = address(server)?;
    let protocol = if address.socket.is_some() { PROTOCOL_SOCKET } else { PROTOCOL_TCP };
    connection.set_number(OPT_PROTOCOL, protocol)?;
    connection.set_text(SET_CHARSET_NAME, c"utf8mb4")?;
    if loads_data {
        connection.set_number(OPT_LOCAL_INFILE, 1)?;
    }
    options.set(&connection)?;
    let password = server.password.as_ref().map_or("", |password| password.reveal());
    let database = server.database.as_deref().map(|name| text("database", name)).transpose()?;
    let account =
        Account { user: text("user", &server.user)?, password: text("password", password)?, database };
    if options.is_encryption_demanded() && api.family() == Family::MariaDb {
        connection.connect_encrypted(&address, &account, options.timeout())?;
    } else {
        connection.connect(&address, &account)?;
    }
    options.check(&connection)?;
    // The server's own choice of collation for it, which the library's may not be; and statements commit automatically, as in
    // the other engines, unless a suite says otherwise. One round trip: clients that come and go take it each time.
    connection.rows("SET NAMES utf8mb4, autocommit = 1")?;
    Ok(connection)
}

fn address(server: &Server) -> Result<Address> {
    let host = text("host", &server.host)?;
    if !server.host.starts_with('/') {
        let port = server.port.unwrap_or(PORT).into();
        return Ok(Address { host: Some(host), port, socket: None });
    }
    ensure!(
        server.host.len() <= LONGEST_PATH,
        "the path of the socket {} is too long: the kernel takes {LONGEST_PATH} bytes; use a folder with a \
         shorter name",
        server.host
    );
    Ok(Address { host: None, port: 0, socket: Some(host) })
}

fn text(what: &str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| anyhow!("the {what} of the connection holds a NUL byte"))
}

fn number(error: &Error) -> Option<u32> {
    error.downcast_ref().map(|error: &ServerError| error.number)
}

/// Advice on a failed connection, for the usual reasons.
fn advice(number: u32) -> &'static str {
    match number {
        1045 | 1698 => "; check user and password in the URL, MYSQL_PWD or ~/.my.cnf",
        DATABASE_ACCESS_DENIED | 1049 => "; name a database in the URL that the user may enter, or none",
        1040 => {
            "; the server accepts no more connections: take fewer clients, close other connections, or raise its max_connections"
        }
        1203 => {
            "; the server accepts no more connections of one account: take fewer clients, or raise its max_user_connections"
        }
        1226 => {
            "; the account may do no more: take fewer clients, or raise its limit (ALTER USER … WITH MAX_USER_CONNECTIONS …)"
        }
        2002 | 2003 => "; is the server running, and does it listen there?",
        2005 => "; check the host's name in the URL",
        NO_ENCRYPTION => "; check the options ssl-… of the URL",
        2059 | 2061 => "; the server wants an encrypted connection or another plugin: try ?ssl-mode=REQUIRED",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(host: &str) -> Server {
        let json = serde_json::json!({"host": host, "user": "u", "scratch": "dyno_1"});
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_path_is_a_socket_and_a_name_a_host() {
        let socket = address(&server("/run/x.sock")).unwrap();
        assert_eq!((socket.socket.unwrap().as_c_str(), socket.host, socket.port), (c"/run/x.sock", None, 0));
        let host = address(&server("localhost")).unwrap();
        assert_eq!((host.host.unwrap().as_c_str(), host.socket, host.port), (c"localhost", None, 3306));
    }

    #[test]
    fn a_path_that_is_too_long_is_reported() {
        let error = address(&server(&format!("/{}", "x".repeat(107)))).unwrap_err().to_string();
        assert!(error.contains("too long") && error.contains("shorter"), "{error}");
    }
}
