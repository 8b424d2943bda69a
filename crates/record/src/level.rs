//! Safety levels: what an acknowledged commit survives, and how well that is known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::survival::{Survival, Tally};

/// The events that an acknowledged commit survives, weakest first.
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

/// The evidence for a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// The settings asked for and the manual's words.
    Claimed,
    /// The engine confirms that the settings are in force.
    ReadBack,
    /// `dyno prove` saw what a commit waits for and what became of it; the level promises nothing that it could
    /// survive, or has a hole in which it fell.
    Observed,
    /// Every acknowledged commit survived all power cuts or kills of `dyno prove`.
    Survived,
    /// `dyno prove` found that the level which the settings promise is not kept; the level is the one that is left.
    Disproved,
}

impl Standing {
    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Claimed => "claimed",
            Standing::ReadBack => "read back",
            Standing::Observed => "observed",
            Standing::Survived => "survived",
            Standing::Disproved => "disproved",
        }
    }
}

/// Damage that a power cut can do in spite of a level's syncs. A contender with a hole is ranked with its like alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Hole {
    /// The last acknowledged commit may be undone.
    LastCommit,
    /// A page of which only a part was written cannot be restored.
    TornPages,
}

/// The number of nodes of a cluster that may be lost for good, whichever they are, before an acknowledged commit may
/// be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeLoss {
    /// The number that may be lost.
    pub lost: u32,
    /// The number of nodes.
    pub of: u32,
}

impl NodeLoss {
    /// The same in words, as the end of "Survives …".
    pub fn words(self) -> String {
        match self.lost {
            0 => format!("the loss of no node of {}", self.of),
            lost => format!("the loss of any {lost} of {} nodes", self.of),
        }
    }
}

/// The safety of a contender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Safety {
    /// The events that an acknowledged commit survives.
    pub level: Level,
    /// True if the data are consistent after a power cut, even where the newest commits are lost.
    pub consistent: bool,
    /// The evidence for this.
    pub standing: Standing,
    /// The reason, in a few words.
    pub why: String,
    /// The page of the engine's manual that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// A caveat for all readers of the level, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caveat: Option<String>,
    /// A known hole in the level, which the caveat describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hole: Option<Hole>,
    /// The number of nodes that may be lost for good; absent of a database that is no cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodeLoss>,
    /// The result of `dyno prove` for the same build with the same settings on the same file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survival: Option<Survival>,
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

    /// The evidence for the level, for people: `read back`, or `survived 600 of 600 cuts`.
    pub fn known(&self) -> String {
        let name = self.standing.name();
        let Some(survival) = &self.survival else { return name.to_owned() };
        let of = |tally: &Tally, what: &str| format!("{} of {} {what}", tally.survived, tally.tried);
        match self.standing {
            Standing::Claimed | Standing::ReadBack => name.to_owned(),
            Standing::Survived if self.level == Level::PowerLoss => {
                format!("{name} {}", of(&survival.cuts, "cuts"))
            }
            Standing::Survived => format!("{name} {}", of(&survival.kills, "kills")),
            Standing::Observed if self.level == Level::PowerLoss && survival.cuts.tried > 0 => {
                format!("{name}: {} survived", of(&survival.cuts, "cuts"))
            }
            Standing::Observed => format!("{name}: {}", survival.waits()),
            Standing::Disproved => format!(
                "{name}: {} and {} survived",
                of(&survival.cuts, "cuts"),
                of(&survival.kills, "kills")
            ),
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
