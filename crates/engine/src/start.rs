//! Starting servers, as `[server]` of `engines/NAME.toml` describes it: programs, arguments, signals.

mod reserved;

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::Setting;
use nix::sys::signal::Signal;
use serde::Deserialize;

use super::arguments::{Argument, expanded};
use super::cluster::ClusterStart;
use super::settings::{canonical, is_name, parse_setting};

/// Programs, arguments and signals of a server. Arguments may name places in braces: `{data}`, `{sockets}` (a folder),
/// `{quoted_sockets}` (the same in quotation marks), `{socket}`, `{temporary}`, `{base}` (the installation's folder),
/// `{made}` (the folder in which the data folder is made), and `{user}`. The argument `{settings}` stands for all
/// settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The names of the server program, the usual name first.
    pub programs: Vec<String>,
    /// The names of the program, next to it, that makes an empty data folder; empty: the server makes it.
    pub initializer: Vec<String>,
    /// The account under which servers run where dyno is root.
    pub account: String,
    /// The superuser.
    pub user: String,
    /// The advice on installing one; `{source}` stands for the entry of the program in the list of needs.
    pub advice: String,
    /// The Maven package of portable binaries from which `dyno engines install` makes one.
    pub package: Option<String>,
    /// The arguments with which a data folder is made.
    init: Vec<String>,
    /// The arguments of the server. dyno's own come after the settings, so that no setting can open the server to a
    /// network.
    start: Vec<String>,
    /// A setting as arguments, with `{name}` (or `{option}`, with hyphens for its underscores) and `{value}`.
    setting: Vec<String>,
    /// The arguments that replace a setting's `name=value`.
    #[serde(default)]
    instead: BTreeMap<String, String>,
    /// Settings that would put another configuration, data folder, cluster or log in the place of dyno's: they are refused.
    #[serde(default)]
    own: Vec<String>,
    /// Settings that only a session can set.
    #[serde(default)]
    sessions: Vec<String>,
    /// Settings with which the data folder is made too.
    #[serde(default)]
    shaping: Vec<String>,
    /// Settings with which the data folder is made, and not the server started.
    #[serde(default)]
    made_with: Vec<MadeWith>,
    /// The signal that ends the server.
    #[serde(deserialize_with = "signal")]
    pub stop: Signal,
    /// The signal that the kernel sends the server when dyno dies.
    #[serde(deserialize_with = "signal")]
    pub death: Signal,
    /// The setting of the main cache; `None` if there is none.
    pub memory: Option<Memory>,
    /// The limit on the number of its clients; `None` if there is none.
    pub clients: Option<Clients>,
    /// The needs of its servers as nodes of a cluster; `None` of an engine of single servers.
    pub cluster: Option<ClusterStart>,
    /// The way that it gets the key by which it encrypts; `None` if it has no encryption.
    pub key: Option<KeyGift>,
}

/// An argument that makes a data folder with a setting.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct MadeWith {
    /// `name=value`.
    setting: String,
    argument: String,
    /// The first major version that has the argument.
    #[serde(default)]
    since: u32,
}

/// The setting that says how many clients a server lets in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clients {
    /// Its name.
    pub setting: String,
    /// Its value when it is not set.
    pub usual: u64,
}

/// The setting that names most of a server's memory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Its name.
    pub setting: String,
    /// The unit of a bare number, in bytes.
    pub unit: u64,
    /// Its value when it is not set, in bytes.
    pub usual: u64,
}

/// The file by which a server gets a key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyGift {
    /// The contents of the file, with `{key}`.
    pub file: String,
    /// The arguments that name it, with `{file}`.
    pub arguments: Vec<String>,
}

impl Start {
    /// The arguments with which a data folder is made, for a server of a version.
    pub fn init_arguments(&self, settings: &[Setting], version: &str) -> Vec<Argument> {
        let digits = version.split(|letter: char| !letter.is_ascii_digit()).next();
        let major: u32 = digits.and_then(|digits| digits.parse().ok()).unwrap_or(0);
        let mut arguments = Vec::new();
        for setting in settings.iter().filter(|setting| self.shaping.contains(&normal(&setting.name))) {
            arguments.extend(self.option(setting));
        }
        let mut decided: Vec<String> = Vec::new();
        // Of a setting named twice the last is in force.
        for setting in settings.iter().rev() {
            let made = self.made_with.iter().find(|made| is_setting(&made.setting, setting));
            if let Some(made) = made.filter(|_| !decided.contains(&normal(&setting.name))) {
                decided.push(normal(&setting.name));
                arguments.extend((major >= made.since).then(|| made.argument.clone()));
            }
        }
        expanded(&self.init, &arguments)
    }

    /// The arguments with which the server runs.
    pub fn start_arguments(&self, settings: &[Setting]) -> Vec<Argument> {
        let is_made_with = |name: &str| {
            let mut names = self.made_with.iter().filter_map(|made| made.setting.split_once('='));
            names.any(|(known, _)| known == name)
        };
        let given = |setting: &&Setting| {
            let name = normal(&setting.name);
            !self.sessions.contains(&name) && !is_made_with(&name)
        };
        let settings: Vec<String> = settings.iter().filter(given).flat_map(|one| self.option(one)).collect();
        expanded(&self.start, &settings)
    }

    /// True if neither the data folder nor the server's start has a setting in force.
    pub(super) fn is_left_to_sessions(&self, name: &str) -> bool {
        self.sessions.contains(&normal(name))
    }

    /// A setting as arguments.
    fn option(&self, setting: &Setting) -> Vec<String> {
        if let Some((_, instead)) = self.instead.iter().find(|(known, _)| is_setting(known, setting)) {
            return vec![instead.clone()];
        }
        // The value comes last, so that nothing in it is taken for a place.
        let hyphened = setting.name.replace('_', "-");
        let written = |part: &String| {
            let named = part.replace("{name}", &setting.name).replace("{option}", &hyphened);
            named.replace("{value}", &setting.value)
        };
        self.setting.iter().map(written).collect()
    }

    pub(super) fn check(&self) -> Result<()> {
        ensure!(!self.programs.is_empty(), "[server] programs names none");
        for text in self.instead.keys().chain(self.made_with.iter().map(|made| &made.setting)) {
            parse_setting(text).context("[server]")?;
        }
        if let Some(cluster) = &self.cluster {
            cluster.check()?;
        }
        let mut names = self.sessions.iter().chain(&self.shaping).chain(&self.own);
        match names.find(|name| !is_name(name)) {
            Some(name) => bail!("[server]: '{name}' cannot be the name of a setting"),
            None => Ok(()),
        }
    }
}

/// True if a setting is the one of a text `name=value`, in any of its spellings.
fn is_setting(text: &str, setting: &Setting) -> bool {
    let none = Default::default();
    text.split_once('=').is_some_and(|(name, value)| {
        normal(&setting.name) == name
            && canonical(&none, name, value) == canonical(&none, name, &setting.value)
    })
}

/// A setting's name as servers show it: options may be written with hyphens.
fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

fn signal<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Signal, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map_err(|_| serde::de::Error::custom(format!("'{name}' is no signal, as SIGTERM")))
}
