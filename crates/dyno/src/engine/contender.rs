//! Contenders: `engine[@build][/driver[+variant]][:profile][,setting=value…]` as people name them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_protocol::{Build, Secret, Setting};

use super::level::Safety;
use super::registry::{Driver, Engine, NamedBuild, Profile, Registry, Runner, Variant};
use super::settings::{looks_like_setting, parse_setting};
use super::ways::Ways;
use crate::file_system::FileSystem;
use crate::key::Key;
use crate::server::ServerUrl;
use crate::suite::TableForm;

/// One column of a table, with everything needed to run it.
#[derive(Debug, Clone)]
pub struct Contender {
    /// The name, with what is the engine's default left out.
    pub label: String,
    /// The engine.
    pub engine: Engine,
    /// The driver.
    pub driver: Driver,
    /// Which of the driver's ways of working; none of a driver that has only one.
    pub variant: Option<Variant>,
    /// The program that serves the driver.
    pub runner: Runner,
    /// Which build of the engine.
    pub build: Build,
    /// The profile.
    pub profile: Profile,
    /// The profile's settings and then those named with the contender.
    pub settings: Vec<Setting>,
    /// How many operations of a test make a transaction; none where the test's model decides.
    pub per_commit: Option<u64>,
    /// The form of the tables into which it imports files.
    pub form: TableForm,
    /// The safety that these promise; none if the engine's rules do not tell.
    pub claimed: Option<Safety>,
    /// The server that runs already and is to be measured; none where dyno starts one.
    pub url: Option<ServerUrl>,
    /// The encrypted file system that its data are put on; none for that of the machine.
    pub file_system: Option<FileSystem>,
    /// The run's key, where it or its file system encrypts. It is no part of any name or record.
    pub key: Option<Key>,
}

/// A contender's name taken apart.
#[derive(Debug, PartialEq)]
struct Name<'a> {
    engine: &'a str,
    build: Option<&'a str>,
    driver: Option<&'a str>,
    variant: Option<&'a str>,
    profile: Option<&'a str>,
    settings: Vec<&'a str>,
}

/// Cuts a list of contenders at its commas. A part such as `cache_size=-65536` belongs to the
/// contender before it.
pub fn split_list(list: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in list.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match names.last_mut() {
            Some(last) if looks_like_setting(part) => {
                last.push(',');
                last.push_str(part);
            }
            _ => names.push(part.to_owned()),
        }
    }
    names
}

impl Contender {
    /// The contender that a URL names: a server as it is, of which nothing is asked. Its label is the URL
    /// without password and options.
    pub fn at(url: ServerUrl, registry: &Registry) -> Result<Contender> {
        let engine = registry.engine(url.engine.name())?;
        let (runner, driver) = find_driver(registry, engine, None)?;
        Ok(Contender {
            label: url.label(),
            engine: engine.clone(),
            driver: driver.clone(),
            variant: driver.variants.first().cloned(),
            runner: runner.clone(),
            build: Build::System,
            profile: Profile::as_found(),
            settings: Vec::new(),
            per_commit: None,
            form: TableForm::default(),
            claimed: None,
            url: Some(url),
            file_system: None,
            key: None,
        })
    }

    /// Whether its runner implements a model for it.
    pub fn implements(&self, model: &str) -> bool {
        self.runner.implements(&self.driver, self.variant.as_ref(), model)
    }

    /// Resolves a contender's name.
    pub fn parse(text: &str, registry: &Registry) -> Result<Contender> {
        resolve(text, registry)
            .with_context(|| format!("the contender '{}' cannot be run", without_secret(text)))
    }

    /// Whether its data are encrypted, by the engine or by the file system.
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

    /// What is missing of a build that dyno makes itself, and how it is had.
    pub fn missing(&self) -> Option<String> {
        let Build::Path(path) = &self.build else { return None };
        let is_this = |named: &&NamedBuild| *path == self.runner.beside(&named.library);
        let named = self.engine.named_builds.iter().find(is_this).filter(|_| !path.is_file())?;
        Some(format!("{}@{} was not built: it needs {}", self.engine.name, named.name, named.needs))
    }

    fn engine_encrypts(&self) -> bool {
        self.engine.encryption().is_some_and(|encryption| encryption.is_asked(&self.settings))
    }
}

/// Settings that would hold a key, and their only values.
const FORMS: [&str; 2] = ["raw", "passphrase"];
const SECRETS: [&str; 8] = [
    "key",
    "hexkey",
    "rekey",
    "hexrekey",
    "textkey",
    "password",
    "passphrase",
    "file_key_management_filekey",
];

/// Refuses a setting that holds a key, without repeating it.
fn refuse_secret(setting: &Setting) -> Result<()> {
    if SECRETS.contains(&setting.name.as_str()) && !FORMS.contains(&setting.value.as_str()) {
        bail!(
            "the setting '{}' holds a key, which others can see in a list of processes. Give it in DYNO_KEY or by              --key-file; key={} says what it is",
            setting.name,
            FORMS.join(" or key=")
        );
    }
    Ok(())
}

/// A contender's name as it may be printed.
fn without_secret(text: &str) -> String {
    let hidden = |part: &str| match part.split_once('=') {
        Some((name, value)) if SECRETS.contains(&name.trim()) && !FORMS.contains(&value.trim()) => {
            format!("{name}=…")
        }
        _ => part.to_owned(),
    };
    text.split(',').map(hidden).collect::<Vec<_>>().join(",")
}

fn resolve(text: &str, registry: &Registry) -> Result<Contender> {
    let is_driver =
        |engine: &str, name: &str| registry.drivers(engine).any(|(_, driver)| driver.name == name);
    let name = take_apart(text, is_driver)?;
    let engine = registry.engine(name.engine)?;
    let (runner, driver) = find_driver(registry, engine, name.driver)?;
    let variant = find_variant(driver, name.variant)?;
    let build = find_build(engine, runner, name.build)?;
    let profile = engine.profile(name.profile)?;
    let named = name.settings.iter().map(|text| parse_setting(text)).collect::<Result<Vec<_>>>()?;
    named.iter().try_for_each(refuse_secret)?;
    let mut label = engine.name.clone();
    if let Some(build) = name.build.filter(|_| build != default_build(engine)) {
        label = format!("{label}@{build}");
    }
    let unusual = name.variant.filter(|name| driver.variants[0].name != *name);
    if !driver.default || unusual.is_some() {
        label = format!("{label}/{}", driver.name);
    }
    if let Some(variant) = unusual {
        label = format!("{label}+{variant}");
    }
    if name.profile.is_some() && profile.name != engine.profiles[0].name {
        label = format!("{label}:{}", profile.name);
    }
    for setting in &named {
        label = format!("{label},{}={}", setting.name, setting.value);
    }
    let mut settings: Vec<Setting> = profile.settings()?.into_iter().chain(named).collect();
    let file_system = FileSystem::take(&mut settings)?;
    let Ways { per_commit, form } = Ways::take(&mut settings)?;
    Ok(Contender {
        label,
        per_commit: per_commit.or(variant.as_ref().and_then(|variant| variant.per_commit)),
        form,
        variant,
        claimed: engine.claimed_safety(&settings),
        engine: engine.clone(),
        driver: driver.clone(),
        runner: runner.clone(),
        build,
        profile: profile.clone(),
        settings,
        url: None,
        file_system,
        key: None,
    })
}

/// Takes a name apart. A build may be a path with slashes: its last part is a driver only where the
/// engine has a driver of that name.
fn take_apart<'a>(text: &'a str, is_driver: impl Fn(&str, &str) -> bool) -> Result<Name<'a>> {
    let mut parts = text.split(',').map(str::trim);
    let head = parts.next().unwrap_or_default();
    let settings: Vec<&str> = parts.collect();
    let (head, profile) = match head.split_once(':') {
        Some((head, profile)) => (head, Some(profile)),
        None => (head, None),
    };
    let (engine, build, driver) = match head.split_once('@') {
        None => match head.split_once('/') {
            Some((engine, driver)) => (engine, None, Some(driver)),
            None => (head, None, None),
        },
        Some((engine, build)) => match build.rsplit_once('/') {
            Some((build, driver)) if !build.is_empty() && is_driver(engine, without_variant(driver)) => {
                (engine, Some(build), Some(driver))
            }
            _ => (engine, Some(build), None),
        },
    };
    let (driver, variant) = match driver.and_then(|driver| driver.split_once('+')) {
        Some((driver, variant)) => (Some(driver), Some(variant)),
        None => (driver, None),
    };
    if engine.is_empty() || [build, driver, variant, profile].contains(&Some("")) {
        bail!("a contender is written engine[@build][/driver[+variant]][:profile][,setting=value…]");
    }
    Ok(Name { engine, build, driver, variant, profile, settings })
}

fn without_variant(driver: &str) -> &str {
    driver.split_once('+').map_or(driver, |(driver, _)| driver)
}

fn find_variant(driver: &Driver, name: Option<&str>) -> Result<Option<Variant>> {
    let Some(name) = name else { return Ok(driver.variants.first().cloned()) };
    let found = driver.variants.iter().find(|variant| variant.name == name);
    found.cloned().map(Some).with_context(|| {
        let names: Vec<&str> = driver.variants.iter().map(|variant| variant.name.as_str()).collect();
        match names.is_empty() {
            true => format!("the driver {} has no variants, so none named '{name}'", driver.name),
            false => {
                format!("the driver {} has no variant '{name}'; it has {}", driver.name, names.join(", "))
            }
        }
    })
}

fn find_driver<'a>(
    registry: &'a Registry,
    engine: &'a Engine,
    name: Option<&str>,
) -> Result<(&'a Runner, &'a Driver)> {
    let wanted = |driver: &Driver| name.map_or(driver.default, |name| driver.name == name);
    registry.drivers(&engine.name).find(|(_, driver)| wanted(driver)).with_context(|| {
        let names: Vec<&str> =
            registry.drivers(&engine.name).map(|(_, driver)| driver.name.as_str()).collect();
        match name {
            Some(name) => format!("{} has no driver '{name}'; it has {}", engine.name, names.join(", ")),
            None => format!("no runner serves {}", engine.name),
        }
    })
}

fn find_build(engine: &Engine, runner: &Runner, name: Option<&str>) -> Result<Build> {
    if let Some(named) = engine.named_builds.iter().find(|build| Some(build.name.as_str()) == name) {
        return Ok(Build::Path(runner.beside(&named.library)));
    }
    let build = match name {
        None => default_build(engine),
        Some("bundled") => Build::Bundled,
        Some("system") => Build::System,
        // A version that `dyno engines install` has put somewhere.
        Some(version) if engine.server && !version.contains('/') => Build::Path(version.into()),
        Some(path) => Build::Path(existing(Path::new(path), engine)?),
    };
    let kind = match build {
        Build::Bundled => "bundled",
        Build::System => "system",
        Build::Path(_) => "path",
    };
    if !engine.builds.iter().any(|known| known == kind) {
        bail!("{} has no build '{kind}'; it has {}", engine.name, build_names(engine));
    }
    Ok(build)
}

/// What is measured when a contender names no build: the first that the engine has.
fn default_build(engine: &Engine) -> Build {
    let is_system = engine.builds.first().is_some_and(|first| first == "system");
    if is_system { Build::System } else { Build::Bundled }
}

fn existing(path: &Path, engine: &Engine) -> Result<PathBuf> {
    std::path::absolute(path).ok().filter(|path| path.exists()).with_context(|| {
        format!(
            "{} is neither one of {}'s builds ({}) nor an existing file or folder",
            path.display(),
            engine.name,
            build_names(engine)
        )
    })
}

/// The builds that an engine can be measured in.
fn build_names(engine: &Engine) -> String {
    let named = engine.named_builds.iter().map(|build| &build.name);
    engine.builds.iter().chain(named).map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Name<'_> {
        take_apart(text, |engine, name| engine == "sqlite" && name == "c").unwrap()
    }

    #[test]
    fn a_name_has_five_parts() {
        let name = parts("sqlite@system/c:wal,cache_size=-65536,mmap_size=0");
        assert_eq!((name.engine, name.build, name.driver), ("sqlite", Some("system"), Some("c")));
        assert_eq!((name.profile, name.settings), (Some("wal"), vec!["cache_size=-65536", "mmap_size=0"]));
        assert_eq!(parts("postgres/pgx").driver, Some("pgx"));
        let name = parts("postgres@18/c+copy:nosync");
        assert_eq!((name.build, name.driver, name.variant), (Some("18/c+copy"), None, None));
        let name = parts("sqlite@system/c+rowid");
        assert_eq!((name.build, name.driver, name.variant), (Some("system"), Some("c"), Some("rowid")));
    }

    #[test]
    fn a_path_is_a_build() {
        let name = parts("sqlite@/opt/new/libsqlite3.so:wal");
        assert_eq!((name.build, name.driver), (Some("/opt/new/libsqlite3.so"), None));
        let name = parts("sqlite@/opt/new/libsqlite3.so/c");
        assert_eq!((name.build, name.driver), (Some("/opt/new/libsqlite3.so"), Some("c")));
    }

    #[test]
    fn a_list_keeps_settings_with_their_contender() {
        let names = split_list("sqlite, sqlite:wal,cache_size=-65536,mmap_size=0,sqlite@system");
        assert_eq!(names, ["sqlite", "sqlite:wal,cache_size=-65536,mmap_size=0", "sqlite@system"]);
    }

    #[test]
    fn empty_parts_are_refused() {
        for bad in ["", ":wal", "sqlite:", "sqlite@", "sqlite/", "@system", "sqlite/c+", "sqlite/+x"] {
            assert!(take_apart(bad, |_, _| false).is_err(), "{bad}");
        }
    }
}
