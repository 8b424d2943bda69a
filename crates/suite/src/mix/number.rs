//! A number of a suite: itself, or an expression with the suite's parameters.

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::course::Course;
use crate::Renderer;

/// A number as written: itself, or an expression with the suite's parameters.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct Number(toml::Value);

impl Number {
    /// One as written.
    pub(super) fn new(written: toml::Value) -> Number {
        Number(written)
    }

    /// The date or moment that it is, if it is one.
    pub(super) fn dated(&self) -> Option<&toml::value::Datetime> {
        self.0.as_datetime()
    }

    pub(super) fn value(&self, renderer: &Renderer) -> Result<f64> {
        match &self.0 {
            toml::Value::Integer(number) => Ok(*number as f64),
            toml::Value::Float(number) => Ok(*number),
            toml::Value::String(expression) => {
                let text = renderer.render(&format!("{{{{ ({expression}) }}}}"))?;
                text.parse().with_context(|| format!("`{expression}` is '{text}', which is no number"))
            }
            other => bail!("a number, or an expression with the suite's parameters, is not {other}"),
        }
    }

    /// A number that may change over time: a course, or an expression for a number or a course.
    pub(super) fn course(&self, renderer: &Renderer) -> Result<Course> {
        match &self.0 {
            toml::Value::String(text) if Course::is_one(text) => Course::parse(text),
            toml::Value::String(expression) => {
                Course::parse(&renderer.render(&format!("{{{{ ({expression}) }}}}"))?)
            }
            _ => Ok(Course::steady(self.value(renderer)?)),
        }
    }

    pub(super) fn whole(&self, renderer: &Renderer) -> Result<i64> {
        let value = self.value(renderer)?;
        ensure!(value.fract() == 0.0 && value.abs() < 2e18, "{value} is no whole number");
        Ok(value as i64)
    }
}
