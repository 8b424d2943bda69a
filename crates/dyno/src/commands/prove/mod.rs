//! `dyno prove`: what survives power cuts and kills.

mod controls;
mod maker;
mod table;

use std::env;

use anyhow::{Context, Result, bail};
use dyno_engine::{Contender, Home, Registry, split_list};
use dyno_lab::interrupts::Interrupts;
use dyno_lab::key;
use dyno_lab::scratch::{self, Scratch};
use dyno_prove::disk::{self, faults::Faults, recorder};
use dyno_prove::judge;
use dyno_prove::proof::{Effort, Proof, Workshop};
use dyno_prove::refuge::Refuge;
use dyno_record::Safety;
use serde::Serialize;

use super::{Exit, Input, print};
use crate::cli::{ProveArgs, RecorderArgs, TextFormat};
use crate::terminal;
use controls::Controls;
use maker::Maker;

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
#[derive(Debug, Default, Serialize)]
struct Proved {
    label: String,
    /// What is known of the engine's version and the settings in force, where it is an engine of dyno's.
    engine_version: Option<String>,
    settings: Vec<dyno_protocol::InForce>,
    /// What its settings promise, and how far; none of a program of the user's.
    promised: Option<Safety>,
    /// Whether that was kept; none where nothing is promised, or where a loss would not have been noticed.
    kept: Option<bool>,
    /// How it was broken.
    breaches: Vec<String>,
    proof: Option<Proof>,
    /// Why there is none.
    why_not: Option<String>,
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
    let proved = prove_all(arguments, &registry, &contenders, &interrupts);
    match interrupts.signal() {
        Some(signal) => Ok(Exit::Signal(signal)),
        None => proved,
    }
}

fn prove_all(
    arguments: &ProveArgs,
    registry: &Registry,
    contenders: &[Contender],
    interrupts: &Interrupts,
) -> Result<Exit> {
    let scratch = Scratch::create(&scratch::default_parent())?;
    // Left before the folder is removed, in which it is.
    let refuge = Refuge::enter(scratch.folder())?;
    let maker = Maker::new(&scratch, refuge.folder(), arguments.timeout, interrupts)?;
    let workshop =
        Workshop { place: refuge.folder().to_owned(), recorder: program()?, interrupts: interrupts.clone() };
    let seed = arguments.seed.map_or_else(dyno_lab::run::fresh_seed, Ok)?;
    let effort = Effort { cuts: arguments.cuts, kills: arguments.kills, errors: !arguments.no_errors, seed };
    let tell = |label: &str, what: &str| {
        if !arguments.quiet {
            terminal::say(&format!("{label}: {what}"));
        }
    };
    let controls = Controls::try_both(registry, &workshop, seed, &maker, &tell)?;
    let mut report = Report { seed, controls, subjects: Vec::new() };
    if let (Some(command), Some(check)) = (&arguments.command, &arguments.check) {
        let program = maker.program(command, check);
        let mut proved = Proved::new(command);
        proved.take(workshop.prove(&program, effort, &|what| tell("the command", what)));
        report.subjects.push(proved);
    }
    for contender in contenders {
        workshop.interrupts.check()?;
        report.subjects.push(prove(contender, arguments.commits, &maker, &workshop, effort, &tell));
    }
    workshop.interrupts.check()?;
    match arguments.format {
        TextFormat::Table => print(&table::render(&report))?,
        TextFormat::Json => print(&dyno_show::pretty(&report)?)?,
    };
    let is_whole = report.subjects.iter().all(|proved| proved.proof.is_some());
    let is_sound = report.controls.as_ref().is_none_or(Controls::behaved);
    Ok(if is_whole && is_sound { Exit::Done } else { Exit::Incomplete })
}

/// Proves one; what keeps it from being proved is a part of the result.
fn prove(
    contender: &Contender,
    commits: u64,
    maker: &Maker,
    workshop: &Workshop,
    effort: Effort,
    tell: &dyn Fn(&str, &str),
) -> Proved {
    let mut proved = Proved::new(&contender.label);
    proved.promised = contender.claimed.clone();
    let proof = maker.hello(contender).and_then(|hello| {
        proved.engine_version = Some(hello.engine_version);
        proved.settings = hello.settings;
        let subject = maker.subject(contender, commits)?;
        workshop.prove(subject.as_ref(), effort, &|what| tell(&contender.label, what))
    });
    proved.take(proof);
    proved
}

impl Proved {
    /// Nothing yet.
    fn new(label: &str) -> Proved {
        Proved { label: label.to_owned(), ..Proved::default() }
    }

    fn take(&mut self, proof: Result<Proof>) {
        match proof {
            Ok(proof) => {
                if let Some(claimed) = &self.promised {
                    self.breaches = judge::breaches(claimed, &proof.cuts, &proof.kills);
                    self.kept = proof.notices_loss.then_some(self.breaches.is_empty());
                }
                self.proof = Some(proof);
            }
            Err(error) => self.why_not = Some(format!("{error:#}")),
        }
    }
}

/// Whether a contender can be proved at all.
fn check(contender: &Contender) -> Result<()> {
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
