//! `dyno run` and `dyno rerun`: from the command line to a plan, to trials, to a run file and a table.

mod contenders;
mod file;
mod head;
mod kept;
mod open_files;
mod outputs;
mod probing;
mod request;
mod sustain;
mod timed_statements;
mod trust;
mod watching;

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use dyno_engine::proofs::Proofs;
use dyno_engine::{Contender, Home, Registry};
use dyno_files::Output;
use dyno_lab::machine::{self, allowed_cpus};
use dyno_lab::proof::{Prover, cross_check};
use dyno_lab::run::{KeptDatabases, Observer, Runner};
use dyno_lab::scratch::{self, Scratch};
use dyno_lab::server::sweep_segments;
use dyno_lab::trial::{self, Interrupts, TrialOptions};
use dyno_lab::{key, placement};
use dyno_plan::{Plan, check_models, input_bytes, select};
use dyno_record::{Ended, Proof, Run, Writer, cpu_list};
use dyno_suite::Cpus;
use dyno_suite::progress::PlanningProgress;
use dyno_verdict::changed_files;
use signal_hook::consts::SIGINT;

use super::{Exit, Input, planning, report, scaling, show};
use crate::cli::{PlaceArgs, RerunArgs, RunArgs};
use crate::progress::Progress;
use crate::terminal::say;
use contenders::{available, check_reach, with_harness, with_limits};
use head::begin;
use probing::Probing;
use request::{Request, again};

pub(super) use outputs::Outputs;
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
    let outputs = Outputs::open(&arguments.place)?;
    perform(request, &registry, &arguments.place, outputs, |run, path| {
        show::results(run, path, &arguments.show)
    })
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
    let place = &arguments.place;
    // One page for all of them, at the end.
    let mut page = outputs::page(place)?;
    for value in values {
        let request = typed(arguments, Some((name, value)), home, registry).input()?;
        // A part of a file's name, whatever the parameter takes.
        let outputs = Outputs::of_size(place, &format!("{name}{}", value.replace('/', "-")))?;
        let shown = |run: &Run, path: &Path| {
            paths.push(path.to_owned());
            show::results(run, path, &arguments.show)
        };
        match perform(request, registry, place, outputs, shown)? {
            Exit::Done => {}
            Exit::Signal(signal) => return Ok(Exit::Signal(signal)),
            other => worst = other,
        }
    }
    scaling::show(&paths, arguments.show.format)?;
    if let Some(page) = &mut page {
        report::write_files(&paths, page, None)?;
        say_where(page, place.quiet);
    }
    Ok(worst)
}

/// Runs what a run file says, with the suite as it was then.
pub fn rerun(arguments: &RerunArgs) -> Result<Exit> {
    let home = Home::find()?;
    let registry = Registry::load(&home)?;
    let old = dyno_record::load(&arguments.run).input()?;
    let request = again(arguments, old.clone(), &home, &registry)?;
    let outputs = Outputs::open(&arguments.place)?;
    perform(request, &registry, &arguments.place, outputs, |run, path| {
        say_changes(&old, run);
        show::results(run, path, &arguments.show)
    })
}

/// Says which files of a run that is repeated hold something else than they did.
fn say_changes(old: &Run, new: &Run) {
    for contender in &new.contenders {
        let before = old.contenders.iter().find(|before| before.label == contender.label);
        for (what, was, is) in before.iter().flat_map(|before| changed_files(before, contender)) {
            let (label, was, is) = (&contender.label, was.short(), is.short());
            say(&format!("dyno: {label}: {what} changed since that run: SHA-256 {was} then, {is} now"));
        }
    }
}

/// Runs what is asked for, keeps it, and shows it by `show`.
pub(super) fn perform(
    mut request: Request,
    registry: &Registry,
    place: &PlaceArgs,
    outputs: Outputs,
    show: impl FnOnce(&Run, &Path) -> Result<Exit>,
) -> Result<Exit> {
    let mut contenders = match request.schedule.sustain {
        // The harness stores nothing, so a rate that it reaches says nothing about an engine.
        Some(_) => request.contenders.clone(),
        None => with_harness(&request.contenders, registry).input()?,
    };
    contenders = with_limits(contenders, &request.limits).input()?;
    key::give(&mut contenders, place.key_file.as_deref()).input()?;
    if place.keep {
        contenders.iter().try_for_each(kept::check).input()?;
    }
    trust::confirm(&trust::of_contenders(&contenders, &request.origin), &request.origin, place.trust)?;
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
    let conduct =
        TrialOptions { placement, sharing: request.wanted.sharing, timeout, memory_bytes, interrupts };
    let mut servers = conduct.servers(&scratch);
    if request.by_suite {
        let does_tests = |contender: &Contender| check_models(&request.suite, &selection, contender);
        let (found, missing) = available(contenders, does_tests, &conduct, &mut servers, &scratch)?;
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
    let (origin, reaching) = (request.origin.clone(), Arc::new(OnceLock::new()));
    let found = (origin.suite && !place.trust).then(|| reaching.clone());
    let memory = planning::memory(dyno_plan::bounds(&suite, &parameters));
    let work = move |watch: &PlanningProgress| {
        if let Some(found) = found {
            let bounds = dyno_plan::bounds(&suite, &parameters);
            let _ = found.set(trust::of_statements(&suite, &parameters, &contenders, bounds, watch)?);
        }
        Plan::watched(&suite, &parameters, contenders, &selection, &inputs, file.as_deref(), watch)
    };
    let Some(plan) = planning::make(work, memory, bytes, &conduct.interrupts, &mut progress)? else {
        progress.finish();
        say("dyno: interrupted before the first trial; nothing is kept");
        return Ok(Exit::Signal(conduct.interrupts.signal().unwrap_or(SIGINT)));
    };
    trust::confirm(reaching.get().map_or(&[], Vec::as_slice), &origin, place.trust)
        .inspect_err(|_| progress.finish())?;
    let every = place.progress;
    if every.is_some() {
        watching::check(&plan).inspect_err(|_| progress.finish()).input()?;
    }
    if request.schedule.statements {
        timed_statements::check(&plan).inspect_err(|_| progress.finish()).input()?;
    }
    let mut run = begin(request, &plan, machine, storage, &conduct);
    let (output, page) = outputs.named(&run)?;
    // Before any measuring: a full disk is found out now.
    let mut file = Writer::create(output, &run)?;
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
    let mut left = place.keep.then(|| KeptDatabases::new(&scratch)).transpose()?;
    let mut runner = Runner {
        proofs: &proofs,
        plan: &plan,
        scratch: &scratch,
        conduct: &conduct,
        servers: &mut servers,
        file: &mut file,
        is_precise: &dyno_verdict::is_precise,
        next_rate: &dyno_verdict::next_rate,
        left: left.as_mut(),
        every,
        observer: &mut progress,
    };
    let result = probed.and_then(|()| runner.execute(&mut run));
    progress.finish();
    let kept = left.map(|left| kept::hand_over(left, &run, &plan)).transpose();
    // Servers first: their folders are within the scratch folder.
    drop(servers);
    drop(scratch);
    let shown = show(&run, file.path())?;
    kept?.iter().flatten().for_each(|line| say(line));
    result?;
    conclude(&run, file.output(), page, place.quiet)?;
    Ok(match conduct.interrupts.signal() {
        Some(signal) if run.ended == Ended::Interrupted => Exit::Signal(signal),
        _ => shown,
    })
}

/// Writes the page of a run, and says where page and run are.
fn conclude(run: &Run, kept: &Output, page: Option<Output>, quiet: bool) -> Result<()> {
    let path = kept.path();
    if let Some(mut page) = page {
        match kept.is_stream() {
            true => report::write_run(run, path, &mut page)?,
            false => report::write_files(&[path.to_owned()], &mut page, None)?,
        }
        say_where(&page, quiet);
    }
    if !quiet {
        let shown = path.display();
        say(&match kept.is_stream() {
            true => format!("The run went to {shown}."),
            false => format!("The run is kept in {shown}; `dyno show` shows it, `dyno rerun` repeats it."),
        });
    }
    Ok(())
}

/// Says where the page is.
fn say_where(page: &Output, quiet: bool) {
    if !quiet {
        say(&match page.is_stream() {
            true => format!("The page went to {}.", page.path().display()),
            false => format!("The page is in {}.", page.path().display()),
        });
    }
}

/// Checks that contenders that encrypt do so and that the others do not; does nothing if no contender encrypts.
fn prove(run: &mut Run, plan: &Plan, mut prover: Prover, observer: &mut dyn Observer) -> Result<()> {
    if !plan.contenders.iter().any(Contender::encrypts) {
        return Ok(());
    }
    for (index, contender) in plan.contenders.iter().enumerate() {
        // Missing contenders and failures are reported by their trials; a server that runs already has
        // no files that dyno could search.
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
    cross_check(&mut proofs.collect::<Vec<_>>());
    Ok(())
}
