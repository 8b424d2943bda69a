//! The durations of operations of a contender that is the fastest, compared with those of the next: most is not soonest, so the
//! sentence that names the fastest also says how long operations took, where the samples show a difference.
//!
//! For each class of operations two figures of each trial are compared, block by block: the time within which 99 % of them
//! were done, and the longest. All of these comparisons, of all rankings of a run, share one chance of error.

use dyno_record::{Quantity, Run};

use crate::disturbance::Disturbances;
use crate::figures::{figures, is_of_all_trials, takes_in_failed};
use crate::pairs::log_ratios;
use crate::ranking::{LevelRanking, WaitsApart};
use crate::statistics::{Compared, MIN_BLOCKS, ratio_of_logs, significant};
use crate::test_verdict::TestVerdict;
use crate::uneven::beyond;

/// A share that all operations stay within: the longest of them.
const ALL: f64 = 1.0;

/// A comparison that may be said: where it belongs, and its samples.
struct Candidate {
    ranking: usize,
    waits: WaitsApart,
    logs: Vec<f64>,
}

/// Adds to each ranking that names a fastest the durations that differ most between it and the next.
pub(crate) fn add_waits(
    run: &Run,
    disturbances: &Disturbances,
    tests: &[TestVerdict],
    rankings: &mut [LevelRanking],
) {
    if run.trials.iter().any(|trial| trial.latency) {
        return;
    }
    let pairs = rankings.iter().enumerate().filter_map(|(place, ranking)| Some((place, first_two(ranking)?)));
    let all: Vec<Candidate> =
        pairs.flat_map(|(place, pair)| candidates(run, disturbances, tests, place, pair)).collect();
    let compared: Vec<Compared> =
        all.iter().map(|one| Compared { logs: one.logs.clone(), weight: 1.0 }).collect();
    let margin = run.schedule.margin.ln_1p();
    for (candidate, holds) in all.into_iter().zip(significant(&compared)) {
        let is_beyond = ratio_of_logs(&candidate.logs).is_some_and(|ratio| ratio.ratio.ln().abs() > margin);
        let longest = |waits: &WaitsApart| waits.fastest_ns.max(waits.next_ns);
        let known = &mut rankings[candidate.ranking].waits;
        let is_longer = known.as_ref().is_none_or(|known| longest(known) < longest(&candidate.waits));
        if holds && is_beyond && is_longer {
            *known = Some(candidate.waits);
        }
    }
}

/// The fastest contender of a ranking, and the next.
fn first_two(ranking: &LevelRanking) -> Option<(usize, usize)> {
    let fastest = ranking.ranks.iter().find(|rank| rank.fastest)?;
    let next = ranking.ranks.iter().find(|rank| rank.behind)?;
    Some((fastest.contender, next.contender))
}

/// Every comparison of the durations of two contenders that has blocks enough to show a difference.
fn candidates(
    run: &Run,
    disturbances: &Disturbances,
    tests: &[TestVerdict],
    ranking: usize,
    (fastest, next): (usize, usize),
) -> Vec<Candidate> {
    let candidate = |test: &str, class: &str, share: f64| {
        let quantity = Quantity::Response { class: class.to_owned(), share };
        let record = run.tests.iter().find(|known| known.id == test)?;
        let (own, points) = figures(run, disturbances, fastest, test, &quantity);
        let (other, others) = figures(run, disturbances, next, test, &quantity);
        let is_known = |contender, found| {
            beyond(run, disturbances, contender, record, class, share).is_none()
                && !takes_in_failed(run, disturbances, contender, test, &quantity)
                && is_of_all_trials(run, contender, test, (&quantity, found))
        };
        if share < ALL && !(is_known(fastest, &own) && is_known(next, &other)) {
            return None;
        }
        let logs = log_ratios(&points, &others);
        let (fastest_ns, next_ns) = (own.summary?.median, other.summary?.median);
        let waits = WaitsApart { test: test.to_owned(), class: class.to_owned(), share, fastest_ns, next_ns };
        (logs.len() >= MIN_BLOCKS).then_some(Candidate { ranking, waits, logs })
    };
    let tests = tests.iter().filter(|test| test.is_of_means() && !test.is_sought());
    let classes = tests.flat_map(|test| classes(run, &test.id).into_iter().map(|class| (&test.id, class)));
    classes
        .flat_map(|(test, class)| {
            [0.99, ALL].into_iter().filter_map(move |share| candidate(test, class, share))
        })
        .collect()
}

/// The classes of operations of a test that were timed in measured trials.
fn classes<'r>(run: &'r Run, test: &str) -> Vec<&'r str> {
    let samples = run.trials.iter().filter(|trial| trial.is_measured()).flat_map(|trial| &trial.samples);
    let its = samples.filter(|sample| sample.sample.test == test);
    let mut names: Vec<&str> = Vec::new();
    for class in its.flat_map(|sample| &sample.sample.classes) {
        if !names.contains(&class.class.as_str()) {
            names.push(&class.class);
        }
    }
    names
}
