//! Safety levels: what an acknowledged commit survives, and how well that is known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an acknowledged commit survives, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// It may be lost, or the file ruined, when the process crashes.
    None,
    /// It survives the process being killed.
    ProcessCrash,
    /// It survives the machine losing power.
    PowerLoss,
}

impl Level {
    /// The name, as in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Level::None => "none",
            Level::ProcessCrash => "process-crash",
            Level::PowerLoss => "power-loss",
        }
    }
}

/// How far a level has been proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// The settings asked for and the manual's words.
    Claimed,
    /// The engine confirms that the settings are in force.
    ReadBack,
}

impl Standing {
    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Claimed => "claimed",
            Standing::ReadBack => "read back",
        }
    }
}

/// The safety of a contender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Safety {
    /// What an acknowledged commit survives.
    pub level: Level,
    /// Whether the data are consistent after a power cut, even where the newest commits are lost.
    pub consistent: bool,
    /// How far this is proved.
    pub standing: Standing,
    /// Why, in a few words.
    pub why: String,
    /// Where the engine's manual says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// A known hole in the level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caveat: Option<String>,
}
