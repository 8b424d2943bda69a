//! The standard by which an engine's settings were chosen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The standard by which an engine's settings were chosen. To compare one engine as it comes with another as its manual
/// tunes it says little about either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tuning {
    /// As it comes: only what a commit survives and how much it holds is set.
    Default,
    /// With the options that its manual advises for speed.
    Tuned,
    /// With options that were named with the contender, or as a server was found.
    Own,
}

impl Tuning {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Tuning::Default => "default",
            Tuning::Tuned => "tuned",
            Tuning::Own => "own",
        }
    }
}
