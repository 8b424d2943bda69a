//! `dyno run` and `dyno rerun`: from the command line to a plan, to trials, to a run file and a table.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{Exit, Input, scaling, show};
use crate::cli::{PlaceArgs, RerunArgs, RunArgs, ShowOptions};
use crate::engine::{Contender, Registry, split_list};
use crate::home::Home;
use crate::machine::{Machine, Storage, allowed_cpus, cpu_list};
use crate::output::Progress;
use crate::placement::Placement;
use crate::plan::{Plan, PlannedTest, select};
use crate::record::{self, ContenderRecord, Ended, Limits, Run, SCHEMA, Schedule, SuiteRecord, TestRecord};
use crate::run::{Runner, fresh_seed};
use crate::scratch::{self, Scratch};
use crate::server::ServerUrl;
use crate::suite::{Cpus, ParameterValue, Parameters, Published, Suite};
use crate::trial::{Conduct, Interrupts, MemoryCap};

/// How long a run measures when nobody says.
const BUDGET: Duration = Duration::from_secs(60);
/// The contender that measures dyno itself and is part of every run.
const HARNESS: &str = "null";

/// What to run, whether it was typed or comes from a run file.
struct Request {
    suite: Suite,
    parameters: Parameters,
    contenders: Vec<Contender>,
    baseline: String,
    only: Option<String>,
    schedule: Schedule,
    limits: Limits,
}

/// Runs what was typed.
pub fn execute(arguments: &RunArgs) -> Result<Exit> {
    let home = Home::find()?;
    let registry = Registry::load(&home)?;
    if let [] | [_] = arguments.n[..] {
        let n = arguments.n.first().map(String::as_str);
        let request = typed(arguments, n, &home, &registry).input()?;
        return perform(request, &registry, &arguments.place, &arguments.show);
    }
    scaled(arguments, &home, &registry)
}

/// A run of each size, one after another, and then all of them side by side.
fn scaled(arguments: &RunArgs, home: &Home, registry: &Registry) -> Result<Exit> {
    let mut paths = Vec::new();
    let mut worst = Exit::Done;
    for n in &arguments.n {
        let request = typed(arguments, Some(n), home, registry).input()?;
        let mut place = arguments.place.clone();
        place.out = Some(match &place.out {
            Some(path) => path.with_extension(format!("n{n}.json")),
            None => record::results_folder().join(format!(
                "{}-{}-n{n}.json",
                file_time(&jiff::Timestamp::now().to_string()),
                request.suite.name
            )),
        });
        paths.extend(place.out.clone());
        match perform(request, registry, &place, &arguments.show)? {
            Exit::Done => {}
            Exit::Signal(signal) => return Ok(Exit::Signal(signal)),
            other => worst = other,
        }
    }
    scaling::show(&paths, arguments.show.format)?;
    Ok(worst)
}

/// Runs what a run file says, with the suite as it was then.
pub fn rerun(arguments: &RerunArgs) -> Result<Exit> {
    let registry = Registry::load(&Home::find()?)?;
    let old = record::load(&arguments.run).input()?;
    let path = PathBuf::from(format!("{} (suite {})", arguments.run.display(), old.suite.name));
    let suite = Suite::parse(old.suite.text, &path, &registry.dialects()).input()?;
    let named = old.contenders.iter().filter(|contender| contender.named);
    let contenders = named.map(|contender| match &contender.url {
        None => Contender::parse(&contender.label, &registry),
        Some(url) => Contender::at(ServerUrl::parse(url)?, &registry),
    });
    let contenders = contenders.collect::<Result<Vec<_>>>().input()?;
    let request = Request {
        suite,
        parameters: old.suite.parameters,
        contenders,
        baseline: old.baseline,
        only: old.suite.only,
        schedule: old.schedule,
        limits: old.limits,
    };
    perform(request, &registry, &arguments.place, &arguments.show)
}

fn typed(arguments: &RunArgs, n: Option<&str>, home: &Home, registry: &Registry) -> Result<Request> {
    let suite = Suite::load(&find_suite(&arguments.suite, home)?, &registry.dialects())?;
    let mut changes = Vec::new();
    for set in &arguments.set {
        let (name, value) =
            set.split_once('=').with_context(|| format!("--set takes name=value, and '{set}' is not"))?;
        changes.push((name.to_owned(), value.to_owned()));
    }
    let short = [("scale", &arguments.scale), ("rows", &arguments.rows)];
    changes.extend(short.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?))));
    changes.extend(n.map(|n| ("n".to_owned(), n.to_owned())));
    let parameters = Parameters::resolve(&suite.parameters, &changes)?;
    let contenders = typed_contenders(arguments, &suite, registry)?;
    let budget = arguments.budget.or(if arguments.trials.is_some() { None } else { Some(BUDGET) });
    Ok(Request {
        parameters,
        baseline: baseline(arguments.baseline.as_deref(), &contenders, registry)?,
        contenders,
        only: arguments.only.clone(),
        schedule: Schedule {
            trials: arguments.trials,
            budget_ns: budget.map(|budget| budget.as_nanos() as u64),
            target: arguments.target,
            seed: arguments.seed.map_or_else(fresh_seed, Ok)?,
            timeout_ns: arguments.place.timeout.as_nanos() as u64,
            latency: arguments.latency,
        },
        limits: Limits { cache_bytes: arguments.cache, memory_bytes: arguments.memory },
        suite,
    })
}

/// A path if it looks like one, else a suite of dyno's own.
fn find_suite(name: &str, home: &Home) -> Result<PathBuf> {
    if name.contains('/') || name.ends_with(".toml") {
        return Ok(PathBuf::from(name));
    }
    let path = home.suites().join(format!("{name}.toml"));
    if !path.is_file() {
        bail!("there is no suite '{name}'; `dyno list` names them, or give the path of a file");
    }
    Ok(path)
}

fn perform(request: Request, registry: &Registry, place: &PlaceArgs, options: &ShowOptions) -> Result<Exit> {
    let contenders =
        with_limits(with_harness(&request.contenders, registry).input()?, &request.limits).input()?;
    let selection = select(&request.suite, request.only.as_deref()).input()?;
    let all = (request.suite.cpus == Cpus::All).then(|| cpu_list::format(&allowed_cpus()));
    let cpus = place.cpus.as_deref().or(all.as_deref());
    let placement = Placement::choose(cpus, place.nice).map_err(anyhow::Error::from).input()?;
    // Before dyno moves: the CPUs that it may use are part of the machine's record.
    let machine = Machine::read();
    placement.apply_to_self()?;
    let interrupts = Interrupts::listen()?;
    let parent = place.dir.clone().unwrap_or_else(scratch::default_parent);
    let scratch = Scratch::create(&parent)?;
    let storage = Storage::read(&parent).with_context(|| format!("cannot look at {}", parent.display()))?;
    let plan =
        Plan::new(&request.suite, &request.parameters, contenders, &selection, &scratch.inputs()).input()?;
    let timeout = Duration::from_nanos(request.schedule.timeout_ns);
    let memory_bytes = request.limits.memory_bytes;
    let conduct = Conduct { placement, pairing: place.placement, timeout, memory_bytes, interrupts };
    let mut servers = conduct.servers(&scratch);
    let mut run = begin(request, &plan, machine, storage, &conduct);
    let path = place.out.clone().unwrap_or_else(|| default_path(&run));
    // Before any measuring: a place that cannot be written to is found out now.
    record::save(&run, &path)?;
    let mut progress = Progress::new(place.quiet);
    let mut runner = Runner {
        plan: &plan,
        scratch: &scratch,
        conduct: &conduct,
        servers: &mut servers,
        path: &path,
        observer: &mut progress,
    };
    let result = runner.execute(&mut run);
    progress.finish();
    // Servers first: their folders are within the scratch folder.
    drop(servers);
    drop(scratch);
    conclude(&run, result, &path, place, options, &conduct.interrupts)
}

/// Shows what there is, even where saving failed, and says where it is kept.
fn conclude(
    run: &Run,
    result: Result<()>,
    path: &Path,
    place: &PlaceArgs,
    options: &ShowOptions,
    interrupts: &Interrupts,
) -> Result<Exit> {
    let shown = show::results(run, options)?;
    result?;
    if !place.quiet {
        eprintln!("The run is kept in {}; `dyno show` shows it, `dyno rerun` repeats it.", path.display());
    }
    Ok(match interrupts.signal() {
        Some(signal) if run.ended == Ended::Interrupted => Exit::Signal(signal),
        _ => shown,
    })
}

/// The contenders named, or else the suite's.
fn typed_contenders(arguments: &RunArgs, suite: &Suite, registry: &Registry) -> Result<Vec<Contender>> {
    let mut names: Vec<String> = arguments.with.iter().flat_map(|list| split_list(list)).collect();
    if names.is_empty() && arguments.urls.is_empty() {
        names.clone_from(&suite.contenders);
    }
    let mut contenders: Vec<Contender> = Vec::new();
    let named = names.iter().map(|name| Contender::parse(name, registry));
    let at = arguments.urls.iter().map(|url| {
        let url = ServerUrl::parse(url)?;
        url.warnings.iter().for_each(|warning| eprintln!("dyno: {warning}"));
        Contender::at(url, registry)
    });
    for contender in named.chain(at) {
        let contender = contender?;
        if contenders.iter().any(|known| known.label == contender.label) {
            bail!("the contender {} is named twice", contender.label);
        }
        contenders.push(contender);
    }
    Ok(contenders)
}

/// The label of the contender with which to compare: the one named, or the first.
fn baseline(name: Option<&str>, contenders: &[Contender], registry: &Registry) -> Result<String> {
    let Some(name) = name else {
        return Ok(contenders.first().context("no contender is named")?.label.clone());
    };
    let is_one = |label: &str| contenders.iter().any(|contender| contender.label == label);
    if is_one(name) {
        return Ok(name.to_owned());
    }
    // Perhaps it is another spelling of one.
    let label = Contender::parse(name, registry)?.label;
    if !is_one(&label) {
        bail!("the baseline {label} is none of the contenders");
    }
    Ok(label)
}

/// The contenders with the harness at their end, unless it was named.
fn with_harness(named: &[Contender], registry: &Registry) -> Result<Vec<Contender>> {
    let mut contenders = named.to_vec();
    if !contenders.iter().any(|contender| contender.engine.harness) {
        contenders.push(Contender::parse(HARNESS, registry)?);
    }
    Ok(contenders)
}

/// The contenders with what they are all given.
fn with_limits(mut contenders: Vec<Contender>, limits: &Limits) -> Result<Vec<Contender>> {
    if let Some(bytes) = limits.cache_bytes {
        for contender in contenders.iter_mut().filter(|contender| !contender.engine.harness) {
            let knob = contender.engine.cache.as_ref().with_context(|| {
                format!("{} has no setting for the size of a cache; leave --cache or it out", contender.label)
            })?;
            let setting = knob.of(bytes);
            contender.settings.retain(|known| known.name != setting.name);
            contender.settings.push(setting);
        }
    }
    if let Some(bytes) = limits.memory_bytes {
        if let Some(contender) = contenders.iter().find(|contender| contender.engine.server) {
            bail!("--memory limits runners, and the memory of {} is its server's", contender.label);
        }
        // Refused now, with the reason, and not by every trial.
        MemoryCap::create(bytes)?;
    }
    Ok(contenders)
}

fn begin(request: Request, plan: &Plan, machine: Machine, storage: Storage, conduct: &Conduct) -> Run {
    let named = request.contenders.len();
    let contenders = plan.contenders.iter().enumerate();
    let tests = tests(&request, plan);
    Run {
        schema: SCHEMA.into(),
        dyno: env!("CARGO_PKG_VERSION").into(),
        command: env::args().map(without_password).collect(),
        started: jiff::Timestamp::now().to_string(),
        elapsed_ns: 0,
        ended: Ended::Running,
        suite: SuiteRecord {
            name: request.suite.name.clone(),
            title: request.suite.title.clone(),
            text: request.suite.text.clone(),
            parameters: request.parameters,
            tolerance: request.suite.tolerance,
            figure: request.suite.figure,
            only: request.only,
        },
        schedule: request.schedule,
        limits: request.limits,
        machine,
        storage,
        placement: stated_placement(plan, conduct),
        contenders: contenders
            .map(|(index, contender)| ContenderRecord::new(contender, plan, index < named))
            .collect(),
        baseline: request.baseline,
        tests,
        trials: Vec::new(),
        answers: Vec::new(),
    }
}

/// An argument as it may be kept: of a URL only what names the server.
fn without_password(argument: String) -> String {
    let (option, value) = match argument.split_once('=') {
        Some(("--url", value)) => ("--url=", value),
        _ => ("", argument.as_str()),
    };
    match ServerUrl::parse(value) {
        Ok(url) => format!("{option}{url}"),
        Err(_) => argument,
    }
}

/// The placement with what it means for servers, where a contender needs one.
fn stated_placement(plan: &Plan, conduct: &Conduct) -> Placement {
    let mut placement = conduct.placement.clone();
    if plan.contenders.iter().any(|contender| contender.engine.server) {
        placement.note = format!("{}; {}", placement.note, conduct.pairing.note(&placement));
    }
    placement
}

/// The tests with what the suite knows of them: published figures, and the right answers where the
/// parameters are the defaults.
fn tests(request: &Request, plan: &Plan) -> Vec<TestRecord> {
    let suite = &request.suite;
    let is_default = request.has_parameters(&BTreeMap::new());
    let published: Vec<&Published> =
        suite.published.iter().filter(|published| request.is_alike(published)).collect();
    let written = suite.tests.iter().enumerate();
    let written: BTreeMap<&str, usize> = written.map(|(index, test)| (test.id.as_str(), index)).collect();
    let record = |test: &PlannedTest| {
        let mut record = TestRecord::new(test);
        let index = written[test.id.as_str()];
        if is_default && suite.tests[index].expect.is_some() {
            record.expect.clone_from(&suite.tests[index].expect);
        }
        for published in &published {
            let seconds = published.seconds.iter().map(|(system, seconds)| (system, seconds[index]));
            let count = record.amount.as_ref().map(|amount| amount.count as f64);
            let rates = published
                .rates
                .iter()
                .filter_map(|(system, rates)| Some((system, count? / rates.get(&test.id)?)));
            let figures = seconds.chain(rates).map(|(system, seconds)| (system.clone(), seconds));
            record.published.extend(figures.collect::<Vec<_>>());
        }
        record
    };
    plan.tests.iter().map(record).collect()
}

impl Request {
    /// Whether the parameters are the defaults but for those named.
    fn has_parameters(&self, named: &BTreeMap<String, ParameterValue>) -> bool {
        let changes: Vec<(String, String)> =
            named.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
        Parameters::resolve(&self.suite.parameters, &changes).is_ok_and(|wanted| wanted == self.parameters)
    }

    /// Whether published figures are of the suite with these parameters, and not of other sizes.
    fn is_alike(&self, published: &Published) -> bool {
        published.any_size || self.has_parameters(&published.parameters)
    }
}

/// `results/TIME-SUITE.json`; names sort by time.
fn default_path(run: &Run) -> PathBuf {
    record::results_folder().join(format!("{}-{}.json", file_time(&run.started), run.suite.name))
}

/// A time as it may stand in the name of a file.
fn file_time(time: &str) -> String {
    time.chars().take(19).map(|c| if c == ':' { '-' } else { c }).collect()
}
