//! The options of a connection that a URL may ask for.
//!
//! An option is a demand: a driver meets it or refuses to connect. Drivers differ in the options that they ignore
//! silently (a missing certificate, an authority in a mode that does not check it), so such URLs are refused here, before
//! any driver sees them.

use std::collections::BTreeMap;
use std::path::{Path, absolute};

use super::UrlError;
use crate::Protocol;

/// The options of a protocol's URLs, under one spelling each.
pub struct Demands {
    /// The name of the mode of encryption.
    mode: &'static str,
    /// The modes, weakest first, and the place of the first one that never sends plain text.
    modes: &'static [&'static str],
    encrypts_from: usize,
    /// The place of the first mode that looks at an authority that is named.
    verifies_from: usize,
    /// The place of the mode where an authority is named and no mode.
    trusts: usize,
    /// The place of the mode of a URL through a network that says nothing about encryption. Drivers have defaults of
    /// different kinds, and one of them alone would be compared encrypted with others in plain text.
    usual: usize,
    /// The place of the mode that encrypts where the server offers it.
    prefers: usize,
    /// Options that say whom to believe.
    trust: &'static [&'static str],
    /// Options that have a meaning only where the connection is encrypted.
    encrypted: &'static [&'static str],
    /// Those of both that are files or folders.
    files: &'static [&'static str],
    /// The others.
    plain: &'static [&'static str],
    /// The name of the list in messages.
    pub list: &'static str,
}

/// libpq's words, but those that would lead to another server, account or encoding than the URL's and dyno's own.
const POSTGRES: Demands = Demands {
    mode: "sslmode",
    modes: &["disable", "allow", "prefer", "require", "verify-ca", "verify-full"],
    encrypts_from: 3,
    // As in libpq: where an authority is named, `require` is `verify-ca`.
    verifies_from: 3,
    trusts: 4,
    // As in libpq.
    usual: 2,
    prefers: 2,
    trust: &["sslrootcert", "sslcrl", "sslcrldir"],
    encrypted: &[
        "sslcert",
        "sslkey",
        "sslcertmode",
        "sslnegotiation",
        "sslsni",
        "ssl_min_protocol_version",
        "ssl_max_protocol_version",
    ],
    files: &["sslrootcert", "sslcrl", "sslcrldir", "sslcert", "sslkey"],
    plain: &[
        "application_name",
        "channel_binding",
        "connect_timeout",
        "fallback_application_name",
        "gssencmode",
        "gsslib",
        "keepalives",
        "keepalives_count",
        "keepalives_idle",
        "keepalives_interval",
        "krbsrvname",
        "options",
        "passfile",
        "require_auth",
        "requirepeer",
        "target_session_attrs",
        "tcp_user_timeout",
    ],
    list: "user, password, host, port, dbname, and of libpq's words sslmode, sslrootcert, sslcert, sslkey, sslcrl, \
           sslcrldir, sslcertmode, sslnegotiation, sslsni, ssl_min_protocol_version, ssl_max_protocol_version, \
           channel_binding, require_auth, requirepeer, gssencmode, gsslib, krbsrvname, connect_timeout, keepalives…, \
           tcp_user_timeout, application_name, fallback_application_name, options, passfile, target_session_attrs",
};

/// The words of MySQL's programs.
const MYSQL: Demands = Demands {
    mode: "ssl-mode",
    modes: &["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"],
    encrypts_from: 2,
    verifies_from: 3,
    trusts: 3,
    // As in MariaDB's libraries and most others. Several drivers cannot try TLS and go on without.
    usual: 0,
    prefers: 1,
    trust: &["ssl-ca", "ssl-capath", "ssl-crl"],
    encrypted: &["ssl-cert", "ssl-key", "ssl-cipher"],
    files: &["ssl-ca", "ssl-capath", "ssl-crl", "ssl-cert", "ssl-key"],
    plain: &["connect-timeout"],
    list: "user, password, host, socket, port, database, ssl-mode, ssl-ca, ssl-capath, ssl-crl, ssl-cert, ssl-key, \
           ssl-cipher, connect-timeout",
};

/// The value of `sslrootcert` that is no file: the authorities that the system trusts.
const SYSTEM: &str = "system";

impl Demands {
    /// Those of a protocol.
    pub fn of(protocol: Protocol) -> &'static Demands {
        match protocol {
            Protocol::Postgres => &POSTGRES,
            Protocol::MySql => &MYSQL,
        }
    }

    /// The options about encryption, which have other sources too.
    pub fn of_encryption(&self) -> impl Iterator<Item = &'static str> {
        [self.mode].into_iter().chain(self.trust.iter().copied()).chain(self.encrypted.iter().copied())
    }

    /// The mode of encryption by its name and value, where a URL through a network says nothing.
    pub fn usual_mode(&self) -> (&'static str, &'static str) {
        (self.mode, self.modes[self.usual])
    }

    /// The mode that encrypts where the server offers it, by its name and value.
    pub fn preferring_mode(&self) -> (&'static str, &'static str) {
        (self.mode, self.modes[self.prefers])
    }

    /// Checks options and gives each its one spelling. Paths become absolute, and a URL that names whom to believe, or
    /// how to encrypt, and no mode, has the weakest mode that keeps this.
    pub fn settle(
        &self,
        options: BTreeMap<String, String>,
        socket: bool,
    ) -> Result<BTreeMap<String, String>, UrlError> {
        let mut settled = BTreeMap::new();
        for (name, value) in options {
            let name = self.known(&name).ok_or(UrlError::Unknown(self.list))?;
            let value = if self.files.contains(&name) { file(name, value)? } else { value };
            if settled.insert(name.to_owned(), value).is_some() {
                return Err(UrlError::Twice);
            }
        }
        let has = |names: &[&str]| names.iter().any(|name| settled.contains_key(*name));
        let (least, usual) = match (has(self.trust), has(self.encrypted)) {
            (true, _) => (self.verifies_from, self.trusts),
            (_, true) => (self.encrypts_from, self.encrypts_from),
            _ => (0, 0),
        };
        let mode = match settled.get(self.mode) {
            Some(value) => Some(self.place(value).ok_or(UrlError::Mode(self.mode))?),
            None => (usual > 0).then_some(usual),
        };
        if mode.is_some_and(|mode| mode < least) {
            return Err(UrlError::Weak(self.mode, self.modes[least]));
        }
        // A certificate for any name would do for the authorities of the whole world.
        if settled.get("sslrootcert").is_some_and(|value| value == SYSTEM)
            && mode != Some(self.modes.len() - 1)
        {
            return Err(UrlError::Weak(self.mode, "verify-full"));
        }
        // libpq verifies an authority that is named in every mode that encrypts, and some drivers in later ones only.
        let mode = mode.map(|mode| if has(self.trust) { mode.max(self.trusts) } else { mode });
        if let Some(mode) = mode {
            if socket && mode >= self.encrypts_from && self.mode == POSTGRES.mode {
                return Err(UrlError::Socket);
            }
            settled.insert(self.mode.to_owned(), self.modes[mode].to_owned());
        }
        Ok(settled)
    }

    fn known(&self, name: &str) -> Option<&'static str> {
        let plain = if self.mode == MYSQL.mode {
            name.to_ascii_lowercase().replace('_', "-")
        } else {
            name.to_owned()
        };
        self.of_encryption().chain(self.plain.iter().copied()).find(|known| *known == plain)
    }

    fn place(&self, value: &str) -> Option<usize> {
        let plain = |text: &str| text.to_ascii_lowercase().replace('_', "-");
        self.modes.iter().position(|mode| plain(mode) == plain(value))
    }
}

/// The absolute path of a file that is there.
fn file(name: &'static str, value: String) -> Result<String, UrlError> {
    if value == SYSTEM && name == "sslrootcert" {
        return Ok(value);
    }
    let path = Path::new(&value);
    let found = path.exists().then(|| absolute(path).ok()).flatten();
    found.and_then(|path| path.to_str().map(str::to_owned)).ok_or(UrlError::File(name))
}
