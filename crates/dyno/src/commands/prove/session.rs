//! One use of `dyno prove`: it tries each subject, and records what it observed.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use dyno_engine::{Contender, Registry, proofs};
use dyno_lab::machine;
use dyno_lab::server::identified;
use dyno_prove::context::{Effort, Named, ProofContext, StorageKind};
use dyno_prove::subject::Subject;
use dyno_record::{
    DURABILITY_SCHEMA, DurabilityAbout, DurabilityProof, DurabilityRecord, DurabilitySubject, EVIDENCE,
    Level, Safety, Standing, Survival,
};
use dyno_show::durability;
use dyno_verdict::behaved;

use super::controls;
use super::maker::{Maker, UNSYNCED};
use crate::cli::ProveArgs;
use crate::terminal;

/// One use of the command: how each subject is proved.
pub(super) struct Session<'a> {
    pub arguments: &'a ProveArgs,
    pub context: &'a ProofContext,
    pub maker: &'a Maker<'a>,
    pub seed: u64,
}

impl Session<'_> {
    /// Proves the controls, then the command, the contenders and the importers.
    pub(super) fn record(
        &self,
        registry: &Registry,
        contenders: &[Contender],
        imports: Vec<(String, Box<dyn Subject>)>,
        no_cuts: Option<String>,
    ) -> Result<DurabilityRecord> {
        let progress = |label: &str, what: &str| self.progress(label, what);
        let began = jiff::Timestamp::now().to_string();
        let controls = controls::try_both(registry, self.context, self.seed, self.maker, &progress)?;
        let is_sound = controls.as_ref().is_some_and(behaved);
        let about = DurabilityAbout {
            schema: DURABILITY_SCHEMA.to_owned(),
            dyno: env!("CARGO_PKG_VERSION").to_owned(),
            began,
            seed: self.seed,
            storage: self.context.storage.name().to_owned(),
            only_posix: self.context.storage == StorageKind::Files,
            asked_cuts: self.arguments.cuts > 0,
            no_cuts,
            controls,
            kept_in: None,
        };
        let mut record = DurabilityRecord { about, subjects: Vec::new() };
        record.subjects.extend(self.command());
        for contender in contenders {
            self.context.interrupts.check()?;
            let mut subject = self.contender(contender);
            if is_sound {
                match keep(contender, &mut subject, self.context) {
                    Ok(path) => record.about.kept_in = path.or(record.about.kept_in),
                    Err(error) => terminal::say(&format!("dyno: {error:#}")),
                }
            }
            record.subjects.push(subject);
        }
        for (label, import) in imports {
            self.context.interrupts.check()?;
            record.subjects.push(self.import(&label, import.as_ref()));
        }
        self.context.interrupts.check()?;
        Ok(record)
    }

    /// The user's own program, if one is named.
    fn command(&self) -> Option<DurabilitySubject> {
        let (command, check) = (self.arguments.command.as_ref()?, self.arguments.check.as_ref()?);
        let program = self.maker.program(command, check);
        let label = self.arguments.label.as_ref().unwrap_or(command);
        let mut proved = named(label);
        let again = ["--command", command, "--check", check, "--label", label].map(String::from);
        let proof = self.prove("the command", label, &program, again.to_vec());
        take(&mut proved, proof, (self.context.storage, self.seed, 1));
        Some(proved)
    }

    /// A reason not to prove a contender is a part of the result.
    fn contender(&self, contender: &Contender) -> DurabilitySubject {
        let arguments = self.arguments;
        let mut proved = named(&contender.label);
        proved.promised = contender.claimed.clone();
        let proof = self.maker.hello(contender).and_then(|hello| {
            proved.hello = Some(hello);
            let subject = self.maker.subject(contender, arguments)?;
            let label = &contender.label;
            let numbers = [arguments.commits, arguments.clients_of_one()].map(|number| number.to_string());
            let again =
                ["--with", label, "--commits", &numbers[0], "--clients", &numbers[1]].map(String::from);
            let threads = arguments.threads.then(|| "--threads".to_owned());
            let again = again.into_iter().chain(threads).collect();
            self.prove(label, label, subject.as_ref(), again)
        });
        take(&mut proved, proof, (self.context.storage, self.seed, arguments.clients_of_one()));
        proved
    }

    fn import(&self, label: &str, subject: &dyn Subject) -> DurabilitySubject {
        let mut proved = named(label);
        proved.promised = Some(import_promise(label));
        let again = vec!["--import".to_owned(), self.arguments.import.join(",")];
        let proof = self.prove(label, label, subject, again);
        take(&mut proved, proof, (self.context.storage, self.seed, 1));
        proved
    }

    /// Proves a subject. `shown` names it in the progress, and `again` are the arguments that look at it again, but for
    /// those that choose what the power is cut of.
    fn prove(
        &self,
        shown: &str,
        label: &str,
        subject: &dyn Subject,
        again: Vec<String>,
    ) -> Result<DurabilityProof> {
        let arguments = self.arguments;
        let effort = Effort {
            cuts: arguments.cuts,
            kills: arguments.kills,
            rounds: arguments.rounds as usize,
            // A contender that loses commits at power cuts anyway is not judged by what a failing device takes.
            errors: !arguments.no_errors && arguments.cuts > 0,
            seed: self.seed,
        };
        let again = [storage_arguments(arguments), again].concat();
        let named = Named { subject, label, again: &again };
        self.context.prove(named, effort, &|what| self.progress(shown, what))
    }

    fn progress(&self, label: &str, what: &str) {
        if !self.arguments.quiet {
            terminal::say(&format!("{label}: {what}"));
        }
    }
}

/// The arguments that choose what the power is cut of.
fn storage_arguments(arguments: &ProveArgs) -> Vec<String> {
    let name =
        |value: Option<PossibleValue>| value.map_or_else(String::new, |value| value.get_name().to_owned());
    let device = name(arguments.device.to_possible_value());
    let file_system = name(arguments.file_system.to_possible_value());
    ["--device".to_owned(), device, "--file-system".to_owned(), file_system].to_vec()
}

/// The promise of `dyno import`: all or nothing, and all once it says so, unless an option asks it to sync nothing.
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
        nodes: None,
        survival: None,
    }
}

/// Keeps what was found for later tables, and says where; nothing where it proves nothing.
fn keep(
    contender: &Contender,
    proved: &mut DurabilitySubject,
    context: &ProofContext,
) -> Result<Option<PathBuf>> {
    let (Some(hello), Some(proof), Some(survival)) = (&proved.hello, &proved.proof, &proved.survival) else {
        return Ok(None);
    };
    if !proof.notices_loss || proof.incomplete.is_some() {
        return Ok(None);
    }
    let file_system = match context.storage {
        StorageKind::Disk(system) => system.name().to_owned(),
        StorageKind::Folder => machine::storage(&context.place)?.file_system,
        // It says nothing of any file system that there is.
        StorageKind::Files => return Ok(None),
    };
    let survival = Survival { file_system, ..survival.clone() };
    let path = proofs::add(&proofs::keep(contender, &identified(contender, hello), survival))?;
    proved.is_kept = true;
    Ok(Some(path))
}

/// The findings of a proof, as they are kept and compared with a promise.
fn survival(proof: &DurabilityProof, storage: StorageKind, seed: u64, clients: u64) -> Survival {
    Survival {
        dyno: env!("CARGO_PKG_VERSION").to_owned(),
        evidence: EVIDENCE,
        proved: jiff::Timestamp::now().to_string(),
        file_system: storage.name().to_owned(),
        seed,
        clients,
        commits: proof.observed.commits,
        flushes: (storage != StorageKind::Folder).then_some(proof.observed.flushes),
        calls: proof.calls.as_ref().map(|seen| seen.calls),
        cuts: proof.cuts,
        drawn: (proof.cuts.tried > 0).then_some(proof.drawn),
        runs: proof.runs as u64,
        harmed_runs: (proof.cuts.tried > 0).then_some(proof.harmed_runs as u64),
        garbage: Some(proof.garbage).filter(|garbage| garbage.tried > 0 && proof.cuts.is_whole()),
        upkeep: proof.upkeep.clone(),
        unflushed: if storage == StorageKind::Folder { 0 } else { proof.observed.unflushed },
        kills: proof.kills,
        errors: proof.failed_devices(),
        restarts: proof.restarts(),
        failure: proof.failures.first().map(durability::failure),
    }
}

/// A subject of which nothing is known yet.
fn named(label: &str) -> DurabilitySubject {
    DurabilitySubject { label: label.to_owned(), ..DurabilitySubject::default() }
}

fn take(
    subject: &mut DurabilitySubject,
    proof: Result<DurabilityProof>,
    (storage, seed, clients): (StorageKind, u64, u64),
) {
    match proof {
        Ok(proof) => {
            subject.survival = Some(survival(&proof, storage, seed, clients));
            subject.proof = Some(proof);
        }
        Err(error) => subject.why_not = Some(format!("{error:#}")),
    }
}
