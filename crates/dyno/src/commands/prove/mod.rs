//! `dyno prove`: what survives power cuts and kills.

mod again;
mod controls;
mod damage;
mod maker;
mod place;
mod table;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use dyno_engine::{Contender, Home, Registry, proofs, split_list};
use dyno_lab::interrupts::Interrupts;
use dyno_lab::key;
use dyno_lab::machine;
use dyno_lab::scratch::{self, Scratch};
use dyno_lab::server::identified;
use dyno_protocol::Hello;
use dyno_prove::calls;
use dyno_prove::disk::{faults::Faults, recorder};
use dyno_prove::posix;
use dyno_prove::proof::{Effort, Named, Proof, ProofContext};
use dyno_prove::storage::StorageKind;
use dyno_prove::subject::Subject;
use dyno_record::{EVIDENCE, Level, Safety, Standing, Survival, Tally};
use serde::Serialize;

use super::outcome::{Exit, Input, print};
use crate::cli::{FilesArgs, ProveArgs, RecorderArgs, TextFormat, WatcherArgs};
use crate::terminal;
use controls::Controls;
use maker::{Maker, UNSYNCED};
use place::Place;

/// Everything that was found, as `--format json` prints it.
#[derive(Debug, Serialize)]
struct Report {
    /// Where chance began: the same seed tries the same cuts of the same history.
    seed: u64,
    /// What the power was cut of.
    ground: &'static str,
    /// Why it was not cut, if it was not.
    no_cuts: Option<String>,
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
    /// What of it is kept.
    #[serde(skip)]
    survival: Option<Survival>,
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

/// Records files until they are unmounted.
pub fn record_files(arguments: &FilesArgs) -> Result<Exit> {
    posix::serve(&arguments.folder, &arguments.log)?;
    Ok(Exit::Done)
}

/// Watches the system calls of a process until it ends.
pub fn watch(arguments: &WatcherArgs) -> Result<Exit> {
    calls::serve(arguments.process)?;
    Ok(Exit::Done)
}

/// Proves each contender.
pub fn execute(arguments: &ProveArgs) -> Result<Exit> {
    let registry = Registry::load(&Home::find()?)?;
    let named = |lists: &[String]| -> Result<Vec<Contender>> {
        let names = lists.iter().flat_map(|list| split_list(list));
        let mut contenders =
            names.map(|name| Contender::parse(&name, &registry)).collect::<Result<Vec<_>>>()?;
        contenders.iter().try_for_each(|contender| check(contender, arguments))?;
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
    let parent = scratch::default_parent();
    let scratch = Scratch::create_or(&parent, scratch::BY_TMPDIR)?;
    let place = Place::find(arguments, &scratch, interrupts)?;
    let workshop = &place.workshop;
    let maker = Maker::new(&scratch, &workshop.place, arguments.timeout, interrupts)?;
    let seed = arguments.seed.map_or_else(dyno_lab::run::fresh_seed, Ok)?;
    // What a failing device takes means nothing of one that loses commits without it, which cuts tell.
    let errors = !arguments.no_errors && arguments.cuts > 0;
    let rounds = arguments.rounds as usize;
    let effort = Effort { cuts: arguments.cuts, kills: arguments.kills, rounds, errors, seed };
    let progress = |label: &str, what: &str| {
        if !arguments.quiet {
            terminal::say(&format!("{label}: {what}"));
        }
    };
    let imports = importers.iter().map(|contender| maker.imports(contender)).collect::<Result<Vec<_>>>()?;
    let imports: Vec<(String, Box<dyn Subject>)> = imports.into_iter().flatten().collect();
    if let Some(folder) = &arguments.again {
        return again::look(folder, workshop, again::subjects(arguments, contenders, imports, &maker)?);
    }
    let controls = Controls::try_both(registry, workshop, seed, &maker, &progress)?;
    let no_cuts = place.no_cuts.clone();
    let ground = workshop.ground.name();
    let mut report = Report { seed, ground, no_cuts, controls, subjects: Vec::new(), kept_in: None };
    if let (Some(command), Some(check)) = (&arguments.command, &arguments.check) {
        let program = maker.program(command, check);
        let label = arguments.label.as_ref().unwrap_or(command);
        let mut proved = Proved::new(label);
        let again = [
            ground_arguments(arguments),
            ["--command", command, "--check", check, "--label", label].map(String::from).to_vec(),
        ];
        let again = again.concat();
        let named = Named { subject: &program, label, again: &again };
        proved.take(
            workshop.prove(named, effort, &|what| progress("the command", what)),
            (workshop.ground, seed, 1),
        );
        report.subjects.push(proved);
    }
    let is_sound = report.controls.as_ref().is_some_and(Controls::behaved);
    for contender in contenders {
        workshop.interrupts.check()?;
        let mut proved = prove(contender, arguments, &maker, workshop, effort, &progress);
        if is_sound {
            match keep(contender, &mut proved, workshop) {
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
        let again =
            [ground_arguments(arguments), vec!["--import".to_owned(), arguments.import.join(",")]].concat();
        let named = Named { subject: subject.as_ref(), label: &label, again: &again };
        proved
            .take(workshop.prove(named, effort, &|what| progress(&label, what)), (workshop.ground, seed, 1));
        report.subjects.push(proved);
    }
    workshop.interrupts.check()?;
    match arguments.format {
        TextFormat::Table => print(&table::render(&report))?,
        TextFormat::Json => print(&dyno_show::pretty(&report)?)?,
    };
    let is_whole = report.subjects.iter().all(|proved| proved.proof.is_some());
    let is_believed = report.controls.as_ref().is_none_or(Controls::behaved);
    let is_cut = report.no_cuts.is_none() || arguments.cuts == 0;
    let is_own = |proved: &&Proved| proved.promised.is_none() && proved.hello.is_none();
    Ok(match is_whole && is_believed && is_cut {
        false => Exit::Incomplete,
        true if report.subjects.iter().filter(is_own).any(Proved::is_refuted) => Exit::Refuted,
        true if report.subjects.iter().any(|proved| !proved.is_known()) => Exit::Incomplete,
        true => Exit::Done,
    })
}

/// Proves one; what keeps it from being proved is a part of the result.
fn prove(
    contender: &Contender,
    arguments: &ProveArgs,
    maker: &Maker,
    workshop: &ProofContext,
    effort: Effort,
    progress: &dyn Fn(&str, &str),
) -> Proved {
    let mut proved = Proved::new(&contender.label);
    proved.promised = contender.claimed.clone();
    let proof = maker.hello(contender).and_then(|hello| {
        proved.hello = Some(hello);
        let subject = maker.subject(contender, arguments)?;
        let label = &contender.label;
        let numbers = [arguments.commits, arguments.clients].map(|number| number.to_string());
        let again = ["--with", label, "--commits", &numbers[0], "--clients", &numbers[1]].map(String::from);
        let threads = arguments.threads.then(|| "--threads".to_owned()).into_iter().collect();
        let again = [ground_arguments(arguments), again.to_vec(), threads].concat();
        let named = Named { subject: subject.as_ref(), label, again: &again };
        workshop.prove(named, effort, &|what| progress(label, what))
    });
    proved.take(proof, (workshop.ground, effort.seed, arguments.clients));
    proved
}

/// The arguments that choose what the power is cut of.
fn ground_arguments(arguments: &ProveArgs) -> Vec<String> {
    let name =
        |value: Option<PossibleValue>| value.map_or_else(String::new, |value| value.get_name().to_owned());
    let device = name(arguments.device.to_possible_value());
    let file_system = name(arguments.file_system.to_possible_value());
    ["--device".to_owned(), device, "--file-system".to_owned(), file_system].to_vec()
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
fn keep(contender: &Contender, proved: &mut Proved, workshop: &ProofContext) -> Result<Option<PathBuf>> {
    let (Some(hello), Some(proof), Some(survival)) = (&proved.hello, &proved.proof, &proved.survival) else {
        return Ok(None);
    };
    if !proof.notices_loss || proof.incomplete.is_some() {
        return Ok(None);
    }
    let file_system = match workshop.ground {
        StorageKind::Disk(system) => system.name().to_owned(),
        StorageKind::Folder => machine::storage(&workshop.place)?.file_system,
        // It says nothing of any file system that there is.
        StorageKind::Files => return Ok(None),
    };
    let survival = Survival { file_system, ..survival.clone() };
    let path = proofs::add(&proofs::keep(contender, &identified(contender, hello), survival))?;
    proved.is_kept = true;
    Ok(Some(path))
}

/// What a proof found, as it is kept and as it is held against a promise.
fn survival(proof: &Proof, ground: StorageKind, seed: u64, clients: u64) -> Survival {
    Survival {
        dyno: env!("CARGO_PKG_VERSION").to_owned(),
        evidence: EVIDENCE,
        proved: jiff::Timestamp::now().to_string(),
        file_system: ground.name().to_owned(),
        seed,
        clients,
        commits: proof.observed.commits,
        flushes: (ground != StorageKind::Folder).then_some(proof.observed.flushes),
        calls: proof.calls.as_ref().map(|seen| seen.calls),
        cuts: proof.cuts,
        drawn: (proof.cuts.tried > 0).then_some(proof.drawn),
        runs: proof.runs as u64,
        harmed_runs: (proof.cuts.tried > 0).then_some(proof.harmed_runs as u64),
        garbage: Some(proof.garbage).filter(|garbage| garbage.tried > 0 && proof.cuts.is_whole()),
        upkeep: proof.upkeep.clone(),
        unflushed: if ground == StorageKind::Folder { 0 } else { proof.observed.unflushed },
        kills: proof.kills,
        errors: proof.failed_devices(),
        restarts: proof.restarts(),
        failure: proof.failures.first().map(table::failure),
    }
}

impl Proved {
    /// Nothing yet.
    fn new(label: &str) -> Proved {
        Proved { label: label.to_owned(), ..Proved::default() }
    }

    /// Whether a program that promises to keep what it acknowledges did otherwise: it lost commits, was found broken, did not
    /// come to its end, or acknowledged nothing.
    fn is_refuted(&self) -> bool {
        self.proof.as_ref().is_some_and(|proof| {
            let harmed = |tally: &Tally| tally.survived < tally.tried;
            let errors = proof.failed_devices().unwrap_or_default();
            let is_harmed = [&proof.cuts, &proof.kills, &errors].into_iter().any(harmed);
            is_harmed
                || proof.observed.unflushed > 0
                || proof.observed.commits == 0
                || proof.incomplete.is_some()
        })
    }

    /// Whether looks at its data came to a verdict, where any were tried.
    fn is_known(&self) -> bool {
        self.proof.as_ref().is_some_and(|proof| proof.late == 0 || proof.cuts.tried + proof.kills.tried > 0)
    }

    fn take(&mut self, proof: Result<Proof>, (ground, seed, clients): (StorageKind, u64, u64)) {
        match proof {
            Ok(proof) => {
                let survival = survival(&proof, ground, seed, clients);
                if let Some(claimed) = &self.promised {
                    self.breaches = proofs::breaches(claimed, &survival);
                    // Where no power was cut, a promise about that was not tried.
                    let is_tried = claimed.level != Level::PowerLoss || proof.cuts.tried > 0;
                    let is_known = proof.notices_loss && (is_tried || !self.breaches.is_empty());
                    self.kept = is_known.then_some(self.breaches.is_empty());
                }
                (self.proof, self.survival) = (Some(proof), Some(survival));
            }
            Err(error) => self.why_not = Some(format!("{error:#}")),
        }
    }
}

/// Whether a contender can be proved at all.
fn check(contender: &Contender, arguments: &ProveArgs) -> Result<()> {
    let label = &contender.label;
    if contender.engine.harness {
        bail!("{label}: it keeps no data");
    }
    // A key that is made for the run ends with it.
    if (arguments.keep.is_some() || arguments.again.is_some()) && contender.encrypts() && !key::is_given() {
        bail!(
            "{label} encrypts, so what is kept of it can be looked at again only with the same key: set {} to one, now and then",
            key::VARIABLE
        );
    }
    Ok(())
}
