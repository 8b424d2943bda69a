//! Upkeep: background work that an engine does rarely, such as checkpoints and compactions, and the way to make it happen
//! within the few commits of a proof.

use anyhow::{Context, Result, ensure};
use dyno_protocol::Setting;
use serde::Deserialize;

use super::settings::{all_asked, parse_setting};

/// One kind of upkeep of an engine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upkeep {
    /// The engine's name for it, in the singular: `checkpoint`.
    pub name: String,
    /// Conditions `name=value|value` on the settings asked for, without which the engine has no such upkeep.
    #[serde(default)]
    when: Vec<String>,
    /// Settings `name=value` that make it come early. They change when it happens and nothing of what it promises, and they
    /// yield to settings that a contender names.
    #[serde(default)]
    settings: Vec<String>,
    /// The statements that make it happen at once.
    #[serde(default)]
    pub statements: Vec<String>,
    /// The ending of the names of files that only this upkeep makes, if no statement makes it happen.
    pub files: Option<String>,
}

impl Upkeep {
    /// True if the engine has it with the settings asked for.
    pub(super) fn applies(&self, asked: &[Setting]) -> bool {
        all_asked(&self.when, asked)
    }

    /// The settings that make it come early.
    pub(super) fn limits(&self) -> impl Iterator<Item = Setting> {
        self.settings.iter().filter_map(|text| parse_setting(text).ok())
    }

    /// Refuses one that cannot be made to happen.
    pub(super) fn check(&self) -> Result<()> {
        for text in self.when.iter().chain(&self.settings) {
            parse_setting(text).with_context(|| format!("[[upkeep]] {}", self.name))?;
        }
        let is_seen = self.statements.is_empty() == self.files.is_some();
        ensure!(is_seen, "[[upkeep]] {} needs either statements or the end of its files' names", self.name);
        Ok(())
    }
}
