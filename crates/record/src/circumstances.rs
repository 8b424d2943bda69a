//! The changes of a repeated run that should not matter, made by `dyno challenge`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The circumstances of the runners of a repeated run. Its seed, its folder and its CPUs are where every run has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Circumstances {
    /// The bytes by which the environment of each runner was longer.
    pub environment_bytes: u32,
    /// True if the kernel put each runner's memory at the same addresses in all trials, and not at random ones.
    pub fixed_addresses: bool,
    /// The letters by which the path of the databases was longer.
    pub folder_letters: u32,
}
