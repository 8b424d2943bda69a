//! Asking a contender's runner who it is, untimed: whether it can be had here, and what is missing if not.

use std::time::Duration;

use anyhow::Result;
use dyno_engine::{Contender, ScratchServer};
use dyno_launch::Interrupts;
use dyno_protocol::{Build, Hello, Job};

use super::{Outcome, Report, Servers, Trial, TrialOptions};

/// The outcome of asking.
#[derive(Debug)]
pub enum Reply {
    /// It is at hand.
    Here(Box<Hello>),
    /// The missing thing, with advice.
    Missing(String),
    /// Its runner broke off before it could report what is missing: it crashed, hung or wrote nonsense.
    Broken {
        /// The failure.
        why: String,
        /// The database that may be left at a URL, in a sentence.
        left: Option<String>,
    },
    /// A signal came meanwhile. The sentence says which database may be left at a URL.
    Interrupted(Option<String>),
}

/// The longest silence while a database is removed: with it, an interrupted run ends within a minute.
const TO_TIDY: Duration = Duration::from_secs(20);

impl TrialOptions {
    /// Asks a contender, by a job without tests.
    pub fn ask(&self, contender: &Contender, mut job: Job, servers: &mut Servers) -> Reply {
        if let Some(missing) = contender.missing() {
            return Reply::Missing(missing);
        }
        let mut trial = || -> Result<_> {
            let served = self.attach(contender, &mut job, servers)?;
            self.run_tidily(contender, &job, served.as_ref(), |_| {})
        };
        let why = match trial() {
            Err(_) if self.interrupts.signal().is_some() => return Reply::Interrupted(None),
            Err(error) => format!("{error:#}"),
            Ok(trial) => match (trial.outcome, trial.hello) {
                (Outcome::Interrupted, _) => return Reply::Interrupted(trial.left),
                (Outcome::Finished, Some(hello)) => return Reply::Here(Box::new(hello)),
                (Outcome::Finished, None) => "the runner did not report its name".to_owned(),
                (Outcome::Failed { message, .. }, _) if trial.may_have_connected && !trial.is_refused => {
                    return Reply::Broken { why: message, left: trial.left };
                }
                (Outcome::Failed { message, .. }, _) => message,
            },
        };
        let runner = &contender.runner;
        let known = contender.engine.known_settings();
        let is_usual = contender.settings.iter().all(|setting| known.contains(&setting.name));
        // The runner itself reports what it lacks of the system; a setting that it refuses is no matter of building.
        Reply::Missing(match contender.build == Build::Bundled && is_usual {
            true => format!("{why}; it needs {}; build it with `{}`", runner.needs, runner.build_command()),
            false => why,
        })
    }

    /// Runs a contender's job, and removes what one that did not finish left on a server at a URL. Where that cannot be
    /// removed, [`Trial::left`] says so.
    ///
    /// # Errors
    /// The runner cannot be started.
    pub fn run_tidily(
        &self,
        contender: &Contender,
        job: &Job,
        served: Option<&ScratchServer>,
        on_report: impl FnMut(Report),
    ) -> Result<Trial> {
        let mut trial = self.run(contender, job, on_report)?;
        let may_leave = trial.outcome != Outcome::Finished && trial.may_have_connected;
        if let Some(served) = served.filter(|_| may_leave && contender.url.is_some())
            && !self.tidy(contender, &served.removal(job))
        {
            let (scratch, label) = (&served.scratch, &contender.label);
            trial.left =
                Some(format!("the database {scratch} may be left on {label}; it can be dropped by hand"));
        }
        Ok(trial)
    }

    /// Removes a database by a job for that. An interrupt does not keep it from that. Returns false where it did not
    /// come to its end.
    fn tidy(&self, contender: &Contender, removal: &Job) -> bool {
        let timeout = self.timeout.min(TO_TIDY);
        let conduct = TrialOptions { interrupts: Interrupts::default(), timeout, ..self.clone() };
        let result = conduct.run(contender, removal, |_| {});
        matches!(&result, Ok(trial) if trial.outcome == Outcome::Finished)
    }
}
