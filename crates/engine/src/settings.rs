//! Settings as people write them and as engines read them back.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use dyno_protocol::{InForce, Setting};

/// A setting that is not in force as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingDifference {
    /// The setting's name.
    pub name: String,
    /// The value asked for.
    pub asked: String,
    /// The value read back; `None` if the runner did not report the setting.
    pub in_force: Option<String>,
}

impl std::fmt::Display for SettingDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.in_force {
            Some(value) => {
                write!(f, "{}={} was asked for, but {value} is in force", self.name, self.asked)
            }
            None => write!(f, "{}={} was asked for, but not read back", self.name, self.asked),
        }
    }
}

/// Reads `name=value`.
pub fn parse_setting(text: &str) -> Result<Setting> {
    match text.split_once('=') {
        Some((name, value)) if is_name(name) && !value.is_empty() => {
            Ok(Setting { name: name.to_owned(), value: value.to_owned() })
        }
        _ => bail!("'{text}' is not a setting; write it as name=value"),
    }
}

/// True if the settings asked for meet all conditions.
pub(super) fn all_asked(conditions: &[String], asked: &[Setting]) -> bool {
    conditions.iter().all(|condition| is_asked(condition, asked))
}

/// The first of the conditions that the settings asked for meet.
pub(super) fn first_asked<'a>(
    conditions: impl IntoIterator<Item = &'a String>,
    asked: &[Setting],
) -> Option<&'a String> {
    conditions.into_iter().find(|condition| is_asked(condition, asked))
}

/// True if the settings asked for meet the condition, `NAME=VALUE` or `NAME=VALUE|VALUE`.
fn is_asked(condition: &str, asked: &[Setting]) -> bool {
    let Ok(Setting { name, value }) = parse_setting(condition) else { return false };
    // Of a setting named twice the last counts.
    let found = asked.iter().rev().find(|setting| setting.name == name);
    found.is_some_and(|found| value.split('|').any(|known| known.eq_ignore_ascii_case(&found.value)))
}

/// True if a text begins like a setting rather than like a contender.
pub(super) fn looks_like_setting(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// True if a text can be the name of a setting: letters, digits, `_` and `.`.
pub(super) fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.')
}

/// The names that an engine gives to numbers, by setting.
pub(super) type ValueNames = BTreeMap<String, Vec<String>>;

/// One spelling for all spellings of a value: names and numbers of an enumeration, on and off, letter
/// case.
pub(super) fn canonical(values: &ValueNames, name: &str, value: &str) -> String {
    if let Some(names) = values.get(name) {
        let number = names.iter().position(|known| known.eq_ignore_ascii_case(value));
        if let Some(number) = number.or_else(|| value.parse().ok()) {
            return number.to_string();
        }
    }
    match value.to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" => "1".into(),
        "off" | "false" | "no" => "0".into(),
        // Text read back keeps its case only where the engine does; names of settings' values differ
        // by case in no engine.
        lower => lower.to_owned(),
    }
}

/// The settings that are not in force as asked for. Of a setting named twice the last counts.
pub(super) fn differences(
    values: &ValueNames,
    asked: &[Setting],
    in_force: &[InForce],
) -> Vec<SettingDifference> {
    let mut last: BTreeMap<&str, &Setting> = BTreeMap::new();
    for setting in asked {
        last.insert(&setting.name, setting);
    }
    last.into_values()
        .filter_map(|setting| {
            let found = in_force.iter().find(|candidate| candidate.name == setting.name);
            let same = found.is_some_and(|found| {
                canonical(values, &setting.name, &setting.value)
                    == canonical(values, &found.name, &found.value)
            });
            (!same).then(|| SettingDifference {
                name: setting.name.clone(),
                asked: setting.value.clone(),
                in_force: found.map(|found| found.value.clone()),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> ValueNames {
        let names = ["OFF", "NORMAL", "FULL", "EXTRA"].map(String::from).to_vec();
        BTreeMap::from([("synchronous".to_owned(), names)])
    }

    fn check(asked: &str, in_force: &str) -> Vec<SettingDifference> {
        let found = parse_setting(in_force).unwrap();
        let found = InForce { name: found.name, value: found.value };
        differences(&values(), &[parse_setting(asked).unwrap()], &[found])
    }

    #[test]
    fn spellings_of_one_value_are_equal() {
        assert!(check("synchronous=full", "synchronous=2").is_empty());
        assert!(check("synchronous=0", "synchronous=OFF").is_empty());
        assert!(check("foreign_keys=on", "foreign_keys=1").is_empty());
        assert!(check("journal_mode=WAL", "journal_mode=wal").is_empty());
    }

    #[test]
    fn a_value_that_did_not_take_is_reported() {
        let message = check("journal_mode=WAL", "journal_mode=memory")[0].to_string();
        assert_eq!(message, "journal_mode=WAL was asked for, but memory is in force");
        assert!(check("page_size=8192", "cache_size=1")[0].to_string().contains("not read back"));
    }

    #[test]
    fn settings_have_a_name_and_a_value() {
        assert!(parse_setting("cache_size=-65536").is_ok());
        for bad in ["", "wal", "=1", "a b=1", "x="] {
            assert!(parse_setting(bad).is_err(), "{bad}");
        }
    }
}
