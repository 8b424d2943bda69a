//! The run file: everything needed to read a run, or to repeat it.
//!
//! JSON with a versioned schema: `docs/run-file.md` in words, `docs/run-file.schema.json` for programs.
//! Types and files only; what the samples mean is the verdict's business. A record never holds a
//! password or a key: none is ever part of a contender, a setting or an event.

mod file;

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyno_protocol::{Build, Hello, Sample, Setting, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answers::Answer;
use crate::engine::{Contender, Safety};
use crate::machine::{Machine, Storage};
use crate::pairing::Wanted;
use crate::placement::Placement;
use crate::plan::{Plan, PlannedTest};
use crate::proof::Proof;
use crate::suite::{Figure, Parameters};

pub(crate) use file::set_usual_permissions;
pub use file::{load, results_folder, save};

/// The version of the run file's schema. It rises when a reader of the previous one would misread a
/// file; new optional fields do not raise it.
pub const SCHEMA: &str = "dyno-run/1";

/// All trials of one command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The version of this schema, `dyno-run/1`.
    pub schema: String,
    /// The version of dyno that wrote the file.
    pub dyno: String,
    /// The command line, as typed.
    pub command: Vec<String>,
    /// When the run began, UTC, RFC 3339.
    pub started: String,
    /// How long it took so far, in nanoseconds.
    pub elapsed_ns: u64,
    /// Whether and why it ended.
    pub ended: Ended,
    /// The suite, its text included.
    pub suite: SuiteRecord,
    /// What decides how many trials there are and in what order.
    pub schedule: Schedule,
    /// What all contenders were given or denied.
    #[serde(default)]
    pub limits: Limits,
    /// The machine.
    pub machine: Machine,
    /// Where the databases were.
    pub storage: Storage,
    /// Where the measured processes were asked to run.
    #[serde(default)]
    pub wanted: Wanted,
    /// Which processors were used, and at what priority.
    pub placement: Placement,
    /// The contenders, in the order in which they were named.
    pub contenders: Vec<ContenderRecord>,
    /// Those of the suite's own contenders that could not be had here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// The label of the contender with which the others are compared.
    pub baseline: String,
    /// The tests, in order; samples name them by id.
    pub tests: Vec<TestRecord>,
    /// The trials, in the order in which they ran.
    pub trials: Vec<TrialRecord>,
    /// Each different answer once; samples name them by position.
    pub answers: Vec<Answer>,
}

/// A contender that could not be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Its name.
    pub label: String,
    /// What is missing, for people.
    pub why: String,
}

/// Whether and why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// It has not: the file was saved between blocks, and the run may have died since.
    Running,
    /// The number of trials asked for is done.
    Trials,
    /// Every interval is narrower than the target.
    Converged,
    /// The time budget was used up.
    Budget,
    /// Somebody stopped it.
    Interrupted,
    /// Every contender failed.
    Failed,
}

/// The suite of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteRecord {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The whole text of its file.
    pub text: String,
    /// The values of its parameters.
    pub parameters: Parameters,
    /// How far two numbers of an answer may differ, relative to the larger.
    pub tolerance: f64,
    /// Whether tables show durations or rates.
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

/// A file of the user's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRecord {
    /// Where it was, as typed.
    pub path: PathBuf,
    /// How many records it has.
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
    /// What it changes.
    pub shows: String,
    /// Rows a second as somebody published them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// The name of the rung with which it is compared; absent: with none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
}

/// What decides how many trials there are, and in what order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// The number of measured trials asked for; absent when the intervals or the budget decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<u32>,
    /// The time budget, in nanoseconds; absent when only the number of trials decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<u64>,
    /// The relative half width of an interval that is narrow enough.
    pub target: f64,
    /// The seed of the order of trials and of every resampling.
    pub seed: u64,
    /// How long a runner may be silent, in nanoseconds.
    pub timeout_ns: u64,
    /// Whether there are trials, after the measured ones, in which every operation is timed.
    #[serde(default)]
    pub latency: bool,
    /// Whether the first block is warm-up; otherwise every block is measured.
    #[serde(default = "usual")]
    pub warm_up: bool,
}

/// What `warm_up` is where a run file does not tell.
fn usual() -> bool {
    true
}

/// What a run's contenders were all given or denied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// The size of every engine's cache, in bytes; absent: each engine's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_bytes: Option<u64>,
    /// The memory of a runner, in bytes; absent: as much as there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// A contender and what is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderRecord {
    /// Its name, as in tables.
    pub label: String,
    /// The engine.
    pub engine: String,
    /// The driver.
    pub driver: String,
    /// Which of the driver's ways of working; absent of a driver that has only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Whether the driver is the engine's lowest-level one, with which the others are compared.
    #[serde(default)]
    pub lowest: bool,
    /// The language in which programs use the driver.
    #[serde(default)]
    pub language: String,
    /// How many operations make a transaction; absent where the tests' models decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_commit: Option<u64>,
    /// The tests, by id, that it does not do, because its runner does not implement their models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// The build asked for.
    pub build: Build,
    /// The server that ran already, without password and options; absent where dyno started one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The profile.
    pub profile: String,
    /// Why the profile's settings are what they are.
    pub reason: String,
    /// Where the engine's manual speaks of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The encrypted file system that its data were on; absent for that of `storage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// The settings asked for.
    pub asked: Vec<Setting>,
    /// Versions, build and settings in force as its first trial told; absent if none got so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hello: Option<Hello>,
    /// What its commits survive; absent where the engine's rules do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety: Option<Safety>,
    /// What its files tell of encryption; absent where no contender of the run encrypts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// Whether it measures dyno itself; it is then neither shown nor ranked unless named.
    #[serde(default)]
    pub harness: bool,
    /// Whether it was named by the command or by the suite.
    pub named: bool,
}

/// A test as it ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestRecord {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it shows.
    pub shows: String,
    /// The kind of work.
    pub model: String,
    /// Whether it ran only because another test needs it; it is then not shown.
    #[serde(default)]
    pub preparation: bool,
    /// How many statements it has.
    pub statements: u64,
    /// Its first statements, in the dialect of the first contender.
    pub first: Vec<String>,
    /// Its last ones, where they are not among the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<String>,
    /// How much it does, where that is known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<AmountRecord>,
    /// The right answer, where the suite states one that holds for these parameters or the input
    /// tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Vec<Vec<Value>>>,
    /// Published figures in seconds, by system, rates turned into the time that this test would have
    /// taken; hardware and source stand under `published` of the suite's text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, f64>,
}

/// How much a test does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AmountRecord {
    /// Rows or operations.
    pub count: u64,
    /// The bytes of cells that are written or read.
    pub bytes: u64,
    /// What is counted: `rows` or `operations`.
    pub unit: String,
}

/// One trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialRecord {
    /// The block. Block 0 is warm-up and takes no part in any figure; a run without warm-up begins with 1.
    pub block: u32,
    /// The contender, by its position.
    pub contender: usize,
    /// Whether every operation was timed; it then takes no part in any figure but those of latency.
    #[serde(default, skip_serializing_if = "is_false")]
    pub latency: bool,
    /// When it began, in nanoseconds since the run began.
    pub began_ns: u64,
    /// The samples, in the order of the tests.
    pub samples: Vec<SampleRecord>,
    /// Why it did not finish; absent if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// A sample with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleRecord {
    /// What was measured.
    #[serde(flatten)]
    pub sample: Sample,
    /// The answer, by its position among the run's answers.
    pub answer: usize,
    /// How many operations the whole test has, where only the first of them were timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extrapolated_to: Option<u64>,
}

impl SampleRecord {
    /// What the whole test takes, in nanoseconds: what was measured, or where only some operations were
    /// timed, as if the others took as long each.
    pub fn duration_ns(&self) -> f64 {
        let measured = self.sample.nanoseconds as f64;
        match self.extrapolated_to {
            Some(whole) if self.sample.operations > 0 => {
                measured * whole as f64 / self.sample.operations as f64
            }
            _ => measured,
        }
    }
}

/// Why a trial did not finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The test in which it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// What happened.
    pub message: String,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Run {
    /// The position of the baseline among the contenders.
    pub fn baseline_index(&self) -> usize {
        self.contenders.iter().position(|contender| contender.label == self.baseline).unwrap_or(0)
    }

    /// The tests that are shown.
    pub fn shown_tests(&self) -> impl Iterator<Item = &TestRecord> {
        self.tests.iter().filter(|test| !test.preparation)
    }

    /// The contenders that are shown, with their positions.
    pub fn shown_contenders(&self) -> impl Iterator<Item = (usize, &ContenderRecord)> {
        self.contenders.iter().enumerate().filter(|(_, contender)| contender.named)
    }

    /// The position of an answer, kept once however often it is given.
    pub fn keep_answer(&mut self, answer: Answer) -> usize {
        match self.answers.iter().position(|known| *known == answer) {
            Some(index) => index,
            None => {
                self.answers.push(answer);
                self.answers.len() - 1
            }
        }
    }
}

impl ContenderRecord {
    /// What is known of a contender before its first trial.
    pub fn new(contender: &Contender, plan: &Plan, named: bool) -> ContenderRecord {
        ContenderRecord {
            label: contender.label.clone(),
            engine: contender.engine.name.clone(),
            driver: contender.driver.name.clone(),
            variant: contender.variant.as_ref().map(|variant| variant.name.clone()),
            lowest: contender.driver.default,
            language: contender.driver.language.clone(),
            per_commit: contender.per_commit,
            lacks: plan.lacks(contender),
            build: contender.build.clone(),
            url: contender.url.as_ref().map(ToString::to_string),
            profile: contender.profile.name.clone(),
            reason: contender.profile.reason.clone(),
            link: contender.profile.link.clone(),
            file_system: contender.file_system.map(|system| system.name().to_owned()),
            asked: contender.settings.clone(),
            hello: None,
            safety: contender.claimed.clone(),
            proof: None,
            harness: contender.engine.harness,
            named,
        }
    }
}

impl TestRecord {
    /// A planned test as a record.
    pub fn new(test: &PlannedTest) -> TestRecord {
        TestRecord {
            id: test.id.clone(),
            title: test.title.clone(),
            shows: test.shows.clone(),
            model: test.model.to_owned(),
            preparation: test.preparation,
            statements: test.statements,
            first: test.first.clone(),
            last: test.last.clone(),
            amount: test.amount.map(|amount| AmountRecord {
                count: amount.count,
                bytes: amount.bytes,
                unit: amount.unit.to_owned(),
            }),
            expect: test.answer.clone(),
            published: BTreeMap::new(),
        }
    }
}
