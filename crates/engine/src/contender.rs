//! Contenders: `engine[@build][/driver[+variant]][:profile][,setting=value…]` as people name them.

mod neutralised;
mod resolving;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_protocol::{Build, InForce, Secret, Setting};
use dyno_record::{ClusterShape, Neutralised, Reach, Safety, Tuning};
use dyno_suite::TableForm;

use super::engine::{Engine, NamedBuild};
use super::file_system::FileSystem;
use super::key::Key;
use super::own_settings::ClientThreads;
use super::profile::Profile;
use super::registry::Registry;
use super::runner::{Driver, Runner, Variant};
use super::secret::without_secret;
use crate::{ServerUrl, is_address, repeatable};
use resolving::{find_driver, resolve};

/// One column of a table, with everything needed to run it.
#[derive(Debug, Clone)]
pub struct Contender {
    /// The name, with what is the engine's default left out.
    pub label: String,
    /// The engine.
    pub engine: Engine,
    /// The driver.
    pub driver: Driver,
    /// The driver's variant; `None` for a driver with only one.
    pub variant: Option<Variant>,
    /// The program that serves the driver.
    pub runner: Runner,
    /// The build of the engine.
    pub build: Build,
    /// The profile.
    pub profile: Profile,
    /// The profile's settings, those that its manual advises if it is tuned, and then those named with the contender.
    pub settings: Vec<Setting>,
    /// The standard of tuning that they keep to.
    pub tuning: Tuning,
    /// True if its name says how large its cache is.
    pub names_cache: bool,
    /// The number of operations of a test that make a transaction; `None`: all of them.
    pub per_commit: Option<u64>,
    /// The form of the tables into which it imports files.
    pub form: TableForm,
    /// The share by which its runner is slowed down, to find out which differences a machine can show; `None` if its
    /// name asks for no slowdown.
    pub slowdown: Option<f64>,
    /// True if its name excludes it from turns.
    pub named_apart: bool,
    /// True if its name asks for a separate process for each of its clients.
    pub processes: bool,
    /// The threads of its clients, if its name says so.
    pub client_threads: Option<ClientThreads>,
    /// The cluster that dyno starts for it; `None` for a database on one server.
    pub cluster: Option<ClusterShape>,
    /// The safety that its settings promise; `None` if the engine's rules do not cover them.
    pub claimed: Option<Safety>,
    /// The address of a running server to measure; `None` if dyno starts one.
    pub url: Option<ServerUrl>,
    /// The encrypted file system that holds its data; `None` for that of the machine.
    pub file_system: Option<FileSystem>,
    /// The run's key, where it or its file system encrypts. It is no part of any name or record.
    pub key: Option<Key>,
    /// The suspected cause of a difference that is neutralised in its trials; `None` outside of experiments.
    pub neutralised: Option<Neutralised>,
}

impl Contender {
    /// The contender that a URL names: a server as it is, of which nothing is asked, and a driver if it names one. Its
    /// label is the URL without password and options.
    pub fn at(url: ServerUrl, registry: &Registry) -> Result<Contender> {
        let engine = registry.engine(&url.engine.name)?;
        let (runner, driver) = find_driver(registry, engine, url.driver.as_deref())?;
        Ok(Contender {
            label: url.label(),
            engine: engine.clone(),
            driver: driver.clone(),
            variant: driver.variants.first().cloned(),
            runner: runner.clone(),
            build: Build::System,
            profile: Profile::as_found(),
            settings: Vec::new(),
            tuning: Tuning::Own,
            names_cache: false,
            per_commit: None,
            form: TableForm::default(),
            slowdown: None,
            named_apart: false,
            processes: false,
            client_threads: None,
            cluster: None,
            claimed: None,
            url: Some(url),
            file_system: None,
            key: None,
            neutralised: None,
        })
    }

    /// True if its runner implements a model for it.
    pub fn implements(&self, model: &str) -> bool {
        self.runner.implements(&self.driver, self.variant.as_ref(), model)
    }

    /// True if its runner reports what clients of a mix do while they are at work.
    pub fn reports_intervals(&self) -> bool {
        self.runner.intervals
    }

    /// The reason why it cannot take turns with others in any test; `None` if it can, in those that only read at least.
    /// Between its turns it must leave the machine idle: background work, or writes still to be done, would slow down
    /// the others.
    pub fn apart(&self) -> Option<String> {
        if self.named_apart {
            return Some("its name says turns=no".into());
        }
        if self.engine.is_server() {
            return Some("it is a server, which works while its client waits".into());
        }
        if let Some(system) = self.file_system {
            return Some(format!("{} works while others have their turns", system.name()));
        }
        if !self.runner.takes_turns {
            return Some(format!("its runner {} takes no turns", self.runner.name));
        }
        self.apart_writing().filter(|_| !self.engine.reads_quietly)
    }

    /// The reason why it cannot take turns in tests that write; `None` if it can, where it can take turns at all.
    pub fn apart_writing(&self) -> Option<String> {
        if self.engine.harness || self.engine.is_quiet(&self.settings) {
            return None;
        }
        Some("with its settings it waits for the disk, or threads work in the background".into())
    }

    /// Resolves a contender's name.
    pub fn parse(text: &str, registry: &Registry) -> Result<Contender> {
        if is_address(text) {
            bail!("a contender is no URL; a server that runs already is named by --url");
        }
        resolve(text, registry)
            .with_context(|| format!("the contender '{}' cannot be run", repeatable(&without_secret(text))))
    }

    /// The safety of the settings in force, as far as a file system that dyno mounts lets it be.
    pub fn safety(&self, in_force: &[InForce]) -> Option<Safety> {
        let variant = self.variant.as_ref().map(|variant| variant.name.as_str());
        limited(self.engine.safety(in_force, variant, nodes(self.cluster)), self.file_system)
    }

    /// True if a read may return what was replaced before it began: by its settings, or because clients write at every node
    /// of its cluster and a node applies later what others committed.
    pub fn has_stale_reads(&self) -> bool {
        let lags = || self.engine.cluster().is_some_and(|cluster| cluster.lags(&self.settings));
        let is_dealt = self.cluster.is_some_and(|shape| shape.reach == Reach::Any);
        self.engine.has_stale_reads(&self.settings) || (is_dealt && lags())
    }

    /// True if it measures dyno itself, and no engine.
    pub fn is_harness(&self) -> bool {
        self.engine.harness || self.variant.as_ref().is_some_and(|variant| variant.harness)
    }

    /// True if its data are encrypted, by the engine or by the file system.
    pub fn encrypts(&self) -> bool {
        self.engine_encrypts() || self.file_system.is_some()
    }

    /// Takes the run's key, if it needs one.
    ///
    /// # Errors
    /// The key does not fit its cipher.
    pub fn take_key(&mut self, key: &Key) -> Result<()> {
        if self.encrypts() {
            let encryption = self.engine.encryption();
            let raw = encryption.is_some_and(|encryption| encryption.is_raw(&self.settings));
            key.check(raw).with_context(|| format!("the contender {} cannot be run", self.label))?;
            self.key = Some(key.clone());
        }
        Ok(())
    }

    /// The key that the engine itself gets.
    pub fn engine_key(&self) -> Option<&Secret> {
        self.key.as_ref().filter(|_| self.engine_encrypts()).map(Key::secret)
    }

    /// The part that the build of dyno has not made, and the command that makes it.
    pub fn missing(&self) -> Option<String> {
        self.runner.unbuilt().or_else(|| self.unbuilt_library())
    }

    /// The file of its engine's library, if it is one that can be loaded under another name: the bundled one or one
    /// that its name gives by a path.
    pub fn library(&self) -> Option<PathBuf> {
        let library = match &self.build {
            Build::Path(path) => path.clone(),
            Build::Bundled if self.driver.default => self.runner.beside(self.engine.bundled.as_ref()?),
            Build::Bundled | Build::System => return None,
        };
        (library.is_file() && !self.engine.is_server()).then_some(library)
    }

    /// The same contender with a library of another name.
    pub fn with_library(&self, library: PathBuf) -> Contender {
        let rest = self.label.strip_prefix(&self.engine.name).unwrap_or_default();
        let rest = match rest.strip_prefix('@') {
            Some(build) => build.find([':', ',']).map_or("", |end| &build[end..]),
            None => rest,
        };
        let label = format!("{}@{}{rest}", self.engine.name, library.display());
        Contender { label, build: Build::Path(library), ..self.clone() }
    }

    /// The library or installation that its name gives by a path: neither dyno's nor installed by it.
    pub fn own_path(&self) -> Option<&Path> {
        let Build::Path(path) = &self.build else { return None };
        let is_dynos = |named: &NamedBuild| *path == self.runner.beside(&named.library);
        // A version that was installed is a name and no path.
        (path.is_absolute() && !self.engine.named_builds.iter().any(is_dynos)).then_some(path.as_path())
    }

    fn unbuilt_library(&self) -> Option<String> {
        let Build::Path(path) = &self.build else { return None };
        let is_this = |named: &&NamedBuild| *path == self.runner.beside(&named.library);
        let named = self.engine.named_builds.iter().find(is_this).filter(|_| !path.is_file())?;
        Some(format!("{}@{} was not built: it needs {}", self.engine.name, named.name, named.needs))
    }

    fn engine_encrypts(&self) -> bool {
        self.engine.encryption().is_some_and(|encryption| encryption.is_asked(&self.settings))
    }
}

/// The number of nodes of a contender; 1 where it is no cluster.
fn nodes(cluster: Option<ClusterShape>) -> u32 {
    cluster.map_or(1, |shape| shape.nodes)
}

/// The part of a safety that a file system mounted by dyno leaves.
fn limited(safety: Option<Safety>, file_system: Option<FileSystem>) -> Option<Safety> {
    match file_system {
        Some(system) => safety.map(|safety| system.limit(safety)),
        None => safety,
    }
}
