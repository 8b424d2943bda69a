//! Settings of engines that are reached through calls and not through statements: their values from the
//! job's texts, and back.

use std::fmt::Display;
use std::str::FromStr;

use anyhow::{Error, Result, anyhow};
use dyno_protocol::{InForce, Setting};

/// A setting that is `on` or `off`.
pub fn switch(setting: &Setting) -> Result<bool> {
    match setting.value.to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Ok(true),
        "off" | "false" | "no" | "0" => Ok(false),
        _ => Err(bad(setting, "on or off")),
    }
}

/// A setting that is a whole number.
pub fn whole<T: FromStr>(setting: &Setting) -> Result<T> {
    setting.value.parse().map_err(|_| bad(setting, "a whole number that is not too large"))
}

/// A setting that is one of some names.
pub fn choice<T: Copy>(setting: &Setting, names: &[(&str, T)]) -> Result<T> {
    let found = names.iter().find(|(name, _)| name.eq_ignore_ascii_case(&setting.value));
    let list = || names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    found.map(|(_, value)| *value).ok_or_else(|| bad(setting, &format!("one of {}", list())))
}

/// A setting that the engine does not have.
pub fn unknown(engine: &str, setting: &Setting, known: &[&str]) -> Error {
    anyhow!("{engine} has no setting '{}'; it has {}", setting.name, known.join(", "))
}

/// A setting as read back.
pub fn in_force(name: &str, value: impl Display) -> InForce {
    InForce { name: name.to_owned(), value: value.to_string() }
}

/// A switch as read back.
pub fn on_off(name: &str, on: bool) -> InForce {
    in_force(name, if on { "on" } else { "off" })
}

fn bad(setting: &Setting, wanted: &str) -> Error {
    anyhow!("the setting {} is {wanted}, and not '{}'", setting.name, setting.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(value: &str) -> Setting {
        Setting { name: "size".into(), value: value.into() }
    }

    #[test]
    fn values_are_read_or_named() {
        assert!(switch(&setting("ON")).unwrap() && !switch(&setting("0")).unwrap());
        assert_eq!(whole::<u32>(&setting("7")).unwrap(), 7);
        assert_eq!(choice(&setting("b"), &[("a", 1), ("B", 2)]).unwrap(), 2);
        let said = whole::<u8>(&setting("256")).unwrap_err().to_string();
        assert_eq!(said, "the setting size is a whole number that is not too large, and not '256'");
        let said = choice(&setting("c"), &[("a", 1), ("b", 2)]).unwrap_err().to_string();
        assert_eq!(said, "the setting size is one of a, b, and not 'c'");
        let said = unknown("LMDB", &setting("1"), &["nosync", "map_size"]).to_string();
        assert_eq!(said, "LMDB has no setting 'size'; it has nosync, map_size");
    }
}
