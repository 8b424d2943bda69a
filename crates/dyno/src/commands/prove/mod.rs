//! `dyno prove`: what survives power cuts and kills.

mod controls;
mod maker;
mod table;

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dyno_engine::{Contender, Home, Registry, proofs, split_list};
use dyno_lab::interrupts::Interrupts;
use dyno_lab::key;
use dyno_lab::scratch::{self, Scratch};
use dyno_protocol::Hello;
use dyno_prove::disk::{self, faults::Faults, files, recorder};
use dyno_prove::proof::{Effort, Proof, Workshop};
use dyno_prove::refuge::Refuge;
use dyno_record::{Safety, Survival};
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
    /// The file in which the results are kept, for later tables of the same contenders.
    kept_in: Option<PathBuf>,
}

/// One subject and what became of it.
#[derive(Debug, Default, Serialize)]
struct Proved {
    label: String,
    /// The engine's version, its build and the settings in force, where it is an engine of dyno's.
    #[serde(flatten)]
    hello: Option<Hello>,
    /// What its settings promise, and how far; none of a program of the user's.
    promised: Option<Safety>,
    /// Whether that was kept; none where nothing is promised, or where a loss would not have been noticed.
    kept: Option<bool>,
    /// How it was broken.
    breaches: Vec<String>,
    proof: Option<Proof>,
    /// Why there is none.
    why_not: Option<String>,
    /// Whether it is kept for later tables.
    is_kept: bool,
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
    let mut report = Report { seed, controls, subjects: Vec::new(), kept_in: None };
    if let (Some(command), Some(check)) = (&arguments.command, &arguments.check) {
        let program = maker.program(command, check);
        let mut proved = Proved::new(command);
        proved.take(workshop.prove(&program, effort, &|what| tell("the command", what)));
        report.subjects.push(proved);
    }
    let is_sound = report.controls.as_ref().is_some_and(Controls::behaved);
    for contender in contenders {
        workshop.interrupts.check()?;
        let mut proved = prove(contender, arguments.commits, &maker, &workshop, effort, &tell);
        if is_sound {
            report.kept_in = keep(contender, &mut proved, effort)?.or(report.kept_in);
        }
        report.subjects.push(proved);
    }
    workshop.interrupts.check()?;
    match arguments.format {
        TextFormat::Table => print(&table::render(&report))?,
        TextFormat::Json => print(&dyno_show::pretty(&report)?)?,
    };
    let is_whole = report.subjects.iter().all(|proved| proved.proof.is_some());
    let is_believed = report.controls.as_ref().is_none_or(Controls::behaved);
    Ok(if is_whole && is_believed { Exit::Done } else { Exit::Incomplete })
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
        proved.hello = Some(hello);
        let subject = maker.subject(contender, commits)?;
        workshop.prove(subject.as_ref(), effort, &|what| tell(&contender.label, what))
    });
    proved.take(proof);
    proved
}

/// Keeps what was found for later tables, and says where; nothing where it proves nothing.
fn keep(contender: &Contender, proved: &mut Proved, effort: Effort) -> Result<Option<PathBuf>> {
    let (Some(hello), Some(proof)) = (&proved.hello, &proved.proof) else { return Ok(None) };
    if !proof.notices_loss || proof.incomplete.is_some() {
        return Ok(None);
    }
    let survival = Survival {
        dyno: env!("CARGO_PKG_VERSION").to_owned(),
        proved: jiff::Timestamp::now().to_string(),
        file_system: files::TYPE.to_owned(),
        seed: effort.seed,
        clients: 1,
        commits: proof.observed.commits,
        flushes: proof.observed.flushes,
        cuts: proof.cuts,
        kills: proof.kills,
        failure: proof.failures.first().map(table::failure),
    };
    let path = proofs::add(&proofs::keep(contender, hello, survival))?;
    proved.is_kept = true;
    Ok(Some(path))
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
                    self.breaches = proofs::breaches(claimed, &proof.cuts, &proof.kills);
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
