//! The rate of a trial, in a run that seeks the highest at which a target holds. This module does not choose the next
//! rate: it receives the rate, and records the result.

use anyhow::Result;
use dyno_protocol::{Job, Sample, Work};
use dyno_record::{RateAttempt, Run};

use super::Runner;

/// The arrivals in a test of a trial.
#[derive(Debug, Clone)]
pub(super) struct RateSearch {
    test: String,
    rate: f64,
    due: u64,
    clients: u32,
}

impl Runner<'_> {
    /// Has operations arrive in the mixes of a job, at the rates that are next for a contender (by position); a mix
    /// without a next rate stays as it is.
    ///
    /// # Errors
    /// The arrivals cannot be written.
    pub(super) fn seek(
        &self,
        run: &Run,
        contender: usize,
        block: u32,
        job: &mut Job,
    ) -> Result<Vec<RateSearch>> {
        let mut seeking = Vec::new();
        for test in &mut job.tests {
            let Work::Mix(mix) = &mut test.work else { continue };
            let Some(rate) = (self.next_rate)(run, contender, &test.id) else { continue };
            let arriving = self.plan.arriving(&test.id, rate, block)?;
            mix.steps = vec![arriving.steps];
            let (test, clients) = (test.id.clone(), mix.clients);
            seeking.push(RateSearch { test, rate: arriving.rate, due: arriving.due, clients });
        }
        Ok(seeking)
    }
}

/// The result for the target in the test of a sample, if a rate was sought in it.
pub(super) fn sought(run: &Run, seeking: &[RateSearch], sample: &Sample) -> Option<RateAttempt> {
    let RateSearch { rate, due, clients, .. } = seeking.iter().find(|seeking| seeking.test == sample.test)?;
    Some(run.schedule.sustain?.judge(*rate, *due, *clients, sample))
}
