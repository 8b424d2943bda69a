//! Measures dyno itself: what its SQLite runner takes for the fifteen tests over what a hand-written C
//! program takes (`bench/reference.c`), and what the null runner takes for the same statements.
//!
//! Both link or load the very same library file and get the same input files and settings, on one
//! processor. Each round runs every program once, in a random order, in a fresh process on a fresh
//! database; a ratio is taken within a round, so that what drifts on the machine cancels. Check
//! queries are left out, because they warm the engine's cache. The tables are Markdown.

mod inputs;
mod programs;
mod statistics;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;
use dyno_protocol::Setting;

use inputs::Input;
use programs::{Place, Programs};
use table::{Durations, Profile};

/// Measure dyno's own cost against hand-written C.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Rounds that count; one more goes before them to warm up.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// The suite to take the statements from.
    #[arg(long, default_value = "suites/speedtest.toml")]
    suite: PathBuf,
    /// Where the databases go; the build folder unless named.
    #[arg(long)]
    dir: Option<PathBuf>,
    /// The processor to run on; the last one unless named.
    #[arg(long)]
    cpu: Option<usize>,
    /// Seed of the order within the rounds.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The profiles compared: with syncing, where the device decides, and without, where the processor does.
const PROFILES: [(&str, &[(&str, &str)]); 2] = [("default", &[]), ("nosync", &[("synchronous", "OFF")])];

/// One program to run in a round.
#[derive(Debug, Clone, Copy)]
enum Turn {
    Reference(usize),
    Dyno(usize),
    Null,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let bin = folder_of_programs()?;
    let scratch =
        tempfile::tempdir_in(arguments.dir.as_deref().unwrap_or(&bin)).context("no scratch folder")?;
    let inputs = inputs::write(&arguments.suite, scratch.path())?;
    let place = Place::choose(arguments.cpu, scratch.path())?;
    let programs = Programs::prepare(&bin)?;
    let mut profiles: Vec<Profile> = PROFILES.iter().map(|(name, _)| Profile::new(name)).collect();
    let mut null = Durations::default();
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    for round in 0..=arguments.rounds {
        eprint!("\rround {round} of {}", arguments.rounds);
        let mut turns = vec![Turn::Null];
        turns.extend((0..PROFILES.len()).flat_map(|profile| [Turn::Reference(profile), Turn::Dyno(profile)]));
        random.shuffle(&mut turns);
        for turn in turns {
            let times = take(turn, &programs, &place, &inputs)?;
            // The first round fills caches that all later ones find filled.
            if round > 0 {
                match turn {
                    Turn::Reference(profile) => profiles[profile].reference.push(times),
                    Turn::Dyno(profile) => profiles[profile].dyno.push(times),
                    Turn::Null => null.push(times),
                }
            }
        }
    }
    eprintln!();
    for profile in &profiles {
        println!("{}", table::compare(profile, &inputs));
    }
    println!("{}", table::null(&null, &inputs));
    Ok(())
}

/// One turn: nanoseconds per test.
fn take(turn: Turn, programs: &Programs, place: &Place, inputs: &[Input]) -> Result<Vec<u64>> {
    let settings = |profile: usize| -> Vec<Setting> {
        let (_, settings) = PROFILES[profile];
        let own = |&(name, value): &(&str, &str)| Setting { name: name.to_owned(), value: value.to_owned() };
        settings.iter().map(own).collect()
    };
    match turn {
        Turn::Reference(profile) => programs.reference(place, inputs, &settings(profile)),
        Turn::Dyno(profile) => programs.runner("sqlite", "c", place, inputs, settings(profile)),
        Turn::Null => programs.runner("null", "rust", place, inputs, Vec::new()),
    }
}

/// The runners stand beside this program.
fn folder_of_programs() -> Result<PathBuf> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    Ok(program.parent().unwrap_or(Path::new(".")).to_owned())
}
