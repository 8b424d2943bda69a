//! Asking a contender's runner who it is, untimed: whether it can be had here, and what is missing if not.

use anyhow::Result;
use dyno_engine::Contender;
use dyno_protocol::{Build, Hello, Job};

use super::{Conduct, Interrupts, Outcome, Servers};

/// What came of asking.
#[derive(Debug)]
pub enum Reply {
    /// It is at hand.
    Here(Box<Hello>),
    /// What is missing, and how it is had.
    Missing(String),
    /// Its runner broke off before it could report what is missing: it crashed, hung or wrote nonsense.
    Broken(String),
    /// Somebody asked the run to stop meanwhile.
    Interrupted,
}

impl Conduct {
    /// Asks a contender, by a job without tests.
    pub fn ask(&self, contender: &Contender, mut job: Job, servers: &mut Servers) -> Reply {
        if let Some(missing) = contender.missing() {
            return Reply::Missing(missing);
        }
        let mut trial = || -> Result<_> {
            job.server = servers.reach(contender)?;
            let trial = self.run(&contender.runner.command(), &job, |_| {})?;
            if contender.url.is_some() && trial.outcome != Outcome::Finished && trial.may_have_connected {
                self.tidy(contender, &job);
            }
            Ok(trial)
        };
        let why = match trial().map(|trial| (trial.outcome, trial.hello, trial.may_have_connected)) {
            Ok((Outcome::Interrupted, ..)) => return Reply::Interrupted,
            Ok((Outcome::Finished, Some(hello), _)) => return Reply::Here(Box::new(hello)),
            Ok((Outcome::Failed { message, .. }, _, true)) => return Reply::Broken(message),
            Ok((Outcome::Failed { message, .. }, ..)) => message,
            Ok((Outcome::Finished, None, _)) => "the runner did not say who it is".to_owned(),
            Err(_) if self.interrupts.signal().is_some() => return Reply::Interrupted,
            Err(error) => format!("{error:#}"),
        };
        let runner = &contender.runner;
        let known = contender.engine.known_settings();
        let is_usual = contender.settings.iter().all(|setting| known.contains(&setting.name));
        // The runner itself reports what it lacks of the system; a setting that it refuses is no matter of building.
        Reply::Missing(match contender.build == Build::Bundled && is_usual {
            true => format!("{why}; it needs {}; build it with `{}`", runner.needs, runner.build),
            false => why,
        })
    }

    /// Removes what a job that did not finish left on somebody's server: a job without tests makes its database anew and
    /// removes it. An interrupt does not keep it from that. False where it did not come to its end.
    pub(crate) fn tidy(&self, contender: &Contender, job: &Job) -> bool {
        let conduct = Conduct { interrupts: Interrupts::default(), ..self.clone() };
        let job = Job { tests: Vec::new(), ..job.clone() };
        let result = conduct.run(&contender.runner.command(), &job, |_| {});
        matches!(&result, Ok(trial) if trial.outcome == Outcome::Finished)
    }
}
