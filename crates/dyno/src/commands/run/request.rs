//! The request for a run, from the command line or from a run file: suite, parameters, contenders, schedule.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use dyno_engine::{Contender, Home, Registry, ServerUrl, is_address, split_list};
use dyno_lab::run::fresh_seed;
use dyno_nearest as nearest;
use dyno_record::{
    FileRecord, LeftOut, Limits, MARGIN, ParameterValue, Parameters, Run, RungRecord, Schedule, Wanted,
};
use dyno_suite::{Published, Suite, compared_with};

use super::super::list;
use super::super::outcome::Input;
use super::trust::{Origin, is_own};
use super::{file, sustain};
use crate::cli::{Caches, PlaceArgs, RerunArgs, RunArgs};
use crate::terminal::say;

/// The time budget of a run where the command line sets none.
const BUDGET: Duration = Duration::from_secs(60);
/// The time budget of each run when several numbers of clients are asked for: three take less than two minutes.
const BUDGET_OF_SEVERAL: Duration = Duration::from_secs(35);
/// The time budget of a search for a rate: longer, because each trial shows only whether its rate was too high.
const BUDGET_OF_SEARCH: Duration = Duration::from_secs(180);
/// The factor by which a run may exceed its budget to get enough trials, where the command line sets none.
const EXTENDS: u32 = 5;
/// The time limit of a test where the command line sets none.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The request for a run, from the command line or from a run file.
pub struct Request {
    pub suite: Suite,
    pub parameters: Parameters,
    pub contenders: Vec<Contender>,
    pub baseline: String,
    pub only: Option<String>,
    pub schedule: Schedule,
    pub limits: Limits,
    pub wanted: Wanted,
    /// True if the suite chose the contenders, so that those that are missing here may be left out.
    pub by_suite: bool,
    /// Those of the suite's contenders that are not to be had here.
    pub left_out: Vec<LeftOut>,
    /// The rungs of the suite's ladder.
    pub rungs: Vec<RungRecord>,
    /// The user's file in place of the suite's.
    pub file: Option<FileRecord>,
    /// The parts of it that come from elsewhere.
    pub origin: Origin,
}

/// The request of a command line; `size` is a parameter with one of the values that were typed for it.
pub fn typed(
    arguments: &RunArgs,
    size: Option<(&str, &str)>,
    home: &Home,
    registry: &Registry,
) -> Result<Request> {
    let Some(name) = &arguments.suite else {
        bail!(
            "name a suite:\n{}\nExample: dyno run speedtest; `dyno list SUITE` shows its tests",
            list::offer(home, registry)?
        );
    };
    let suite = Suite::load(&find_suite(name, home)?, &registry.dialects())?;
    let mut changes = Vec::new();
    for set in &arguments.set {
        let (name, value) =
            set.split_once('=').with_context(|| format!("--set takes name=value, and '{set}' is not"))?;
        changes.push((name.to_owned(), value.to_owned()));
    }
    let seconds = arguments.duration.map(|duration| duration.as_secs_f64().to_string());
    let think = arguments.think.map(|think| think.as_secs_f64().to_string());
    let sessions = arguments.sessions.map(|sessions| sessions.to_string());
    let (scale, rows, rate) = (&arguments.scale, &arguments.rows, &arguments.rate);
    let short = [
        ("scale", scale),
        ("rows", rows),
        ("rate", rate),
        ("sessions", &sessions),
        ("think", &think),
        ("duration", &seconds),
    ];
    changes.extend(short.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?))));
    changes.extend(size.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let file = arguments.file.as_deref().map(|path| file::use_own_file(path, &suite)).transpose()?;
    if let Some((file, count)) = &file {
        changes.retain(|(name, _)| name != count);
        changes.push((count.clone(), file.records.to_string()));
    }
    let parameters = dyno_suite::resolve(&suite.parameters, &changes)?;
    if arguments.sustain.is_some() {
        sustain::check(arguments, &suite, &parameters)?;
    }
    let contenders = typed_contenders(arguments, &suite, registry)?;
    ensure!(!contenders.is_empty(), "no contender is named");
    let usual = match (arguments.sustain, arguments.clients.len()) {
        (Some(_), _) => BUDGET_OF_SEARCH,
        (None, 2..) => BUDGET_OF_SEVERAL,
        (None, _) => BUDGET,
    };
    let budget = arguments.budget.or(if arguments.trials.is_some() { None } else { Some(usual) });
    let most = (arguments.budget.is_none() && arguments.trials.is_none()).then(|| usual * EXTENDS);
    Ok(Request {
        parameters,
        baseline: baseline(arguments.baseline.as_deref(), &contenders, registry)?,
        by_suite: is_by_suite(arguments),
        left_out: Vec::new(),
        rungs: rungs(&suite, registry),
        file: file.map(|(file, _)| file),
        contenders,
        only: arguments.only.clone(),
        schedule: Schedule {
            trials: arguments.trials,
            budget_ns: budget.map(|budget| budget.as_nanos() as u64),
            most_ns: most.map(|most| most.as_nanos() as u64),
            target: arguments.target,
            margin: arguments.show.margin.unwrap_or(MARGIN),
            seed: arguments.seed.map_or_else(fresh_seed, Ok)?,
            timeout_ns: arguments.place.timeout.unwrap_or(TIMEOUT).as_nanos() as u64,
            latency: arguments.latency,
            statements: arguments.statements,
            turns: !arguments.no_turns,
            sustain: arguments.sustain,
            warm_up: !arguments.no_warm_up,
        },
        limits: limits(arguments, &suite),
        wanted: wanted(&arguments.place, Wanted::default()),
        origin: {
            let is_foreign = !is_own(&suite, home, registry);
            let contenders = is_foreign && is_by_suite(arguments);
            Origin { name: suite.path.display().to_string(), contenders, suite: is_foreign }
        },
        suite,
    })
}

/// What all contenders are given: as the command line says, else as the suite does.
fn limits(arguments: &RunArgs, suite: &Suite) -> Limits {
    let cache_bytes = match arguments.cache {
        None => suite.cache,
        Some(Caches::Default) => None,
        Some(Caches::Bytes(bytes)) => Some(bytes),
    };
    let cache_of_suite = arguments.cache.is_none() && cache_bytes.is_some();
    Limits { cache_bytes, cache_of_suite, memory_bytes: arguments.memory }
}

/// A path if it looks like one, else a suite of dyno's own.
fn find_suite(name: &str, home: &Home) -> Result<PathBuf> {
    if is_address(name) {
        bail!("a suite is a name or a file of this machine, and not a URL");
    }
    if dyno_suite::is_path(name) {
        return Ok(PathBuf::from(name));
    }
    let path = home.suites().join(format!("{name}.toml"));
    if !path.is_file() {
        let names = suite_names(home);
        let names = names.iter().map(String::as_str);
        bail!(
            "{} (a file is named by its path, as ./{name}.toml)",
            nearest::unknown("there is no suite", name, "there are", names)
        );
    }
    Ok(path)
}

/// The names of dyno's own suites.
fn suite_names(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.suites()).into_iter().flatten().flatten();
    let files =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let mut names: Vec<String> =
        files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    names
}

/// The request of an earlier run, with the suite as it was then.
pub fn again(arguments: &RerunArgs, old: Run, home: &Home, registry: &Registry) -> Result<Request> {
    let path = PathBuf::from(format!("{} (suite {})", arguments.run.display(), old.suite.name));
    let suite = Suite::parse(old.suite.text, &path, &registry.dialects()).input()?;
    let named = old.contenders.iter().filter(|contender| contender.named);
    let contenders = named.map(|contender| match &contender.url {
        None => Contender::parse(&contender.label, registry),
        Some(url) => Contender::at(ServerUrl::parse(url, &registry.servers())?, registry),
    });
    let contenders = contenders.collect::<Result<Vec<_>>>().input()?;
    if let Some(file) = &old.suite.file {
        file::check_unchanged(file, &suite).input()?;
    }
    let values = old.suite.parameters.iter().map(|(name, value)| (name.to_owned(), value.to_string()));
    let parameters = dyno_suite::resolve(&suite.parameters, &values.collect::<Vec<_>>()).input()?;
    let timeout_ns = arguments.place.timeout.map(|timeout| timeout.as_nanos() as u64);
    let name = arguments.run.display().to_string();
    let origin = Origin { name, contenders: true, suite: !is_own(&suite, home, registry) };
    Ok(Request {
        origin,
        suite,
        parameters,
        contenders,
        baseline: old.baseline,
        only: old.suite.only,
        schedule: Schedule {
            timeout_ns: timeout_ns.unwrap_or(old.schedule.timeout_ns),
            margin: arguments.show.margin.unwrap_or(old.schedule.margin),
            ..old.schedule
        },
        limits: old.limits,
        wanted: wanted(&arguments.place, old.wanted),
        by_suite: false,
        left_out: Vec::new(),
        rungs: old.suite.rungs,
        file: old.suite.file,
    })
}

/// The placement of a run: as the command line says, else as in the earlier run.
fn wanted(place: &PlaceArgs, before: Wanted) -> Wanted {
    Wanted {
        cpus: place.cpus.clone().or(before.cpus),
        nice: place.nice.or(before.nice),
        sharing: place.placement.map_or(before.sharing, Into::into),
    }
}

fn is_by_suite(arguments: &RunArgs) -> bool {
    arguments.with.is_empty() && arguments.urls.is_empty()
}

/// The rungs of a suite, their contenders by label.
fn rungs(suite: &Suite, registry: &Registry) -> Vec<RungRecord> {
    let rungs = suite.rungs.iter().enumerate().map(|(index, rung)| {
        let contender = Contender::parse(&rung.contender, registry);
        RungRecord {
            name: rung.name.clone(),
            contender: contender.map_or(rung.contender.clone(), |contender| contender.label),
            shows: rung.shows.clone(),
            published: rung.published,
            over: compared_with(&suite.rungs, index).map(str::to_owned),
        }
    });
    rungs.collect()
}

/// The contenders named, or else the suite's.
fn typed_contenders(arguments: &RunArgs, suite: &Suite, registry: &Registry) -> Result<Vec<Contender>> {
    let mut names: Vec<String> = arguments.with.iter().flat_map(|list| split_list(list)).collect();
    if is_by_suite(arguments) {
        for label in suite.contenders() {
            Contender::parse(&label, registry).with_context(|| suite.path.display().to_string())?;
            names.push(label);
        }
    }
    if arguments.processes {
        ensure!(
            arguments.urls.is_empty(),
            "--processes goes with contenders that dyno starts, and a URL names a server that runs already: leave one out"
        );
        names.iter_mut().for_each(|name| name.push_str(",processes=yes"));
    }
    let mut contenders: Vec<Contender> = Vec::new();
    let at = |url: &str| {
        let url = ServerUrl::parse(url, &registry.servers())?;
        url.warnings.iter().for_each(|warning| say(&format!("dyno: {warning}")));
        Contender::at(url, registry)
    };
    let named = names.iter().map(|name| match addressed(name) {
        None => Contender::parse(name, registry),
        Some((engine, url)) => {
            let contender = at(url)?;
            let found = &contender.engine.name;
            ensure!(engine == found, "{engine}={} names a server of {found}", contender.label);
            Ok(contender)
        }
    });
    for contender in named.chain(arguments.urls.iter().map(|url| at(url))) {
        let contender = contender?;
        if contenders.iter().any(|known| known.label == contender.label) {
            bail!("the contender {} is named twice", contender.label);
        }
        contenders.push(contender);
    }
    announce_both(&contenders);
    Ok(contenders)
}

/// The engine and the address of a contender written as `postgres=postgres://me@host/database`.
fn addressed(name: &str) -> Option<(&str, &str)> {
    name.split_once('=').filter(|(engine, url)| !engine.contains([',', ':']) && is_address(url))
}

/// Reports that a server engine is measured twice: on a private server, and on the user's.
fn announce_both(contenders: &[Contender]) {
    for own in contenders.iter().filter(|contender| contender.url.is_some()) {
        let is_private = |other: &&Contender| other.url.is_none() && other.engine.name == own.engine.name;
        if let Some(private) = contenders.iter().find(is_private) {
            say(&format!(
                "dyno: measuring both {}, a private server that dyno starts, and {}, your server; `--with {}=URL` \
                 measures yours alone",
                private.label, own.label, own.engine.name
            ));
        }
    }
}

/// The label of the contender with which to compare: the one named, or the first that is an engine.
fn baseline(name: Option<&str>, contenders: &[Contender], registry: &Registry) -> Result<String> {
    let Some(name) = name else {
        let engine = contenders.iter().find(|contender| !contender.engine.harness).or(contenders.first());
        return Ok(engine.map_or_else(String::new, |contender| contender.label.clone()));
    };
    let is_one = |label: &str| contenders.iter().any(|contender| contender.label == label);
    if is_one(name) {
        return Ok(name.to_owned());
    }
    // Perhaps it is another spelling of one.
    let label = match is_address(name) {
        true => ServerUrl::parse(name, &registry.servers())?.label(),
        false => Contender::parse(name, registry)?.label,
    };
    if !is_one(&label) {
        let labels = contenders.iter().map(|contender| contender.label.as_str()).collect::<Vec<_>>();
        bail!("the baseline {label} is none of the contenders, which are {}", labels.join(", "));
    }
    Ok(label)
}

impl Request {
    /// Keeps those of the contenders that are at hand.
    pub fn keep(&mut self, found: &[Contender]) -> Result<()> {
        self.contenders.retain(|contender| found.iter().any(|other| other.label == contender.label));
        let first = self.contenders.first();
        let first = first.context("none of the suite's contenders can be had here; `dyno list` says why")?;
        if !self.contenders.iter().any(|contender| contender.label == self.baseline) {
            self.baseline.clone_from(&first.label);
        }
        Ok(())
    }

    /// Returns true if all parameters except those named are the defaults.
    pub fn has_parameters(&self, named: &BTreeMap<String, ParameterValue>) -> bool {
        let changes: Vec<(String, String)> =
            named.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
        dyno_suite::resolve(&self.suite.parameters, &changes).is_ok_and(|wanted| wanted == self.parameters)
    }

    /// Returns true if published figures are of the suite with these parameters, and not of other sizes.
    pub fn is_alike(&self, published: &Published) -> bool {
        published.any_size || self.has_parameters(&published.parameters)
    }
}
