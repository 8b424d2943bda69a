//! Trials of `--sustain`, which seeks the highest rate at which a target holds. The verdict chooses the next rate; this
//! module plans the arrivals at it and records whether the target held.

use anyhow::Result;
use dyno_protocol::{Job, Sample, Work};
use dyno_record::{RateAttempt, Run};

use super::Runner;

/// The rate that a trial tries in one test, with the number of operations that are due at it.
#[derive(Debug, Clone)]
pub(super) struct TriedRate {
    test: String,
    rate: f64,
    due: u64,
    clients: u32,
}

impl Runner<'_> {
    /// Replaces the steps of the mixes in a job by arrivals at the next rates of a contender (by position). A mix without
    /// a next rate keeps its steps.
    ///
    /// # Errors
    /// The arrivals cannot be written.
    pub(super) fn plan_arrivals(
        &self,
        run: &Run,
        contender: usize,
        block: u32,
        job: &mut Job,
    ) -> Result<Vec<TriedRate>> {
        let mut tried = Vec::new();
        for test in &mut job.tests {
            let Work::Mix(mix) = &mut test.work else { continue };
            let Some(rate) = (self.next_rate)(run, contender, &test.id) else { continue };
            let arriving = self.plan.arriving(&test.id, rate, block)?;
            mix.steps = vec![arriving.steps];
            let (test, clients) = (test.id.clone(), mix.clients);
            tried.push(TriedRate { test, rate: arriving.rate, due: arriving.due, clients });
        }
        Ok(tried)
    }
}

/// The judgement whether the target held in a sample at the rate that was tried; None if its test tried no rate.
pub(super) fn judge_rate(run: &Run, tried: &[TriedRate], sample: &Sample) -> Option<RateAttempt> {
    let TriedRate { rate, due, clients, .. } = tried.iter().find(|tried| tried.test == sample.test)?;
    Some(run.schedule.sustain?.judge(*rate, *due, *clients, sample))
}
