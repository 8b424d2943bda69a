//! `dyno prove`: what survives power cuts and kills.

mod again;
mod cluster_controls;
pub(super) mod clusters;
mod controls;
mod maker;
mod outputs;
mod place;
mod session;

use anyhow::{Result, bail};
use dyno_engine::{Contender, Home, Registry, split_list};
use dyno_lab::key;
use dyno_lab::scratch::{self, Scratch};
use dyno_launch::Interrupts;
use dyno_prove::calls;
use dyno_prove::disk::{faults::Faults, recorder};
use dyno_prove::posix;
use dyno_prove::subject::{FOLDER, Subject};
use dyno_show::durability;
use dyno_verdict::{DurabilityOutcome, DurabilityVerdict, judge_durability};

use super::nodes::name_nodes;
use super::outcome::{AsInput, Exit, print};
use crate::cli::{FilesArgs, ProofFormat, ProveArgs, RecorderArgs, WatcherArgs};
use crate::commands::registry;
use maker::Maker;
use outputs::ProofOutputs;
use place::ProofPlace;
use session::Session;

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

/// Refuses a program of the user's that would not learn where its data are.
fn check_folders(arguments: &ProveArgs) -> Result<()> {
    for (option, command) in [("--command", &arguments.command), ("--check", &arguments.check)] {
        let Some(command) = command.as_ref().filter(|command| !command.contains(FOLDER)) else { continue };
        bail!(
            "{option} has no {FOLDER}, which stands for the folder of the data, so the program would not find them: write \
             {option} '{command} {FOLDER}'"
        );
    }
    Ok(())
}

/// Proves each contender.
pub fn execute(arguments: &ProveArgs) -> Result<Exit> {
    let interrupts = Interrupts::listen()?;
    let registry = registry(&Home::find()?)?;
    let named = |lists: &[String]| -> Result<Vec<Contender>> {
        let names = lists.iter().flat_map(|list| split_list(list));
        let mut contenders =
            names.map(|name| Contender::parse(&name, &registry)).collect::<Result<Vec<_>>>()?;
        contenders.iter().try_for_each(|contender| check(contender, arguments))?;
        key::give(&mut contenders, None)?;
        Ok(contenders)
    };
    let mut with: Vec<String> = arguments.with.iter().flat_map(|list| split_list(list)).collect();
    name_nodes(&mut with, arguments.nodes, arguments.node_delay.as_deref(), &registry).input()?;
    let contenders = named(&with).input()?;
    let are_clusters = clusters::are_clusters(arguments, &contenders).input()?;
    let importers = named(&arguments.import).input()?;
    outputs::check(arguments).input()?;
    check_folders(arguments).input()?;
    let proved = match are_clusters {
        true => clusters::execute(arguments, &registry, &contenders, &interrupts),
        false => prove_all(arguments, &registry, &contenders, &importers, &interrupts),
    };
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
    // Before anything is made or mounted.
    let kept = arguments.again.as_deref().map(|folder| again::open(folder, arguments.trust)).transpose()?;
    let mut outputs = ProofOutputs::open(arguments).input()?;
    let parent = scratch::default_parent();
    let scratch = Scratch::create_or(&parent, scratch::BY_TMPDIR)?;
    let place = ProofPlace::find(arguments, &scratch, interrupts)?;
    let maker = Maker::new(&scratch, &place.context.place, arguments.timeout, interrupts)?;
    let imports = importers.iter().map(|contender| maker.imports(contender)).collect::<Result<Vec<_>>>()?;
    let imports: Vec<(String, Box<dyn Subject>)> = imports.into_iter().flatten().collect();
    if let Some(kept) = &kept {
        let subjects = again::subjects(arguments, contenders, imports, &maker)?;
        return again::look(kept, &place.context, subjects);
    }
    let seed = arguments.seed.map_or_else(dyno_lab::run::fresh_seed, Ok)?;
    let session = Session { arguments, context: &place.context, maker: &maker, seed };
    let record = session.record(registry, contenders, imports, place.no_cuts.clone())?;
    let kept = outputs.keep(&record);
    let verdict = judge_durability(record);
    let exit = show(&verdict, arguments.format)?;
    let paged = outputs.write_page(|| durability::page(&verdict));
    kept.and(paged)?;
    Ok(exit)
}

/// Prints a verdict; the exit code says what it comes to.
pub fn show(verdict: &DurabilityVerdict, format: ProofFormat) -> Result<Exit> {
    print(&match format {
        ProofFormat::Table => durability::text(verdict),
        ProofFormat::Json => durability::json(verdict)?,
        ProofFormat::Csv => durability::csv(verdict)?,
    })?;
    Ok(match verdict.outcome {
        DurabilityOutcome::Done => Exit::Done,
        DurabilityOutcome::Refuted => Exit::Refuted,
        DurabilityOutcome::Incomplete => Exit::Incomplete,
    })
}

/// Refuses a contender that cannot be proved.
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
