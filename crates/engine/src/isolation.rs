//! The rules by which an engine's settings determine the isolation of its transactions.

use dyno_record::{Isolated, Isolation};
use serde::Deserialize;

use super::level::{RuleFacts, all_hold};
use super::settings::ValueNames;

/// A rule: settings, and the isolation that they mean.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IsolationRule {
    /// Conditions as those of a level's rule, all of which must hold.
    #[serde(default)]
    pub when: Vec<String>,
    pub gives: Isolation,
    pub why: String,
    pub link: Option<String>,
}

/// The isolation by the first rule that holds; `None` if no rule holds.
pub(super) fn isolation(rules: &[IsolationRule], values: &ValueNames, asked: RuleFacts) -> Option<Isolated> {
    rules.iter().find(|rule| all_hold(&rule.when, values, asked.in_force)).map(|rule| Isolated {
        level: rule.gives,
        standing: asked.standing,
        why: rule.why.clone(),
        link: rule.link.clone(),
    })
}
