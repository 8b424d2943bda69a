//! The engines and runners that dyno knows, read from their TOML files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use dyno_nearest as nearest;
use dyno_needs as needs;
use serde::de::DeserializeOwned;

use super::engine::Engine;
use super::runner::{Driver, Runner, programs, serving};
use super::server::ServerEngine;
use crate::Home;

/// All engines and runners.
#[derive(Debug, Clone)]
pub struct Registry {
    /// The engines, by name.
    pub engines: Vec<Engine>,
    /// The runners, by name.
    pub runners: Vec<Runner>,
}

impl Registry {
    /// The suite that measures an engine first, if a word is the name of one or begins as a contender's with it.
    pub fn suite_for(&self, word: &str) -> Option<&'static str> {
        let name = word.split([':', '@', '/', ',']).next()?;
        let engine = self.engines.iter().find(|engine| engine.name == name)?;
        Some(if engine.dialect == "kv" { "kv" } else { "speedtest" })
    }

    /// Reads `engines/*.toml` and `runners/*/runner.toml`.
    pub fn load(home: &Home) -> Result<Registry> {
        let mut engines: Vec<Engine> = Vec::new();
        for path in home.entries("engines")? {
            if path.extension().is_some_and(|extension| extension == "toml") {
                let mut engine: Engine = read(&path)?;
                engine.check().with_context(|| path.display().to_string())?;
                if engines.iter().any(|known| known.name == engine.name) {
                    bail!("{}: there is an engine {} already: rename this one", path.display(), engine.name);
                }
                for build in &mut engine.named_builds {
                    build.needs = in_words(&build.needs, &path)?;
                }
                engines.push(engine);
            }
        }
        let mut runners = Vec::new();
        for folder in home.entries("runners")? {
            let path = folder.join("runner.toml");
            if path.is_file() {
                let mut runner: Runner = read(&path)?;
                runner.needs = in_words(&runner.needs, &path)?;
                runner.folder = folder;
                runner.programs = home.programs.clone();
                runner.drivers =
                    serving(runner.drivers, &engines).with_context(|| path.display().to_string())?;
                runners.extend(programs(runner));
            }
        }
        only_once(&runners)?;
        Ok(Registry { engines, runners })
    }

    /// The engine of a name.
    pub fn engine(&self, name: &str) -> Result<&Engine> {
        self.engines.iter().find(|engine| engine.name == name).with_context(|| {
            let names = self.engines.iter().map(|engine| engine.name.as_str());
            nearest::unknown("there is no engine", name, "there are", names)
        })
    }

    /// The drivers of an engine, each with its runner.
    pub fn drivers<'a>(&'a self, engine: &'a str) -> impl Iterator<Item = (&'a Runner, &'a Driver)> {
        self.runners.iter().flat_map(move |runner| {
            runner
                .drivers
                .iter()
                .filter(move |driver| driver.engine == engine)
                .map(move |driver| (runner, driver))
        })
    }

    /// The engines that are servers.
    pub fn servers(&self) -> Vec<ServerEngine> {
        self.engines.iter().filter_map(Engine::server).collect()
    }

    /// The dialects of all engines.
    pub fn dialects(&self) -> BTreeSet<String> {
        self.engines.iter().map(|engine| engine.dialect.clone()).collect()
    }
}

/// Refuses two drivers that one name would mean, of which the later would hide the other: two of an engine that are
/// called alike, or two that are its default.
fn only_once(runners: &[Runner]) -> Result<()> {
    let mut seen: BTreeMap<(&str, &str), &Path> = BTreeMap::new();
    for runner in runners {
        for driver in &runner.drivers {
            let meanings = [Some(driver.name.as_str()), driver.default.then_some("")];
            for meaning in meanings.into_iter().flatten() {
                let Some(first) = seen.insert((&driver.engine, meaning), &runner.folder) else { continue };
                let what = match meaning {
                    "" => format!("default driver of {}", driver.engine),
                    name => format!("driver {}/{name}", driver.engine),
                };
                let (first, second) = (first.join("runner.toml"), runner.folder.join("runner.toml"));
                bail!(
                    "{} and {} both have the {what}: rename or remove one of them",
                    first.display(),
                    second.display()
                );
            }
        }
    }
    Ok(())
}

/// The text of `needs`, with names of the list of needs replaced by their descriptions.
fn in_words(needs: &str, path: &Path) -> Result<String> {
    let filled = needs::fill(needs);
    filled.map_err(|name| anyhow!("{}: needs: there is no {{{name}}} in needs.txt", path.display()))
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        anyhow!("{}:{line}: {}", path.display(), error.message().trim())
    })
}
