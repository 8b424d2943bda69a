//! `dyno list`: what there is, what of it can be had here, and what is missing for the rest.

use std::fs;
use std::time::Duration;

use anyhow::Result;
use dyno_protocol::Build;
use serde::Serialize;

use super::{Exit, print};
use crate::cli::{ListArgs, TextFormat};
use crate::engine::{Contender, Engine, Registry};
use crate::home::Home;
use crate::output;
use crate::plan::probe;
use crate::scratch::{self, Scratch};
use crate::suite::Suite;
use crate::trial::{Conduct, Reply, Servers};

/// How long a runner may take to say who it is.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Serialize)]
struct Listing {
    suites: Vec<SuiteItem>,
    engines: Vec<EngineItem>,
}

#[derive(Serialize)]
struct SuiteItem {
    name: String,
    title: String,
    tests: usize,
    parameters: Vec<String>,
    /// Why it cannot be run.
    trouble: Option<String>,
}

#[derive(Serialize)]
struct EngineItem {
    name: String,
    title: String,
    drivers: Vec<DriverItem>,
    profiles: Vec<ProfileItem>,
}

#[derive(Serialize)]
struct DriverItem {
    /// The contender that names it.
    contender: String,
    language: String,
    about: String,
    /// Its other ways of working.
    variants: Vec<String>,
    /// The engine's version, if it answers here.
    version: Option<String>,
    /// What is missing, if it does not.
    missing: Option<String>,
}

#[derive(Serialize)]
struct ProfileItem {
    name: String,
    level: Option<&'static str>,
    settings: Vec<String>,
    reason: String,
    link: Option<String>,
}

/// Lists everything; each runner is really asked.
pub fn execute(arguments: &ListArgs) -> Result<Exit> {
    let home = Home::find()?;
    let registry = Registry::load(&home)?;
    let scratch = Scratch::create(&scratch::default_parent())?;
    let conduct = Conduct::unmeasured(PATIENCE)?;
    let mut servers = conduct.servers(&scratch);
    let listing = Listing {
        suites: suites(&home, &registry)?,
        engines: registry
            .engines
            .iter()
            .map(|engine| engine_item(engine, &registry, &conduct, &scratch, &mut servers))
            .collect::<Result<_>>()?,
    };
    match arguments.format {
        TextFormat::Json => print(&output::pretty(&listing)?),
        TextFormat::Table => print(&text(&listing)),
    }
}

fn suites(home: &Home, registry: &Registry) -> Result<Vec<SuiteItem>> {
    let mut paths: Vec<_> = fs::read_dir(home.suites())?.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    Ok(paths
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            match Suite::load(path, &registry.dialects()) {
                Ok(suite) => SuiteItem {
                    name,
                    title: suite.title,
                    tests: suite.tests.len(),
                    parameters: suite
                        .parameters
                        .iter()
                        .map(|(name, parameter)| format!("{name}={}: {}", parameter.default, parameter.about))
                        .collect(),
                    trouble: None,
                },
                Err(error) => SuiteItem {
                    name,
                    title: String::new(),
                    tests: 0,
                    parameters: Vec::new(),
                    trouble: Some(format!("{error:#}")),
                },
            }
        })
        .collect())
}

fn engine_item(
    engine: &Engine,
    registry: &Registry,
    conduct: &Conduct,
    scratch: &Scratch,
    servers: &mut Servers,
) -> Result<EngineItem> {
    let mut drivers = Vec::new();
    for (_, driver) in registry.drivers(&engine.name) {
        let usual = engine.builds.iter().filter(|build| *build != "path");
        // They are for the driver that loads a library when it runs.
        let named = engine.named_builds.iter().filter(|_| driver.default).map(|build| &build.name);
        for build in usual.chain(named) {
            let name = format!("{}@{build}/{}", engine.name, driver.name);
            let contender = Contender::parse(&name, registry)?;
            let directory = scratch.trial()?;
            let job = probe(&contender, directory.path());
            let (version, missing) = match conduct.ask(&contender, job, servers) {
                Reply::Here(hello) => (Some(hello.engine_version), None),
                Reply::Missing(why) => (None, Some(why)),
                Reply::Interrupted => (None, Some("interrupted".to_owned())),
            };
            // A driver that carries its own library has no other build.
            if !driver.default && contender.build == Build::System && !engine.server && version.is_none() {
                continue;
            }
            let ways = driver.variants.iter().skip(1).filter(|_| version.is_some());
            drivers.push(DriverItem {
                variants: ways.map(|way| format!("+{}: {}", way.name, way.about)).collect(),
                contender: contender.label,
                language: driver.language.clone(),
                about: driver.about.clone(),
                version,
                missing,
            });
        }
    }
    let profiles = engine.profiles.iter().map(|profile| {
        let settings = profile.settings()?;
        Ok(ProfileItem {
            name: profile.name.clone(),
            level: engine.claimed_safety(&settings).map(|safety| safety.level.name()),
            settings: settings.iter().map(|setting| format!("{}={}", setting.name, setting.value)).collect(),
            reason: profile.reason.clone(),
            link: profile.link.clone(),
        })
    });
    Ok(EngineItem {
        name: engine.name.clone(),
        title: engine.title.clone(),
        profiles: profiles.collect::<Result<_>>()?,
        drivers,
    })
}

fn text(listing: &Listing) -> String {
    let mut lines = vec!["Suites".to_owned()];
    for suite in &listing.suites {
        match &suite.trouble {
            Some(trouble) => lines.push(item(&suite.name, &format!("broken: {trouble}"))),
            None => lines.push(item(&suite.name, &format!("{}; {} tests", suite.title, suite.tests))),
        }
        lines.extend(suite.parameters.iter().map(|parameter| item("", parameter)));
    }
    for engine in &listing.engines {
        lines.push(format!("\n{}", engine.title));
        for driver in &engine.drivers {
            let state = match (&driver.version, &driver.missing) {
                (Some(version), _) => format!("{version}, by the {}: {}", driver.language, driver.about),
                (None, missing) => format!("missing: {}", missing.as_deref().unwrap_or("unknown")),
            };
            lines.push(item(&driver.contender, &state));
            lines.extend(driver.variants.iter().map(|way| item("", way)));
        }
        for profile in engine.profiles.iter().filter(|profile| !profile.settings.is_empty()) {
            let level = profile.level.unwrap_or("unknown");
            let about = format!("{level}: {}. {}", profile.settings.join(" "), profile.reason);
            lines.push(item(&format!("  :{}", profile.name), &about));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

/// A name and what is said of it, in 100 columns.
fn item(name: &str, about: &str) -> String {
    let options = textwrap::Options::new(output::WIDTH)
        .initial_indent("  ")
        .subsequent_indent("                      ");
    textwrap::fill(&format!("{name:<19} {about}"), options)
}
