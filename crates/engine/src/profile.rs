//! A named set of an engine's settings.

use anyhow::Result;
use dyno_protocol::Setting;
use serde::Deserialize;

use super::memory;
use super::settings::parse_setting;

/// A named set of settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name by which contenders call it.
    pub name: String,
    /// The settings, each `name=value`, in the order in which they are applied.
    pub(super) settings: Vec<String>,
    /// The reason for these settings.
    pub reason: String,
    /// The page of the engine's manual about them.
    pub link: Option<String>,
}

impl Profile {
    /// The profile of a server that runs already: whatever is in force.
    pub fn as_found() -> Profile {
        Profile {
            name: "as found".into(),
            settings: Vec::new(),
            reason: "The server runs already and is measured as it is.".into(),
            link: None,
        }
    }

    /// The settings asked for, with the machine's memory where a part of it is meant.
    pub fn settings(&self) -> Result<Vec<Setting>> {
        self.settings.iter().map(|text| parse_setting(&memory::fill(text)?)).collect()
    }
}
