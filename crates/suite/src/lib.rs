//! Suites: TOML documents that state a question, name parameters and list tests in order.
//!
//! This crate reads and checks them and renders their statements. It never opens a database and
//! knows no engine but by the name of its dialect. `docs/suites.md` describes the format.

mod check;
mod data;
mod digest;
mod form;
mod include;
mod last_name;
mod load;
mod mix;
mod model;
mod names;
mod parameters;
mod position;
pub mod progress;
mod published;
mod random;
pub mod reach;
mod render;
mod rung;
mod size;
mod statements;
mod template;
mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyno_protocol::{NamedQuery, StoreInvariant, Value};
use dyno_record::Figure;
use serde::Deserialize;
use toml::Spanned;

pub use data::{Data, RecordKind, Shape, count};
pub use digest::{ExpectedColumn, ExpectedDigest};
pub use dyno_protocol::Model;
pub use form::{Index, TableForm};
pub use last_name::{LAST_NAME_BYTES, last_name};
pub use mix::{
    Class, Course, DrawCondition, Drawn, Items, List, Mix, Number, Parameter, Range, RenderedClass,
    RenderedStatement, Repeat, Repeated, Rows, Source, ValueDistribution, Values, Written, ZIPF,
};
pub use model::Transaction;
pub use parameters::{Declaration, parse_count, resolve};
pub use published::Published;
pub use rung::{Rung, compared_with};
pub use size::parse_size;
pub use statements::one_row;
pub use template::{Bounds, Renderer, TemplateError};

/// The dialect of engines that have no SQL.
pub const NO_SQL: &str = "kv";

/// A suite as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// The name by which to run it, that of its file.
    pub name: String,
    /// One line.
    pub title: String,
    /// The suite's question, its origin, and how to read its results.
    pub story: String,
    /// The largest permitted difference between two numbers of an answer, relative to the larger.
    #[serde(default)]
    pub tolerance: f64,
    /// The contenders when a run names none, in addition to those of the rungs.
    #[serde(default)]
    contenders: Vec<String>,
    /// Those that run besides these when a run asks for all.
    #[serde(default)]
    more_contenders: Vec<String>,
    /// The rungs of its ladder, if it is one.
    #[serde(default, rename = "rung")]
    pub rungs: Vec<Rung>,
    /// The figure in tables: durations or rates per second.
    #[serde(default)]
    pub figure: Figure,
    /// The CPUs of the measured processes if a run does not ask for any.
    #[serde(default)]
    cpus: Option<Cpus>,
    /// The size of every contender's own cache, in bytes, if a run does not ask for one; `None`: each engine's default.
    #[serde(default, deserialize_with = "size::written")]
    pub cache: Option<u64>,
    /// Parameters by name.
    #[serde(default)]
    pub parameters: BTreeMap<String, Declaration>,
    /// Sets of data by name, for the models that take arrays.
    #[serde(default)]
    pub data: BTreeMap<String, Data>,
    /// The tests, in the order in which a trial goes through them.
    #[serde(rename = "test")]
    pub tests: Vec<Test>,
    /// The words of files that values are drawn from, by the file's name as a value writes it. dyno fills them in, so
    /// that a run file has them.
    #[serde(default, rename = "words-of-files")]
    pub(crate) words: BTreeMap<String, Vec<String>>,
    /// Figures that others have published for the same tests.
    #[serde(default)]
    pub published: Vec<Published>,
    /// The file it was read from.
    #[serde(skip)]
    pub path: PathBuf,
    /// Its text, which a run file keeps.
    #[serde(skip)]
    pub text: String,
}

impl Suite {
    /// The CPUs of the measured processes if a run does not ask for any. All of them if a test has many clients: on one
    /// CPU these and their server would wait for each other.
    pub fn cpus(&self) -> Cpus {
        let has_mix = self.tests.iter().any(|test| test.model == Model::Mix);
        self.cpus.unwrap_or(if has_mix { Cpus::All } else { Cpus::One })
    }
}

/// The CPUs of a suite's measured processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cpus {
    /// One of their own.
    One,
    /// All: for work in which some engines have threads in the background. The default of suites with a mix.
    All,
}

/// A test as written. `title`, `setup`, `index`, `statements`, `check` and the tables' names are templates.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// A short name, unique in the suite, by which `--only` selects it.
    pub id: String,
    /// One line for people.
    pub title: Spanned<String>,
    /// A sentence on what the test shows.
    pub shows: String,
    /// The kind of work.
    pub model: Model,
    /// The tests whose work this one builds on, by id; `--only` keeps them automatically.
    #[serde(default)]
    pub needs: Vec<String>,
    /// True if it only prepares the tests after it: it is shown, but part of no mean and no rank.
    #[serde(default)]
    pub prepares: bool,
    /// The grouping of its statements or lookups into transactions.
    #[serde(default)]
    pub transaction: Transaction,
    /// Statements before the clock starts.
    pub setup: Option<Spanned<String>>,
    /// The statements; of a scan, the query.
    pub statements: Option<Spanned<String>>,
    /// The statements that make an index, for contenders that make it before the first record of a file or
    /// after the last.
    pub index: Option<Spanned<String>>,
    /// The set of data, by name.
    pub data: Option<String>,
    /// The table into which rows go, or which is scanned.
    pub table: Option<String>,
    /// The two columns, by name, in which rows must differ to be counted.
    pub differ: Option<[String; 2]>,
    /// Of lookups: keys that are not there.
    #[serde(default)]
    pub absent: bool,
    /// Of lookups: how many of the keys, a number or the name of a parameter; absent: all.
    pub lookups: Option<Spanned<toml::Value>>,
    /// Of puts: the keys already exist.
    #[serde(default)]
    pub overwrite: bool,
    /// The number of pairs in a range.
    pub length: Option<u64>,
    /// The number of operations timed for a contender that commits each one separately; absent: all.
    pub one_by_one: Option<u64>,
    /// Of a mix: how many clients there are.
    pub clients: Option<Number>,
    /// Of a mix: how long it lasts, in seconds.
    pub duration: Option<Number>,
    /// Of a mix that lasts a time: how long its clients are at work before that, in seconds.
    pub warm_up: Option<Number>,
    /// Of a mix: how many operations each client does.
    pub count: Option<Number>,
    /// Of a mix: how many operations a second arrive; absent or 0: each client begins one as soon as it is free.
    pub rate: Option<Number>,
    /// Of a mix without a rate: how long a client waits on the average before each operation, in seconds.
    pub think: Option<Number>,
    /// Of a mix: how long an operation may wait for locks and be tried again, in seconds; absent: 10.
    pub patience: Option<Number>,
    /// Of a mix with a rate: how many operations a session has that arrives, connects and leaves; absent or 0: clients
    /// stay.
    pub sessions: Option<Number>,
    /// Of a mix: where the values of parameters come from, by name.
    #[serde(default)]
    pub values: BTreeMap<String, Values>,
    /// Of a mix: lists, over which statements are repeated, by name.
    #[serde(default)]
    pub lists: BTreeMap<String, List>,
    /// Of a mix: its classes of operations.
    #[serde(default, rename = "class")]
    pub classes: Vec<Class>,
    /// Of a mix: a class of which people ask how many were done in a minute.
    pub a_minute: Option<PerMinute>,
    /// The conditions that must hold after it, in place of a check.
    #[serde(default, rename = "invariant")]
    pub invariants: Vec<Invariant>,
    /// The query whose rows are the answer; without one, it is what the model says.
    pub check: Option<Spanned<String>>,
    /// The rows of the right answer with the parameters' defaults, where they are known.
    pub expect: Option<Vec<Vec<Value>>>,
    /// The digest of the right answer with the parameters' defaults, where its rows are too many to write out.
    pub expect_digest: Option<ExpectedDigest>,
}

/// A class of which people ask how many were done in a minute.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerMinute {
    /// Its name.
    pub class: String,
    /// The name of its operations, in the plural.
    pub says: String,
}

/// Something that must hold after a test, whatever was done. Both are templates.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invariant {
    /// The invariant in words.
    pub says: Spanned<String>,
    /// The class of operations whose changes must all be there: as many as the database has acknowledged. The query
    /// then counts those that are.
    pub acknowledged: Option<String>,
    /// A query for one number: how many break it.
    pub query: Spanned<String>,
}

/// A test made ready for one dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// The test's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Statements before the clock.
    pub setup: Vec<String>,
    /// The statements that make an index.
    pub index: Vec<String>,
    /// Every statement, including BEGIN and COMMIT; empty if the model takes no statements.
    pub statements: Vec<String>,
    /// The classes of a mix.
    pub classes: Vec<RenderedClass>,
    /// The checking query.
    pub check: Option<String>,
    /// The same queries one by one, with where they stand.
    pub queries: Vec<NamedQuery>,
    /// The invariants in words: the rows of the checking query, each with the number of its violations.
    pub invariants: Vec<String>,
    /// The lines of the suite's file in which these words stand.
    pub invariant_lines: Vec<usize>,
    /// The store of a mix without SQL.
    pub store: Option<String>,
    /// The invariants of the store.
    pub counts: Vec<StoreInvariant>,
}

impl Test {
    /// True if engines with stores of keys and values and without SQL do it: by its model, or because its mix has
    /// statements for them.
    pub fn is_for_stores(&self) -> bool {
        let of_mix = |class: &Class| {
            statements::dialects(class.statements.get_ref()).any(|(_, dialect)| dialect == NO_SQL)
        };
        self.model != Model::Mix || self.classes.iter().any(of_mix)
    }
}

impl Suite {
    /// The contenders if a run names none: those of the rungs, then the others.
    pub fn contenders(&self) -> Vec<String> {
        self.rungs.iter().map(|rung| &rung.contender).chain(&self.contenders).cloned().collect()
    }

    /// The contenders that run only when a run asks for all.
    pub fn more_contenders(&self) -> &[String] {
        &self.more_contenders
    }

    /// The file that its tests import, and the parameter that says how many records it has.
    pub fn file_data(&self) -> Option<(&Shape, &str)> {
        let data = self.data.values().find(|data| matches!(data.shape, Shape::File { .. }))?;
        Some((&data.shape, data.parameter()?))
    }
}

/// True if the name of a suite is the path of a file: it has a slash or ends in `.toml`.
pub fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}
