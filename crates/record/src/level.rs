//! Safety levels: what an acknowledged commit survives, and how well that is known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an acknowledged commit survives, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// It may be lost when the process crashes, and the file ruined where the data are not said to stay consistent.
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

/// What may go wrong at a power cut in spite of a level's syncs. A contender with a hole is ranked with its like alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Hole {
    /// The last acknowledged commit may be undone.
    LastCommit,
    /// A page of which only a part was written cannot be restored.
    TornPages,
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
    /// What whoever reads the level must know, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caveat: Option<String>,
    /// A known hole in the level, which the caveat tells of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hole: Option<Hole>,
}

impl Safety {
    /// The level for people, in a few letters. Where a crash of the process takes the newest commits, it also says
    /// whether the rest is whole.
    pub fn name(&self) -> &'static str {
        match (self.level, self.consistent) {
            (Level::None, true) => "newest lost",
            (level, _) => level.name(),
        }
    }

    /// The same with the level that the storage allows; `why` it allows no more.
    pub fn at_most(self, most: Level, why: &str) -> Safety {
        if self.level <= most {
            return self;
        }
        let caveat = format!("{why}; its settings promise {}", self.level.name());
        Safety { level: most, consistent: false, caveat: Some(caveat), hole: None, ..self }
    }
}
