//! The run file: everything needed to read a run, or to repeat it.
//!
//! JSON Lines with a versioned schema: `docs/run-file.md` in words, `docs/run.schema.json` for programs.
//! Types and files only; what the samples mean is the verdict's business. A record never holds a
//! password or a key: none is ever part of a contender, a setting or an event.

mod activity;
mod agents;
mod answer;
mod breach;
mod budget;
mod calibration;
mod circumstances;
mod class;
mod cluster;
mod columns;
mod contender;
mod content;
pub mod cpu_list;
mod durability;
mod experiment;
mod file;
mod functions;
mod harm;
mod isolation;
mod level;
mod limits;
mod load;
mod machine;
mod made_by;
mod parameters;
mod placement;
mod probe;
mod proof;
mod quantity;
mod storage;
mod suite;
mod survival;
mod sustain;
mod traffic;
mod trial;
mod tuning;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use activity::{ActivitySample, Pressure};
pub use agents::{AgentRecord, AgentShare, hosts};
pub use answer::{Answer, KEPT_BYTES, KEPT_VALUES};
pub use breach::{Breach, BreachKind};
pub use budget::{StatementPlan, TimeBudget};
pub use calibration::{CALIBRATION_SCHEMA, FoundSlower, KnownOffsets, MachineCalibration};
pub use circumstances::Circumstances;
pub use class::{CacheClass, Class, Commits};
pub use cluster::{
    CLUSTER_SCHEMA, ClusterRecord, ClusterSubject, FaultTry, LostCommit, NodeFault, NodeStaleness,
    PowerOutage,
};
pub use columns::{Column, Sums, rows_per_chunk};
pub use contender::{ClusterShape, ContenderRecord, OwnCache, Reach};
pub use content::{Content, Executed, Program};
pub use durability::{
    DURABILITY_SCHEMA, DiskOperations, DurabilityAbout, DurabilityControls, DurabilityProof,
    DurabilityRecord, DurabilitySubject, SyncCalls,
};
pub use experiment::{Experiment, Neutralised, Suspect, UntriedSuspect};
pub use file::{
    Break, Line, PackedRun, Seals, Writer, is_page, is_run_file, load, load_found, packed_runs, parse,
    results_folder, whole,
};
pub use functions::FunctionCounts;
pub use harm::{Corruption, Damage, DeviceFailure, Harm, Harmed, Restarted};
pub use isolation::{Isolated, Isolation};
pub use level::{Hole, Level, NodeLoss, Safety, Standing};
pub use limits::Limits;
pub use load::{Clients, Load};
pub use machine::{Cache, Cpu, Kernel, Machine, Virtualisation};
pub use made_by::MadeBy;
pub use parameters::{ParameterValue, Parameters};
pub use placement::{Pair, Placement, Sharing, Wanted};
pub use probe::ProbeRecord;
pub use proof::{Attempt, EncryptionProof, MARKED_ROWS};
pub use quantity::{Better, Quantity};
pub use storage::{Device, Storage};
pub use suite::{
    AmountRecord, Figure, FileRecord, PerMinute, RungRecord, SourceRecord, SuiteRecord, TestRecord,
};
pub use survival::{EVIDENCE, FIRST_FAIR, KeptProof, PROOF_SCHEMA, Survival, Tally, Upkept};
pub use sustain::{RateAttempt, Target};
pub use traffic::{SentStatement, TrafficCounts, TrafficRecord};
pub use trial::{Failure, Others, SampleRecord, TrialRecord};
pub use tuning::Tuning;

/// The version of the run file's schema. It rises when a reader of the previous one would misread a
/// file; new optional fields do not raise it.
pub const SCHEMA: &str = "dyno-run/2";

/// The usual share by which a contender may be slower than the fastest and still be called so.
pub const MARGIN: f64 = 0.05;

/// All trials of one command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The version of this schema, `dyno-run/2`.
    pub schema: String,
    /// The version of dyno that wrote the file.
    pub dyno: String,
    /// The program that wrote the file; absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// The maker of the run, where it was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<MadeBy>,
    /// The command line, as typed, with the defaults of the user's `dyno.toml` that it left in force.
    pub command: Vec<String>,
    /// The start of the run, UTC, RFC 3339.
    pub started: String,
    /// The time since the run began, in nanoseconds.
    pub elapsed_ns: u64,
    /// The ending of the run, with its reason.
    pub ended: Ended,
    /// The suite, its text included.
    pub suite: SuiteRecord,
    /// The rules for the number and the order of trials.
    pub schedule: Schedule,
    /// The conditions that are the same for all contenders.
    #[serde(default)]
    pub limits: Limits,
    /// The machine.
    pub machine: Machine,
    /// The machines from which agents drove the clients, by rank; empty where the clients were on this machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentRecord>,
    /// The differences that `dyno calibrate` found the machine to show, where it was asked before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<MachineCalibration>,
    /// The storage of the databases.
    pub storage: Storage,
    /// The CPUs on which the measured processes were asked to run.
    #[serde(default)]
    pub wanted: Wanted,
    /// The changes of a run of `dyno challenge` that should not matter; absent in every other run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circumstances: Option<Circumstances>,
    /// The experiment of a run of `dyno causes`; absent in every other run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<Experiment>,
    /// The processors that were used, and the priority.
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<TrialRecord>,
    /// Each different answer once; samples name them by position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// The result of checking the seals of the file from which it was read.
    #[serde(skip)]
    pub seals: Seals,
}

/// A contender that could not be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Its name.
    pub label: String,
    /// A description of what is missing, for people.
    pub why: String,
}

/// The ending of a run, with its reason.
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
    /// The user stopped it.
    Interrupted,
    /// Every contender failed.
    Failed,
}

/// The rules for the number and the order of trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// The number of measured trials asked for; absent when the intervals or the budget decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<u32>,
    /// The time budget, in nanoseconds; absent when only the number of trials decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<u64>,
    /// The most that dyno may add to the budget to have room for a few trials, in nanoseconds; absent where the user
    /// named the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_ns: Option<u64>,
    /// The relative half width of an interval that is narrow enough.
    pub target: f64,
    /// By how much, as a share of its time, a contender may be slower than the fastest and still be called so, as long
    /// as it is not shown to be slower.
    #[serde(default = "usual_margin")]
    pub margin: f64,
    /// The seed of the order of trials and of every resampling.
    pub seed: u64,
    /// The longest silence that a runner is allowed, in nanoseconds.
    pub timeout_ns: u64,
    /// True if there are trials, after the measured ones, in which every operation is timed.
    #[serde(default)]
    pub latency: bool,
    /// True if there are trials, after the measured ones, in which a program around the runner counts what it does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts: bool,
    /// True if there is a trial of each contender, after the measured ones, in which dyno looks at what its threads
    /// wait for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub why: bool,
    /// True if dyno counts, before the first block, what contenders and their servers say to each other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub round_trips: bool,
    /// True if each statement of each operation of a mix is timed in all trials, which costs two more readings of the
    /// clock for each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub statements: bool,
    /// True if contenders take turns within a block where they can; `apart` of a contender says why it does not.
    #[serde(default)]
    pub turns: bool,
    /// The target of a run that seeks the highest rate at which it holds. Its first trials of a contender measure how
    /// much it does at most; in each of the others operations arrive at a rate that follows from those before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sustain: Option<Target>,
    /// True if the first block is warm-up; otherwise every block is measured.
    #[serde(default = "usual")]
    pub warm_up: bool,
}

/// The value of `warm_up` where a run file does not say.
fn usual() -> bool {
    true
}

/// The value of `margin` where a run file does not say.
fn usual_margin() -> f64 {
    MARGIN
}

impl Run {
    /// The position of the baseline among the contenders.
    pub fn baseline_index(&self) -> usize {
        self.contenders.iter().position(|contender| contender.label == self.baseline).unwrap_or(0)
    }

    /// True if its conditions were changed to test the claims of another run, by `dyno challenge` or `dyno causes`: such a
    /// run says nothing about how results go over time.
    pub fn is_altered(&self) -> bool {
        self.circumstances.is_some() || self.experiment.is_some()
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
