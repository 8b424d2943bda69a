//! The model `mix`: many clients, each doing operations of several classes, in SQL.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::FieldKind;

/// Classes of operations, and for each client a file of steps that says which it does, with what.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixWork {
    /// The classes. Steps name them by position.
    pub classes: Vec<MixClass>,
    /// What a step has for the parameters of its statements, in order.
    pub fields: Vec<StepField>,
    /// How many clients there are, each a session of its own.
    pub clients: u32,
    /// A file of steps for each client, or one that they share: whoever is free does the next. Each step is 8 bytes of
    /// the moment when it is due, in nanoseconds since the clients began (0: as soon as its client is free), 8 bytes of
    /// the position of its class, and its fields; numbers have their least significant byte first.
    pub steps: Vec<StepFile>,
    /// How long the section lasts; each client begins anew with its first step when it has done its last one, but
    /// where steps have times at which they are due. Absent: all steps are done once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Lasts>,
    /// How long an operation may wait for locks, its repeated tries included, in nanoseconds. One that has had no
    /// success then has failed.
    pub patience_ns: u64,
}

/// A class of operations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixClass {
    /// Its name in the suite.
    pub name: String,
    /// What its statements are one transaction for; absent: each is a transaction of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<Purpose>,
    /// Its statements, in order.
    pub statements: Vec<MixStatement>,
}

/// What a transaction is for. Engines that lock a whole database by the first write begin it accordingly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// It reads only.
    Read,
    /// It writes.
    Write,
}

/// A statement, prepared once a client before the clock starts and executed many times. All rows that it returns
/// are fetched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixStatement {
    /// The text before, between and after its parameters: one piece more than there are parameters. The runner puts
    /// its driver's placeholders between them.
    pub text: Vec<String>,
    /// Its parameters: the position of a field for each.
    pub parameters: Vec<usize>,
}

/// A field of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepField {
    /// Its name in the suite.
    pub name: String,
    /// What it holds: a whole number of 64 bits, or text.
    pub kind: FieldKind,
    /// How many bytes it takes; of a number 8.
    pub bytes: u64,
}

/// A file of steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepFile {
    /// The file.
    pub file: PathBuf,
    /// How many there are.
    pub count: u64,
}

/// How long a section lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lasts {
    /// How long operations count, in nanoseconds.
    pub duration_ns: u64,
    /// How long they are done before that without being counted, in nanoseconds.
    #[serde(default)]
    pub warm_up_ns: u64,
}

/// What a step has before its fields, in bytes.
pub const STEP_HEAD: u64 = 16;

impl MixWork {
    /// How many bytes a step has.
    pub fn step_bytes(&self) -> u64 {
        STEP_HEAD + self.fields.iter().map(|field| field.bytes).sum::<u64>()
    }
}
