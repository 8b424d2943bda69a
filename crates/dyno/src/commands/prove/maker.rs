//! Makes those who are on trial of the names that were typed.

use std::env;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use dyno_engine::{Contender, Protocol, ServerEngine};
use dyno_lab::scratch::Scratch;
use dyno_lab::server::Installation;
use dyno_lab::trial::{Reply, TrialOptions};
use dyno_launch::Interrupts;
use dyno_plan::probe;
use dyno_protocol::{Hello, Model};
use dyno_prove::subject::{
    Embedded, Encrypted, Import, PrivateSubject, Program, ServerImport, SqliteImport, Subject,
};

use crate::cli::ProveArgs;

/// The engine whose data several processes may share as they are.
const SEVERAL: &str = "sqlite";
/// The label of an import that syncs nothing: the control, which must lose.
pub const UNSYNCED: &str = "unsynced";

/// The parts that all subjects share.
pub struct Maker<'a> {
    scratch: &'a Scratch,
    conduct: TrialOptions,
    /// The folder of inputs.
    inputs: PathBuf,
}

impl Maker<'_> {
    /// Inputs go to a folder within `place`.
    pub fn new<'a>(
        scratch: &'a Scratch,
        place: &Path,
        patience: Duration,
        interrupts: &Interrupts,
    ) -> Result<Maker<'a>> {
        let inputs = place.join("inputs");
        DirBuilder::new().mode(0o700).create(&inputs).context("cannot make a folder for inputs")?;
        let conduct = TrialOptions { interrupts: interrupts.clone(), ..TrialOptions::unmeasured(patience)? };
        Ok(Maker { scratch, conduct, inputs })
    }

    /// The program that answers for a contender, with the settings in force.
    ///
    /// # Errors
    /// It is not to be had here, or a setting did not take.
    pub fn hello(&self, contender: &Contender) -> Result<Hello> {
        let mut servers = self.conduct.servers(self.scratch);
        let directory = self.scratch.trial()?;
        let hello = match self.conduct.ask(contender, probe(contender, directory.path()), &mut servers) {
            Reply::Here(hello) => *hello,
            Reply::Missing(why) | Reply::Broken { why, .. } => bail!(why),
            Reply::Interrupted(_) => bail!("interrupted"),
        };
        match contender.engine.differences(&contender.settings, &hello.settings).first() {
            None => Ok(hello),
            Some(difference) => bail!("{difference}"),
        }
    }

    /// A contender on trial.
    ///
    /// # Errors
    /// Its server is not installed, or its driver has no clients that are threads.
    pub fn subject(&self, contender: &Contender, arguments: &ProveArgs) -> Result<Box<dyn Subject>> {
        let &ProveArgs { commits, threads, .. } = arguments;
        let clients = arguments.clients_of_one();
        let inner: Box<dyn Subject> = match contender.engine.server() {
            None => {
                let threads = threads || contender.engine.name != SEVERAL;
                let Contender { runner, driver, variant, .. } = contender;
                let has_mix = runner.implements(driver, variant.as_ref(), Model::Mix.name());
                if clients > 1 && threads && !has_mix {
                    bail!(
                        "{} shares its data with no other process, and its driver has no clients that are threads: try it with one client",
                        contender.label
                    );
                }
                Box::new(Embedded { clients, threads, ..self.embedded(contender, commits) })
            }
            Some(engine) => Box::new(self.server(contender, &engine, commits, clients)?),
        };
        Ok(match (contender.file_system, &contender.key) {
            (Some(_), Some(key)) => {
                Box::new(Encrypted { inner, key: key.clone(), placement: self.conduct.placement.clone() })
            }
            _ => inner,
        })
    }

    fn server(
        &self,
        contender: &Contender,
        engine: &ServerEngine,
        commits: u64,
        clients: u64,
    ) -> Result<PrivateSubject> {
        Ok(PrivateSubject {
            contender: with_early_upkeep(contender),
            installation: Installation::find(engine, &contender.build)?,
            commits,
            clients,
            placement: self.conduct.placement.clone(),
            patience: self.conduct.timeout,
            interrupts: self.conduct.interrupts.clone(),
        })
    }

    /// The imports into a contender's databases, each with its name: into a new and an existing database of SQLite;
    /// with one connection and with several into a server that takes both.
    ///
    /// # Errors
    /// `dyno import` does not reach it, or it is not installed.
    pub fn imports(&self, contender: &Contender) -> Result<Vec<(String, Box<dyn Subject>)>> {
        let label = &contender.label;
        let program = env::current_exe().context("cannot find dyno's own program")?;
        let import = |arguments: &[&str]| Import::new(program.clone(), &self.inputs, arguments);
        let Some(engine) = contender.engine.server() else {
            if contender.engine.name != SEVERAL {
                bail!("dyno import loads into {SEVERAL} and servers, and {label} is not one of these");
            }
            let into = |arguments: &[&str], is_existing| -> Result<Box<dyn Subject>> {
                let look = self.embedded(contender, 1);
                Ok(Box::new(SqliteImport { import: import(arguments)?, look, is_existing }))
            };
            let unsynced = ["--safety", "process-crash"];
            return Ok(vec![
                (format!("import new {label}"), into(&[], false)?),
                (format!("import existing {label}"), into(&[], true)?),
                (format!("import {UNSYNCED} {label}"), into(&unsynced, false)?),
            ]);
        };
        let into = |arguments: &[&str]| -> Result<Box<dyn Subject>> {
            let server = self.server(contender, &engine, 1, 1)?;
            Ok(Box::new(ServerImport { import: import(arguments)?, server }))
        };
        Ok(match engine.speaks {
            Protocol::Postgres => vec![
                (format!("import {label} at once"), into(&["--connections", "1"])?),
                (format!("import {label} by three"), into(&["--connections", "3"])?),
            ],
            Protocol::MySql => vec![(format!("import {label}"), into(&[])?)],
        })
    }

    /// A contender whose engine is within its runner.
    pub fn embedded(&self, contender: &Contender, commits: u64) -> Embedded {
        Embedded {
            contender: with_early_upkeep(contender),
            commits,
            clients: 1,
            threads: false,
            inputs: self.inputs.clone(),
            patience: self.conduct.timeout,
            interrupts: self.conduct.interrupts.clone(),
        }
    }

    /// A program of the user's.
    pub fn program(&self, command: &str, check: &str) -> Program {
        Program {
            command: command.to_owned(),
            check: check.to_owned(),
            patience: self.conduct.timeout,
            interrupts: self.conduct.interrupts.clone(),
        }
    }
}

/// The contender as it works: with limits so small that its upkeep comes within a few commits.
fn with_early_upkeep(contender: &Contender) -> Contender {
    let mut contender = contender.clone();
    let limits = contender.engine.early_upkeep(&contender.settings);
    contender.settings.extend(limits);
    contender
}
