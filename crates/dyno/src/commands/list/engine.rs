//! One engine: its drivers, builds and profiles, as data and as text.

use std::collections::BTreeSet;

use anyhow::Result;
use dyno_engine::proofs::Proofs;
use dyno_engine::{Driver, Engine, Tuned, TunedOption};
use dyno_record::{KeptProof, Survival};
use serde::Serialize;

use super::item;

/// An engine.
#[derive(Serialize)]
pub struct EngineItem {
    pub name: String,
    pub title: String,
    /// True for the engine that stores nothing and measures dyno itself.
    pub harness: bool,
    pub drivers: Vec<DriverItem>,
    pub profiles: Vec<ProfileItem>,
    /// The settings that its manual advises for speed (`tuning=tuned`), if its file says so.
    pub tuned: Option<TunedItem>,
    /// The findings of `dyno prove` on this machine, the newest first.
    pub proofs: Vec<KeptProof>,
}

/// A driver on one build of the engine.
#[derive(Serialize)]
pub struct DriverItem {
    /// The contender that names it.
    pub contender: String,
    pub driver: String,
    /// The build, where it is not the engine's usual one.
    pub build: Option<String>,
    pub language: String,
    about: String,
    /// Its ways of working besides the usual one.
    variants: Vec<VariantItem>,
    /// The engine's version, if it answers here.
    pub version: Option<String>,
    /// The missing prerequisite, if it does not.
    pub missing: Option<String>,
    /// The command that gets what is missing, if one does.
    pub command: Option<String>,
}

#[derive(Serialize)]
struct VariantItem {
    name: String,
    about: String,
}

/// A named set of settings.
#[derive(Serialize)]
pub struct ProfileItem {
    pub name: String,
    level: Option<&'static str>,
    /// A restriction that readers of the level must know.
    caveat: Option<String>,
    settings: Vec<String>,
    reason: String,
    link: Option<String>,
}

/// The settings that an engine's manual advises for speed.
#[derive(Serialize)]
pub struct TunedItem {
    reason: String,
    link: Option<String>,
    options: Vec<TunedOptionItem>,
}

#[derive(Serialize)]
struct TunedOptionItem {
    setting: String,
    link: String,
}

impl TunedItem {
    fn new(tuned: &Tuned) -> TunedItem {
        let option = |known: &TunedOption| TunedOptionItem {
            setting: known.setting.clone(),
            link: known.link.clone(),
        };
        TunedItem {
            reason: tuned.reason.clone(),
            link: tuned.link.clone(),
            options: tuned.options().iter().map(option).collect(),
        }
    }

    /// It in a line.
    fn about(&self) -> String {
        let settings: Vec<&str> = self.options.iter().map(|option| option.setting.as_str()).collect();
        match settings.is_empty() {
            true => self.reason.clone(),
            false => format!("{} Settings: {}", self.reason, settings.join(" ")),
        }
    }
}

impl DriverItem {
    /// A driver of which nothing is known yet but what its file says.
    pub fn new(contender: String, driver: &Driver, build: Option<String>) -> DriverItem {
        let variants = driver.variants.iter().skip(1);
        DriverItem {
            contender,
            driver: driver.name.clone(),
            build,
            language: driver.language.clone(),
            about: driver.about.clone(),
            variants: variants
                .map(|variant| VariantItem { name: variant.name.clone(), about: variant.about.clone() })
                .collect(),
            version: None,
            missing: None,
            command: None,
        }
    }
}

impl EngineItem {
    /// An engine with the drivers that were asked, and what is kept of all.
    pub fn new(engine: &Engine, drivers: Vec<DriverItem>, proofs: &Proofs) -> Result<EngineItem> {
        let profiles = engine.profiles.iter().map(|profile| {
            let settings = profile.settings()?;
            let safety =
                engine.claimed_safety(&settings, None, engine.cluster().map_or(1, |cluster| cluster.nodes));
            Ok(ProfileItem {
                name: profile.name.clone(),
                level: safety.as_ref().map(|safety| safety.name()),
                caveat: safety.and_then(|safety| safety.caveat),
                settings: settings.iter().map(|known| format!("{}={}", known.name, known.value)).collect(),
                reason: profile.reason.clone(),
                link: profile.link.clone(),
            })
        });
        Ok(EngineItem {
            name: engine.name.clone(),
            title: engine.title.clone(),
            harness: engine.harness,
            profiles: profiles.collect::<Result<_>>()?,
            tuned: engine.tuned.as_ref().map(TunedItem::new),
            drivers,
            proofs: newest_first(proofs.of_engine(&engine.name)),
        })
    }

    /// The version that the usual driver found, or else any driver.
    pub fn version(&self) -> Option<&str> {
        let usual = self.drivers.iter().find(|driver| driver.contender == self.name);
        usual.into_iter().chain(&self.drivers).find_map(|driver| driver.version.as_deref())
    }
}

/// All of an engine, for people.
pub fn text(engine: &EngineItem) -> String {
    let name = &engine.name;
    let mut lines = vec![engine.title.clone()];
    lines.push("\nDrivers and builds, with the version of the engine that each reaches".to_owned());
    for driver in &engine.drivers {
        let about = match (&driver.version, &driver.missing) {
            (Some(version), _) => format!("{version}. {}: {}", driver.language, driver.about),
            (None, missing) => format!("missing: {}", missing.as_deref().unwrap_or("unknown")),
        };
        lines.push(item(&driver.contender, &about));
    }
    let ways: Vec<String> = engine
        .drivers
        .iter()
        .filter(|driver| driver.build.is_none())
        .flat_map(|driver| driver.variants.iter().map(move |variant| (driver, variant)))
        .map(|(driver, variant)| item(&format!("{name}/{}+{}", driver.driver, variant.name), &variant.about))
        .collect();
    if !ways.is_empty() {
        lines.push("\nVariants: other ways in which a driver works".to_owned());
        lines.extend(ways);
    }
    lines.push(
        "\nProfiles: what each survives, and its settings; the first is used when you name none".into(),
    );
    for profile in &engine.profiles {
        let level = profile.level.unwrap_or("what it survives is unknown");
        let caveat = if profile.caveat.is_some() { " †" } else { "" };
        let settings = match profile.settings.is_empty() {
            true => String::new(),
            false => format!(" Settings: {}", profile.settings.join(" ")),
        };
        lines.push(item(
            &format!("{name}:{}", profile.name),
            &format!("{level}{caveat}. {}{settings}", profile.reason),
        ));
    }
    if let Some(tuned) = &engine.tuned {
        lines.push("\nTuned: what its manual advises for speed, with any profile".into());
        lines.push(item(&format!("{name},tuning=tuned"), &tuned.about()));
    }
    let caveats: BTreeSet<&String> =
        engine.profiles.iter().filter_map(|known| known.caveat.as_ref()).collect();
    lines.extend(caveats.into_iter().map(|caveat| dyno_show::wrapped(&format!("† {caveat}"), "  ", "    ")));
    if !engine.proofs.is_empty() {
        lines.push(
            "\nProved: what dyno prove found here, and which tables say of the same build and settings"
                .into(),
        );
        lines.extend(engine.proofs.iter().map(proved));
    }
    lines.push(format!("\nExample: dyno run SUITE --with {}", examples(engine)));
    lines.join("\n") + "\n"
}

fn newest_first<'a>(proofs: impl Iterator<Item = &'a KeptProof>) -> Vec<KeptProof> {
    let mut proofs: Vec<KeptProof> = proofs.cloned().collect();
    proofs.sort_by(|a, b| b.survival.proved.cmp(&a.survival.proved));
    proofs
}

/// A result in a line.
fn proved(proof: &KeptProof) -> String {
    let Survival { cuts, kills, file_system, proved, dyno, failure, .. } = &proof.survival;
    let day = proved.split('T').next().unwrap_or_default();
    let failure = failure.as_ref().map(|failure| format!(" First failure: {failure}."));
    let about = format!(
        "survived {} of {} cuts and {} of {} kills, {}. {}, {file_system}, dyno {dyno}, {day}.{}",
        cuts.survived,
        cuts.tried,
        kills.survived,
        kills.tried,
        proof.survival.waits(),
        proof.engine_version,
        failure.unwrap_or_default()
    );
    item(&proof.label, &about)
}

/// Two contenders of the engine to begin with: the usual one, and another profile where there is one.
fn examples(engine: &EngineItem) -> String {
    let other = engine.profiles.get(1).map(|profile| format!(",{}:{}", engine.name, profile.name));
    format!("{}{}", engine.name, other.unwrap_or_default())
}
