//! The parameters of a suite: named values that its templates use and a run may change.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nearest;

/// A parameter as the suite declares it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// Its value when the run names none.
    pub default: ParameterValue,
    /// One sentence for people.
    pub about: String,
    /// The least value allowed.
    pub min: Option<f64>,
    /// The largest value allowed.
    pub max: Option<f64>,
    /// The parameter whose value it takes where a run names none of its own.
    pub follows: Option<String>,
}

/// A value of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ParameterValue {
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Real(f64),
    /// Text.
    Text(String),
}

impl ParameterValue {
    fn number(&self) -> Option<f64> {
        match self {
            ParameterValue::Integer(number) => Some(*number as f64),
            ParameterValue::Real(number) => Some(*number),
            ParameterValue::Text(_) => None,
        }
    }

    /// Reads text as the same kind of value as this one.
    fn parse_alike(&self, text: &str) -> Option<ParameterValue> {
        let integer = parse_count(text).and_then(|count| i64::try_from(count).ok());
        let integer = integer.or_else(|| text.parse().ok()).map(ParameterValue::Integer);
        match self {
            ParameterValue::Text(_) => Some(ParameterValue::Text(text.to_owned())),
            _ => integer.or_else(|| {
                text.parse().ok().filter(|number: &f64| number.is_finite()).map(ParameterValue::Real)
            }),
        }
    }
}

impl std::fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ParameterValue::Integer(number) => number.fmt(f),
            ParameterValue::Real(number) => number.fmt(f),
            ParameterValue::Text(text) => text.fmt(f),
        }
    }
}

/// The values of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Parameters {
    values: BTreeMap<String, ParameterValue>,
    /// Those that follow another, which tells them.
    #[serde(skip)]
    following: BTreeMap<String, ParameterValue>,
}

impl Parameters {
    /// The declared defaults with a run's changes, each a name and a value as text.
    pub fn resolve(
        declared: &BTreeMap<String, Declaration>,
        changes: &[(String, String)],
    ) -> Result<Parameters> {
        let mut values: BTreeMap<String, ParameterValue> =
            declared.iter().map(|(name, parameter)| (name.clone(), parameter.default.clone())).collect();
        for (name, text) in changes {
            let parameter = declared.get(name).with_context(|| unknown(name, declared))?;
            let value = parameter
                .default
                .parse_alike(text)
                .with_context(|| format!("parameter {name} takes a number, and '{text}' is none"))?;
            check_bounds(name, parameter, &value)?;
            values.insert(name.clone(), value);
        }
        let mut following = BTreeMap::new();
        for (name, parameter) in declared {
            let named = changes.iter().any(|(changed, _)| changed == name);
            let led = parameter.follows.as_ref().filter(|_| !named).and_then(|led| values.get(led)).cloned();
            following.extend(led.map(|value| (name.clone(), value)));
        }
        values.retain(|name, _| !following.contains_key(name));
        Ok(Parameters { values, following })
    }

    /// Names and values, by name, of all that do not follow another.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParameterValue)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Names and values of all.
    pub fn all(&self) -> impl Iterator<Item = (&str, &ParameterValue)> {
        self.iter().chain(self.following.iter().map(|(name, value)| (name.as_str(), value)))
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&ParameterValue> {
        self.values.get(name).or_else(|| self.following.get(name))
    }

    /// The parameter `scale`, or 1 where the suite has none.
    pub fn scale(&self) -> f64 {
        self.number("scale").unwrap_or(1.0)
    }

    /// The seed of the data, the parameter `seed`, or 1 where the suite has none.
    pub fn seed(&self) -> u64 {
        self.number("seed").unwrap_or(1.0) as u64
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(ParameterValue::number)
    }
}

/// Reads a count: 50000, 10M, 1G. K, M and G are powers of a thousand.
pub fn parse_count(text: &str) -> Option<u64> {
    let (number, factor) = match text.chars().next_back()? {
        'k' | 'K' => (&text[..text.len() - 1], 1_000),
        'm' | 'M' => (&text[..text.len() - 1], 1_000_000),
        'g' | 'G' => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

fn check_bounds(name: &str, parameter: &Declaration, value: &ParameterValue) -> Result<()> {
    let Some(number) = value.number() else { return Ok(()) };
    if parameter.min.is_some_and(|min| number < min) {
        bail!("parameter {name} is {number}; the least allowed is {}", parameter.min.unwrap_or_default());
    }
    if parameter.max.is_some_and(|max| number > max) {
        bail!("parameter {name} is {number}; the most allowed is {}", parameter.max.unwrap_or_default());
    }
    Ok(())
}

fn unknown(name: &str, declared: &BTreeMap<String, Declaration>) -> String {
    if declared.is_empty() {
        return format!("this suite has no parameters, so none named '{name}'");
    }
    let names = declared.keys().map(String::as_str);
    nearest::unknown("this suite has no parameter", name, "it has", names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared() -> BTreeMap<String, Declaration> {
        let scale = Declaration {
            default: ParameterValue::Integer(1),
            about: "size".into(),
            min: Some(0.01),
            max: Some(10.0),
            follows: None,
        };
        let breadth = Declaration { follows: Some("scale".into()), ..scale.clone() };
        BTreeMap::from([("scale".to_owned(), scale), ("breadth".to_owned(), breadth)])
    }

    fn resolve(name: &str, value: &str) -> Result<Parameters> {
        Parameters::resolve(&declared(), &[(name.into(), value.into())])
    }

    #[test]
    fn changes_replace_defaults() {
        assert_eq!(Parameters::resolve(&declared(), &[]).unwrap().scale(), 1.0);
        assert_eq!(resolve("scale", "0.5").unwrap().scale(), 0.5);
    }

    #[test]
    fn one_follows_another_until_it_is_named() {
        let breadth = |changes: &[(&str, &str)]| {
            let changes: Vec<_> =
                changes.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
            Parameters::resolve(&declared(), &changes).unwrap().get("breadth").unwrap().clone()
        };
        assert_eq!(breadth(&[("scale", "3")]), ParameterValue::Integer(3));
        assert_eq!(breadth(&[("scale", "3"), ("breadth", "2")]), ParameterValue::Integer(2));
    }

    #[test]
    fn counts_have_suffixes() {
        assert_eq!(parse_count("10M"), Some(10_000_000));
        assert_eq!(parse_count("50k"), Some(50_000));
        assert_eq!(parse_count("7"), Some(7));
        assert_eq!(
            [parse_count(""), parse_count("M"), parse_count("-1"), parse_count("99999999999G")],
            [None; 4]
        );
    }

    #[test]
    fn bad_values_say_what_is_allowed() {
        assert!(resolve("scale", "big").unwrap_err().to_string().contains("'big'"));
        assert!(resolve("scale", "nan").unwrap_err().to_string().contains("'nan'"));
        assert!(resolve("scale", "0").unwrap_err().to_string().contains("0.01"));
        assert!(resolve("scale", "11").unwrap_err().to_string().contains("10"));
        assert!(resolve("sacle", "1").unwrap_err().to_string().ends_with("'sacle'; did you mean scale?"));
        assert!(resolve("colour", "1").unwrap_err().to_string().contains("it has breadth, scale"));
    }
}
