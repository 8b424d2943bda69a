//! MariaDB and MySQL for every driver: the options of a URL, and errors.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};

use crate::refuse_encryption;

/// Seconds to wait for a connection where the URL does not say.
const PATIENCE: u64 = 10;
/// Options of a URL, by the names of MySQL's own programs.
const OPTIONS: [&str; 2] = ["ssl-mode", "connect-timeout"];
// The numbers of errors that mean something: runners/mysql/errors.toml says what, with the manuals' pages.
/// Errors after which there is no connection: the server has gone, was lost within a query, shuts down, has killed the
/// connection or closed it as idle.
const LOST: [u16; 6] = [2006, 2013, 1053, 1927, 3169, 4031];
/// A deadlock, a lock that was not to be had in time or at once, a row that another transaction has changed.
const MAY_PASS: [u16; 4] = [1213, 1205, 3572, 1020];
/// The server or its configuration lets no client send a file.
const NO_LOCAL: [u16; 3] = [1148, 3948, 4166];

/// MySQL's usual port.
pub const PORT: u16 = 3306;

/// An error of the server, with its number and the five letters of the SQL standard.
#[derive(Debug, thiserror::Error)]
#[error("{message} (error {number}, {state})")]
struct ReportedError {
    number: u16,
    state: String,
    message: String,
}

/// The error of a call, by the server's own words.
pub fn server_error(number: u16, state: &str, message: &str) -> Error {
    if LOST.contains(&number) {
        return lost(message);
    }
    let advice = if NO_LOCAL.contains(&number) {
        "; let the server take rows from its clients: SET GLOBAL local_infile = 1"
    } else {
        ""
    };
    ReportedError { number, state: state.to_owned(), message: format!("{message}{advice}") }.into()
}

/// The error of a call that found no connection.
pub fn lost(error: impl Display) -> Error {
    anyhow!(
        "the connection to the server is lost: {error}. If the server has crashed or was stopped, its log says why"
    )
}

/// The number of an error of the server.
pub fn number(error: &Error) -> Option<u16> {
    error.downcast_ref().map(|error: &ReportedError| error.number)
}

/// Returns true if another try may succeed.
pub fn is_retryable(error: &Error) -> bool {
    number(error).is_some_and(|number| MAY_PASS.contains(&number))
}

/// Returns true if an error has this code: the server's number, or the letters of the standard.
pub fn has_code(error: &Error, wanted: &str) -> bool {
    let reported = error.downcast_ref();
    reported.is_some_and(|error: &ReportedError| error.state == wanted || error.number.to_string() == wanted)
}

/// The time to wait for a connection, if there is a limit. The drivers have no TLS here: an option that asks for it, or
/// leaves it to the server, is refused.
///
/// # Errors
/// An option is unknown or asks for TLS.
pub fn patience(driver: &str, options: &BTreeMap<String, String>) -> Result<Option<Duration>> {
    let mut patience = PATIENCE;
    for (name, value) in options {
        match name.to_ascii_lowercase().replace('_', "-").as_str() {
            "ssl-mode" => refuse_encryption("ssl-mode", value)?,
            "connect-timeout" => {
                patience = value
                    .parse()
                    .ok()
                    .with_context(|| format!("the option connect-timeout is in seconds, not '{value}'"))?;
            }
            _ => bail!(
                "the URL has the option '{name}', and a connection of {driver} has {}",
                OPTIONS.join(", ")
            ),
        }
    }
    // As in MySQL's programs, 0 is no limit.
    Ok((patience > 0).then(|| Duration::from_secs(patience)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &str) -> Result<Option<Duration>, String> {
        patience("x", &BTreeMap::from([(name.to_owned(), value.to_owned())]))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_demand_for_encryption_is_refused() {
        for mode in ["REQUIRED", "required", "VERIFY_CA", "verify-identity"] {
            assert!(with("ssl_mode", mode).unwrap_err().contains("has no TLS"));
        }
        assert!(with("ssl-ca", "/x.pem").unwrap_err().contains("the option 'ssl-ca'"));
        assert!(with("ssl-mode", "preferred").unwrap_err().contains("write ssl-mode=DISABLED"));
        assert_eq!(with("ssl-mode", "disabled"), Ok(Some(Duration::from_secs(PATIENCE))));
        assert_eq!(with("connect_timeout", "3"), Ok(Some(Duration::from_secs(3))));
        assert_eq!(with("connect_timeout", "0"), Ok(None));
    }

    #[test]
    fn a_lost_connection_has_no_code() {
        let error = server_error(1213, "40001", "deadlock");
        assert!(is_retryable(&error) && has_code(&error, "1213") && has_code(&error, "40001"));
        assert_eq!(number(&server_error(1927, "70100", "killed")), None);
    }
}
