//! The key of a run's encrypted databases. It is never part of a contender's name, of its record, or of a message.

use anyhow::{Result, bail, ensure};
use dyno_protocol::Secret;

/// The number of hexadecimal digits of a raw key: the ciphers all take 256 bits.
pub const RAW_DIGITS: usize = 64;
/// The shortest passphrase, in bytes. Shorter ones are found by trying.
const SHORTEST: usize = 8;

/// The key of a run.
#[derive(Debug, Clone)]
pub struct Key {
    secret: Secret,
    /// Its source, for messages.
    origin: String,
}

impl Key {
    /// A key and where it comes from, for messages.
    ///
    /// # Errors
    /// It is empty, or it holds a NUL byte.
    pub fn new(text: String, origin: String) -> Result<Key> {
        ensure!(!text.is_empty(), "the key of {origin} is empty; without one, a key is made for the run");
        ensure!(!text.contains('\0'), "the key of {origin} holds a NUL byte");
        Ok(Key { secret: Secret::new(text), origin })
    }

    /// Its source, in words.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The key itself, for a job.
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// Checks that it is long enough: a raw key has 64 hexadecimal digits, a passphrase 8 bytes or more.
    pub fn check(&self, raw: bool) -> Result<()> {
        let key = self.secret.reveal();
        if raw && !(key.len() == RAW_DIGITS && key.bytes().all(|byte| byte.is_ascii_hexdigit())) {
            bail!(
                "the key of {} does not fit the cipher, which takes {RAW_DIGITS} hexadecimal digits (256 bits); \
                 `openssl rand -hex 32` makes such a key",
                self.origin
            );
        }
        ensure!(
            key.len() >= SHORTEST,
            "the key of {} is too short for the cipher: a passphrase has {SHORTEST} bytes at least",
            self.origin
        );
        Ok(())
    }

    /// Another key of the same kind, with which nothing may open.
    pub fn another(&self) -> Key {
        let key = self.secret.reveal();
        let first = if key.starts_with('0') { '1' } else { '0' };
        let rest: String = key.chars().skip(1).collect();
        Key { secret: Secret::new(format!("{first}{rest}")), origin: "the check".to_owned() }
    }
}
