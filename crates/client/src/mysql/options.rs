//! The options of a connection, as a URL gives them, and how the two client libraries number them.
//!
//! The names are those of MySQL's own programs: `ssl-mode`, `ssl-ca`, `connect-timeout` …

use std::collections::BTreeMap;
use std::ffi::{CString, c_int};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::api::{Family, OPT_CONNECT_TIMEOUT};
use super::connection::Connection;

/// Seconds to wait for an answer to a connection, where the URL does not say.
const CONNECT_TIMEOUT: u32 = 10;

/// Options that are files or names, with their numbers in libmariadb and libmysqlclient.
const TEXTS: [(&str, c_int, c_int); 6] = [
    ("ssl-key", 25, 19),
    ("ssl-cert", 26, 20),
    ("ssl-ca", 27, 21),
    ("ssl-capath", 28, 22),
    ("ssl-cipher", 29, 23),
    ("ssl-crl", 30, 24),
];
/// libmariadb: whether to check the server's certificate and name.
const MARIADB_VERIFY: c_int = 21;
/// libmariadb: whether a connection without encryption is refused.
const MARIADB_ENFORCE: c_int = 38;
/// libmysqlclient: the mode by its number.
const MYSQL_MODE: c_int = 35;

/// The encryption that a connection must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// Not at all.
    Disabled,
    /// If the server can.
    Preferred,
    /// In any case.
    Required,
    /// And the server's certificate comes from an authority that is known.
    VerifyCa,
    /// And it is that of the host.
    VerifyIdentity,
}

impl Encryption {
    /// The modes, in the order in which libmysqlclient numbers them from 1.
    const ALL: [(&str, Encryption); 5] = [
        ("DISABLED", Encryption::Disabled),
        ("PREFERRED", Encryption::Preferred),
        ("REQUIRED", Encryption::Required),
        ("VERIFY_CA", Encryption::VerifyCa),
        ("VERIFY_IDENTITY", Encryption::VerifyIdentity),
    ];

    fn parse(text: &str) -> Result<Encryption> {
        let name = text.to_ascii_uppercase().replace('-', "_");
        let found = Encryption::ALL.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, mode)| mode).with_context(|| {
            let names = Encryption::ALL.map(|(name, _)| name);
            format!("the option ssl-mode is one of {}, not '{text}'", names.join(", "))
        })
    }
}

/// The options of a connection.
#[derive(Debug)]
pub struct Options {
    /// The mode that the job asks for. Without one it is plain text, with every driver and every library, unless options
    /// of TLS are given.
    pub encryption: Encryption,
    texts: Vec<(&'static str, CString)>,
    timeout: u32,
}

impl Options {
    /// Reads the options of a URL and refuses unknown ones.
    pub fn parse(options: &BTreeMap<String, String>) -> Result<Options> {
        let mut mode = None;
        let mut parsed =
            Options { encryption: Encryption::Disabled, texts: Vec::new(), timeout: CONNECT_TIMEOUT };
        for (name, value) in options {
            let plain = name.to_ascii_lowercase().replace('_', "-");
            match plain.as_str() {
                "ssl-mode" => mode = Some(Encryption::parse(value)?),
                "connect-timeout" => {
                    parsed.timeout = value.parse().with_context(|| {
                        format!("the option connect-timeout is in seconds, not '{value}'")
                    })?;
                }
                _ => parsed.texts.push((known(&plain, name)?, CString::new(value.as_str())?)),
            }
        }
        parsed.encryption = mode.unwrap_or_else(|| parsed.usual());
        Ok(parsed)
    }

    /// The weakest mode that keeps what the other options ask for.
    fn usual(&self) -> Encryption {
        match self.texts.as_slice() {
            [] => Encryption::Disabled,
            texts if texts.iter().any(|(name, _)| *name == "ssl-ca") => Encryption::VerifyCa,
            _ => Encryption::Required,
        }
    }

    /// The same in plain text.
    pub fn without_encryption(&self) -> Options {
        Options { encryption: Encryption::Disabled, texts: Vec::new(), timeout: self.timeout }
    }

    /// True if the URL forbids a connection in plain text.
    pub fn is_encryption_demanded(&self) -> bool {
        use Encryption::{Required, VerifyCa, VerifyIdentity};
        matches!(self.encryption, Required | VerifyCa | VerifyIdentity)
    }

    /// The time that the server has for an answer; as in MySQL's programs, 0 is no limit.
    pub fn timeout(&self) -> Option<Duration> {
        (self.timeout > 0).then(|| Duration::from_secs(self.timeout.into()))
    }

    /// Checks an open connection against the encryption that was asked for.
    pub fn check(&self, connection: &Connection) -> Result<()> {
        let is_encrypted = connection.cipher().is_some();
        ensure!(
            is_encrypted || !self.is_encryption_demanded(),
            "the connection is not encrypted, and ssl-mode asks for that"
        );
        ensure!(
            !is_encrypted || self.encryption != Encryption::Disabled,
            "the connection is encrypted, and ssl-mode=DISABLED asks for plain text"
        );
        Ok(())
    }

    /// Sets them on a connection that is to be opened.
    pub fn set(&self, connection: &Connection) -> Result<()> {
        let family = connection.api().family();
        connection.set_number(OPT_CONNECT_TIMEOUT, self.timeout)?;
        for (name, value) in &self.texts {
            connection.set_text(number(name, family), value)?;
        }
        let mode = self.encryption;
        match family {
            Family::MariaDb => {
                // It checks certificate and host's name together or neither.
                let verify = matches!(mode, Encryption::VerifyCa | Encryption::VerifyIdentity);
                connection.set_number(MARIADB_VERIFY, verify.into())?;
                connection.set_number(MARIADB_ENFORCE, (mode != Encryption::Disabled).into())
            }
            Family::MySql => {
                let place = Encryption::ALL.iter().position(|(_, known)| *known == mode);
                connection.set_number(MYSQL_MODE, place.map_or(0, |place| place as u32 + 1))
            }
        }
    }
}

fn known(plain: &str, name: &str) -> Result<&'static str> {
    match TEXTS.iter().find(|(known, _, _)| *known == plain) {
        Some((known, _, _)) => Ok(known),
        None => bail!(
            "the URL has the option '{name}', and a connection to MySQL has ssl-mode, connect-timeout, {}",
            TEXTS.map(|(name, _, _)| name).join(", ")
        ),
    }
}

fn number(name: &str, family: Family) -> c_int {
    let found = TEXTS.iter().find(|(known, _, _)| *known == name);
    found.map_or(-1, |(_, mariadb, mysql)| match family {
        Family::MariaDb => *mariadb,
        Family::MySql => *mysql,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, value: &str) -> Result<Options> {
        Options::parse(&BTreeMap::from([(name.to_owned(), value.to_owned())]))
    }

    #[test]
    fn options_are_named_as_mysqls_programs_name_them() {
        let options = parse("ssl_mode", "verify-identity").unwrap();
        assert_eq!(options.encryption, Encryption::VerifyIdentity);
        assert_eq!(parse("ssl-ca", "/x.pem").unwrap().texts[0].0, "ssl-ca");
        assert_eq!(parse("connect-timeout", "3").unwrap().timeout, 3);
        assert_eq!(parse("connect-timeout", "0").unwrap().timeout(), None);
    }

    #[test]
    fn a_job_without_a_mode_asks_for_plain_text_unless_it_names_certificates() {
        assert_eq!(Options::parse(&BTreeMap::new()).unwrap().encryption, Encryption::Disabled);
        assert_eq!(parse("ssl-ca", "/x.pem").unwrap().encryption, Encryption::VerifyCa);
        assert_eq!(parse("ssl-key", "/x.pem").unwrap().encryption, Encryption::Required);
    }

    #[test]
    fn unknown_options_are_refused() {
        let complaint = |name, value| parse(name, value).unwrap_err().to_string();
        assert!(
            complaint("sslmode", "require").contains("the option 'sslmode', and a connection to MySQL has")
        );
        assert!(complaint("ssl-mode", "maybe").contains("one of DISABLED, PREFERRED"));
        assert!(complaint("connect-timeout", "soon").contains("in seconds"));
    }
}
