//! The rules of an engine that tell from its settings what an acknowledged commit survives.

use dyno_protocol::{InForce, Setting};
use dyno_record::{Level, Safety, Standing};
use serde::Deserialize;

use super::settings::{Values, canonical, parse_setting};

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
