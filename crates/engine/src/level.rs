//! The rules by which an engine's settings determine what an acknowledged commit survives.

use dyno_protocol::{InForce, Setting};
use dyno_record::{Hole, Level, Safety, Standing};
use serde::Deserialize;

use super::cluster::NodesLost;
use super::settings::{ValueNames, canonical, parse_setting};

/// A rule: settings, and the level that they mean.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// Conditions `name=value|value`, or `name=!value|value` for any other value, all of which must hold.
    #[serde(default)]
    pub when: Vec<String>,
    /// The variant of the driver that it is about; absent: all.
    pub variant: Option<String>,
    pub survives: Level,
    pub consistent: bool,
    pub why: String,
    pub link: Option<String>,
    pub caveat: Option<String>,
    pub hole: Option<Hole>,
    /// The number of nodes that may be lost for good; absent where the engine is no cluster.
    pub nodes: Option<NodesLost>,
}

/// The facts that rules are evaluated against.
#[derive(Debug, Clone, Copy)]
pub(super) struct RuleFacts<'a> {
    /// The settings in force, or those assumed to be.
    pub in_force: &'a [InForce],
    /// The variant of the driver, if it has several.
    pub variant: Option<&'a str>,
    /// The extent to which the settings are known.
    pub standing: Standing,
    /// The number of nodes; 1 of an engine that is no cluster.
    pub nodes: u32,
}

impl Rule {
    fn holds(&self, values: &ValueNames, RuleFacts { in_force, variant, .. }: RuleFacts) -> bool {
        let is_its = self.variant.as_deref().is_none_or(|its| variant == Some(its));
        is_its && all_hold(&self.when, values, in_force)
    }
}

/// True if all of these conditions hold.
pub(super) fn all_hold(conditions: &[String], values: &ValueNames, in_force: &[InForce]) -> bool {
    conditions.iter().all(|condition| {
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

/// The safety by the first rule that holds; `None` if no rule holds. It counts as claimed only if the rule rests on a
/// setting of the list `claimed`.
pub(super) fn safety(
    rules: &[Rule],
    values: &ValueNames,
    claimed: &[String],
    asked: RuleFacts,
) -> Option<Safety> {
    let is_claimed = |condition: &String| {
        condition.split_once('=').is_some_and(|(name, _)| claimed.iter().any(|known| known == name))
    };
    rules.iter().find(|rule| rule.holds(values, asked)).map(|rule| Safety {
        level: rule.survives,
        consistent: rule.consistent,
        standing: if rule.when.iter().any(is_claimed) { Standing::Claimed } else { asked.standing },
        why: rule.why.clone(),
        link: rule.link.clone(),
        caveat: rule.caveat.clone(),
        hole: rule.hole,
        nodes: rule.nodes.map(|nodes| nodes.of(asked.nodes)),
        survival: None,
    })
}
