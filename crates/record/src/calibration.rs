//! The result of `dyno calibrate`: as it is kept on a machine, and as later runs of that machine quote it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Cpu;

/// The version of this schema.
pub const CALIBRATION_SCHEMA: &str = "dyno-calibration/1";

/// The differences that a run of one pair of contenders can show on a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineCalibration {
    /// The version of this schema, `dyno-calibration/1`.
    pub schema: String,
    /// The version of dyno that judged.
    pub dyno: String,
    /// The start of the calibration's run, UTC, RFC 3339.
    pub started: String,
    /// The processor that it ran on.
    pub cpu: Cpu,
    /// The suite.
    pub suite: String,
    /// The contender that ran next to copies of itself.
    pub contender: String,
    /// The duration of the run that this is about, in seconds.
    pub seconds: u32,
    /// In which share of runs equals are called different anywhere in a table.
    pub alarms: f64,
    /// The share of runs that find slower copies, by the mean over all tests.
    pub found: Vec<FoundSlower>,
    /// The differences between copies of the contender's library under other names; absent where they were too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offsets: Option<KnownOffsets>,
}

/// The differences between copies of one library under other names, as standard deviations without noise: a share of a
/// time, and 0 where no difference is shown.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownOffsets {
    /// The number of copies, the original among them.
    pub copies: usize,
    /// By the mean over all tests, as 0.01.
    pub by_mean: f64,
    /// In a test, as the root of the mean square over all tests.
    pub by_test: f64,
}

/// The share of runs that find a slower copy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundSlower {
    /// By which share it is slower, as 0.03.
    pub slowdown: f64,
    /// The share of runs.
    pub share: f64,
}
