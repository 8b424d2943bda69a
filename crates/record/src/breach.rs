//! The ways in which a promise was broken: what a level excludes and `dyno prove` observed.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::level::{Level, Safety};
use crate::survival::Survival;

/// One way in which a promise was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Breach {
    /// The kind of breach.
    pub kind: BreachKind,
    /// The number of times.
    pub count: u64,
    /// Of how many tries, or of how many commits.
    pub tried: u64,
}

/// An event that a promise excludes and a proof observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BreachKind {
    /// Acknowledged commits were gone after power cuts.
    LostAfterCuts,
    /// Commits were acknowledged before any flush had ended.
    Unflushed,
    /// Acknowledged commits were gone after failures of the device.
    LostAfterFailures,
    /// Acknowledged commits were gone after kills.
    LostAfterKills,
    /// Data were broken after kills.
    BrokenAfterKills,
    /// Data were broken after power cuts.
    BrokenAfterCuts,
}

impl fmt::Display for Breach {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let what = match self.kind {
            BreachKind::LostAfterCuts => "acknowledged commits gone after cuts,",
            BreachKind::Unflushed => "commits acknowledged without a flush,",
            BreachKind::LostAfterFailures => "acknowledged commits gone after failures of the device,",
            BreachKind::LostAfterKills => "acknowledged commits gone after kills,",
            BreachKind::BrokenAfterKills => "broken data after kills,",
            BreachKind::BrokenAfterCuts => "broken data after cuts,",
        };
        write!(to, "{what} {} of {}", self.count, self.tried)
    }
}

impl Survival {
    /// The ways in which a promise is broken by what the data survived: none if it was kept, or if there was no promise.
    pub fn breaches(&self, promised: &Safety) -> Vec<Breach> {
        let Survival { cuts, kills, unflushed, commits, .. } = self;
        let errors = self.errors.unwrap_or_default();
        let (power, process) = (promised.level >= Level::PowerLoss, promised.level >= Level::ProcessCrash);
        let all = [
            (power, BreachKind::LostAfterCuts, cuts.lost, cuts.tried),
            (power, BreachKind::Unflushed, *unflushed, *commits),
            (power, BreachKind::LostAfterFailures, errors.lost, errors.tried),
            (process, BreachKind::LostAfterKills, kills.lost, kills.tried),
            (process, BreachKind::BrokenAfterKills, kills.broken, kills.tried),
            (promised.consistent, BreachKind::BrokenAfterCuts, cuts.broken, cuts.tried),
        ];
        let broken = all.into_iter().filter(|&(is_promised, _, count, _)| is_promised && count > 0);
        broken.map(|(_, kind, count, tried)| Breach { kind, count, tried }).collect()
    }
}
