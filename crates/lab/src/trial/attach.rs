//! Servers of jobs: what a job says of the database that is its own.

use anyhow::{Context, Result, bail};
use dyno_engine::{Contender, ScratchServer};
use dyno_protocol::Job;

use super::{Outcome, Servers, TrialOptions};

impl TrialOptions {
    /// Has a job work on its contender's server, if it has one, which is reached first. Returns the server.
    ///
    /// # Errors
    /// The server cannot be reached, or is not the engine's own.
    pub fn attach(
        &self,
        contender: &Contender,
        job: &mut Job,
        servers: &mut Servers,
    ) -> Result<Option<ScratchServer>> {
        let served = servers.reach(contender)?;
        match &served {
            Some(served) => self.serve(contender, job, served, servers)?,
            None => servers.join_store(contender, job)?,
        }
        Ok(served)
    }

    /// Has a job work on a server. The contender's own driver asks one at a URL for its version, the first time.
    ///
    /// # Errors
    /// The server cannot be reached, or is not the engine's own.
    pub fn serve(
        &self,
        contender: &Contender,
        job: &mut Job,
        served: &ScratchServer,
        servers: &mut Servers,
    ) -> Result<()> {
        let version = self.serve_version(contender, job, served, servers.version(contender).cloned())?;
        if contender.url.is_some() {
            servers.take_version(contender, version);
        }
        Ok(())
    }

    /// Has a job work on a server of a version, or of one that is asked for. Returns the version.
    ///
    /// # Errors
    /// The server cannot be reached, or is not the engine's own.
    pub fn serve_version(
        &self,
        contender: &Contender,
        job: &mut Job,
        served: &ScratchServer,
        known: Option<String>,
    ) -> Result<String> {
        let version = match known {
            Some(version) => version,
            None => self.ask_version(contender, &served.question(job))?,
        };
        let engine = contender.engine.server().context("the engine is no server")?;
        engine.version.check(&engine.name, engine.speaks, &version)?;
        served.serve(job, &contender.settings, &version);
        Ok(version)
    }

    fn ask_version(&self, contender: &Contender, question: &Job) -> Result<String> {
        // Only the version is asked for, and no setting.
        let asking = Contender { settings: Vec::new(), ..contender.clone() };
        let trial = self.run(&asking, question, |_| {})?;
        match (trial.outcome, &trial.hello) {
            (Outcome::Finished, Some(hello)) => {
                ScratchServer::version(hello).map(str::to_owned).context("the server reports no version")
            }
            (Outcome::Failed { message, .. }, _) => bail!(message),
            _ => bail!("interrupted"),
        }
    }
}
