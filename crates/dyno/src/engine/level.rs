//! Safety levels: what an acknowledged commit survives, worked out from settings.

use dyno_protocol::{InForce, Setting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::settings::{Values, canonical, parse_setting};

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

/// A rule: settings, and the level that they mean.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// Conditions `name=value|value`, or `name=!value|value` for any other value, all of which must hold.
    pub when: Vec<String>,
    pub survives: Level,
    pub consistent: bool,
    pub why: String,
    pub link: Option<String>,
    pub caveat: Option<String>,
}

impl Rule {
    fn holds(&self, values: &Values, in_force: &[InForce]) -> bool {
        self.when.iter().all(|condition| {
            let Ok(Setting { name, value }) = parse_setting(condition) else { return false };
            in_force.iter().find(|setting| setting.name == name).is_some_and(|setting| {
                let found = canonical(values, &name, &setting.value);
                let (wanted, listed) = match value.strip_prefix('!') {
                    Some(listed) => (false, listed),
                    None => (true, value.as_str()),
                };
                listed.split('|').any(|known| canonical(values, &name, known) == found) == wanted
            })
        })
    }
}

/// The safety that the first rule which holds gives; none if no rule does.
pub(super) fn safety(
    rules: &[Rule],
    values: &Values,
    in_force: &[InForce],
    standing: Standing,
) -> Option<Safety> {
    rules.iter().find(|rule| rule.holds(values, in_force)).map(|rule| Safety {
        level: rule.survives,
        consistent: rule.consistent,
        standing,
        why: rule.why.clone(),
        link: rule.link.clone(),
        caveat: rule.caveat.clone(),
    })
}
