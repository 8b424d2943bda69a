//! The settings that an engine's manual advises for speed.
//!
//! A profile says how safe commits are. `tuning=tuned` with a contender adds the options of the engine's `[tuned]` to
//! those of any profile, so that each is there by both standards: as the engine comes, and by its manual.

use anyhow::{Context, Result, ensure};
use dyno_protocol::Setting;
use serde::Deserialize;

use super::settings::{all_asked, parse_setting};

/// The settings that an engine's manual advises for speed, at the same safety.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuned {
    /// The reason for these options, or for there being no options.
    pub reason: String,
    /// The page of the engine's manual about them.
    pub link: Option<String>,
    /// The options.
    #[serde(default, rename = "option")]
    options: Vec<TunedOption>,
}

/// An option that the manual advises.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunedOption {
    /// The setting, `name=value`.
    pub setting: String,
    /// The page of the engine's manual that advises it.
    pub link: String,
    /// Conditions `name=value|value` on the profile's settings, without which it is left out.
    #[serde(default)]
    when: Vec<String>,
}

impl Tuned {
    /// The options, whatever their conditions.
    pub fn options(&self) -> &[TunedOption] {
        &self.options
    }

    /// The settings, each `name=value`, that are added to those of a profile.
    pub(super) fn settings(&self, profile: &[Setting]) -> impl Iterator<Item = String> {
        self.options
            .iter()
            .filter(|option| all_asked(&option.when, profile))
            .map(|option| option.setting.clone())
    }

    /// Refuses what is no setting, and options that are on no page.
    pub(super) fn check(&self) -> Result<()> {
        for option in &self.options {
            let place = || format!("[[tuned.option]] {}", option.setting);
            parse_setting(&option.setting).with_context(place)?;
            option.when.iter().try_for_each(|when| parse_setting(when).map(drop)).with_context(place)?;
            ensure!(option.link.starts_with("https://"), "{}: its link is no address", place());
        }
        Ok(())
    }
}
