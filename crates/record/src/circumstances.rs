//! What a repeated run was given that should not matter, by `dyno challenge`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The circumstances of the runners of a repeated run. Its seed, its folder and its CPUs are where every run has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Circumstances {
    /// How many bytes longer the environment of each runner was.
    pub environment_bytes: u32,
    /// True if the kernel put each runner's memory at the same addresses in all trials, and not at random ones.
    pub fixed_addresses: bool,
    /// How many letters longer the path of the databases was.
    pub folder_letters: u32,
}
