//! The suite of a run, and its tests as they ran.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyno_protocol::Value;
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::{Answer, Clients, Load, Parameters};

/// The suite of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteRecord {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its question, its origin and how to read its results; absent in older files, whose text has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub story: Option<String>,
    /// The source of figures that others published for its tests; absent in older files, whose text has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Vec<SourceRecord>>,
    /// The whole text of its file.
    pub text: String,
    /// The values of its parameters.
    pub parameters: Parameters,
    /// The largest permitted difference between two numbers of an answer, relative to the larger.
    pub tolerance: f64,
    /// The figures in tables: durations or rates.
    #[serde(default)]
    pub figure: Figure,
    /// The user's file that was imported in place of the suite's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileRecord>,
    /// The rungs of its ladder, if it is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rungs: Vec<RungRecord>,
    /// The tests chosen with `--only`; absent when all ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
}

/// A published table of figures for a suite's tests. The figures themselves stand with the tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceRecord {
    /// The publisher, and the date.
    pub source: String,
    /// The address, if it still can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// On what hardware.
    pub hardware: String,
    /// The systems that it has figures of.
    pub systems: Vec<String>,
}

/// The figures in a suite's tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// The duration of a test.
    #[default]
    Time,
    /// The rows or operations that it did in a second.
    Rate,
}

impl SuiteRecord {
    /// The story, without space around it.
    pub fn story(&self) -> &str {
        self.story.as_deref().unwrap_or_default().trim()
    }

    /// The source of published figures.
    pub fn sources(&self) -> &[SourceRecord] {
        self.published.as_deref().unwrap_or_default()
    }

    /// Takes from the text what older files do not keep apart from it.
    pub(crate) fn fill_in(&mut self) {
        if self.story.is_some() && self.published.is_some() {
            return;
        }
        let written: Written = toml::from_str(&self.text).unwrap_or_default();
        self.story.get_or_insert(written.story);
        let sources = written.published.into_iter().map(|source| SourceRecord {
            source: source.source,
            link: source.link,
            hardware: source.hardware,
            systems: source.seconds.into_keys().chain(source.rates.into_keys()).collect(),
        });
        self.published.get_or_insert(sources.collect());
    }
}

/// The part of a suite's text that run files hold apart from it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    story: String,
    published: Vec<WrittenSource>,
}

#[derive(Deserialize)]
struct WrittenSource {
    source: String,
    link: Option<String>,
    hardware: String,
    #[serde(default)]
    seconds: BTreeMap<String, IgnoredAny>,
    #[serde(default)]
    rates: BTreeMap<String, IgnoredAny>,
}

/// A file of the user's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRecord {
    /// The path, as typed.
    pub path: PathBuf,
    /// The number of records.
    pub records: u64,
    /// Its size as it was imported, in bytes.
    pub bytes: u64,
    /// Its CRC-32 as it was imported.
    pub crc32: u32,
}

/// A rung of a suite's ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RungRecord {
    /// Its name.
    pub name: String,
    /// The label of its contender, which may be none of the run's.
    pub contender: String,
    /// Its effect.
    pub shows: String,
    /// Rows a second as published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// The name of the rung with which it is compared; absent: with none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
}

/// A test as it ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestRecord {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The lesson that it shows.
    pub shows: String,
    /// The kind of work.
    pub model: String,
    /// True if it ran only because another test needs it; it is then not shown.
    #[serde(default)]
    pub preparation: bool,
    /// True if it only prepares the tests after it: it is shown, and part of no mean and no rank.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prepares: bool,
    /// The number of its statements.
    pub statements: u64,
    /// Its first statements, in the dialect of the first contender.
    pub first: Vec<String>,
    /// Its last ones, where they are not among the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<String>,
    /// The amount of its work, where that is known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<AmountRecord>,
    /// The right answer, where the suite states one that holds for these parameters or the
    /// input determines it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Vec<Vec<Value>>>,
    /// The digest of the right answer, where the suite states no rows of it because they are too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect_digest: Option<Answer>,
    /// Conditions that must hold after it, in words. Each is a row of its answer: place, words, how many break it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<String>,
    /// The lines of the suite's file in which these words stand, from 1; empty in files of before dyno wrote it down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invariant_lines: Vec<usize>,
    /// The arrival of its operations, in a mix that lasts a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// The demand, in a mix; absent in files of before dyno wrote it down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<Clients>,
    /// A class of which people ask how many were done in a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_minute: Option<PerMinute>,
    /// Published figures in seconds, by system, rates turned into the time that this test would have
    /// taken; hardware and source stand under `published` of the suite.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, f64>,
}

/// A class of which people ask how many were done in a minute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PerMinute {
    /// Its name.
    pub class: String,
    /// The name of its operations there, in the plural.
    pub says: String,
}

/// The amount of a test's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AmountRecord {
    /// Rows or operations.
    pub count: u64,
    /// The bytes of cells that are written or read; 0 where they mean nothing for the test.
    pub bytes: u64,
    /// The unit that is counted: `rows`, `operations` or `transactions`.
    pub unit: String,
}

impl AmountRecord {
    /// An amount of this many of a unit, in this many bytes of cells.
    pub fn new(count: u64, bytes: u64, unit: &str) -> AmountRecord {
        AmountRecord { count, bytes, unit: unit.to_owned() }
    }
}
