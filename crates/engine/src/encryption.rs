//! Encryption of data at rest, described by `[encryption]` of `engines/NAME.toml`: which contenders encrypt, the form of
//! their key, and the error of the engine when it is opened without the key.

use anyhow::{Context, Result, ensure};
use dyno_protocol::Setting;
use serde::Deserialize;

use super::settings::{all_asked, parse_setting};

/// The facts that dyno needs to give an engine its key and to check that it encrypts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encryption {
    /// Settings `name=value|value`; a contender that asks for all of them encrypts.
    when: Vec<String>,
    /// Settings that mean, all of them together, that the key is raw, 64 hexadecimal digits, and not a passphrase. Empty:
    /// the key is always raw.
    raw: Vec<String>,
    /// The settings that are about the cipher, left out where data are opened without a key; a name that ends
    /// in `*` means all that begin so.
    settings: Vec<String>,
    /// The engine's words when it cannot read data for want of the key; one of them is a refusal.
    pub refusals: Vec<String>,
    /// The files that hold data, by how their names begin or end: `*.ibd`, `ib_logfile*`. Absent: all.
    #[serde(default)]
    files: Vec<String>,
}

impl Encryption {
    /// True if a contender that asks for these settings encrypts.
    pub fn is_asked(&self, asked: &[Setting]) -> bool {
        all_asked(&self.when, asked)
    }

    /// True if its key is raw.
    pub fn is_raw(&self, asked: &[Setting]) -> bool {
        all_asked(&self.raw, asked)
    }

    /// The settings with which the same data would be opened without a key.
    pub fn without(&self, asked: &[Setting]) -> Vec<Setting> {
        asked.iter().filter(|setting| !matches_one(&self.settings, &setting.name)).cloned().collect()
    }

    /// True if a setting is about the cipher.
    pub fn concerns(&self, setting: &str) -> bool {
        matches_one(&self.settings, setting)
    }

    /// True if a file of this name holds data.
    pub fn holds_data(&self, file: &str) -> bool {
        self.files.is_empty() || matches_one(&self.files, file)
    }

    /// True if a message says that data cannot be read.
    pub fn is_refusal(&self, message: &str) -> bool {
        self.refusals.iter().any(|words| message.contains(words.as_str()))
    }

    pub(super) fn check(&self) -> Result<()> {
        for condition in self.when.iter().chain(&self.raw) {
            parse_setting(condition).context("[encryption]")?;
        }
        ensure!(!self.when.is_empty(), "[encryption] needs a condition in `when`");
        ensure!(!self.refusals.is_empty(), "[encryption] needs the engine's words in `refusals`");
        Ok(())
    }
}

fn matches_one(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        _ => pattern == name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encryption() -> Encryption {
        let text = "when=['key=raw|passphrase']\nraw=['key=raw']\nsettings=['key','cipher*']\n\
                    refusals=['file is not a database']\nfiles=['*.ibd','ib_*']\n";
        toml::from_str(text).unwrap()
    }

    fn asked(settings: &[&str]) -> Vec<Setting> {
        settings.iter().map(|text| parse_setting(text).unwrap()).collect()
    }

    #[test]
    fn settings_determine_whether_and_how_a_contender_encrypts() {
        let encryption = encryption();
        assert!(encryption.is_asked(&asked(&["key=passphrase"])));
        assert!(!encryption.is_asked(&asked(&["journal_mode=WAL"])));
        assert!(encryption.is_raw(&asked(&["key=passphrase", "key=raw"])));
        assert!(!encryption.is_raw(&asked(&["key=passphrase"])));
        let left = encryption.without(&asked(&["key=raw", "cipher_page_size=4096", "journal_mode=WAL"]));
        assert_eq!(left, asked(&["journal_mode=WAL"]));
    }

    #[test]
    fn files_go_by_the_ends_of_their_names() {
        let encryption = encryption();
        assert!(encryption.holds_data("t.ibd") && encryption.holds_data("ib_logfile0"));
        assert!(!encryption.holds_data("aria_log.1"));
        assert!(encryption.is_refusal("it said: file is not a database (26)"));
    }
}
