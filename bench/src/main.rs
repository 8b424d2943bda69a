//! Measures dyno itself: what a trial of `dyno run speedtest`, `intuition` and `kv` takes, test by test, over what
//! a C program written by hand takes for the same (`bench/reference.c` and `prepared.c` for SQLite, `libpq.c` and
//! `libmariadb.c` for the servers that are installed, `bdb.c`), and what the null runner takes; and what it takes
//! to put rows into the tables of servers, over C and psql.
//!
//! Runner and C program use the very same library file, input files, settings and processor, and each
//! runs in a fresh process on a fresh database. The two are run one right after the other, which of
//! them first by lot, and compared in such pairs, so that what drifts on the machine cancels. Pairs in
//! which either had to wait for a processor are left out and repeated. Check queries are left out,
//! because they warm the engine's cache and C makes none.
//!
//! With `--turns` the two are side by side, and each does the tests in slices while the other waits, as contenders of
//! `dyno run` do.
//!
//! Planning, placement, trials and statistics are dyno's own. The tables are Markdown. The exit code is
//! 1 where an aim is missed by more than the measurement's uncertainty.

mod clients;
mod comparison;
mod kv;
mod loads;
mod loads_table;
mod measured;
mod reference;
mod rows;
mod session;
mod table;
mod turns;
mod verdict;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Parser;
use dyno_lab::{placement, scratch};
use dyno_record::Placement;

use measured::Measured;
use session::Session;

/// Measure dyno's own cost against hand-written C.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Undisturbed pairs wanted of every test; one more round goes before them to warm up.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(2..))]
    rounds: u32,
    /// The only work to measure: speedtest, rows, loads, kv or scan.
    #[arg(long)]
    only: Option<String>,
    /// The contenders to compare with C, where they are not the usual ones of the work.
    #[arg(long, value_delimiter = ',', requires = "only")]
    with: Vec<String>,
    /// Let runner and C program take turns; for contenders of the runner for SQLite.
    #[arg(long)]
    turns: bool,
    /// The rows of a load.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    rows: u64,
    /// The folder of databases.
    #[arg(long, default_value_os_t = scratch::default_parent())]
    dir: PathBuf,
    /// The processors to run on, as for `dyno run`.
    #[arg(long)]
    cpus: Option<String>,
    /// The priority to run at, as for `dyno run`.
    #[arg(long, allow_negative_numbers = true)]
    nice: Option<i32>,
    /// The seed of random orders and of the intervals.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The limit, in multiples of the rounds wanted, on repeating disturbed pairs.
const MAX_ROUNDS_FACTOR: u32 = 3;

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let placement = placement::choose(arguments.cpus.as_deref(), arguments.nice)?;
    placement::apply_to_self(&placement)?;
    let wanted = |measured: &&Measured| arguments.only.as_ref().is_none_or(|only| only == measured.name);
    let chosen: Vec<&Measured> = measured::ALL.iter().filter(wanted).collect();
    ensure!(!chosen.is_empty(), "there is no such work to measure: speedtest, rows, loads, kv or scan");
    let mut missed = false;
    for measured in chosen {
        missed |= measure(measured, &arguments, placement.clone())?;
    }
    println!("{}", placement.note);
    Ok(ExitCode::from(u8::from(missed)))
}

/// Measures one suite and prints its tables. Whether an aim is missed.
fn measure(measured: &Measured, arguments: &Arguments, placement: Placement) -> Result<bool> {
    let names = match arguments.with.is_empty() {
        true => measured.contenders.iter().map(|name| name.to_string()).collect(),
        false => arguments.with.clone(),
    };
    let Arguments { rows, dir, seed, .. } = arguments;
    let Some(mut session) = Session::prepare(measured, &names, *rows, dir, placement, *seed)? else {
        return Ok(false);
    };
    if arguments.turns {
        session.take_turns()?;
    }
    let wanted = arguments.rounds as usize;
    let mut round = 0;
    while round <= arguments.rounds
        || (session.fewest_pairs() < wanted && round <= MAX_ROUNDS_FACTOR * arguments.rounds)
    {
        let fewest = session.fewest_pairs();
        eprintln!(
            "{}, round {round}: at least {fewest} of {wanted} undisturbed pairs of each test",
            measured.name
        );
        // The first round fills caches that all later ones find filled.
        session.round(round > 0)?;
        round += 1;
    }
    if measured.loads {
        let (text, verdict) = loads_table::compare(&session.comparisons, *rows);
        println!("{text}");
        return Ok(verdict.is_missed());
    }
    let mut missed = false;
    for comparison in &session.comparisons {
        let compare = if comparison.is_server { clients::compare } else { table::compare };
        let (text, verdict) = compare(comparison, &session.titles());
        println!("{text}");
        missed |= verdict.is_missed();
    }
    println!("{}", table::null(&session));
    Ok(missed)
}
