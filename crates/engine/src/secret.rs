//! Settings that would hold a key: refused, and never repeated.

use anyhow::{Result, bail};
use dyno_protocol::Setting;

/// The only values that they may have.
const FORMS: [&str; 2] = ["raw", "passphrase"];
/// Their names.
const SECRETS: [&str; 8] = [
    "key",
    "hexkey",
    "rekey",
    "hexrekey",
    "textkey",
    "password",
    "passphrase",
    "file_key_management_filekey",
];

/// Refuses a setting that holds a key, without repeating it.
pub fn refuse_secret(setting: &Setting) -> Result<()> {
    if SECRETS.contains(&setting.name.as_str()) && !FORMS.contains(&setting.value.as_str()) {
        bail!(
            "the setting '{}' holds a key, which others can see in a list of processes. Give it in DYNO_KEY or by --key-file; key={} says what it is",
            setting.name,
            FORMS.join(" or key=")
        );
    }
    Ok(())
}

/// A contender's name as it may be printed.
pub fn without_secret(text: &str) -> String {
    let hidden = |part: &str| match part.split_once('=') {
        Some((name, value)) if SECRETS.contains(&name.trim()) && !FORMS.contains(&value.trim()) => {
            format!("{name}=…")
        }
        _ => part.to_owned(),
    };
    text.split(',').map(hidden).collect::<Vec<_>>().join(",")
}
