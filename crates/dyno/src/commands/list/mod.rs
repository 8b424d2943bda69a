//! `dyno list`: what can be measured here on one screen, all of one engine or suite, and the same for programs.

mod ask;
mod check;
mod engine;
mod screen;
mod suite;

use std::path::Path;

use anyhow::{Result, bail};
use dyno_engine::{Contender, Engine, Home, Registry};
use dyno_launch::Interrupts;
use dyno_nearest as nearest;
use dyno_suite::Suite;
use serde::Serialize;
use signal_hook::consts::SIGINT;

use super::outcome::{AsInput, Exit, print};
use crate::cli::{ListArgs, TextFormat};
use crate::commands::registry;
use ask::ask;
use engine::EngineItem;
use suite::SuiteItem;

/// The items of the list.
#[derive(Serialize)]
struct Listing {
    suites: Vec<SuiteItem>,
    engines: Vec<EngineItem>,
}

/// Lists everything, or all of the engine or the suite that is named. Each runner is really asked.
pub fn execute(arguments: &ListArgs) -> Result<Exit> {
    let home = Home::find()?;
    let registry = registry(&home)?;
    let Some(name) = &arguments.name else {
        let suites = suite::all(&home, &registry)?;
        let interrupts = Interrupts::listen()?;
        let all = registry.engines.iter().collect::<Vec<_>>();
        let Some(engines) = ask(&all, &registry, &interrupts)? else { return Ok(ended(&interrupts)) };
        return show(&Listing { suites, engines }, arguments.format, screen::text);
    };
    if dyno_suite::is_path(name) {
        // Read before signals are caught: a FIFO may wait for its other end, and the first signal ends that.
        let suite = Suite::load(Path::new(name), &registry.dialects()).input()?;
        let interrupts = Interrupts::listen()?;
        let Some(suite) = check::suite(&suite, &registry, &interrupts)? else {
            return Ok(ended(&interrupts));
        };
        let listing = Listing { engines: Vec::new(), suites: vec![suite] };
        return show(&listing, arguments.format, |listing| listing.suites.iter().map(suite::text).collect());
    }
    let (engines, suites) = named(name, &home, &registry).input()?;
    let interrupts = Interrupts::listen()?;
    let Some(engines) = ask(&engines, &registry, &interrupts)? else { return Ok(ended(&interrupts)) };
    let listing = Listing { engines, suites };
    show(&listing, arguments.format, |listing| {
        let engines = listing.engines.iter().map(engine::text);
        engines.chain(listing.suites.iter().map(suite::text)).collect()
    })
}

/// The outcome of a list that a signal ended.
fn ended(interrupts: &Interrupts) -> Exit {
    Exit::Signal(interrupts.signal().unwrap_or(SIGINT))
}

/// The suites, a line each, for a command line that names none.
pub fn offer(home: &Home, registry: &Registry) -> Result<String> {
    let suites = suite::all(home, registry)?;
    Ok(screen::suites(&suites).join("\n"))
}

fn show(listing: &Listing, format: TextFormat, text: impl Fn(&Listing) -> String) -> Result<Exit> {
    match format {
        TextFormat::Json => print(&dyno_show::pretty(listing)?),
        TextFormat::Table => print(&text(listing)),
    }
}

/// The engine or the suite of a name.
fn named<'a>(name: &str, home: &Home, registry: &'a Registry) -> Result<(Vec<&'a Engine>, Vec<SuiteItem>)> {
    let engines: Vec<&Engine> = registry.engines.iter().filter(|engine| engine.name == name).collect();
    let (wanted, others): (Vec<_>, Vec<_>) =
        suite::all(home, registry)?.into_iter().partition(|suite| suite.name == name);
    if engines.is_empty() && wanted.is_empty() {
        if let Ok(contender) = Contender::parse(name, registry) {
            let engine = &contender.engine.name;
            bail!(
                "'{name}' is a contender, and dyno lists engines and suites: `dyno list {engine}` explains its profiles"
            );
        }
        // The harness measures dyno and is no choice.
        let engines = registry.engines.iter().filter(|engine| !engine.harness);
        let engines: Vec<&str> = engines.map(|engine| engine.name.as_str()).collect();
        let suites: Vec<&str> = others.iter().map(|suite| suite.name.as_str()).collect();
        let offer = nearest::offer(name, &[&engines[..], &suites[..]].concat());
        let all = || format!("the engines are {}; the suites are {}", engines.join(", "), suites.join(", "));
        bail!("there is no engine and no suite '{name}'; {}", offer.unwrap_or_else(all));
    }
    Ok((engines, wanted))
}

/// A name and its description in two columns, in lines of at most 100 columns; a long name gets a separate line.
fn item(name: &str, about: &str) -> String {
    let text = dyno_show::wrapped(about, INDENT, INDENT);
    let width = INDENT.len() - 3;
    match name.chars().count() <= width {
        true => format!("  {name:<width$} {}", text.trim_start()),
        false => format!("  {name}\n{text}"),
    }
}

/// The column of the descriptions, as spaces.
const INDENT: &str = "                          ";
