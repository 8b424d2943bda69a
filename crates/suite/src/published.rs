//! Figures that others published for a suite's tests.

use std::collections::BTreeMap;

use dyno_record::ParameterValue;
use serde::Deserialize;

use super::Test;

/// A published table of figures for a suite's tests.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The publisher and the date.
    pub source: String,
    /// The address, if it can still be read.
    pub link: Option<String>,
    /// The hardware of the measurements.
    pub hardware: String,
    /// The test of the first of its `seconds`, by id; absent: the suite's first.
    pub first: Option<String>,
    /// Seconds per test, in the order of the suite's tests, by the name of the system.
    #[serde(default)]
    pub seconds: BTreeMap<String, Vec<f64>>,
    /// Rows or operations a second by the name of the system, then by test.
    #[serde(default)]
    pub rates: BTreeMap<String, BTreeMap<String, f64>>,
    /// The parameters with which they were taken; absent: the defaults. They are shown next to a run with the same
    /// parameters.
    #[serde(default)]
    pub parameters: BTreeMap<String, ParameterValue>,
    /// True if they are shown next to a run of any size: rates that hardly depend on it.
    #[serde(default)]
    pub any_size: bool,
}

impl Published {
    /// The seconds of a system for the test at a place of the suite's, where it has a figure.
    pub fn seconds_of(&self, system: &str, test: usize, tests: &[Test]) -> Option<f64> {
        let seconds = self.seconds.get(system)?;
        test.checked_sub(self.begins(tests)).and_then(|place| seconds.get(place)).copied()
    }

    /// The place of the test of its first figure; behind all tests where there is no such test.
    pub(super) fn begins(&self, tests: &[Test]) -> usize {
        match &self.first {
            None => 0,
            Some(first) => tests.iter().position(|test| test.id == *first).unwrap_or(tests.len()),
        }
    }
}
