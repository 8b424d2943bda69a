//! Probes of isolation: one trial of a contender, outside of what is measured, whose answers are histories.

use anyhow::{Result, bail};
use dyno_plan::Plan;
use dyno_protocol::Sample;
use dyno_record::{Answer, ProbeRecord};

use crate::run::Observer;
use crate::scratch::Scratch;
use crate::trial::{Outcome, Servers, Trial, TrialOptions};

/// The test that only makes the tables.
const TABLES: &str = "tables";

/// Lets contenders do the probes.
pub struct Prober<'a> {
    /// The work of the trials.
    pub plan: &'a Plan,
    /// The rules for running trials.
    pub conduct: &'a TrialOptions,
    /// The folder for files.
    pub scratch: &'a Scratch,
    /// The servers and file systems of the contenders.
    pub servers: &'a mut Servers,
}

impl Prober<'_> {
    /// The histories of a contender, by its position in the plan. A trial that fails, or is interrupted, has those of the
    /// probes before.
    ///
    /// # Errors
    /// The trial could not begin.
    pub fn probe(&mut self, contender: usize, observer: &mut dyn Observer) -> Result<Vec<ProbeRecord>> {
        let contender = &self.plan.contenders[contender];
        if let Some(missing) = contender.missing() {
            bail!(missing);
        }
        let place = self.servers.place(contender)?;
        let directory = self.scratch.trial_in(&place)?;
        let mut job = self.plan.job(contender, directory.path());
        let served = self.conduct.attach(contender, &mut job, self.servers)?;
        let trial = self.conduct.run_tidily(contender, &job, served.as_ref(), |_| {})?;
        trial.left.iter().for_each(|left| observer.warn(left));
        Ok(histories(&trial))
    }
}

fn histories(trial: &Trial) -> Vec<ProbeRecord> {
    let done = trial.samples.iter().zip(&trial.answers).filter(|(sample, _)| sample.test != TABLES);
    let mut histories: Vec<ProbeRecord> = done.map(|(sample, answer)| history(sample, answer)).collect();
    if let Outcome::Failed { test, message } = &trial.outcome {
        histories.push(ProbeRecord {
            probe: test.clone().unwrap_or_else(|| TABLES.to_owned()),
            failed: Some(message.clone()),
            ..ProbeRecord::default()
        });
    }
    histories
}

fn history(sample: &Sample, answer: &Answer) -> ProbeRecord {
    let retried = sample.classes.iter().map(|class| class.retried).sum();
    let (probe, committed) = (sample.test.clone(), sample.operations);
    let failed = (!answer.is_complete()).then(|| "its history is larger than what is kept".to_owned());
    ProbeRecord { probe, committed, retried, history: answer.kept.clone(), failed }
}
