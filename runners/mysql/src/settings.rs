//! Settings: any system variable of MariaDB or MySQL.
//!
//! A number may be asked for as on the server's command line, `128M`, and is read back as `134217728`.

use anyhow::{Error, Result};
use dyno_client::Sql;
use dyno_client::mysql::ServerError;
use dyno_protocol::Setting;
use dyno_runner::server::Parameters;

use crate::session::Session;

/// Error: there is no variable of that name.
const UNKNOWN_VARIABLE: u32 = 1193;
/// Errors: the variable is the whole server's, can only be read, or is set by administrators.
const NOT_HERE: [u32; 5] = [1227, 1228, 1229, 1238, 3530];
/// Error: a text was given for a number.
const WRONG_TYPE: u32 = 1232;

impl Parameters for Session {
    const TITLE: &str = "MySQL";

    fn show(&self, name: &str) -> Result<String> {
        match self.connection.value(&format!("SELECT @@{name}")) {
            Ok(value) => Ok(value.unwrap_or_default()),
            Err(error) if number(&error) == Some(UNKNOWN_VARIABLE) => Err(error.context(format!(
                "unknown setting '{name}' (see https://mariadb.com/kb/en/server-system-variables/ or \
                 https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html, or leave it out)"
            ))),
            Err(error) => Err(error.context(format!("the server does not tell its setting '{name}'"))),
        }
    }

    /// Sets a variable to a text or, if it takes none, to a number.
    fn set(&self, Setting { name, value }: &Setting) -> Result<()> {
        let text = value.replace('\\', "\\\\").replace('\'', "''");
        let outcome = self.connection.rows(&format!("SET SESSION {name} = '{text}'"));
        match (outcome, amount(value)) {
            (Err(error), Some(amount)) if number(&error) == Some(WRONG_TYPE) => {
                self.connection.rows(&format!("SET SESSION {name} = {amount}")).map(drop)
            }
            (outcome, _) => outcome.map(drop),
        }
    }

    fn is_not_the_sessions(refusal: &ServerError) -> bool {
        NOT_HERE.contains(&refusal.number)
    }

    fn means(&self, asked: &Setting, found: &str) -> bool {
        means(&asked.value, found)
    }
}

fn number(error: &Error) -> Option<u32> {
    error.downcast_ref().map(|error: &ServerError| error.number)
}

/// Returns true if a value found is the one asked for.
fn means(asked: &str, found: &str) -> bool {
    asked.eq_ignore_ascii_case(found)
        || switch(asked).is_some_and(|asked| switch(found) == Some(asked))
        || amount(asked).is_some_and(|asked| amount(found) == Some(asked))
}

/// A switch, of which the server's variables read as 1 or as `ON`.
fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "true" | "1" => Some(true),
        "off" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// A number with the suffixes that the server takes on its command line: K, M, G, T for powers of 1024.
fn amount(value: &str) -> Option<i128> {
    let (digits, factor) = match value.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => (&value[..value.len() - 1], 1 << 10),
        b'm' => (&value[..value.len() - 1], 1 << 20),
        b'g' => (&value[..value.len() - 1], 1 << 30),
        b't' => (&value[..value.len() - 1], 1_i128 << 40),
        _ => (value, 1),
    };
    digits.parse::<i128>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_many_spellings() {
        assert!(means("128M", "134217728"));
        assert!(means("ON", "1") && means("0", "OFF"));
        assert!(means("myisam", "MyISAM"));
        assert!(!means("128M", "134217727") && !means("ON", "0") && !means("Aria", "InnoDB"));
        assert_eq!((amount("-1"), amount("1x"), amount("")), (Some(-1), None, None));
    }
}
