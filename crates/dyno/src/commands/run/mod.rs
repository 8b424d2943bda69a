//! `dyno run` and `dyno rerun`: from the command line to a plan, to trials, to a run file and a table.

mod causes;
mod challenge;
mod checked;
mod contenders;
mod counted;
mod driven;
mod experiment;
mod file;
mod head;
mod kept;
mod measuring;
mod network;
mod open_files;
mod outputs;
mod probing;
mod request;
mod site;
mod sustain;
mod timed_statements;
mod traffic;
pub(super) mod trust;
mod typed_contenders;
mod typed_suite;
mod watching;
mod why;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use dyno_engine::{Home, Registry};
use dyno_files::Output;
use dyno_lab::run::KeptDatabases;
use dyno_record::{Ended, Run, Writer};
use dyno_verdict::{Gate, changed_files};
use signal_hook::consts::SIGINT;

use super::outcome::{AsInput, Exit};
use super::{gate, report, scaling, show};
use crate::cli::{PlaceArgs, RerunArgs, RunArgs};
use crate::commands::registry;
use crate::progress::Progress;
use crate::terminal::say;
use checked::CheckedRequest;
use head::begin;
use measuring::Measuring;
use request::{RunRequest, again};
use site::Site;

pub(super) use causes::execute as causes;
pub(super) use challenge::execute as challenge;
pub(super) use outputs::Outputs;
pub(super) use request::{RunStep, typed};

/// Runs what was typed.
pub fn execute(arguments: &RunArgs) -> Result<Exit> {
    let home = Home::find()?;
    let registry = registry(&home)?;
    let steps = steps(arguments).input()?;
    let [(_, step)] = steps[..] else {
        if !arguments.gate.is_empty() {
            let why = "--gate judges one run: name one size, one number of clients, one delay";
            return Err(anyhow!(why)).input();
        }
        return stepped(arguments, &steps, &home, &registry);
    };
    let request = typed(arguments, step, &home, &registry).input()?;
    let outputs = Outputs::open(&arguments.place, &arguments.inputs())?;
    let mut judged = None;
    let exit = perform(request, &registry, &arguments.place, outputs, |run, path| {
        judged = (!arguments.gate.is_empty()).then(|| dyno_verdict::judge(run));
        show::results(run, path, &arguments.show)
    })?;
    let Some(verdict) = judged else { return Ok(exit) };
    gate::judge(&Gate::of_run(&verdict, &arguments.gate), arguments.show.format, exit)
}

/// The runs of a command line, each with a name for its file.
///
/// # Errors
/// Several values were typed for more than one thing.
fn steps(arguments: &RunArgs) -> Result<Vec<(String, RunStep<'_>)>> {
    let delays = &arguments.delay[..];
    let sizes = [("n", &arguments.n[..]), ("clients", &arguments.clients)];
    let given: Vec<(&str, &[String])> = sizes.into_iter().filter(|(_, values)| !values.is_empty()).collect();
    let (name, values) = match given[..] {
        [] => {
            let step = |delay: &Duration| RunStep { size: None, delay: Some(*delay) };
            let named = |delay: &Duration| (format!("delay{}us", delay.as_micros()), step(delay));
            let steps: Vec<_> = delays.iter().map(named).collect();
            return Ok(if steps.is_empty() { vec![(String::new(), RunStep::default())] } else { steps });
        }
        [given] => given,
        _ => bail!("--n and --clients are parameters of different suites: take the one that yours has"),
    };
    if delays.len() > 1 && values.len() > 1 {
        bail!("--{name} and --delay have several values each: name several of one, and one of the other");
    }
    let delays = if delays.is_empty() { vec![None] } else { delays.iter().copied().map(Some).collect() };
    let steps = delays.into_iter().flat_map(|delay| {
        values.iter().map(move |value| {
            // A part of a file's name, whatever the parameter takes.
            let file = match delay.filter(|_| values.len() == 1) {
                Some(delay) => format!("delay{}us", delay.as_micros()),
                None => format!("{name}{}", value.replace('/', "-")),
            };
            (file, RunStep { size: Some((name, value)), delay })
        })
    });
    Ok(steps.collect())
}

/// Several runs, one after another, and then all of them side by side.
fn stepped(
    arguments: &RunArgs,
    steps: &[(String, RunStep)],
    home: &Home,
    registry: &Registry,
) -> Result<Exit> {
    scaling::check(arguments.show.format)?;
    let mut paths = Vec::new();
    let place = &arguments.place;
    outputs::check_sizes(place, steps.iter().map(|(file, _)| file.as_str()), &arguments.inputs()).input()?;
    // One page for all of them, at the end.
    let mut page = outputs::page(place)?;
    let ended = each_step(arguments, steps, (home, registry), &mut paths);
    match ended {
        Ok(Exit::Signal(_)) | Err(_) => {
            // Those that are done are shown; what ended the others is reported, whatever becomes of that.
            if paths.len() > 1 {
                let _ = side_by_side(&paths, &mut page, arguments);
            }
            ended
        }
        Ok(exit) => side_by_side(&paths, &mut page, arguments).map(|()| exit),
    }
}

/// Shows several runs, and writes their page.
fn side_by_side(paths: &[PathBuf], page: &mut Option<Output>, arguments: &RunArgs) -> Result<()> {
    scaling::show(paths, arguments.show.format)?;
    if let Some(page) = page {
        report::write_files(paths, page, None)?;
        say_where(page, arguments.place.quiet);
    }
    Ok(())
}

/// Does a run for each step, until one fails or dyno is interrupted. Adds to `paths` the files of those that were not
/// interrupted.
fn each_step(
    arguments: &RunArgs,
    steps: &[(String, RunStep)],
    (home, registry): (&Home, &Registry),
    paths: &mut Vec<PathBuf>,
) -> Result<Exit> {
    let mut worst = Exit::Done;
    for (file, step) in steps {
        let request = typed(arguments, *step, home, registry).input()?;
        let outputs = Outputs::of_size(&arguments.place, file)?;
        let shown = |run: &Run, path: &Path| {
            if run.ended != Ended::Interrupted {
                paths.push(path.to_owned());
            }
            show::results(run, path, &arguments.show)
        };
        match perform(request, registry, &arguments.place, outputs, shown)? {
            Exit::Done => {}
            Exit::Signal(signal) => return Ok(Exit::Signal(signal)),
            other => worst = other,
        }
    }
    Ok(worst)
}

/// Runs what a run file says, with the suite as it was then.
pub fn rerun(arguments: &RerunArgs) -> Result<Exit> {
    let home = Home::find()?;
    let registry = registry(&home)?;
    let old = dyno_record::load(&arguments.run).input()?;
    let request = again(arguments, old.clone(), &home, &registry)?;
    let outputs = Outputs::open(&arguments.place, &outputs::inputs_of(&arguments.run, &old))?;
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
    mut request: RunRequest,
    registry: &Registry,
    place: &PlaceArgs,
    outputs: Outputs,
    show: impl FnOnce(&Run, &Path) -> Result<Exit>,
) -> Result<Exit> {
    let agents = driven::prepare(&mut request, place).input()?;
    let mut checked = CheckedRequest::new(request, registry, place)?;
    let site = Site::prepare(&checked.request, place, agents)?;
    let interrupts = site.options.interrupts.clone();
    let mut servers = network::servers(&site, &checked.request.limits);
    checked.keep_available(&site, &mut servers)?;
    let mut progress = Progress::new(place.quiet);
    let interrupted = || {
        say("dyno: interrupted before the first trial; nothing is kept");
        Ok(Exit::Signal(interrupts.signal().unwrap_or(SIGINT)))
    };
    let Some(plan) = checked.plan(&site, place, &mut progress)? else { return interrupted() };
    let agents = match driven::start(&site) {
        Err(_) if interrupts.signal().is_some() => return interrupted(),
        started => started?,
    };
    let mut run = begin(checked.request, &plan, &site, agents, place.made_by.clone());
    let (output, page) = outputs.named(&run)?;
    // Before any measuring: a full disk is found out now.
    let mut file = Writer::create(output, &run)?;
    let mut kept =
        place.keep.then(|| KeptDatabases::new(&site.scratch, &dyno_record::results_folder())).transpose()?;
    let (plan, every) = (&plan, place.progress);
    let measuring = Measuring {
        plan,
        site: &site,
        servers: &mut servers,
        file: &mut file,
        kept: kept.as_mut(),
        every,
        progress: &mut progress,
    };
    let measured = measuring.perform(&mut run);
    progress.finish();
    let kept = kept.map(|kept| kept::hand_over(kept, &run, plan)).transpose();
    // Servers first: their folders are within the scratch folder.
    drop(servers);
    drop(site);
    let shown = show(&run, file.path())?;
    kept?.iter().flatten().for_each(|line| say(line));
    measured?;
    conclude(&run, file.output(), page, place.quiet)?;
    Ok(match interrupts.signal() {
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
            // Without a name, `dyno show` leaves it out.
            false if run.is_altered() => {
                format!("The run is kept in {shown}; `dyno show` with this name shows it.")
            }
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
