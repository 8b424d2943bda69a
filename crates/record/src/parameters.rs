//! The parameters of a run's suite: named values that its templates used.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The number that it is, unless it is text.
    pub fn number(&self) -> Option<f64> {
        match self {
            ParameterValue::Integer(number) => Some(*number as f64),
            ParameterValue::Real(number) => Some(*number),
            ParameterValue::Text(_) => None,
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
    /// Those that follow from another parameter.
    #[serde(skip)]
    following: BTreeMap<String, ParameterValue>,
}

impl Parameters {
    /// Values of their own, and of those that follow another the values that it has.
    pub fn new(
        values: BTreeMap<String, ParameterValue>,
        following: BTreeMap<String, ParameterValue>,
    ) -> Parameters {
        Parameters { values, following }
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
