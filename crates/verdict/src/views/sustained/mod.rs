//! The highest rate at which operations may arrive and a target still holds, for each test that searches for it.
//!
//! The rate reported is the one at which the target holds in half of the trials.

pub(crate) mod outcome;
mod search;

use std::collections::BTreeMap;

use dyno_record::Run;

use crate::cell::CellStanding;
use crate::disturbance::Disturbances;
use crate::statistics::Threshold;
use crate::test_verdict::TestVerdict;
use search::Search;

pub use outcome::{Outcome, Sustained, SustainedLine, Try};

pub(crate) use search::is_found;
pub use search::next_rate;

/// The sustained rates of every test shown whose rate was sought.
pub(crate) fn sustained(run: &Run, tests: &[TestVerdict]) -> Vec<Sustained> {
    let disturbances = Disturbances::new(run);
    let judged = tests.iter().filter_map(|test| {
        let target = run.target_of(&test.id)?;
        let searches = run.shown_contenders().filter_map(|(contender, _)| {
            Some((contender, Search::new(run, &disturbances, contender, &test.id)?))
        });
        let searches: BTreeMap<usize, Search> = searches.collect();
        let best = best(run, test, &searches);
        let line = |(&contender, search): (&usize, &Search)| {
            let fewest = target.fewest_due();
            Some(SustainedLine {
                contender,
                outcome: search.outcome()?,
                closed: search.closed,
                tries: search.tries.clone(),
                too_few_due: search.tries.iter().any(|each| each.sought.due < fewest),
                best: best.contains(&contender),
            })
        };
        let lines: Vec<SustainedLine> = searches.iter().filter_map(line).collect();
        (!lines.is_empty()).then(|| Sustained { test: test.id.clone(), target, lines })
    });
    judged.collect()
}

/// Copies the result of each search to the cells of its test.
pub(crate) fn copy_to_cells(sustained: &[Sustained], tests: &mut [TestVerdict]) {
    for found in sustained {
        let cells = tests.iter_mut().filter(|test| test.id == found.test).flat_map(|test| &mut test.cells);
        for cell in cells.filter(|cell| cell.standing == CellStanding::Sought) {
            let line = found.lines.iter().find(|line| line.contender == cell.contender);
            cell.sustained = line.map(|line| line.outcome);
            cell.fastest = line.is_some_and(|line| line.best);
        }
    }
}

/// The contender that sustains the most of each class, by position, where one does. All pairs of a class share an error of 5 % (Bonferroni), since
/// each of them might have been the one that decides.
fn best(run: &Run, test: &TestVerdict, searches: &BTreeMap<usize, Search>) -> Vec<usize> {
    let outcome = |contender: &usize| searches.get(contender).and_then(Search::outcome);
    let known = |contender: &usize| {
        let is_known = matches!(outcome(contender)?, Outcome::Sustains { interval: Some(_), .. });
        Some((*contender, searches.get(contender)?.threshold().filter(|_| is_known)?))
    };
    let is_judged = |contender: &usize| {
        test.cell(*contender).is_some_and(|cell| cell.standing == CellStanding::Sought && !cell.failed)
    };
    // It may sustain more than all others.
    let is_open = |contender: &usize| {
        !is_judged(contender)
            || !matches!(
                outcome(contender),
                Some(Outcome::Sustains { interval: Some(_), .. } | Outcome::NotSustained { .. })
            )
    };
    let mut found = Vec::new();
    for (_, mut members) in run.classes() {
        members.retain(|contender| test.is_answered(*contender));
        let rivals: Vec<(usize, Threshold)> = members.iter().filter_map(known).collect();
        if rivals.len() < 2 || members.iter().any(is_open) {
            continue;
        }
        let Some((_, most)) = rivals.iter().max_by(|a, b| a.1.median().total_cmp(&b.1.median())) else {
            continue;
        };
        let pairs = (rivals.len() * (rivals.len() - 1) / 2) as f64;
        let is_best = |own: &Threshold| {
            own.is_above(most) > 0.025 / pairs || own.median() * (1.0 + run.schedule.margin) >= most.median()
        };
        let mut as_good = rivals.iter().filter(|(_, own)| is_best(own)).map(|(contender, _)| *contender);
        // If several are equally good, none is called the best.
        found.extend(as_good.next().filter(|_| as_good.next().is_none()));
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_protocol::Model;
    use dyno_record::{Isolated, Isolation, RateAttempt, Standing, Target};

    use super::*;
    use crate::judge;

    /// Three equals that search, of which each holds up to a rate.
    fn searched(limits: [f64; 3]) -> Run {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
        let mut run = dyno_record::load(&golden).unwrap();
        let safety = run.contenders[1].safety.clone();
        run.contenders.iter_mut().for_each(|contender| contender.safety.clone_from(&safety));
        run.schedule.sustain = Some(Target { share: 0.99, within_ns: 10_000_000 });
        run.tests[0].model = Model::Mix.name().into();
        let level = Isolation::Serializable;
        let isolated = Isolated { level, standing: Standing::ReadBack, why: String::new(), link: None };
        run.contenders.iter_mut().for_each(|contender| contender.isolation = Some(isolated.clone()));
        let test = run.tests[0].id.clone();
        let mut trials = std::mem::take(&mut run.trials);
        trials.retain(|trial| trial.contender < 3);
        for mut trial in trials {
            let rate = next_rate(&run, trial.contender, &test);
            assert_eq!(rate.is_some(), trial.block > 0, "the first trial measures the scale");
            let held = |rate| rate <= limits[trial.contender];
            let sought = rate.map(|rate| RateAttempt { rate, due: 5000, late: 0, left: 0, held: held(rate) });
            for record in trial.samples.iter_mut().filter(|record| record.sample.test == test) {
                record.sought = sought;
                (record.sample.operations, record.sample.section.nanoseconds) = (4000, 2_000_000_000);
            }
            run.trials.push(trial);
        }
        run
    }

    #[test]
    fn what_is_sustained_is_found_and_only_the_best_has_a_star() {
        let verdict = judge(&searched([1500.0, 1000.0, 700.0]));
        let lines = &verdict.views.sustained[0].lines;
        for (line, limit) in lines.iter().zip([1500.0, 1000.0, 700.0]) {
            let Outcome::Sustains { rate, interval: Some(interval) } = line.outcome else {
                panic!("{line:?}")
            };
            assert!((rate / limit - 1.0).abs() < 0.1 && interval.includes(limit), "{line:?}");
            assert_eq!(line.closed, 2000.0);
        }
        assert_eq!(lines.iter().map(|line| line.best).collect::<Vec<_>>(), [true, false, false]);
        let cells = &verdict.tests[0].cells;
        assert!(
            cells[..3]
                .iter()
                .all(|cell| cell.standing == CellStanding::Sought && cell.figures.summary.is_none())
        );
        assert_eq!(cells.iter().map(|cell| cell.fastest).collect::<Vec<_>>()[..3], [true, false, false]);
        // Of two that sustain the same rate, neither gets the star.
        let lines = &judge(&searched([1500.0, 1490.0, 700.0])).views.sustained[0].lines;
        assert!(lines.iter().all(|line| !line.best), "{lines:?}");
    }

    #[test]
    fn a_search_that_only_holds_or_only_fails_says_how_far_it_came() {
        let verdict = judge(&searched([f64::INFINITY, 0.0, 700.0]));
        let lines = &verdict.views.sustained[0].lines;
        assert!(matches!(lines[0].outcome, Outcome::AtLeast { rate } if rate > 2000.0), "{:?}", lines[0]);
        // Not below a rate at which one may be late in two seconds.
        assert!(matches!(lines[1].outcome, Outcome::NotSustained { rate } if rate == 50.0), "{:?}", lines[1]);
        assert!(lines.iter().all(|line| !line.best), "the first may sustain anything");
    }
}
