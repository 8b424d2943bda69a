//! The request for a run, from the command line or from a run file: suite, parameters, contenders, schedule.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use dyno_engine::{Contender, Home, Registry, ServerUrl};
use dyno_lab::run::fresh_seed;
use dyno_record::{
    Circumstances, Experiment, FileRecord, LeftOut, Limits, MARGIN, ParameterValue, Parameters, Run,
    RungRecord, Schedule, Wanted,
};
use dyno_suite::{Published, Suite, compared_with};

use super::super::list;
use super::super::outcome::AsInput;
use super::trust::{Origin, is_own};
use super::typed_contenders::{baseline, is_by_suite, typed_contenders};
use super::typed_suite::find_suite;
use super::{experiment, file, sustain};
use crate::cli::{Caches, PlaceArgs, RerunArgs, RunArgs};

/// The time budget of a run where the command line sets none.
const BUDGET: Duration = Duration::from_secs(60);
/// The time budget of each run when several numbers of clients or delays are asked for: three take less than two
/// minutes.
const BUDGET_OF_SEVERAL: Duration = Duration::from_secs(35);
/// The time budget of a search for a rate: longer, because each trial shows only whether its rate was too high.
const BUDGET_OF_SEARCH: Duration = Duration::from_secs(180);
/// The factor by which a run may exceed its budget to get enough trials, where the command line sets none.
const EXTENDS: u32 = 5;
/// The time limit of a test where the command line sets none.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The least memory, bytes, in which the runner of SQLite starts, which needs the least of all.
const LEAST_MEMORY: u64 = 4 << 20;

/// The request for a run, from the command line or from a run file.
pub struct RunRequest {
    pub suite: Suite,
    pub parameters: Parameters,
    pub contenders: Vec<Contender>,
    pub baseline: String,
    pub only: Option<String>,
    pub schedule: Schedule,
    pub limits: Limits,
    pub wanted: Wanted,
    /// The changes that should not matter, in runs of `dyno challenge`.
    pub circumstances: Option<Circumstances>,
    /// The experiment, in runs of `dyno causes`.
    pub experiment: Option<Experiment>,
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

/// The setting that one of several runs has and the others of its command line have not.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunStep<'a> {
    /// A parameter, with one of the values that were typed for it.
    pub size: Option<(&'a str, &'a str)>,
    /// One of the delays that were typed.
    pub delay: Option<Duration>,
}

/// The request of a command line for one of its runs.
pub fn typed(arguments: &RunArgs, step: RunStep, home: &Home, registry: &Registry) -> Result<RunRequest> {
    let Some(name) = &arguments.suite else {
        bail!(
            "name a suite:\n{}\nExample: dyno run speedtest; `dyno list SUITE` shows its tests",
            list::offer(home, registry)?
        );
    };
    let suite = Suite::load(&find_suite(name, home)?, &registry.dialects())?;
    let file = arguments.file.as_deref().map(|path| file::use_own_file(path, &suite)).transpose()?;
    let counted = file.as_ref().map(|(file, count)| (count.as_str(), file.records));
    let parameters =
        dyno_suite::resolve(&suite.parameters, &typed_parameters(arguments, step.size, counted)?)?;
    if arguments.sustain.is_some() {
        sustain::check(arguments, &suite, &parameters)?;
    }
    let contenders = typed_contenders(arguments, &suite, registry)?;
    ensure!(!contenders.is_empty(), "no contender is named");
    ensure!(
        arguments.memory.is_none_or(|bytes| bytes >= LEAST_MEMORY),
        "no runner starts with less than --memory 4MiB"
    );
    ensure!(
        arguments.gate.is_empty() || contenders.len() > 1,
        "--gate holds contenders against the baseline, and {} is the only one: name another by --with, or compare two \
         runs by `dyno compare OLD NEW --gate`",
        contenders[0].label
    );
    let is_foreign = !is_own(&suite, home, registry);
    Ok(RunRequest {
        parameters,
        baseline: baseline(arguments.baseline.as_deref(), &contenders, registry)?,
        by_suite: is_by_suite(arguments),
        left_out: Vec::new(),
        rungs: rungs(&suite, registry),
        file: file.map(|(file, _)| file),
        contenders,
        only: arguments.only.clone(),
        schedule: schedule(arguments)?,
        limits: limits(arguments, &suite, step.delay),
        wanted: wanted(&arguments.place, Wanted::default()),
        circumstances: None,
        experiment: None,
        origin: Origin {
            name: suite.path.display().to_string(),
            contenders: is_foreign && is_by_suite(arguments),
            suite: is_foreign,
        },
        suite,
    })
}

/// The parameters that were typed, by name: with --set, with an option that has the parameter's name, and as the size.
/// `counted` is the parameter that takes the number of records of the user's file.
fn typed_parameters(
    arguments: &RunArgs,
    size: Option<(&str, &str)>,
    counted: Option<(&str, u64)>,
) -> Result<Vec<(String, String)>> {
    let mut typed = Vec::new();
    for set in &arguments.set {
        let pair =
            set.split_once('=').with_context(|| format!("--set takes name=value, and '{set}' is not"))?;
        typed.push(pair);
    }
    let seconds = arguments.duration.map(|duration| duration.as_secs_f64().to_string());
    let think = arguments.think.map(|think| think.as_secs_f64().to_string());
    let sessions = arguments.sessions.map(|sessions| sessions.to_string());
    let options = [
        ("scale", &arguments.scale),
        ("rows", &arguments.rows),
        ("rate", &arguments.rate),
        ("sessions", &sessions),
        ("think", &think),
        ("duration", &seconds),
    ];
    typed.extend(options.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))));
    typed.extend(size);
    let records = counted.map(|(name, records)| (name, records.to_string()));
    if let Some((count, records)) = &records {
        typed.retain(|(name, _)| name != count);
        typed.push((count, records));
    }
    Ok(typed.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// The order and the end of trials.
fn schedule(arguments: &RunArgs) -> Result<Schedule> {
    let usual = match (arguments.sustain, arguments.clients.len().max(arguments.delay.len())) {
        (Some(_), _) => BUDGET_OF_SEARCH,
        (None, 2..) => BUDGET_OF_SEVERAL,
        (None, _) => BUDGET,
    };
    let budget = arguments.budget.or(if arguments.trials.is_some() { None } else { Some(usual) });
    let is_extended = arguments.budget.is_none() && arguments.trials.is_none() && arguments.sustain.is_none();
    let most = is_extended.then(|| usual * EXTENDS);
    Ok(Schedule {
        trials: arguments.trials,
        budget_ns: budget.map(|budget| budget.as_nanos() as u64),
        most_ns: most.map(|most| most.as_nanos() as u64),
        target: arguments.target,
        margin: arguments.show.margin.unwrap_or(MARGIN),
        seed: arguments.seed.map_or_else(fresh_seed, Ok)?,
        timeout_ns: arguments.place.timeout.unwrap_or(TIMEOUT).as_nanos() as u64,
        latency: arguments.latency,
        statements: arguments.statements,
        round_trips: arguments.round_trips,
        counts: arguments.counts || arguments.gate.iter().any(|limit| limit.quantity != "time"),
        why: arguments.why,
        turns: !arguments.no_turns,
        sustain: arguments.sustain,
        warm_up: !arguments.no_warm_up,
    })
}

/// The conditions of all contenders: as the command line says, else as the suite does.
fn limits(arguments: &RunArgs, suite: &Suite, delay: Option<Duration>) -> Limits {
    let cache_bytes = match arguments.cache {
        None => suite.cache,
        Some(Caches::Default) => None,
        Some(Caches::Bytes(bytes)) => Some(bytes),
    };
    let cache_of_suite = arguments.cache.is_none() && cache_bytes.is_some();
    let round_trip_ns = delay.map(|delay| delay.as_nanos() as u64);
    Limits { cache_bytes, cache_of_suite, memory_bytes: arguments.memory, round_trip_ns }
}

/// The request of an earlier run, with the suite as it was then.
pub fn again(arguments: &RerunArgs, old: Run, home: &Home, registry: &Registry) -> Result<RunRequest> {
    if !old.agents.is_empty() && arguments.place.on.is_none() {
        // A run file may come from a stranger, so it starts no program.
        let hosts = old.agents.iter().map(|agent| agent.host.as_str()).collect::<Vec<_>>().join(",");
        return Err(anyhow!(
            "agents drove that run: say how to start them, as with --on ssh --hosts {hosts}"
        ))
        .input();
    }
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
    Ok(RunRequest {
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
        circumstances: None,
        experiment: old.experiment.map(experiment::again),
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

impl RunRequest {
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
