//! Everything on one screen: at most 60 lines of 100 columns. A narrower terminal has more lines.

use std::collections::HashSet;

use dyno_show::{WIDTH, cut, width, wrapped};
use textwrap::WordSeparator;
use textwrap::wrap_algorithms::wrap_first_fit;

use super::Listing;
use super::engine::{DriverItem, EngineItem};
use super::suite::SuiteItem;

/// With more commands than this that build single runners, the one that builds all of them is named.
const FEW: usize = 2;
/// The command that builds all runners.
const BUILD_ALL: &str = "make build";

/// The heading of the engines.
const ENGINES: &str = "Engines: version, drivers and @builds, profiles (dyno list ENGINE explains them)";

/// An explanation of how contenders' names are composed.
const NAMES: &str = "
Name what to compare as ENGINE[@BUILD][/DRIVER][:PROFILE]:
  dyno run speedtest --with sqlite,sqlite:wal";

/// Suites, engines, and what is missing.
pub fn text(listing: &Listing) -> String {
    let mut lines = vec!["Suites: what dyno measures (dyno list SUITE shows the tests)".to_owned()];
    lines.extend(suites(&listing.suites));
    lines.push(wrapped(ENGINES, "\n", "  "));
    // The harness measures dyno and is no choice.
    let engines: Vec<&EngineItem> = listing.engines.iter().filter(|engine| !engine.harness).collect();
    lines.extend(rows(&engines));
    let missing = missing(&engines);
    if !missing.is_empty() {
        lines.push("\nMissing here, and the command that gets it".to_owned());
        lines.extend(missing);
    }
    lines.push(NAMES.to_owned());
    lines.join("\n") + "\n"
}

/// A line for each suite.
pub fn suites(suites: &[SuiteItem]) -> Vec<String> {
    let names = suites.iter().map(|suite| suite.name.len()).max().unwrap_or(0);
    let line = |suite: &SuiteItem| {
        let about = suite.trouble.as_ref().map_or(suite.title.clone(), |why| format!("cannot be run: {why}"));
        cut(&format!("  {:<names$}  {}", suite.name, about.lines().next().unwrap_or_default()), limit())
    };
    suites.iter().map(line).collect()
}

/// The columns that this screen takes.
fn limit() -> usize {
    width().min(WIDTH)
}

/// A row for each engine; where the columns do not fit, the lists of each below its name.
fn rows(engines: &[&EngineItem]) -> Vec<String> {
    let mut cells: Vec<[String; 4]> = engines.iter().map(|engine| cells(engine)).collect();
    share_lists(&mut cells);
    let width = |column: usize| cells.iter().map(|cells| cells[column].len()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2).min(DRIVERS)];
    let profiles = limit().saturating_sub(widths.iter().sum::<usize>() + 8);
    match profiles < PROFILES {
        true => cells.iter().flat_map(below_its_name).collect(),
        false => in_columns(&cells, widths, profiles),
    }
}

/// An engine's name and version, and below it the drivers and the profiles.
fn below_its_name([name, version, drivers, profiles]: &[String; 4]) -> Vec<String> {
    let lists = [drivers, profiles].into_iter().filter(|list| !list.is_empty());
    let lists = lists.map(|list| wrapped(list, "    ", "      "));
    [format!("  {name}  {version}")].into_iter().chain(lists).collect()
}

/// The engines in columns of these widths.
fn in_columns(cells: &[[String; 4]], [names, versions, drivers]: [usize; 3], profiles: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for cells in cells {
        let profile_lines = column(&cells[3], &[profiles]);
        // Below the last profiles the whole line is free for drivers.
        let mut widths = vec![drivers; profile_lines.len()];
        widths.push(drivers + 2 + profiles);
        let drivers_lines = column(&cells[2], &widths);
        for line in 0..drivers_lines.len().max(profile_lines.len()) {
            let [name, version] =
                [&cells[0], &cells[1]].map(|text| if line == 0 { text.as_str() } else { "" });
            let part = |lines: &[String]| lines.get(line).cloned().unwrap_or_default();
            let row = format!(
                "  {name:<names$}  {version:<versions$}  {:<drivers$}  {}",
                part(&drivers_lines),
                part(&profile_lines)
            );
            lines.push(row.trim_end().to_owned());
        }
    }
    lines
}

/// Shows a long list of drivers that several engines have only once, with the last of them: servers of one protocol, and
/// clusters of them, have all drivers in common.
fn share_lists(cells: &mut [[String; 4]]) {
    for row in 0..cells.len() {
        let list = &cells[row][2];
        let last = cells.iter().rposition(|other| other[2] == *list).filter(|last| *last != row);
        if let Some(last) = last.filter(|_| list.len() > DRIVERS) {
            cells[row][2] = format!("those of {}", cells[last][0]);
        }
    }
}

/// Names in lines, each of at most as many columns as `widths` says; the last width holds for all further lines. No name
/// is broken.
fn column(names: &str, widths: &[usize]) -> Vec<String> {
    let names: Vec<_> = WordSeparator::AsciiSpace.find_words(names).collect();
    let widths: Vec<f64> = widths.iter().map(|&width| width as f64).collect();
    let lines = wrap_first_fit(&names, &widths).into_iter();
    lines.map(|line| line.iter().map(|name| name.word).collect::<Vec<_>>().join(" ")).collect()
}

/// The longest version that is shown.
const VERSION: usize = 16;
/// The narrowest column of profiles.
const PROFILES: usize = 20;
/// The widest column of drivers.
const DRIVERS: usize = 22;

/// Name, version, drivers and profiles of an engine.
fn cells(engine: &EngineItem) -> [String; 4] {
    let mut drivers: Vec<String> = Vec::new();
    let mut builds: Vec<String> = Vec::new();
    for driver in engine.drivers.iter().filter(|driver| driver.version.is_some()) {
        let (names, name) = match &driver.build {
            None => (&mut drivers, driver.driver.clone()),
            Some(build) => (&mut builds, format!("@{build}")),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    drivers.extend(builds);
    let version = engine.version().map_or("missing", |version| version.split('-').next().unwrap_or(version));
    let version: String = version.chars().take(VERSION).collect();
    let profiles: Vec<&str> = engine.profiles.iter().map(|profile| profile.name.as_str()).collect();
    [engine.name.clone(), version, drivers.join(" "), profiles.join(" ")]
}

/// The missing drivers of an engine, each with the command that installs it. Where nothing of the engine is here, its name stands
/// for all of them, with the command of the first: the others are of no use before that. A driver that no engine has goes by its
/// name alone: one command installs it for all of them.
fn missing_of(engine: &EngineItem, here: &HashSet<&str>) -> Vec<(String, String)> {
    let label = |driver: &DriverItem| match driver.contender == format!("{}/{}", engine.name, driver.driver) {
        true if !here.contains(&*driver.driver) => driver.driver.clone(),
        _ => driver.contender.clone(),
    };
    let named = |driver: &DriverItem, name: &str| {
        let command = driver.command.clone().unwrap_or_else(|| format!("dyno list {}", engine.name));
        (command, name.to_owned())
    };
    let missing = engine.drivers.iter().filter(|driver| driver.version.is_none());
    match engine.drivers.first() {
        Some(first) if engine.drivers.iter().all(|driver| driver.version.is_none()) => {
            vec![named(first, &engine.name)]
        }
        _ => missing.map(|driver| named(driver, &label(driver))).collect(),
    }
}

/// The missing drivers, grouped by the command that installs what they lack.
fn missing(engines: &[&EngineItem]) -> Vec<String> {
    let drivers = engines.iter().flat_map(|engine| &engine.drivers);
    let here = drivers.filter(|driver| driver.version.is_some()).map(|driver| &*driver.driver).collect();
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (command, label) in engines.iter().flat_map(|engine| missing_of(engine, &here)) {
        match groups.iter_mut().find(|(known, _)| *known == command) {
            Some((_, labels)) if labels.contains(&label) => {}
            Some((_, labels)) => labels.push(label),
            None => groups.push((command, vec![label])),
        }
    }
    let (builds, mut others): (Vec<_>, Vec<_>) =
        groups.into_iter().partition(|(command, _)| command.starts_with("cargo build"));
    match builds.len() > FEW {
        true => {
            let labels = builds.into_iter().flat_map(|(_, labels)| labels).collect();
            others.insert(0, (BUILD_ALL.to_owned(), labels));
        }
        false => others.splice(0..0, builds).for_each(drop),
    }
    others
        .into_iter()
        .map(|(command, labels)| wrapped(&format!("{command}: {}", labels.join(" ")), "  ", "      "))
        .collect()
}
