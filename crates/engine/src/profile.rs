//! A named set of an engine's settings.

use anyhow::{Context, Result, bail};
use dyno_protocol::Setting;
use dyno_record::Tuning;
use serde::Deserialize;

use super::memory;
use super::settings::parse_setting;
use super::tuned::Tuned;

/// A named set of settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name by which contenders call it.
    pub name: String,
    /// The settings, each `name=value`, in the order in which they are applied.
    pub(super) settings: Vec<String>,
    /// The standard of tuning that its settings keep to.
    #[serde(default = "untuned")]
    pub tuning: Tuning,
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
            tuning: Tuning::Own,
            reason: "The server runs already and is measured as it is.".into(),
            link: None,
        }
    }

    /// The same profile by a standard of tuning, if one is asked for; `tuned` is what the manual of the engine advises.
    ///
    /// # Errors
    /// The engine has not got it by this standard.
    pub(super) fn by_standard(
        &self,
        asked: Option<Tuning>,
        tuned: Option<&Tuned>,
        engine: &str,
    ) -> Result<Profile> {
        let mut profile = self.clone();
        match (asked, self.tuning) {
            (Some(Tuning::Tuned), Tuning::Default) => {
                let tuned = tuned.with_context(|| {
                    format!("{engine} has no tuning=tuned: its file does not say what its manual advises")
                })?;
                profile.settings.extend(tuned.settings(&self.settings()?));
                profile.reason = format!("{} Tuned: {}", self.reason, tuned.reason);
                profile.tuning = Tuning::Tuned;
            }
            (Some(Tuning::Default), Tuning::Tuned) => {
                bail!(
                    "the profile {} of {engine} is tuned: leave tuning=default or the profile out",
                    self.name
                )
            }
            _ => {}
        }
        Ok(profile)
    }

    /// The settings asked for, with the machine's memory where a part of it is meant.
    pub fn settings(&self) -> Result<Vec<Setting>> {
        self.settings.iter().map(|text| parse_setting(&memory::fill(text)?)).collect()
    }
}

/// The standard of a profile that states none.
fn untuned() -> Tuning {
    Tuning::Default
}
