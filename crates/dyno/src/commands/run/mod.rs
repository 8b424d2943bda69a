//! `dyno run` and `dyno rerun`: from the command line to a plan, to trials, to a run file and a table.

mod contenders;
mod file;
mod head;
mod open_files;
mod planning;
mod probing;
mod request;
mod sustain;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use dyno_engine::proofs::Proofs;
use dyno_engine::{Contender, Home, Registry};
use dyno_lab::machine::{self, allowed_cpus};
use dyno_lab::proof::{Prover, hold_together};
use dyno_lab::run::{Observer, Runner};
use dyno_lab::scratch::{self, Scratch};
use dyno_lab::server::sweep_segments;
use dyno_lab::trial::{self, Conduct, Interrupts};
use dyno_lab::{key, placement};
use dyno_plan::{Plan, check_models, input_bytes, select};
use dyno_record::{Ended, Proof, Run, Writer, cpu_list};
use dyno_suite::Cpus;
use dyno_suite::watch::Watch;
use signal_hook::consts::SIGINT;

use super::{Exit, Input, report, scaling, show};
use crate::cli::{PlaceArgs, RerunArgs, RunArgs};
use crate::progress::Progress;
use crate::terminal::say;
use contenders::{at_hand, check_reach, with_harness, with_limits};
use head::begin;
use probing::Probing;
use request::{Request, again};

pub(super) use request::typed;

/// Runs what was typed.
pub fn execute(arguments: &RunArgs) -> Result<Exit> {
    let home = Home::find()?;
    let registry = Registry::load(&home)?;
    let sizes = [("n", &arguments.n[..]), ("clients", &arguments.clients)];
    let given: Vec<(&str, &[String])> = sizes.into_iter().filter(|(_, values)| !values.is_empty()).collect();
    let size = match given[..] {
        [] => None,
        [(name, [value])] => Some((name, value.as_str())),
        [(name, values)] => return scaled(arguments, name, values, &home, &registry),
        _ => {
            let two =
                anyhow!("--n and --clients are parameters of different suites: take the one that yours has");
            return Err(two).input();
        }
    };
    let request = typed(arguments, size, &home, &registry).input()?;
    perform(request, &registry, &arguments.place, |run, path| show::results(run, path, &arguments.show))
}

/// A run of each size, one after another, and then all of them side by side.
fn scaled(
    arguments: &RunArgs,
    name: &str,
    values: &[String],
    home: &Home,
    registry: &Registry,
) -> Result<Exit> {
    let mut paths = Vec::new();
    let mut worst = Exit::Done;
    for value in values {
        let request = typed(arguments, Some((name, value)), home, registry).input()?;
        // A part of a file's name, whatever the parameter takes.
        let size = value.replace('/', "-");
        // One page for all of them, at the end.
        let mut place = PlaceArgs { report: None, ..arguments.place.clone() };
        place.out = Some(match &place.out {
            Some(path) => {
                let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("jsonl");
                path.with_extension(format!("{name}{size}.{ending}"))
            }
            None => dyno_record::results_folder().join(format!(
                "{}-{}-{name}{size}.jsonl",
                file_time(&jiff::Timestamp::now().to_string()),
                request.suite.name
            )),
        });
        paths.extend(place.out.clone());
        let shown = |run: &Run, path: &Path| show::results(run, path, &arguments.show);
        match perform(request, registry, &place, shown)? {
            Exit::Done => {}
            Exit::Signal(signal) => return Ok(Exit::Signal(signal)),
            other => worst = other,
        }
    }
    scaling::show(&paths, arguments.show.format)?;
    if let Some(page) = &arguments.place.report {
        report::write_files(&paths, page, None)?;
        told(page, arguments.place.quiet);
    }
    Ok(worst)
}

/// Runs what a run file says, with the suite as it was then.
pub fn rerun(arguments: &RerunArgs) -> Result<Exit> {
    let registry = Registry::load(&Home::find()?)?;
    perform(again(arguments, &registry)?, &registry, &arguments.place, |run, path| {
        show::results(run, path, &arguments.show)
    })
}

/// Runs what is asked for, keeps it, and shows it by `show`.
pub(super) fn perform(
    mut request: Request,
    registry: &Registry,
    place: &PlaceArgs,
    show: impl FnOnce(&Run, &Path) -> Result<Exit>,
) -> Result<Exit> {
    let mut contenders = match request.schedule.sustain {
        // What the harness does is no rate that anything sustains.
        Some(_) => request.contenders.clone(),
        None => with_harness(&request.contenders, registry).input()?,
    };
    contenders = with_limits(contenders, &request.limits).input()?;
    key::give(&mut contenders, place.key_file.as_deref()).input()?;
    let selection = select(&request.suite, request.only.as_deref()).input()?;
    open_files::allow(&request.suite, &request.parameters, &selection).input()?;
    let all = (request.suite.cpus() == Cpus::All).then(|| cpu_list::format(&allowed_cpus()));
    let cpus = request.wanted.cpus.as_deref().or(all.as_deref());
    let placement = placement::choose(cpus, request.wanted.nice).map_err(anyhow::Error::from).input()?;
    // Before dyno moves: the CPUs that it may use are part of the machine's record.
    let machine = machine::read();
    placement::apply_to_self(&placement)?;
    let interrupts = Interrupts::listen()?;
    let parent = place.dir.clone().unwrap_or_else(scratch::default_parent);
    let scratch = Scratch::create(&parent)?;
    trial::sweep_memory_caps();
    sweep_segments();
    let storage =
        machine::storage(&parent).with_context(|| format!("cannot look at {}", parent.display()))?;
    let timeout = Duration::from_nanos(request.schedule.timeout_ns);
    let memory_bytes = request.limits.memory_bytes;
    let conduct = Conduct { placement, sharing: request.wanted.sharing, timeout, memory_bytes, interrupts };
    let mut servers = conduct.servers(&scratch);
    if request.by_suite {
        let does_tests = |contender: &Contender| check_models(&request.suite, &selection, contender);
        let (found, missing) = at_hand(contenders, does_tests, &conduct, &mut servers, &scratch)?;
        contenders = found;
        request.left_out.extend(missing);
        request.keep(&contenders).input()?;
    } else {
        check_reach(&contenders, &conduct, &mut servers, &scratch).input()?;
    }
    let file = request.file.as_ref().map(|file| file.path.as_path());
    let inputs = scratch.inputs();
    let bytes = input_bytes(&request.suite, &request.parameters, &selection, file).input()?;
    let mut progress = Progress::new(place.quiet);
    let (suite, parameters, file) =
        (request.suite.clone(), request.parameters.clone(), file.map(Path::to_owned));
    let work = move |watch: &Watch| {
        Plan::watched(&suite, &parameters, contenders, &selection, &inputs, file.as_deref(), watch)
    };
    let Some(plan) = planning::make(work, bytes, &conduct.interrupts, &mut progress)? else {
        progress.finish();
        say("dyno: interrupted before the first trial; nothing is kept");
        return Ok(Exit::Signal(conduct.interrupts.signal().unwrap_or(SIGINT)));
    };
    let mut run = begin(request, &plan, machine, storage, &conduct);
    let path = place.out.clone().unwrap_or_else(|| default_path(&run));
    // Before any measuring: a place that cannot be written to is found out now.
    let mut file = Writer::create(&path, &run)?;
    let proved = prove(
        &mut run,
        &plan,
        Prover { conduct: &conduct, scratch: &scratch, servers: &mut servers },
        &mut progress,
    );
    let prober = Probing { conduct: &conduct, scratch: &scratch, servers: &mut servers };
    let probed = proved.and_then(|()| probing::probe(&mut run, &plan, prober, &mut progress));
    let (proofs, troubles) = Proofs::load();
    troubles.iter().for_each(|trouble| say(&format!("dyno: {trouble}")));
    let mut runner = Runner {
        proofs: &proofs,
        plan: &plan,
        scratch: &scratch,
        conduct: &conduct,
        servers: &mut servers,
        file: &mut file,
        is_precise: &dyno_verdict::is_precise,
        next_rate: &dyno_verdict::next_rate,
        observer: &mut progress,
    };
    let result = probed.and_then(|()| runner.execute(&mut run));
    progress.finish();
    // Servers first: their folders are within the scratch folder.
    drop(servers);
    drop(scratch);
    conclude(&run, result, &path, place, show, &conduct.interrupts)
}

/// Shows what there is, even where saving failed, and says where it is kept.
fn conclude(
    run: &Run,
    result: Result<()>,
    path: &Path,
    place: &PlaceArgs,
    show: impl FnOnce(&Run, &Path) -> Result<Exit>,
    interrupts: &Interrupts,
) -> Result<Exit> {
    let shown = show(run, path)?;
    result?;
    if let Some(page) = &place.report {
        report::write_files(&[path.to_owned()], page, None)?;
        told(page, place.quiet);
    }
    if !place.quiet {
        say(&format!(
            "The run is kept in {}; `dyno show` shows it, `dyno rerun` repeats it.",
            path.display()
        ));
    }
    Ok(match interrupts.signal() {
        Some(signal) if run.ended == Ended::Interrupted => Exit::Signal(signal),
        _ => shown,
    })
}

/// Says where the page is.
fn told(page: &Path, quiet: bool) {
    if !quiet {
        say(&format!("The page is in {}.", page.display()));
    }
}

/// Where a contender encrypts: looks whether each does, and whether the others do not.
fn prove(run: &mut Run, plan: &Plan, mut prover: Prover, observer: &mut dyn Observer) -> Result<()> {
    if !plan.contenders.iter().any(Contender::encrypts) {
        return Ok(());
    }
    for (index, contender) in plan.contenders.iter().enumerate() {
        // What is missing, and what fails, is told by its trials; of a server that runs already there is
        // nothing to look at.
        if contender.engine.harness || contender.url.is_some() || prover.conduct.interrupts.signal().is_some()
        {
            continue;
        }
        observer.proof_begins(index, run);
        let proof =
            prover.prove(contender).unwrap_or_else(|error| Proof::failed(contender.encrypts(), &error));
        run.contenders[index].proof = Some(proof);
    }
    let proofs =
        run.contenders.iter_mut().filter_map(|record| Some((record.engine.clone(), record.proof.as_mut()?)));
    hold_together(&mut proofs.collect::<Vec<_>>());
    Ok(())
}

/// `results/TIME-SUITE.jsonl`; names sort by time.
fn default_path(run: &Run) -> PathBuf {
    dyno_record::results_folder().join(format!("{}-{}.jsonl", file_time(&run.started), run.suite.name))
}

/// A time as it may stand in the name of a file.
fn file_time(time: &str) -> String {
    time.chars().take(19).map(|c| if c == ':' { '-' } else { c }).collect()
}
