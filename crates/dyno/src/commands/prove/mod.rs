//! `dyno prove`: what survives power cuts and kills.

mod again;
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
use dyno_prove::proof::{Effort, Named, Proof, Workshop};
use dyno_prove::refuge::Refuge;
use dyno_prove::subject::Subject;
use dyno_record::{Level, Safety, Standing, Survival};
use serde::Serialize;

use super::{Exit, Input, print};
use crate::cli::{ProveArgs, RecorderArgs, TextFormat};
use crate::terminal;
use controls::Controls;
use maker::{Maker, UNSYNCED};

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
    let named = |lists: &[String]| -> Result<Vec<Contender>> {
        let names = lists.iter().flat_map(|list| split_list(list));
        let mut contenders =
            names.map(|name| Contender::parse(&name, &registry)).collect::<Result<Vec<_>>>()?;
        contenders.iter().try_for_each(check)?;
        key::give(&mut contenders, None)?;
        Ok(contenders)
    };
    let contenders = named(&arguments.with).input()?;
    let importers = named(&arguments.import).input()?;
    let interrupts = Interrupts::listen()?;
    let proved = prove_all(arguments, &registry, &contenders, &importers, &interrupts);
    match interrupts.signal() {
        Some(signal) => Ok(Exit::Signal(signal)),
        None => proved,
    }
}

fn prove_all(
    arguments: &ProveArgs,
    registry: &Registry,
    contenders: &[Contender],
    importers: &[Contender],
    interrupts: &Interrupts,
) -> Result<Exit> {
    let scratch = Scratch::create(&scratch::default_parent())?;
    // Left before the folder is removed, in which it is.
    let refuge = Refuge::enter(scratch.folder())?;
    let maker = Maker::new(&scratch, refuge.folder(), arguments.timeout, interrupts)?;
    let workshop = Workshop {
        place: refuge.folder().to_owned(),
        recorder: program()?,
        interrupts: interrupts.clone(),
        keep: arguments.keep.clone(),
    };
    let seed = arguments.seed.map_or_else(dyno_lab::run::fresh_seed, Ok)?;
    let effort = Effort { cuts: arguments.cuts, kills: arguments.kills, errors: !arguments.no_errors, seed };
    let tell = |label: &str, what: &str| {
        if !arguments.quiet {
            terminal::say(&format!("{label}: {what}"));
        }
    };
    let imports = importers.iter().map(|contender| maker.imports(contender)).collect::<Result<Vec<_>>>()?;
    let imports: Vec<(String, Box<dyn Subject>)> = imports.into_iter().flatten().collect();
    if let Some(folder) = &arguments.again {
        return again::look(folder, &workshop, again::subjects(arguments, contenders, imports, &maker)?);
    }
    let controls = Controls::try_both(registry, &workshop, seed, &maker, &tell)?;
    let mut report = Report { seed, controls, subjects: Vec::new(), kept_in: None };
    if let (Some(command), Some(check)) = (&arguments.command, &arguments.check) {
        let program = maker.program(command, check);
        let mut proved = Proved::new(command);
        let again = ["--command", command, "--check", check].map(String::from);
        let named = Named { subject: &program, label: command, again: &again };
        proved.take(workshop.prove(named, effort, &|what| tell("the command", what)));
        report.subjects.push(proved);
    }
    let is_sound = report.controls.as_ref().is_some_and(Controls::behaved);
    for contender in contenders {
        workshop.interrupts.check()?;
        let mut proved = prove(contender, arguments, &maker, &workshop, effort, &tell);
        if is_sound {
            match keep(contender, &mut proved, effort, arguments.clients) {
                Ok(path) => report.kept_in = path.or(report.kept_in),
                Err(error) => terminal::say(&format!("dyno: {error:#}")),
            }
        }
        report.subjects.push(proved);
    }
    for (label, subject) in imports {
        workshop.interrupts.check()?;
        let mut proved = Proved::new(&label);
        proved.promised = Some(import_promise(&label));
        let again = ["--import".to_owned(), arguments.import.join(",")];
        let named = Named { subject: subject.as_ref(), label: &label, again: &again };
        proved.take(workshop.prove(named, effort, &|what| tell(&label, what)));
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
    arguments: &ProveArgs,
    maker: &Maker,
    workshop: &Workshop,
    effort: Effort,
    tell: &dyn Fn(&str, &str),
) -> Proved {
    let mut proved = Proved::new(&contender.label);
    proved.promised = contender.claimed.clone();
    let proof = maker.hello(contender).and_then(|hello| {
        proved.hello = Some(hello);
        let subject = maker.subject(contender, arguments.commits, arguments.clients)?;
        let label = &contender.label;
        let numbers = [arguments.commits, arguments.clients].map(|number| number.to_string());
        let again = ["--with", label, "--commits", &numbers[0], "--clients", &numbers[1]].map(String::from);
        let named = Named { subject: subject.as_ref(), label, again: &again };
        workshop.prove(named, effort, &|what| tell(label, what))
    });
    proved.take(proof);
    proved
}

/// What `dyno import` promises: all or nothing, and all once it says so, unless it is told to sync nothing.
fn import_promise(label: &str) -> Safety {
    let is_synced = !label.contains(UNSYNCED);
    Safety {
        level: if is_synced { Level::PowerLoss } else { Level::ProcessCrash },
        consistent: is_synced,
        standing: Standing::Claimed,
        why: "dyno import says so".to_owned(),
        link: None,
        caveat: None,
        hole: None,
        survival: None,
    }
}

/// Keeps what was found for later tables, and says where; nothing where it proves nothing.
fn keep(contender: &Contender, proved: &mut Proved, effort: Effort, clients: u64) -> Result<Option<PathBuf>> {
    let (Some(hello), Some(proof)) = (&proved.hello, &proved.proof) else { return Ok(None) };
    if !proof.notices_loss || proof.incomplete.is_some() {
        return Ok(None);
    }
    let survival = Survival {
        dyno: env!("CARGO_PKG_VERSION").to_owned(),
        proved: jiff::Timestamp::now().to_string(),
        file_system: files::TYPE.to_owned(),
        seed: effort.seed,
        clients,
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
    Ok(())
}

/// dyno itself as the recorder.
fn program() -> Result<disk::Program> {
    let path = env::current_exe().context("cannot find dyno's own program")?;
    Ok(disk::Program { path, arguments: vec![RECORDER.to_owned()] })
}
