//! The parameters of a suite: named values that its templates use and a run may change.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use dyno_nearest as nearest;
use dyno_record::{ParameterValue, Parameters};
use serde::Deserialize;

use crate::Course;

/// A parameter as the suite declares it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// Its value if the run names none.
    pub default: ParameterValue,
    /// One sentence for people.
    pub about: String,
    /// The least value allowed.
    pub min: Option<f64>,
    /// The largest value allowed.
    pub max: Option<f64>,
    /// The parameter whose value it takes unless the run names a value.
    pub follows: Option<String>,
    /// True if a run may also give its course over time, as `0s 100, 30s 1000`.
    #[serde(default)]
    pub over_time: bool,
}

/// The declared defaults with a run's changes, each a name and a value as text.
pub fn resolve(declared: &BTreeMap<String, Declaration>, changes: &[(String, String)]) -> Result<Parameters> {
    let mut values: BTreeMap<String, ParameterValue> =
        declared.iter().map(|(name, parameter)| (name.clone(), parameter.default.clone())).collect();
    for (name, text) in changes {
        let parameter = declared.get(name).with_context(|| unknown(name, declared))?;
        let value = if parameter.over_time && Course::is_one(text) {
            let course = Course::parse(text).with_context(|| format!("parameter {name}"))?;
            let (least, most) = course.bounds();
            [least, most].iter().try_for_each(|value| check_bounds(name, parameter, *value))?;
            ParameterValue::Text(course.to_string())
        } else {
            let value = parse_alike(&parameter.default, text)
                .with_context(|| format!("parameter {name} takes a number, and '{text}' is not one"))?;
            value.number().map_or(Ok(()), |number| check_bounds(name, parameter, number))?;
            value
        };
        values.insert(name.clone(), value);
    }
    let mut following = BTreeMap::new();
    for (name, parameter) in declared {
        let named = changes.iter().any(|(changed, _)| changed == name);
        let led = parameter.follows.as_ref().filter(|_| !named).and_then(|led| values.get(led)).cloned();
        following.extend(led.map(|value| (name.clone(), value)));
    }
    values.retain(|name, _| !following.contains_key(name));
    Ok(Parameters::new(values, following))
}

/// Reads text as the same kind of value as another.
fn parse_alike(value: &ParameterValue, text: &str) -> Option<ParameterValue> {
    let integer = parse_count(text).and_then(|count| i64::try_from(count).ok());
    let integer = integer.or_else(|| text.parse().ok()).map(ParameterValue::Integer);
    match value {
        ParameterValue::Text(_) => Some(ParameterValue::Text(text.to_owned())),
        _ => integer.or_else(|| {
            text.parse().ok().filter(|number: &f64| number.is_finite()).map(ParameterValue::Real)
        }),
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

fn check_bounds(name: &str, parameter: &Declaration, number: f64) -> Result<()> {
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
            over_time: false,
        };
        let breadth = Declaration { follows: Some("scale".into()), ..scale.clone() };
        BTreeMap::from([("scale".to_owned(), scale), ("breadth".to_owned(), breadth)])
    }

    fn resolved(name: &str, value: &str) -> Result<Parameters> {
        resolve(&declared(), &[(name.into(), value.into())])
    }

    #[test]
    fn changes_replace_defaults() {
        assert_eq!(resolve(&declared(), &[]).unwrap().scale(), 1.0);
        assert_eq!(resolved("scale", "0.5").unwrap().scale(), 0.5);
    }

    #[test]
    fn one_follows_another_until_it_is_named() {
        let breadth = |changes: &[(&str, &str)]| {
            let changes: Vec<_> =
                changes.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
            resolve(&declared(), &changes).unwrap().get("breadth").unwrap().clone()
        };
        assert_eq!(breadth(&[("scale", "3")]), ParameterValue::Integer(3));
        assert_eq!(breadth(&[("scale", "3"), ("breadth", "2")]), ParameterValue::Integer(2));
    }

    #[test]
    fn one_that_may_change_over_time_is_a_number_or_a_course_within_its_bounds() {
        let scale = Declaration { over_time: true, ..declared()["scale"].clone() };
        let resolved = |text: &str| {
            let declared = BTreeMap::from([("scale".to_owned(), scale.clone())]);
            let parameters = resolve(&declared, &[("scale".into(), text.into())]);
            parameters
                .map(|parameters| parameters.get("scale").unwrap().clone())
                .map_err(|error| format!("{error:#}"))
        };
        assert_eq!(resolved("2"), Ok(ParameterValue::Integer(2)));
        assert_eq!(resolved("0s 1, 5s 9"), Ok(ParameterValue::Text("0s 1, 5s 9".into())));
        assert!(resolved("0s 1, 5s 11").unwrap_err().contains("the most allowed is 10"));
        assert!(resolved("0s 1, 5x 9").unwrap_err().contains("'5x' is no time"));
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
        assert!(resolved("scale", "big").unwrap_err().to_string().contains("'big'"));
        assert!(resolved("scale", "nan").unwrap_err().to_string().contains("'nan'"));
        assert!(resolved("scale", "0").unwrap_err().to_string().contains("0.01"));
        assert!(resolved("scale", "11").unwrap_err().to_string().contains("10"));
        assert!(resolved("sacle", "1").unwrap_err().to_string().ends_with("'sacle'; did you mean scale?"));
        assert!(resolved("scale", "0s 1, 2s 3").unwrap_err().to_string().contains("takes a number"));
        assert!(resolved("colour", "1").unwrap_err().to_string().contains("it has breadth, scale"));
    }
}
