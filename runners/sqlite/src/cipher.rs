//! Encryption: the job's key, and the settings of libraries that encrypt. SQLCipher and SQLite3 Multiple
//! Ciphers are distinguished by what their libraries offer.
//!
//! The key goes to the library by a separate call and never into a statement, of which messages quote the
//! beginning.

use anyhow::{Result, bail, ensure};
use dyno_client::sqlite::Connection;
use dyno_protocol::{Secret, Value};

/// The number of hexadecimal digits of a raw key: the ciphers all take 256 bits.
const RAW_DIGITS: usize = 64;
/// SQLite's codes of a file that it cannot read as a database: not one at all, or, where no HMAC reveals a
/// wrong key, one whose pages are nonsense.
const UNREADABLE: [&str; 2] = ["(SQLite error 26)", "(SQLite error 11)"];
/// Ciphers of Multiple Ciphers that would take a raw key for a passphrase.
const WITHOUT_RAW: [&str; 3] = ["aes128cbc", "aes256cbc", "rc4"];
/// PRAGMAs whose values are secrets, or differ from trial to trial.
const SECRETS: [&str; 8] =
    ["key", "rekey", "hexkey", "hexrekey", "textkey", "textrekey", "cipher_salt", "cipher_store_pass"];
/// The PRAGMAs by which SQLCipher reports its cipher.
const SQLCIPHER: [&str; 10] = [
    "cipher_version",
    "cipher_provider",
    "cipher_provider_version",
    "cipher_status",
    "cipher_page_size",
    "cipher_use_hmac",
    "cipher_hmac_algorithm",
    "cipher_kdf_algorithm",
    "cipher_memory_security",
    "kdf_iter",
];
/// The PRAGMAs by which Multiple Ciphers reports the cipher in use; not every cipher has all of them.
const MULTIPLE_CIPHERS: [&str; 10] = [
    "cipher",
    "kdf_iter",
    "kdf_algorithm",
    "hmac_use",
    "hmac_algorithm",
    "hmac_check",
    "legacy",
    "legacy_page_size",
    "plaintext_header_size",
    "mc_aes_info",
];

/// The form of the key, from the setting `key`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A text from which the cipher derives its key.
    Passphrase,
    /// The cipher's key itself, in hexadecimal digits: nothing is derived.
    Raw,
}

impl Form {
    const ALL: [Form; 2] = [Form::Passphrase, Form::Raw];

    /// The setting's value.
    pub fn name(self) -> &'static str {
        match self {
            Form::Passphrase => "passphrase",
            Form::Raw => "raw",
        }
    }

    /// Reads the setting. An invalid form may be a key and is not repeated in the message.
    pub fn parse(value: &str) -> Result<Form> {
        let found = Form::ALL.into_iter().find(|form| form.name() == value);
        found.ok_or_else(|| {
            let names = Form::ALL.map(Form::name).join(", ");
            anyhow::anyhow!("the setting 'key' is one of {names}; the key itself is never a setting")
        })
    }
}

/// A key and what it is.
pub struct Lock<'a> {
    form: Form,
    key: &'a Secret,
}

impl<'a> Lock<'a> {
    /// None where the job neither asks for encryption nor brings a key.
    ///
    /// # Errors
    /// It does one of the two, or the key is too short.
    pub fn new(form: Option<Form>, key: Option<&'a Secret>) -> Result<Option<Lock<'a>>> {
        let (form, key) = match (form, key) {
            (None, None) => return Ok(None),
            (Some(form), Some(key)) => (form, key),
            (Some(_), None) => bail!("the setting 'key' asks for encryption, and the job brings no key"),
            (None, Some(_)) => bail!("the job brings a key, and no setting 'key' says what it is"),
        };
        let text = key.reveal();
        ensure!(!text.is_empty(), "the job's key is empty");
        if form == Form::Raw {
            let digits = text.len() == RAW_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            ensure!(digits, "a raw key is {RAW_DIGITS} hexadecimal digits, and the job's is not");
        }
        Ok(Some(Lock { form, key }))
    }

    /// Returns true if the library takes the key before the cipher's settings: SQLCipher does, Multiple Ciphers
    /// after them.
    pub fn comes_first(&self, connection: &Connection) -> bool {
        connection.multiple_ciphers().is_none()
    }

    /// Gives the key to the library.
    pub fn open(&self, connection: &Connection) -> Result<()> {
        let key = self.key.reveal();
        if self.form == Form::Passphrase {
            return connection.unlock(key.as_bytes());
        }
        if connection.multiple_ciphers().is_none() {
            return connection.unlock(format!("x'{key}'").as_bytes());
        }
        let cipher = connection.rows(c"PRAGMA cipher")?.into_iter().flatten().next();
        if let Some(Value::Text(cipher)) = cipher
            && WITHOUT_RAW.contains(&cipher.as_str())
        {
            bail!("the cipher {cipher} takes no raw key, only a passphrase: key=passphrase");
        }
        connection.unlock(format!("raw:{key}").as_bytes())
    }
}

/// Returns true if a setting belongs to a cipher and so must be in force before the database is first read.
pub fn is_cipher_setting(name: &str) -> bool {
    name.starts_with("cipher") || SQLCIPHER.contains(&name) || MULTIPLE_CIPHERS.contains(&name)
}

/// Refuses a PRAGMA that would carry a secret; without the value.
pub fn refuse_secret(name: &str) -> Result<()> {
    ensure!(
        !SECRETS.contains(&name),
        "'{name}' cannot be a setting: keys come from DYNO_KEY or --key-file, or are made for the run"
    );
    Ok(())
}

/// The PRAGMAs by which the library reports its cipher.
pub fn reported_settings(connection: &Connection) -> &'static [&'static str] {
    if connection.multiple_ciphers().is_some() { &MULTIPLE_CIPHERS } else { &SQLCIPHER }
}

/// Reads the database once, and asks the library whether it encrypts.
pub fn check_unlocked(connection: &Connection) -> Result<()> {
    if let Err(error) = connection.rows(c"SELECT count(*) FROM sqlite_master") {
        if UNREADABLE.iter().any(|code| error.to_string().ends_with(code)) {
            return Err(error.context(
                "the database does not open with this key and these cipher settings: it is of another key, \
                 of another cipher, or not encrypted at all",
            ));
        }
        return Err(error);
    }
    if connection.multiple_ciphers().is_some() {
        // It fails where the database has no cipher.
        return connection.rows(c"PRAGMA cipher_salt").map(drop);
    }
    let status = connection.rows(c"PRAGMA cipher_status")?.into_iter().flatten().next();
    ensure!(
        matches!(&status, Some(Value::Text(on)) if on == "1") || status == Some(Value::Integer(1)),
        "the library took a key and does not encrypt (its cipher_status is not 1)"
    );
    Ok(())
}
