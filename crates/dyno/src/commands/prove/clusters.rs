//! `dyno prove` with clusters: nodes are lost while clients make commits.

use std::path::Path;

use anyhow::{Error, Result, bail, ensure};
use dyno_engine::{Contender, Registry, ServerEngine};
use dyno_lab::placement;
use dyno_lab::scratch::{self, Scratch};
use dyno_lab::server::{Account, Installation, identified};
use dyno_launch::Interrupts;
use dyno_prove::cluster::{ClusterOnTrial, FAILOVER_AFTER, check_library, waits};
use dyno_record::{CLUSTER_SCHEMA, ClusterRecord, ClusterSubject, NodeFault};
use dyno_show::clusters;
use dyno_verdict::{ClusterVerdict, judge_clusters};

use super::cluster_controls as controls;
use super::maker::Maker;
use super::outputs::ProofOutputs;
use super::place::ProofPlace;
use crate::cli::{ProofFormat, ProveArgs, ProvedDevice};
use crate::commands::outcome::{AsInput, Exit, print};
use crate::terminal;

/// The number of clients where none is named: one would wait for each commit alone.
const CLIENTS: u64 = 8;

/// The failures after which a contender is given up.
const MOST_FAILURES: usize = 2;

/// True if contenders are clusters.
///
/// # Errors
/// Some are and others not, or an option says nothing of clusters.
pub fn are_clusters(arguments: &ProveArgs, contenders: &[Contender]) -> Result<bool> {
    let clusters = contenders.iter().filter(|contender| contender.cluster.is_some()).count();
    ensure!(
        clusters > 0 || (arguments.tries.is_none() && arguments.faults.is_empty()),
        "--tries and --faults are of the nodes of clusters, and no contender is one"
    );
    if clusters == 0 {
        return Ok(false);
    }
    ensure!(
        clusters == contenders.len() && arguments.command.is_none() && arguments.import.is_empty(),
        "nodes are lost of clusters, and power of one server's disk: prove {} apart from the others",
        contenders.iter().find(|contender| contender.cluster.is_some()).map_or("it", |one| &one.label)
    );
    ensure!(
        arguments.device == ProvedDevice::Disk,
        "the nodes of clusters lose the power of disks: leave out --device posix"
    );
    ensure!(
        arguments.keep.is_none() && arguments.again.is_none(),
        "--keep is of power cuts of one server: of clusters take --out, which dyno show and dyno report read"
    );
    Ok(true)
}

/// Proves clusters.
pub fn execute(
    arguments: &ProveArgs,
    registry: &Registry,
    contenders: &[Contender],
    interrupts: &Interrupts,
) -> Result<Exit> {
    let mut outputs = ProofOutputs::open(arguments).input()?;
    let parent = scratch::default_parent();
    let scratch = Scratch::create_or(&parent, scratch::BY_TMPDIR)?;
    let power = PowerPlace::find(arguments, &scratch, interrupts)?;
    let place = scratch.trial()?;
    let maker = Maker::new(&scratch, place.path(), arguments.timeout, interrupts)?;
    let seed = arguments.seed.map_or_else(dyno_lab::run::fresh_seed, Ok)?;
    let session = Session { arguments, maker: &maker, place: scratch.folder(), power, interrupts, seed };
    let record = session.record(registry, contenders)?;
    // Also where an interrupt ends it: what was found until then is kept and shown.
    let kept = outputs.keep(&record);
    let verdict = judge_clusters(record);
    let exit = show(&verdict, arguments.format)?;
    let paged = outputs.write_page(|| clusters::page(&verdict));
    kept.and(paged)?;
    Ok(interrupts.signal().map_or(exit, Exit::Signal))
}

/// Prints a verdict on clusters; the exit code says what it comes to.
pub fn show(verdict: &ClusterVerdict, format: ProofFormat) -> Result<Exit> {
    print(&match format {
        ProofFormat::Table => clusters::text(verdict),
        ProofFormat::Json => clusters::json(verdict)?,
        ProofFormat::Csv => clusters::csv(verdict)?,
    })?;
    Ok(if verdict.is_sound && verdict.is_complete { Exit::Done } else { Exit::Incomplete })
}

/// The place of disks whose power is cut.
struct PowerPlace {
    /// The faults to try.
    faults: Vec<NodeFault>,
    /// Where it is, if power is cut.
    place: Option<ProofPlace>,
    /// The reason why it is not, though it was not left out.
    no_cuts: Option<String>,
}

impl PowerPlace {
    /// Without `--faults`, a machine that allows no such disks has all other faults tried.
    fn find(arguments: &ProveArgs, scratch: &Scratch, interrupts: &Interrupts) -> Result<PowerPlace> {
        let mut faults: Vec<NodeFault> = match arguments.faults.as_slice() {
            [] => NodeFault::ALL.to_vec(),
            named => named.iter().map(|fault| (*fault).into()).collect(),
        };
        if !faults.contains(&NodeFault::Power) {
            return Ok(PowerPlace { faults, place: None, no_cuts: None });
        }
        let place = ProofPlace::find(arguments, scratch, interrupts)?;
        match place.no_cuts.clone() {
            None => Ok(PowerPlace { faults, place: Some(place), no_cuts: None }),
            Some(why) => {
                ensure!(arguments.faults.is_empty(), "the power of nodes cannot be cut here: {why}");
                faults.retain(|fault| *fault != NodeFault::Power);
                Ok(PowerPlace { faults, place: None, no_cuts: Some(why) })
            }
        }
    }
}

/// One use of the command.
struct Session<'a> {
    arguments: &'a ProveArgs,
    maker: &'a Maker<'a>,
    place: &'a Path,
    power: PowerPlace,
    interrupts: &'a Interrupts,
    seed: u64,
}

impl Session<'_> {
    fn record(&self, registry: &Registry, contenders: &[Contender]) -> Result<ClusterRecord> {
        let mut record = ClusterRecord {
            schema: CLUSTER_SCHEMA.to_owned(),
            dyno: env!("CARGO_PKG_VERSION").to_owned(),
            began: jiff::Timestamp::now().to_string(),
            seed: self.seed,
            clients: self.clients(),
            failover_after_ms: FAILOVER_AFTER.as_millis() as u64,
            no_cuts: self.power.no_cuts.clone(),
            subjects: Vec::new(),
        };
        for contender in contenders {
            record.subjects.push(self.subject(contender, &self.power.faults, None));
            if self.interrupts.signal().is_some() {
                return Ok(record);
            }
        }
        for (control, faults) in controls::of(&record.subjects, &self.power.faults) {
            let loser = Contender::parse(&control.loser_like(contenders), registry)?;
            let control = self.subject(&loser, &faults, Some(control));
            // One that was not tried shows nothing of the others.
            if self.interrupts.signal().is_some() {
                return Ok(record);
            }
            record.subjects.push(control);
        }
        Ok(record)
    }

    /// The reason why a contender was not tried to the end is a part of the result, also if that is an interrupt.
    fn subject(
        &self,
        contender: &Contender,
        faults: &[NodeFault],
        control: Option<controls::Control>,
    ) -> ClusterSubject {
        let (label, promised) = (contender.label.clone(), contender.claimed.clone());
        let shape = contender.cluster;
        let is_control = control.is_some();
        let has_liar = control.is_some_and(|control| control.has_liar);
        let mut subject =
            ClusterSubject { label, is_control, has_liar, shape, promised, ..ClusterSubject::default() };
        let tried = self.prove(contender, faults, &mut subject);
        subject.why_not = tried.err().map(|error| match self.interrupts.signal() {
            Some(_) => "it was interrupted".to_owned(),
            None => format!("{error:#}"),
        });
        subject
    }

    fn prove(&self, contender: &Contender, faults: &[NodeFault], subject: &mut ClusterSubject) -> Result<()> {
        let server = contender.engine.server();
        server.as_ref().map_or(Ok(()), |engine| check_library(engine.speaks))?;
        self.progress(contender, "which settings are in force");
        let hello = self.maker.hello(contender)?;
        subject.promised = contender.safety(&hello.settings);
        subject.hello = Some(identified(contender, &hello));
        let find = |engine: &ServerEngine| Installation::find(engine, &contender.build);
        let installation = server.as_ref().map(find).transpose()?;
        match (&installation, contender.engine.store()) {
            (Some(installation), _) => installation.admit(self.place)?,
            (None, Some(start)) => Account::for_server(&start.account)?.admit(self.place)?,
            (None, None) => bail!("the engine is no server"),
        }
        let placement = placement::choose(None, None)?;
        let on_trial = ClusterOnTrial {
            contender,
            installation: installation.as_ref(),
            has_liar: subject.has_liar,
            clients: self.clients(),
            place: self.place,
            power: self.power.place.as_ref().map(|place| &place.context),
            placement: &placement,
            interrupts: self.interrupts,
        };
        // dyno goes on after one failure: the other tries may succeed.
        let mut failures: Vec<Error> = Vec::new();
        if !subject.is_control {
            self.progress(contender, "how late reads at other nodes are");
            if let Err(error) = on_trial.measure_staleness(subject) {
                self.interrupts.check()?;
                failures.push(error.context("how late reads are could not be measured"));
            }
        }
        let tries = if subject.is_control { controls::TRIES } else { self.tries() };
        let mut waits = waits(self.seed);
        for number in 1..=tries {
            for &fault in faults {
                if subject.is_control && number > 1 && controls::is_settled(subject, fault) {
                    continue;
                }
                self.progress(
                    contender,
                    &format!("{} {number} of {tries}{}", fault.name(), controls::liar(subject)),
                );
                if let Err(error) = on_trial.try_fault(fault, waits.next().unwrap_or_default(), subject) {
                    self.interrupts.check()?;
                    failures.push(error.context(format!("{}, try {number}", fault.name())));
                }
                if failures.len() >= MOST_FAILURES {
                    bail!("{:#}; it was given up after {MOST_FAILURES} failures", failures.swap_remove(0));
                }
            }
        }
        failures.into_iter().next().map_or(Ok(()), Err)
    }

    fn clients(&self) -> u64 {
        self.arguments.clients.unwrap_or(CLIENTS)
    }

    fn tries(&self) -> u64 {
        self.arguments.tries.unwrap_or(3)
    }

    fn progress(&self, contender: &Contender, what: &str) {
        if !self.arguments.quiet {
            terminal::say(&format!("{}: {what}", contender.label));
        }
    }
}
