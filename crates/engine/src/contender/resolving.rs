//! Finds what a contender's name names: engine, build, driver, variant, profile and settings.

use anyhow::{Context, Result, ensure};
use dyno_nearest as nearest;
use dyno_protocol::{Build, Setting};
use dyno_record::{ClusterShape, Reach, Tuning};

use super::super::build::{default_build, find_build};
use super::super::engine::Engine;
use super::super::file_system::FileSystem;
use super::super::name::{Name, take_apart};
use super::super::own_settings::{self, OwnSettings};
use super::super::registry::Registry;
use super::super::runner::{Driver, Runner, Variant};
use super::super::secret::refuse_secret;
use super::super::settings::parse_setting;
use super::{Contender, limited, nodes};

/// Finds the parts that a contender's name names.
pub fn resolve(text: &str, registry: &Registry) -> Result<Contender> {
    let is_driver =
        |engine: &str, name: &str| registry.drivers(engine).any(|(_, driver)| driver.name == name);
    let name = take_apart(text, is_driver)?;
    let engine = registry.engine(name.engine)?;
    let (runner, driver) = find_driver(registry, engine, name.driver)?;
    let variant = find_variant(driver, name.variant)?;
    let build = find_build(engine, runner, driver, name.build)?;
    let profile = engine.profile(name.profile)?;
    let named = name.settings.iter().map(|text| parse_setting(text)).collect::<Result<Vec<_>>>()?;
    named.iter().try_for_each(|setting| check_named(setting, engine))?;
    let label = label(&name, engine, driver, &build, &named);
    let profile = profile.by_standard(own_settings::tuning(&named)?, engine.tuned.as_ref(), &engine.name)?;
    let names_cache = named.iter().any(|setting| engine.is_cache(&setting.name));
    let is_own = named.iter().any(|setting| engine.is_tuned_by(&setting.name));
    let mut settings: Vec<Setting> = profile.settings()?.into_iter().chain(named).collect();
    let file_system = FileSystem::take(&mut settings)?;
    let own = OwnSettings::take(&mut settings)?;
    let cluster = own.shape(engine.cluster(), &engine.name)?;
    let OwnSettings { per_commit, form, slowdown, apart, processes, client_threads, .. } = own;
    if let Some(shape) = cluster {
        check_cluster(shape, &engine.name, runner, processes, file_system)?;
    }
    if let Some(syntax) = engine.setting_syntax() {
        settings.iter().try_for_each(|setting| syntax.check(setting, &engine.values))?;
    }
    let variant_name = variant.as_ref().map(|variant| variant.name.as_str());
    let claimed = engine.claimed_safety(&settings, variant_name, nodes(cluster));
    Ok(Contender {
        label,
        per_commit: match per_commit {
            Some(size) => size.operations(),
            None => variant.as_ref().and_then(|variant| variant.per_commit),
        },
        form,
        slowdown,
        named_apart: apart,
        processes,
        client_threads,
        cluster,
        claimed: limited(claimed, file_system),
        variant,
        engine: engine.clone(),
        driver: driver.clone(),
        runner: runner.clone(),
        build,
        tuning: if is_own { Tuning::Own } else { profile.tuning },
        names_cache,
        profile,
        settings,
        url: None,
        file_system,
        key: None,
        neutralised: None,
    })
}

/// Refuses a setting that would say a secret or replace what dyno says to a server.
fn check_named(setting: &Setting, engine: &Engine) -> Result<()> {
    refuse_secret(setting)?;
    engine.start().map_or(Ok(()), |start| start.refuse_own(setting))
}

/// Refuses what a cluster does not go with.
fn check_cluster(
    shape: ClusterShape,
    engine: &str,
    runner: &Runner,
    processes: bool,
    file_system: Option<FileSystem>,
) -> Result<()> {
    if shape.reach == Reach::Any {
        ensure!(
            runner.nodes && !processes,
            "reach=any deals the sessions of one process out to the nodes, which {} does not: leave {} out",
            if runner.nodes { "processes=yes" } else { "this driver" },
            if runner.nodes { "one of them" } else { "reach=any or the driver" }
        );
    }
    ensure!(
        file_system.is_none(),
        "the nodes of {engine} work on the file system of the machine: leave file_system out"
    );
    Ok(())
}

/// The name of a contender without the parts that are the engine's own: its usual build, driver, variant and profile.
fn label(name: &Name, engine: &Engine, driver: &Driver, build: &Build, named: &[Setting]) -> String {
    let mut label = engine.name.clone();
    if let Some(build) = name.build.filter(|_| *build != default_build(engine)) {
        label += &format!("@{build}");
    }
    let unusual = name.variant.filter(|name| driver.variants[0].name != *name);
    if !driver.default || unusual.is_some() {
        label += &format!("/{}", driver.name);
    }
    if let Some(variant) = unusual {
        label += &format!("+{variant}");
    }
    if let Some(profile) = name.profile.filter(|profile| engine.profiles[0].name != *profile) {
        label += &format!(":{profile}");
    }
    for setting in named {
        label += &format!(",{}={}", setting.name, setting.value);
    }
    label
}

fn find_variant(driver: &Driver, name: Option<&str>) -> Result<Option<Variant>> {
    let Some(name) = name else { return Ok(driver.variants.first().cloned()) };
    let found = driver.variants.iter().find(|variant| variant.name == name);
    found.cloned().map(Some).with_context(|| {
        let names = driver.variants.iter().map(|variant| variant.name.as_str());
        nearest::unknown(&format!("the driver {} has no variant", driver.name), name, "it has", names)
    })
}

/// An engine's driver of this name, or its default one, and the runner that serves it.
pub fn find_driver<'a>(
    registry: &'a Registry,
    engine: &'a Engine,
    name: Option<&str>,
) -> Result<(&'a Runner, &'a Driver)> {
    let drivers: Vec<_> = registry.drivers(&engine.name).collect();
    let found = match (name, drivers.as_slice()) {
        (Some(name), all) => all.iter().find(|(_, driver)| driver.name == name),
        // Nothing else can be meant, even if its file does not say so.
        (None, [only]) => Some(only),
        (None, all) => all.iter().find(|(_, driver)| driver.default),
    };
    found.copied().with_context(|| {
        let names = drivers.iter().map(|(_, driver)| driver.name.as_str());
        let named: Vec<String> = names.clone().map(|driver| format!("{}/{driver}", engine.name)).collect();
        match name {
            Some(name) => nearest::unknown(&format!("{} has no driver", engine.name), name, "it has", names),
            None if drivers.is_empty() => format!("no runner serves {}", engine.name),
            None => format!(
                "no driver of {} is its default: name one, {}, or give one `default = true` in its runner.toml",
                engine.name,
                named.join(" or ")
            ),
        }
    })
}
