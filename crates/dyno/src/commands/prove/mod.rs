//! `dyno prove`: what survives power cuts and kills.

mod controls;
mod table;

use std::env;

use anyhow::{Context, Result, bail};
use dyno_engine::{Contender, Home, Registry, split_list};
use dyno_lab::interrupts::Interrupts;
use dyno_lab::key;
use dyno_lab::scratch::{self, Scratch};
use dyno_prove::disk::{self, faults::Faults, recorder};
use dyno_prove::proof::{Effort, Proof, Workshop};
use dyno_prove::refuge;
use dyno_prove::subject::{Embedded, Program, Subject};
use serde::Serialize;

use super::{Exit, Input, print};
use crate::cli::{ProveArgs, RecorderArgs, TextFormat};
use crate::terminal;
use controls::Controls;

/// The name of the hidden command that records a disk.
const RECORDER: &str = "prove-recorder";

/// Everything that was found, as `--format json` prints it.
#[derive(Debug, Serialize)]
struct Report {
    /// Where chance began: the same seed tries the same cuts of the same history.
    seed: u64,
    /// How the two contenders behaved of which it is known how they must.
    controls: Option<Controls>,
    subjects: Vec<Proved>,
}

/// One subject and what became of it.
#[derive(Debug, Serialize)]
struct Proved {
    label: String,
    /// What is known of the engine's version and the settings in force, where it is an engine of dyno's.
    engine_version: Option<String>,
    settings: Vec<dyno_protocol::InForce>,
    proof: Option<Proof>,
    /// Why there is none.
    why_not: Option<String>,
}

/// Somebody to prove, by name.
struct Named {
    label: String,
    subject: Box<dyn Subject>,
    /// Who answered, where somebody can be asked.
    embedded: Option<Embedded>,
}

/// Records a disk until it is unmounted.
pub fn record(arguments: &RecorderArgs) -> Result<Exit> {
    recorder::serve(&arguments.disk, &arguments.log, Faults::new(arguments.fault))?;
    Ok(Exit::Done)
}

/// Proves each contender.
pub fn execute(arguments: &ProveArgs) -> Result<Exit> {
    let registry = Registry::load(&Home::find()?)?;
    let names = arguments.with.iter().flat_map(|list| split_list(list));
    let mut contenders =
        names.map(|name| Contender::parse(&name, &registry)).collect::<Result<Vec<_>>>().input()?;
    for contender in &contenders {
        check(contender).input()?;
    }
    key::give(&mut contenders, None).input()?;
    let interrupts = Interrupts::listen()?;
    let scratch = Scratch::create(&scratch::default_parent())?;
    let place = refuge::enter(scratch.folder())?;
    let inputs = place.join("inputs");
    std::fs::create_dir(&inputs).context("cannot make a folder for inputs")?;
    let workshop = Workshop { place, recorder: program()?, interrupts: interrupts.clone() };
    let embedded = |contender: Contender, commits| Embedded {
        contender,
        commits,
        inputs: inputs.clone(),
        patience: arguments.timeout,
        interrupts: interrupts.clone(),
    };
    let seed = arguments.seed.map_or_else(dyno_lab::run::fresh_seed, Ok)?;
    let effort = Effort { cuts: arguments.cuts, kills: arguments.kills, seed };
    let tell = |label: &str, what: &str| {
        if !arguments.quiet {
            terminal::say(&format!("{label}: {what}"));
        }
    };
    let controls = Controls::try_both(&registry, &workshop, seed, &embedded, &tell)?;
    let mut subjects: Vec<Named> = Vec::new();
    if let (Some(command), Some(check)) = (&arguments.command, &arguments.check) {
        let (command, check) = (command.clone(), check.clone());
        let program =
            Program { command: command.clone(), check, patience: arguments.timeout, interrupts: interrupts.clone() };
        subjects.push(Named { label: command, subject: Box::new(program), embedded: None });
    }
    for contender in contenders {
        let label = contender.label.clone();
        let asked = embedded(contender.clone(), arguments.commits);
        subjects.push(Named { label, subject: Box::new(embedded(contender, arguments.commits)), embedded: Some(asked) });
    }
    let mut report = Report { seed, controls, subjects: Vec::new() };
    for named in &subjects {
        report.subjects.push(prove(named, &workshop, effort, &tell)?);
    }
    match arguments.format {
        TextFormat::Table => print(&table::render(&report))?,
        TextFormat::Json => print(&dyno_show::pretty(&report)?)?,
    };
    let is_whole = report.subjects.iter().all(|proved| proved.proof.is_some());
    let is_sound = report.controls.as_ref().is_none_or(Controls::behaved);
    Ok(if is_whole && is_sound { Exit::Done } else { Exit::Incomplete })
}

/// Proves one; what keeps it from being proved is a part of the result.
fn prove(named: &Named, workshop: &Workshop, effort: Effort, tell: &dyn Fn(&str, &str)) -> Result<Proved> {
    let hello = named.embedded.as_ref().map(|embedded| {
        let folder = tempfile::tempdir_in(&workshop.place)?;
        embedded.hello(folder.path())
    });
    let mut proved = Proved {
        label: named.label.clone(),
        engine_version: None,
        settings: Vec::new(),
        proof: None,
        why_not: None,
    };
    let proof = match hello.transpose() {
        Ok(hello) => {
            if let Some(hello) = hello {
                proved.engine_version = Some(hello.engine_version);
                proved.settings = hello.settings;
            }
            workshop.prove(named.subject.as_ref(), effort, &|what| tell(&named.label, what))
        }
        Err(error) => Err(error),
    };
    workshop.interrupts.check()?;
    match proof {
        Ok(proof) => proved.proof = Some(proof),
        Err(error) => proved.why_not = Some(format!("{error:#}")),
    }
    Ok(proved)
}

/// Whether a contender can be proved at all.
fn check(contender: &Contender) -> Result<()> {
    if contender.engine.is_server() {
        bail!("{}: dyno prove does not start servers yet", contender.label);
    }
    if contender.engine.harness {
        bail!("{}: it keeps no data", contender.label);
    }
    if contender.file_system.is_some() {
        bail!("{}: dyno prove has file systems of its own and mounts no encrypted one", contender.label);
    }
    Ok(())
}

/// dyno itself as the recorder.
fn program() -> Result<disk::Program> {
    let path = env::current_exe().context("cannot find dyno's own program")?;
    Ok(disk::Program { path, arguments: vec![RECORDER.to_owned()] })
}
