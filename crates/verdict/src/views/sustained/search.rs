//! A search for a rate: what is known of it, where to try next, and whether that is enough.

use dyno_record::{Run, SampleRecord};

use super::outcome::{Outcome, SustainedLine, Try};
use crate::disturbance::Disturbances;
use crate::figures::stands;
use crate::statistics::{MIN_BLOCKS, Threshold, median};

/// The first guess, as a share of the rate of closed clients: those are never idle, and their operations never queue
/// after a burst of arrivals.
const GUESS: f64 = 0.7;

/// The state of the search for one contender in one test.
pub(super) struct Search {
    pub closed: f64,
    /// Measured duration of a trial, in seconds.
    seconds: f64,
    pub tries: Vec<Try>,
}

impl Search {
    /// None before a trial in which its clients were not held back.
    pub fn new(run: &Run, disturbances: &Disturbances, contender: usize, test: &str) -> Option<Search> {
        let its = run.trials.iter().filter(|trial| trial.contender == contender && !trial.is_extra());
        let its = its.filter(|trial| stands(run, trial));
        let samples = its.flat_map(|trial| trial.samples.iter().map(|sample| (trial.block, sample)));
        let samples: Vec<(u32, &SampleRecord)> =
            samples.filter(|(_, sample)| sample.sample.test == test).collect();
        let rates = samples.iter().filter(|(_, sample)| sample.sought.is_none()).map(|(_, sample)| {
            sample.sample.operations as f64 / sample.sample.section.nanoseconds.max(1) as f64 * 1e9
        });
        let closed = median(&rates.collect::<Vec<_>>()).filter(|closed| *closed > 0.0)?;
        let seconds = samples.last()?.1.sample.section.nanoseconds as f64 / 1e9;
        let tries = samples.iter().filter(|(block, _)| disturbances.counts(*block));
        let tries = tries.filter_map(|&(block, sample)| Some(Try { block, sought: sample.sought? }));
        Some(Search { closed, seconds, tries: tries.collect() })
    }

    pub fn threshold(&self) -> Option<Threshold> {
        threshold(self.closed, &self.tries)
    }

    pub fn outcome(&self) -> Option<Outcome> {
        let rates =
            |held: bool| self.tries.iter().map(|each| each.sought).filter(move |sought| sought.held == held);
        let highest = rates(true).map(|sought| sought.rate).reduce(f64::max);
        let lowest = rates(false).map(|sought| sought.rate).reduce(f64::min);
        Some(match (highest, lowest) {
            (None, None) => return None,
            (Some(rate), None) => Outcome::AtLeast { rate },
            (None, Some(rate)) => Outcome::NotSustained { rate },
            (Some(_), Some(_)) => {
                let threshold = self.threshold()?;
                let interval = (self.tries.len() >= MIN_BLOCKS).then(|| threshold.interval());
                Outcome::Sustains { rate: threshold.median(), interval }
            }
        })
    }
}

impl SustainedLine {
    /// The estimate of the sustained rate, available once the target has held in one trial and failed in another.
    pub(crate) fn threshold(&self) -> Option<Threshold> {
        let is_between = matches!(self.outcome, Outcome::Sustains { .. });
        threshold(self.closed, &self.tries).filter(|_| is_between)
    }
}

fn threshold(closed: f64, tries: &[Try]) -> Option<Threshold> {
    let results: Vec<(f64, bool)> =
        tries.iter().map(|Try { sought, .. }| (sought.rate, sought.held)).collect();
    Threshold::new(GUESS * closed, &results)
}

/// The rate of the next trial of a contender (by position) in a test (by id) of a run that seeks one. It is not so low that
/// the target would allow no operation to be late. None where there is nothing to seek, and where its clients begin an operation as soon as they are
/// free, so that the scale becomes known.
pub fn next_rate(run: &Run, contender: usize, test: &str) -> Option<f64> {
    let target = run.target_of(test)?;
    let search = Search::new(run, &Disturbances::new(run), contender, test)?;
    let least = 1.0 / (1.0 - target.share) / search.seconds;
    let next = search.threshold()?.next().max(least);
    // Rates as people write them.
    Some(if next < 100.0 { (next * 100.0).round() / 100.0 } else { next.round() })
}

/// Returns true if the rate that a contender (by position) sustains in a test (by id) is known as closely as the run
/// wants, or further trials would not narrow it.
pub(crate) fn is_found(run: &Run, disturbances: &Disturbances, contender: usize, test: &str) -> bool {
    let Some(search) = Search::new(run, disturbances, contender, test) else { return false };
    let is_enough = search.tries.len() >= MIN_BLOCKS;
    is_enough
        && match search.outcome() {
            Some(Outcome::Sustains { rate, interval: Some(interval) }) => {
                interval.relative_half_width(rate) <= run.schedule.target
            }
            Some(Outcome::AtLeast { .. } | Outcome::NotSustained { .. }) => true,
            _ => false,
        }
}
