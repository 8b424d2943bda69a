//! Resolves the build of an engine that a contender's name asks for.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_nearest as nearest;
use dyno_protocol::Build;

use super::engine::Engine;
use super::runner::{Driver, Runner};

/// The build of that name; without a name, the engine's default one. A driver that does not serve it is an error: it would
/// measure another.
pub fn find_build(engine: &Engine, runner: &Runner, driver: &Driver, name: Option<&str>) -> Result<Build> {
    let build = named_build(engine, runner, name)?;
    if !driver.serves(engine, kind(&build)) {
        bail!(
            "{driver} has its own {title} and takes no other: name the contender {engine}/{driver}",
            driver = driver.name,
            title = engine.title,
            engine = engine.name
        );
    }
    Ok(build)
}

fn named_build(engine: &Engine, runner: &Runner, name: Option<&str>) -> Result<Build> {
    if let Some(named) = engine.named_builds.iter().find(|build| Some(build.name.as_str()) == name) {
        return Ok(Build::Path(runner.beside(&named.library)));
    }
    let build = match name {
        None => default_build(engine),
        Some("bundled") => Build::Bundled,
        Some("system") => Build::System,
        // A version that `dyno engines install` has put somewhere.
        Some(version) if engine.is_server() && !version.contains('/') => Build::Path(version.into()),
        Some(path) => Build::Path(existing(Path::new(path), engine)?),
    };
    let kind = kind(&build);
    if !engine.builds.iter().any(|known| known == kind) {
        bail!("{} has no build '{kind}'; it has {}", engine.name, build_names(engine).join(", "));
    }
    Ok(build)
}

/// The word for a kind of build, as files of engines and runners have it.
fn kind(build: &Build) -> &'static str {
    match build {
        Build::Bundled => "bundled",
        Build::System => "system",
        Build::Path(_) => "path",
    }
}

/// The build of a contender that names none: the first one of the engine.
pub fn default_build(engine: &Engine) -> Build {
    let is_system = engine.builds.first().is_some_and(|first| first == "system");
    if is_system { Build::System } else { Build::Bundled }
}

fn existing(path: &Path, engine: &Engine) -> Result<PathBuf> {
    std::path::absolute(path).ok().filter(|path| path.exists()).with_context(|| {
        let names = build_names(engine);
        let near = nearest::offer(&path.to_string_lossy(), &names).map(|offer| format!("; {offer}"));
        format!(
            "{} is neither one of {}'s builds ({}) nor an existing file or folder{}",
            path.display(),
            engine.name,
            names.join(", "),
            near.unwrap_or_default()
        )
    })
}

/// The builds that an engine can be measured in.
fn build_names(engine: &Engine) -> Vec<&str> {
    let named = engine.named_builds.iter().map(|build| &build.name);
    engine.builds.iter().chain(named).map(String::as_str).collect()
}
