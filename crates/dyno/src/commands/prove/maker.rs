//! Makes those who are on trial of the names that were typed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use dyno_engine::Contender;
use dyno_lab::interrupts::Interrupts;
use dyno_lab::scratch::Scratch;
use dyno_lab::server::Installation;
use dyno_lab::trial::{Conduct, Reply};
use dyno_plan::probe;
use dyno_protocol::Hello;
use dyno_prove::subject::{Embedded, PrivateSubject, Program, Subject};

/// What they all share.
pub struct Maker<'a> {
    scratch: &'a Scratch,
    conduct: Conduct,
    /// Where inputs go.
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
        fs::create_dir(&inputs).context("cannot make a folder for inputs")?;
        let conduct = Conduct { interrupts: interrupts.clone(), ..Conduct::unmeasured(patience)? };
        Ok(Maker { scratch, conduct, inputs })
    }

    /// Who answers for a contender, with the settings in force.
    ///
    /// # Errors
    /// It is not to be had here, or a setting did not take.
    pub fn hello(&self, contender: &Contender) -> Result<Hello> {
        let mut servers = self.conduct.servers(self.scratch);
        let directory = self.scratch.trial()?;
        let hello = match self.conduct.ask(contender, probe(contender, directory.path()), &mut servers) {
            Reply::Here(hello) => *hello,
            Reply::Missing(why) => bail!(why),
            Reply::Interrupted => bail!("interrupted"),
        };
        match contender.engine.differences(&contender.settings, &hello.settings).first() {
            None => Ok(hello),
            Some(difference) => bail!("{difference}"),
        }
    }

    /// A contender on trial.
    ///
    /// # Errors
    /// Its server is not installed.
    pub fn subject(&self, contender: &Contender, commits: u64) -> Result<Box<dyn Subject>> {
        match contender.engine.server() {
            None => Ok(Box::new(self.embedded(contender, commits))),
            Some(engine) => Ok(Box::new(PrivateSubject {
                contender: contender.clone(),
                installation: Installation::find(&engine, &contender.build)?,
                commits,
                placement: self.conduct.placement.clone(),
                patience: self.conduct.timeout,
                interrupts: self.conduct.interrupts.clone(),
            })),
        }
    }

    /// A contender whose engine is within its runner.
    pub fn embedded(&self, contender: &Contender, commits: u64) -> Embedded {
        Embedded {
            contender: contender.clone(),
            commits,
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
