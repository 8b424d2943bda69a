//! Runners, the drivers that they serve, and how each is started.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::engine::Engine;
use super::server::Protocol;

/// A runner program, as `runners/NAME/runner.toml` describes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runner {
    /// The name of its folder.
    pub name: String,
    /// The command that starts it. `{bin}` is the folder of dyno's own program, `{runner}` that of this file,
    /// `{python}`, `{node}` and `{java}` the programs that run those in Python, in Node.js and on the JVM.
    start: Vec<String>,
    /// The command that builds it, for people.
    pub build: String,
    /// The software that it requires.
    pub needs: String,
    /// The models that it implements.
    models: Vec<String>,
    /// True if it works in turns when a job asks for them.
    #[serde(default)]
    pub takes_turns: bool,
    /// True if the clients of a mix can come and go, with a new connection each time.
    #[serde(default)]
    sessions: bool,
    /// True if the clients of a mix can be separate processes on one database.
    #[serde(default)]
    pub processes: bool,
    /// True if it deals its sessions out to the nodes of a cluster.
    #[serde(default)]
    pub nodes: bool,
    /// True if several clients of a mix can share a thread.
    #[serde(default)]
    pub shares_threads: bool,
    /// True if it reports what clients of a mix do while they are at work, where a job asks for that.
    #[serde(default)]
    pub intervals: bool,
    /// True if the statements of a mix can be sent without being prepared beforehand.
    #[serde(default)]
    simple: bool,
    /// True if an operation of a mix is repeated for as long as its own class says, and not the mix.
    #[serde(default)]
    pub class_patience: bool,
    /// True if it counts its sections where a program around it can (`dyno run --counts`).
    #[serde(default)]
    pub counts: bool,
    /// True if it can time each statement of a mix.
    #[serde(default)]
    pub statements: bool,
    /// The drivers that it serves.
    #[serde(rename = "driver")]
    pub drivers: Vec<Driver>,
    /// The folder of its file.
    #[serde(skip)]
    pub(super) folder: PathBuf,
    /// The folder of dyno's own program.
    #[serde(skip)]
    pub(super) programs: PathBuf,
}

/// A driver of an engine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    /// The engine it reaches, where it is one alone.
    #[serde(default)]
    pub engine: String,
    /// The protocol of servers that it speaks, where it reaches every engine that speaks it.
    speaks: Option<Protocol>,
    /// The name by which contenders call it.
    pub name: String,
    /// The language in which programs use it.
    pub language: String,
    /// One sentence.
    pub about: String,
    /// True if it is the driver of a contender that names none.
    #[serde(default)]
    pub default: bool,
    /// The models that it implements, where they are not all of the runner's.
    models: Option<Vec<String>>,
    /// The builds of its engine that it serves, where that is more than the first of the engine's: `bundled`, `system`,
    /// `path`. A driver that has the engine within it serves one alone. Those of servers serve all.
    builds: Option<Vec<String>>,
    /// Overrides the runner's `sessions`.
    sessions: Option<bool>,
    /// Overrides the runner's `simple`.
    simple: Option<bool>,
    /// The driver below this one to which the texts of `statements` go, past this one.
    pub texts_by: Option<String>,
    /// The command that starts it, for drivers in separate programs because they cannot be linked into one program
    /// with others.
    start: Option<Vec<String>>,
    /// Its ways of working, the usual one first.
    #[serde(default, rename = "variant")]
    pub variants: Vec<Variant>,
}

/// One of a driver's ways of working: of loading rows, of keeping a store.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The name by which contenders call it, after a `+`.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// The models that it implements, where they are not all of the driver's.
    models: Option<Vec<String>>,
    /// The engines with which it works, where they are not all that speak the driver's protocol.
    engines: Option<Vec<String>>,
    /// True if it does less than the test asks, as a yardstick: it is never ranked.
    #[serde(default)]
    pub harness: bool,
    /// The number of operations of a transaction, unless the suite or the profile sets it.
    pub per_commit: Option<u64>,
}

impl Driver {
    /// True if it serves builds of its engine of this kind: `bundled`, `system` or `path`.
    pub fn serves(&self, engine: &Engine, kind: &str) -> bool {
        match &self.builds {
            _ if engine.is_server() => true,
            Some(builds) => builds.iter().any(|known| known == kind),
            None => engine.builds.first().is_some_and(|first| first == kind),
        }
    }
}

impl Runner {
    /// True if a driver of this runner implements a model, in this of its variants.
    pub fn implements(&self, driver: &Driver, variant: Option<&Variant>, model: &str) -> bool {
        let own = variant.and_then(|variant| variant.models.as_ref()).or(driver.models.as_ref());
        own.unwrap_or(&self.models).iter().any(|known| known == model)
    }

    /// True if the clients of a driver of this runner can come and go.
    pub fn has_sessions(&self, driver: &Driver) -> bool {
        driver.sessions.unwrap_or(self.sessions)
    }

    /// True if a driver of this runner can send the statements of a mix without preparing them beforehand.
    pub fn is_simple(&self, driver: &Driver) -> bool {
        driver.simple.unwrap_or(self.simple)
    }

    /// A file next to dyno's own program.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// The advice for a runner whose program, named by a path, is missing.
    pub fn unbuilt(&self) -> Option<String> {
        let program = self.command().into_iter().next().filter(|program| program.contains('/'))?;
        if Path::new(&program).exists() {
            return None;
        }
        let needs = if self.needs.is_empty() { String::new() } else { format!("; it needs {}", self.needs) };
        let build = self.build_command();
        Some(format!("its runner is not built; build it with `{build}`{needs} ({program} is missing)"))
    }

    /// The command that builds it, for people: with the whole path of a script of dyno's that is not seen from the folder in
    /// which they are.
    pub fn build_command(&self) -> String {
        let whole = || {
            let script = self.build.strip_prefix("sh ").filter(|script| !Path::new(script).exists())?;
            let path = self.folder.parent()?.parent()?.join(script);
            path.is_file().then(|| format!("sh {}", path.display()))
        };
        whole().unwrap_or_else(|| self.build.clone())
    }

    /// The program and its arguments.
    pub fn command(&self) -> Vec<String> {
        let folder = |path: &Path| path.display().to_string();
        let fill = |part: &String| {
            part.replace("{bin}", &folder(&self.programs))
                .replace("{runner}", &folder(&self.folder))
                .replace("{python}", &folder(&self.interpreter("DYNO_PYTHON", "../python/bin/python")))
                .replace("{node}", &folder(&self.interpreter("DYNO_NODE", "../node/bin/node")))
                .replace("{java}", &folder(&self.interpreter("DYNO_JAVA", "../jvm/bin/java")))
        };
        self.start.iter().map(fill).collect()
    }

    /// The same runner, started by another program with these words before its own command.
    pub fn under(&self, around: &[String]) -> Runner {
        Runner { start: [around, &self.start[..]].concat(), ..self.clone() }
    }

    /// The interpreter that a variable names if it is set, as the wheel sets `DYNO_PYTHON`; else that of the private
    /// folder which a script of `scripts/` makes, apart from all that is installed elsewhere.
    fn interpreter(&self, variable: &str, own: &str) -> PathBuf {
        let set = env::var_os(variable).filter(|path| !path.is_empty());
        set.map_or_else(|| self.programs.join(own), PathBuf::from)
    }
}

/// A driver for each engine: one that speaks a protocol reaches every engine that does.
///
/// # Errors
/// A driver names neither an engine nor a protocol, or both.
pub fn serving(drivers: Vec<Driver>, engines: &[Engine]) -> Result<Vec<Driver>> {
    let mut serving = Vec::new();
    for driver in drivers {
        ensure!(
            driver.engine.is_empty() == driver.speaks.is_some(),
            "the driver {} names either the engine that it reaches or the protocol that it speaks",
            driver.name
        );
        let Some(protocol) = driver.speaks else {
            serving.push(driver);
            continue;
        };
        for engine in engines.iter().filter(|engine| engine.speaks == Some(protocol)) {
            let mut driver = Driver { engine: engine.name.clone(), ..driver.clone() };
            let is_for = |names: &Vec<String>| names.contains(&engine.name);
            driver.variants.retain(|variant| variant.engines.as_ref().is_none_or(is_for));
            serving.push(driver);
        }
    }
    Ok(serving)
}

/// A runner for each program: that of the runner, with the drivers that it serves, and those that single
/// drivers have for themselves.
pub fn programs(mut runner: Runner) -> Vec<Runner> {
    let (own, shared): (Vec<Driver>, Vec<Driver>) =
        std::mem::take(&mut runner.drivers).into_iter().partition(|driver| driver.start.is_some());
    let alone = own.into_iter().map(|mut driver| {
        let start = driver.start.take().unwrap_or_default();
        Runner { start, drivers: vec![driver], ..runner.clone() }
    });
    let alone: Vec<Runner> = alone.collect();
    [Runner { drivers: shared, ..runner }].into_iter().chain(alone).collect()
}
