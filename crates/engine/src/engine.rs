//! An engine as its TOML file describes it: its profiles, what its settings promise, and what it cannot do.

mod known;

use anyhow::{Context, Result, bail};
use dyno_nearest as nearest;
use dyno_protocol::{InForce, Setting};
use dyno_record::{Isolated, Safety, Standing};
use serde::Deserialize;

use super::cache::CacheKnob;
use super::cluster::ClusterStart;
use super::encryption::Encryption;
use super::isolation::{IsolationRule, isolation};
use super::level::{Rule, RuleFacts, safety};
use super::profile::Profile;
use super::server::{Protocol, ServerEngine, Url};
use super::settings::{SettingDifference, ValueNames, differences, first_asked, is_name, parse_setting};
use super::sql::{SettingSyntax, VersionRule};
use super::start::Start;
use super::tuned::Tuned;
use super::upkeep::Upkeep;
use known::common_settings;

/// An engine, as `engines/NAME.toml` describes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// The name by which contenders call it.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// The dialect of its statements; suites tag lines with it.
    pub dialect: String,
    /// The kinds of builds it can be measured in: `bundled`, `system`, `path`.
    pub builds: Vec<String>,
    /// True if it is no engine but measures dyno itself: it is never ranked.
    #[serde(default)]
    pub harness: bool,
    /// False if its licence forbids publishing measurements, as some vendors' do: `dyno site` leaves it out.
    #[serde(default = "yes")]
    pub publish: bool,
    /// The protocol of its servers, which dyno starts or a URL names; `None` for engines within the runner's own
    /// process.
    pub speaks: Option<Protocol>,
    #[serde(default)]
    pub(super) url: Url,
    #[serde(default)]
    pub(super) version: VersionRule,
    pub(super) server: Option<Start>,
    /// The settings that bear on speed or safety and are read back whether they are asked for or not.
    #[serde(default)]
    pub read_back: Vec<String>,
    /// Settings that cannot be read back from the engine: runners report the values that they set.
    #[serde(default)]
    pub claimed: Vec<String>,
    /// Conditions `name=value|value`, each of which leaves the data to one connection alone.
    #[serde(default)]
    alone: Vec<String>,
    /// True if only one process can have a database open, whose files it locks.
    #[serde(default)]
    locks: bool,
    /// Conditions `name=value|value`, with each of which the data end with their process.
    #[serde(default)]
    volatile: Vec<String>,
    /// Conditions `name=value|value`, with each of which a read may return what was replaced before it began.
    #[serde(default)]
    stale: Vec<String>,
    /// Conditions `name=value|value`, each of which leaves the data to one process.
    #[serde(default)]
    one_process: Vec<String>,
    /// Conditions `name=value|value`, with each of which nothing of it waits for the disk or works in the background.
    #[serde(default)]
    quiet: Vec<String>,
    /// True if with any settings nothing of it waits for the disk or works in the background while it only reads.
    #[serde(default)]
    pub reads_quietly: bool,
    /// Names that the engine gives to numbers, by setting.
    #[serde(default)]
    pub values: ValueNames,
    /// The file of the library that dyno brings along, next to dyno's own program; absent where it is part of a runner.
    pub bundled: Option<String>,
    /// Further builds that dyno makes of it, by name.
    #[serde(default, rename = "build")]
    pub named_builds: Vec<NamedBuild>,
    /// Its encryption; `None` for engines that do not encrypt.
    encryption: Option<Encryption>,
    /// The setting for the size of its cache, if it has a cache.
    pub cache: Option<CacheKnob>,
    /// The settings that its manual advises for speed; `None` where the engine's file does not list any.
    pub tuned: Option<Tuned>,
    /// Named sets of settings; the first is the default.
    #[serde(rename = "profile")]
    pub profiles: Vec<Profile>,
    #[serde(rename = "level")]
    rules: Vec<Rule>,
    #[serde(default)]
    isolation: Vec<IsolationRule>,
    #[serde(default)]
    upkeep: Vec<Upkeep>,
}

fn yes() -> bool {
    true
}

/// A library of an engine that dyno's own build puts next to its programs, as `sqlite@sqlcipher`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedBuild {
    /// The name by which contenders call it.
    pub name: String,
    /// The library's file.
    pub library: String,
    /// One sentence.
    pub about: String,
    /// The software that building it requires, and the command that builds it.
    pub needs: String,
}

impl Engine {
    /// The profile of a name, or the default one.
    pub fn profile(&self, name: Option<&str>) -> Result<&Profile> {
        let found = match name {
            None => self.profiles.first(),
            Some(name) => self.profiles.iter().find(|profile| profile.name == name),
        };
        found.with_context(|| {
            let names = self.profiles.iter().map(|profile| profile.name.as_str());
            nearest::unknown(
                &format!("{} has no profile", self.name),
                name.unwrap_or("default"),
                "it has",
                names,
            )
        })
    }

    /// The safety that the settings asked for promise, before any engine has confirmed them. Settings
    /// that are not asked for are taken from the engine's default profile.
    pub fn claimed_safety(&self, asked: &[Setting], variant: Option<&str>, nodes: u32) -> Option<Safety> {
        let defaults = self.profiles.first().and_then(|profile| profile.settings().ok()).unwrap_or_default();
        let mut assumed: Vec<InForce> = Vec::new();
        for Setting { name, value } in asked.iter().rev().chain(&defaults) {
            if !assumed.iter().any(|known| known.name == *name) {
                assumed.push(InForce { name: name.clone(), value: value.clone() });
            }
        }
        self.safety_of(RuleFacts { in_force: &assumed, variant, standing: Standing::Claimed, nodes })
    }

    /// The safety of the settings in force, with a variant of the driver, on a number of nodes.
    pub fn safety(&self, in_force: &[InForce], variant: Option<&str>, nodes: u32) -> Option<Safety> {
        self.safety_of(RuleFacts { in_force, variant, standing: Standing::ReadBack, nodes })
    }

    /// The isolation of its transactions with the settings in force.
    pub fn isolation(&self, in_force: &[InForce]) -> Option<Isolated> {
        let asked = RuleFacts { in_force, variant: None, standing: Standing::ReadBack, nodes: 1 };
        isolation(&self.isolation, &self.values, asked)
    }

    fn safety_of(&self, asked: RuleFacts) -> Option<Safety> {
        safety(&self.rules, &self.values, &self.claimed, asked)
    }

    /// True if a setting is that of the size of its cache.
    pub(super) fn is_cache(&self, name: &str) -> bool {
        self.cache.as_ref().is_some_and(|knob| knob.setting == name)
    }

    /// True if a setting may make it faster or slower at the same safety and with the same cache. What is known to bear
    /// on these, or on encryption, does not count.
    pub(super) fn is_tuned_by(&self, name: &str) -> bool {
        let is_rule = |condition: &String| condition.split_once('=').is_some_and(|(known, _)| known == name);
        let is_cipher = self.encryption.as_ref().is_some_and(|encryption| encryption.concerns(name));
        let is_safety = self.rules.iter().flat_map(|rule| &rule.when).any(is_rule);
        !(self.is_cache(name) || is_cipher || is_safety || common_settings().any(|known| known == name))
    }

    /// The condition because of which a contender with these settings has only one client; `None` if it may have many.
    pub fn alone(&self, asked: &[Setting]) -> Option<&str> {
        first_asked(&self.alone, asked).map(String::as_str)
    }

    /// Some if only one process can have the data open with the settings asked for: `Some(Some(condition))` names the
    /// setting that says so, `Some(None)` means any settings. `None` if several processes can.
    pub fn one_process(&self, asked: &[Setting]) -> Option<Option<&str>> {
        match first_asked(self.alone.iter().chain(&self.one_process), asked) {
            Some(condition) => Some(Some(condition)),
            None => self.locks.then_some(None),
        }
    }

    /// True if with these settings the data end with their process, so that there is nothing to open again.
    pub fn is_volatile(&self, asked: &[Setting]) -> bool {
        self.harness || first_asked(&self.volatile, asked).is_some()
    }

    /// True if with these settings a read may return what was replaced before it began, wherever it is made.
    pub(super) fn has_stale_reads(&self, asked: &[Setting]) -> bool {
        first_asked(&self.stale, asked).is_some()
    }

    /// The way that dyno starts its server; `None` if it starts none.
    pub(super) fn start(&self) -> Option<&Start> {
        self.server.as_ref()
    }

    /// The SQL by which its settings are set and read; `None` if they are arguments of calls.
    pub fn setting_syntax(&self) -> Option<SettingSyntax> {
        if self.harness { None } else { SettingSyntax::of(self.speaks, &self.dialect) }
    }

    /// True if with these settings the engine never waits for the disk or works in the background.
    pub fn is_quiet(&self, asked: &[Setting]) -> bool {
        first_asked(&self.quiet, asked).is_some()
    }

    /// The upkeep that it has with the settings asked for.
    pub fn upkeep(&self, asked: &[Setting]) -> impl Iterator<Item = &Upkeep> {
        self.upkeep.iter().filter(move |upkeep| upkeep.applies(asked))
    }

    /// The settings that make its upkeep come early; those asked for stay as they are.
    pub fn early_upkeep(&self, asked: &[Setting]) -> Vec<Setting> {
        let limits = self.upkeep(asked).flat_map(Upkeep::limits);
        limits.filter(|limit| asked.iter().all(|setting| setting.name != limit.name)).collect()
    }

    /// Its encryption; `None` if it does not encrypt.
    pub fn encryption(&self) -> Option<&Encryption> {
        self.encryption.as_ref()
    }

    /// The settings that were asked for and are not in force.
    pub fn differences(&self, asked: &[Setting], in_force: &[InForce]) -> Vec<SettingDifference> {
        differences(&self.values, asked, in_force)
    }

    /// Refuses a file that contradicts itself.
    pub(super) fn check(&self) -> Result<()> {
        if self.profiles.is_empty() {
            bail!("an engine needs at least one [[profile]]");
        }
        for profile in &self.profiles {
            profile.settings().with_context(|| format!("profile {}", profile.name))?;
        }
        if self.is_server() == self.url.schemes.is_empty() {
            bail!("what speaks a protocol has [url] schemes, and nothing else has");
        }
        if let Some(start) = &self.server {
            start.check()?;
        }
        if let Some(encryption) = &self.encryption {
            encryption.check()?;
        }
        if let Some(tuned) = &self.tuned {
            tuned.check()?;
        }
        self.upkeep.iter().try_for_each(Upkeep::check)?;
        for (list, names) in [("read_back", &self.read_back), ("claimed", &self.claimed)] {
            if let Some(name) = names.iter().find(|name| !is_name(name)) {
                bail!("{list}: '{name}' cannot be the name of a setting");
            }
        }
        for condition in self.rules.iter().flat_map(|rule| &rule.when) {
            parse_setting(condition).context("[[level]] when")?;
        }
        for condition in self.isolation.iter().flat_map(|rule| &rule.when) {
            parse_setting(condition).context("[[isolation]] when")?;
        }
        for (list, conditions) in [
            ("alone", &self.alone),
            ("one_process", &self.one_process),
            ("quiet", &self.quiet),
            ("stale", &self.stale),
            ("volatile", &self.volatile),
        ] {
            for condition in conditions {
                parse_setting(condition).context(list)?;
            }
        }
        Ok(())
    }
}

impl Engine {
    /// The engine as a server; `None` if it is within the runner's own process.
    pub fn server(&self) -> Option<ServerEngine> {
        Some(ServerEngine {
            name: self.name.clone(),
            title: self.title.clone(),
            speaks: self.speaks?,
            url: self.url.clone(),
            version: self.version.clone(),
            start: self.server.clone(),
        })
    }

    /// The start of its servers where its own clients alone speak their protocol, so that they have no SQL by which dyno
    /// makes databases on them and no URLs; `None` of every other engine.
    pub fn store(&self) -> Option<&Start> {
        self.server.as_ref().filter(|_| self.speaks.is_none())
    }

    /// The needs of its servers as nodes of a cluster; `None` of an engine of single servers.
    pub fn cluster(&self) -> Option<&ClusterStart> {
        self.server.as_ref()?.cluster.as_ref()
    }

    /// True if it is a server that any driver of its protocol reaches.
    pub fn is_server(&self) -> bool {
        self.speaks.is_some()
    }

    /// True if its data are in another process than the client: in a server of either kind.
    pub fn has_server(&self) -> bool {
        self.is_server() || self.store().is_some()
    }
}
