//! `dyno run` and `dyno rerun`: from the command line to a plan, to trials, to a run file and a table.

mod checked;
mod contenders;
mod counted;
mod driven;
mod file;
mod gate;
mod head;
mod kept;
mod measuring;
mod open_files;
mod outputs;
mod probing;
mod request;
mod site;
mod sustain;
mod timed_statements;
mod trust;
mod typed_contenders;
mod typed_suite;
mod watching;

use std::path::Path;

use anyhow::{Result, anyhow};
use dyno_engine::{Home, Registry};
use dyno_files::Output;
use dyno_lab::run::KeptDatabases;
use dyno_record::{Ended, Run, Writer};
use dyno_verdict::changed_files;
use signal_hook::consts::SIGINT;

use super::outcome::{AsInput, Exit};
use super::{compare, report, scaling, show};
use crate::cli::{PlaceArgs, RerunArgs, RunArgs};
use crate::progress::Progress;
use crate::terminal::say;
use checked::CheckedRequest;
use head::begin;
use measuring::Measuring;
use request::{RunRequest, again};
use site::Site;

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
        [(_, _)] if !arguments.gate.is_empty() => {
            return Err(anyhow!("--gate judges one run: name one size or one number of clients")).input();
        }
        [(name, values)] => return scaled(arguments, name, values, &home, &registry),
        _ => {
            let two =
                anyhow!("--n and --clients are parameters of different suites: take the one that yours has");
            return Err(two).input();
        }
    };
    let request = typed(arguments, size, &home, &registry).input()?;
    let outputs = Outputs::open(&arguments.place)?;
    let mut judged = None;
    let exit = perform(request, &registry, &arguments.place, outputs, |run, path| {
        judged = (!arguments.gate.is_empty()).then(|| dyno_verdict::judge(run));
        show::results(run, path, &arguments.show)
    })?;
    let Some(verdict) = judged else { return Ok(exit) };
    let (lines, exit) = gate::judge(&verdict, &arguments.gate, exit);
    compare::print_gate(&lines, arguments.show.format)?;
    Ok(exit)
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
    let mut servers = site.options.servers(&site.scratch);
    checked.keep_available(&site, &mut servers)?;
    let mut progress = Progress::new(place.quiet);
    let Some(plan) = checked.plan(&site, place, &mut progress)? else {
        say("dyno: interrupted before the first trial; nothing is kept");
        return Ok(Exit::Signal(interrupts.signal().unwrap_or(SIGINT)));
    };
    let agents = driven::start(&site)?;
    let mut run = begin(checked.request, &plan, &site, agents);
    let (output, page) = outputs.named(&run)?;
    // Before any measuring: a full disk is found out now.
    let mut file = Writer::create(output, &run)?;
    let mut kept = place.keep.then(|| KeptDatabases::new(&site.scratch)).transpose()?;
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
