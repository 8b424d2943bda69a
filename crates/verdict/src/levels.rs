//! Which contender is the fastest, of each test and over all tests, within each class of contenders and never across: of
//! one safety level, and with one commit size where contenders choose it.
//!
//! A class's contenders are compared with its fastest by the geometric mean of their ratios, over the tests that all of
//! the class passed and that are part of means. A mean of unlike things: every text that prints it says so.

use dyno_record::{Class, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::differences::{ComparedFigure, Differences};
use crate::pairs::{logs_by_block, mean_logs_by_block, mean_over};
use crate::statistics::{Best, Ratio};
use crate::test_verdict::TestVerdict;

/// The contenders of one class, the fastest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelRanking {
    /// The safety level and commit size that all of them share.
    #[serde(flatten)]
    pub class: Class,
    /// The number of tests that all of them passed; the means are over these.
    pub tests: usize,
    /// The contenders: the one with the least mean, then the others by their ratio to it, those last of which a trial
    /// failed. Where no test was passed by all, they stand in the order of the run without ratios.
    pub ranks: Vec<Rank>,
}

/// A contender's place within its class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rank {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The geometric mean of its times over those of the first; absent for the first itself, for one of which a trial
    /// failed, and where there is no test to rank by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// True if it is shown to be slower than the first by more than the run's margin, with all comparisons of the table
    /// counted.
    pub slower: bool,
    /// True if all others are shown to be slower than it; at most one is.
    pub fastest: bool,
    /// True if one of its trials failed in one of the tests, so that it is not compared: only the trials that did not
    /// fail have figures, and those may be its quick ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

impl LevelRanking {
    /// Those that no comparison shows to be slower than the first, by position in the run, when there are samples enough
    /// to show it; the first is one of them.
    pub fn undecided(&self) -> impl Iterator<Item = usize> {
        self.ranks.iter().filter(|rank| !rank.slower && !rank.failed).map(|rank| rank.contender)
    }
}

/// Contenders that are compared with each other.
pub(crate) struct Rivals {
    /// The test, class or mean that is compared.
    pub(crate) of: ComparedFigure,
    /// The contenders, by position in the run.
    pub(crate) contenders: Vec<usize>,
    /// For each of them the logarithms of its times, block by block.
    pub(crate) logs: Vec<Vec<Option<f64>>>,
    best: Option<Best>,
}

impl Rivals {
    fn new(of: ComparedFigure, contenders: Vec<usize>, logs: Vec<Vec<Option<f64>>>) -> Rivals {
        let best = Best::of(&logs).filter(|_| contenders.len() > 1);
        Rivals { of, contenders, logs, best }
    }

    /// The best, and for each contender whether it is shown to be slower; none where the samples are too few to show it.
    fn judged(&self, margin: f64, apart: &Differences) -> Option<(usize, Vec<bool>)> {
        let best = self.best.as_ref()?;
        let is_apart =
            |one: usize, other: usize| apart.is(&self.of, self.contenders[one], self.contenders[other]);
        Some((best.best, best.slower(margin, is_apart)))
    }
}

/// The rivals of every line, in the order of the lines: each class of which two or more contenders count.
pub(crate) fn rivals_in_tests(run: &Run, tests: &[TestVerdict]) -> Vec<Rivals> {
    let classes = run.classes();
    let lines = tests.iter().flat_map(TestVerdict::lines).enumerate();
    let rivals = lines.flat_map(|(place, line)| {
        classes.iter().map(move |(_, members)| {
            let cells: Vec<&Cell> = line
                .cells
                .iter()
                .filter(|cell| cell.is_comparable() && members.contains(&cell.contender))
                .collect();
            let logs = cells.iter().map(|cell| logs_by_block(run, &cell.points)).collect();
            Rivals::new(ComparedFigure::Line(place), cells.iter().map(|cell| cell.contender).collect(), logs)
        })
    });
    rivals.filter(|rivals| rivals.contenders.len() > 1).collect()
}

/// Marks the fastest of each line, where one is: every rival is shown to be slower, and their medians are further apart
/// than what measuring costs.
pub(crate) fn mark_fastest(run: &Run, tests: &mut [TestVerdict], rivals: &[Rivals], apart: &Differences) {
    for rivals in rivals {
        let Some((best, slower)) = rivals.judged(run.schedule.margin, apart) else { continue };
        let others = slower.iter().enumerate().filter(|(place, _)| *place != best);
        if !others.clone().all(|(_, slower)| *slower) {
            continue;
        }
        let ComparedFigure::Line(line) = rivals.of else { continue };
        let cells = tests.iter_mut().flat_map(|test| {
            let floor = test.floor_ns.unwrap_or(0.0);
            let responses = test.responses.iter_mut().map(|response| &mut response.cells);
            std::iter::once(&mut test.cells).chain(responses).map(move |cells| (floor, cells))
        });
        let Some((floor, cells)) = cells.into_iter().nth(line) else { continue };
        let median = |cells: &[Cell], contender: usize| {
            let cell = cells.iter().find(|cell| cell.contender == contender)?;
            cell.figures.summary.map(|summary| summary.median)
        };
        let best = rivals.contenders[best];
        let is_alike = |&other: &usize| {
            let apart =
                median(cells, other).zip(median(cells, best)).map(|(other, best)| (other - best).abs());
            other != best && apart.is_some_and(|apart| apart < floor)
        };
        if !rivals.contenders.iter().any(is_alike) {
            cells.iter_mut().filter(|cell| cell.contender == best).for_each(|cell| cell.fastest = true);
        }
    }
}

/// A class before it is ranked.
pub(crate) struct Unranked<'a> {
    class: Class,
    /// All of its contenders, by position.
    members: Vec<usize>,
    tests: Vec<&'a TestVerdict>,
    /// Those of the members of which no trial failed.
    pub(crate) rivals: Rivals,
}

/// The classes, the safest first. Contenders whose level is unknown, those of which no figure counts, and the harness are
/// in none: one that fails everywhere keeps no other from being ranked.
pub(crate) fn unranked<'a>(run: &Run, tests: &'a [TestVerdict]) -> Vec<Unranked<'a>> {
    let takes_part = |rival: &usize| tests.iter().any(|test| test.counts(*rival) || test.is_sought());
    let classes = run.classes().into_iter().map(|(class, mut members)| {
        members.retain(takes_part);
        (class, members)
    });
    let kept = classes.filter(|(_, members)| !members.is_empty());
    kept.map(|(class, members)| {
        let judged: Vec<usize> =
            members.iter().copied().filter(|&member| !failed_in_means(tests, member)).collect();
        // If every contender failed in some test, the tests in which none of them failed say the most.
        let passed = |test: &&TestVerdict| {
            test.is_of_means() && !judged.is_empty() && judged.iter().all(|&rival| test.counts(rival))
        };
        let tests: Vec<&TestVerdict> = tests.iter().filter(passed).collect();
        let logs = judged.iter().map(|&rival| mean_logs_by_block(run, &tests, rival)).collect();
        let rivals = Rivals::new(ComparedFigure::mean(&tests), judged, logs);
        Unranked { class, members, tests, rivals }
    })
    .collect()
}

/// Returns true if a trial of a contender failed in a test that is part of means.
pub(crate) fn failed_in_means(tests: &[TestVerdict], contender: usize) -> bool {
    let mut meant = tests.iter().filter(|test| test.is_of_means());
    meant.any(|test| test.cell(contender).is_some_and(|cell| cell.failed))
}

/// Ranks a class.
pub(crate) fn rank(run: &Run, unranked: &Unranked, apart: &Differences) -> LevelRanking {
    let Unranked { class, members, tests, rivals } = unranked;
    let judged = rivals.judged(run.schedule.margin, apart);
    let first = match &judged {
        Some((best, _)) => Some(rivals.contenders[*best]),
        None => least(run, tests, &rivals.contenders),
    };
    let others_are_slower = judged
        .as_ref()
        .is_some_and(|(best, slower)| (0..slower.len()).all(|place| place == *best || slower[place]));
    let rank = |&contender: &usize| {
        let place = rivals.contenders.iter().position(|&rival| rival == contender);
        let slower = judged.as_ref().zip(place).is_some_and(|((_, slower), place)| slower[place]);
        let over = first.filter(|first| *first != contender && place.is_some());
        Rank {
            contender,
            ratio: over.and_then(|first| mean_over(run, tests, contender, first)),
            slower,
            fastest: others_are_slower && first == Some(contender),
            failed: place.is_none(),
        }
    };
    let mut ranks: Vec<Rank> = members.iter().map(rank).collect();
    if let Some(first) = first {
        let key = |rank: &Rank| rank.ratio.map_or(f64::INFINITY, |ratio| ratio.ratio);
        ranks.sort_by(|a, b| {
            let apart = |rank: &Rank| (rank.contender != first, rank.failed);
            apart(a).cmp(&apart(b)).then(key(a).total_cmp(&key(b)))
        });
    }
    LevelRanking { class: *class, tests: tests.len(), ranks }
}

/// The contender with the smallest geometric mean, however few its samples; none where there is no test to rank by.
fn least(run: &Run, tests: &[&TestVerdict], rivals: &[usize]) -> Option<usize> {
    let first = *rivals.first()?;
    let means = rivals.iter().filter_map(|&rival| Some((rival, mean_over(run, tests, rival, first)?.ratio)));
    means.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(rival, _)| rival)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_protocol::Model;
    use dyno_record::{
        AmountRecord, CacheClass, Commits, Failure, Hole, Isolated, Isolation, Level, OwnCache, Standing,
        Tuning,
    };

    use super::*;
    use crate::cell::CellStanding;
    use crate::judge;

    /// Three SQLites that put a hundred thousand pairs.
    fn run() -> Run {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
        let mut run = dyno_record::load(&golden).unwrap();
        for test in &mut run.tests {
            test.model = Model::KvPut.name().into();
            test.amount = Some(AmountRecord { count: 100_000, bytes: 1, unit: "operations".into() });
        }
        let safety = run.contenders[1].safety.clone();
        run.contenders.iter_mut().for_each(|contender| contender.safety.clone_from(&safety));
        run
    }

    fn reported(run: &Run) -> Vec<(Option<Commits>, usize)> {
        judge(run).rankings.iter().map(|ranking| (ranking.class.commits, ranking.ranks.len())).collect()
    }

    #[test]
    fn only_commits_of_one_size_are_ranked_together() {
        let mut run = run();
        assert_eq!(reported(&run), [(Some(Commits::Whole), 3)]);
        run.contenders[0].per_commit = Some(1);
        run.contenders[1].per_commit = Some(1000);
        run.contenders[2].per_commit = Some(100_000);
        let alone = [Commits::Each(1), Commits::Each(1000), Commits::Whole];
        assert_eq!(reported(&run), alone.map(|commits| (Some(commits), 1)));
        let verdict = judge(&run);
        assert!(verdict.tests.iter().flat_map(|test| &test.cells).all(|cell| !cell.fastest));
        assert!(verdict.summaries.iter().all(|summary| summary.contender == 0 || !summary.same_level));
        run.contenders[0].per_commit = Some(1000);
        assert_eq!(reported(&run), [(Some(Commits::Each(1000)), 2), (Some(Commits::Whole), 1)]);
        slow_down(&mut run, 1, 1000);
        let verdict = judge(&run);
        assert!(verdict.tests.iter().all(|test| test.cells[0].fastest), "{:?}", verdict.tests);
        // Tests that write nothing with the contenders' own commit size are not ranked by that size.
        run.tests.iter_mut().for_each(|test| test.model = Model::KvGet.name().into());
        assert_eq!(reported(&run), [(None, 3)]);
    }

    fn slow_down(run: &mut Run, contender: usize, times: u64) {
        let its = run.trials.iter_mut().filter(|trial| trial.contender == contender);
        for sample in its.flat_map(|trial| &mut trial.samples) {
            sample.sample.section.nanoseconds *= times;
        }
    }

    #[test]
    fn what_only_prepares_is_part_of_no_mean_and_no_rank() {
        let mut run = run();
        slow_down(&mut run, 1, 2);
        let all = judge(&run);
        let (means, ranks) = (all.summaries[1].tests, all.rankings[0].tests);
        assert_eq!(means, ranks);
        for model in [Model::Reopen, Model::KvSettle] {
            let mut run = run.clone();
            run.tests[0].model = model.name().into();
            let verdict = judge(&run);
            assert_eq!((verdict.summaries[1].tests, verdict.rankings[0].tests), (means - 1, ranks - 1));
        }
        run.tests[0].prepares = true;
        let verdict = judge(&run);
        assert_eq!((verdict.summaries[1].tests, verdict.rankings[0].tests), (means - 1, ranks - 1));
        assert!(verdict.tests[0].cells[0].figures.summary.is_some(), "it is shown");
        // It has not failed where another test has.
        let (prepares, other) = (run.tests[0].id.clone(), run.tests[1].id.clone());
        for trial in run.trials.iter_mut().filter(|trial| trial.contender == 0) {
            trial.failure = Some(Failure { test: Some(other.clone()), message: "it is gone".into() });
            trial.samples.clear();
        }
        let verdict = judge(&run);
        assert_eq!(verdict.test(&prepares).unwrap().cells[0].standing, CellStanding::NotReached);
        assert!(matches!(verdict.test(&other).unwrap().cells[0].standing, CellStanding::Missing(_)));
    }

    #[test]
    fn stores_are_ranked_together_only_with_caches_that_are_alike() {
        let mut run = run();
        let caches = |run: &mut Run, bytes: [u64; 3]| {
            for (contender, bytes) in run.contenders.iter_mut().zip(bytes) {
                contender.cache = Some(OwnCache { bytes, default: true });
            }
        };
        caches(&mut run, [32 << 20, 8 << 20, 16 << 20]);
        let classes = |run: &Run| {
            let rankings = judge(run).rankings;
            rankings.iter().map(|found| (found.class.cache, found.ranks.len())).collect::<Vec<_>>()
        };
        let from = |bytes| Some(CacheClass::From(bytes));
        assert_eq!(classes(&run), [(from(8 << 20), 2), (from(32 << 20), 1)]);
        run.contenders[0].cache = None;
        assert_eq!(classes(&run), [(Some(CacheClass::None), 1), (from(8 << 20), 2)]);
        // A size for all leaves those without a cache of their own where they are.
        run.limits.cache_bytes = Some(8 << 20);
        assert_eq!(classes(&run), [(Some(CacheClass::None), 1), (from(8 << 20), 2)]);
        // Outside of stores a cache is a setting like any other.
        run.tests.iter_mut().for_each(|test| test.model = Model::Statements.name().into());
        assert_eq!(classes(&run), [(None, 3)]);
    }

    #[test]
    fn stores_are_ranked_together_only_by_one_standard_of_tuning() {
        let mut run = run();
        let classes = |run: &Run| {
            let rankings = judge(run).rankings;
            rankings.iter().map(|found| (found.class.tuning, found.ranks.len())).collect::<Vec<_>>()
        };
        // An older file does not know.
        assert_eq!(classes(&run), [(None, 3)]);
        let standards = [Tuning::Tuned, Tuning::Default, Tuning::Tuned];
        for (contender, tuning) in run.contenders.iter_mut().zip(standards) {
            contender.tuning = Some(tuning);
        }
        assert_eq!(classes(&run), [(Some(Tuning::Default), 1), (Some(Tuning::Tuned), 2)]);
        run.contenders[2].tuning = Some(Tuning::Own);
        assert_eq!(classes(&run).len(), 3);
        // A suite of statements compares settings, whatever they are.
        run.tests.iter_mut().for_each(|test| test.model = Model::Statements.name().into());
        assert_eq!(classes(&run), [(None, 3)]);
    }

    /// Returns whether the first contender is called the fastest in a test, and over all tests.
    fn is_called_fastest(run: &Run) -> (bool, bool) {
        let verdict = judge(run);
        let mut ranks = verdict.rankings.iter().flat_map(|ranking| &ranking.ranks);
        let in_test = verdict.tests.iter().any(|test| test.cells[0].fastest);
        (in_test, ranks.any(|rank| rank.contender == 0 && rank.fastest))
    }

    #[test]
    fn who_failed_in_a_trial_is_not_called_the_fastest() {
        let mut run = run();
        slow_down(&mut run, 1, 10);
        slow_down(&mut run, 2, 100);
        assert_eq!(is_called_fastest(&run), (true, true));
        let mut its = run.trials.iter_mut().filter(|trial| trial.contender == 0 && trial.block > 0);
        let trial = its.next().unwrap();
        trial.failure = Some(Failure { test: None, message: "it is gone".into() });
        let samples = std::mem::take(&mut trial.samples);
        assert_eq!(is_called_fastest(&run), (false, false));
        let verdict = judge(&run);
        let ranks = &verdict.rankings[0].ranks;
        assert!(ranks[0].contender == 1 && ranks[0].fastest, "the others are ranked: {ranks:?}");
        // Only the trials that did not fail have figures, and these may be its quick ones: it gets no rank.
        let last = ranks.last().unwrap();
        assert!(last.contender == 0 && last.failed && last.ratio.is_none(), "{ranks:?}");
        assert!(verdict.tests.iter().all(|test| test.cells[0].counts() && test.cells[0].failed));
        let compared = verdict.tests.iter().flat_map(|test| &test.cells).filter(|cell| cell.contender == 0);
        assert!(compared.clone().all(|cell| cell.ratio.is_none() && cell.difference.is_none()));
        let summary = verdict.summaries.iter().find(|summary| summary.contender == 0).unwrap();
        assert!(summary.geometric_mean.is_none() && summary.difference.is_none());
        // With all of them, what they had left was not there after a close.
        for trial in run.trials.iter_mut().filter(|trial| trial.contender == 0 && trial.block > 0) {
            trial.failure = Some(Failure { test: None, message: "it is gone".into() });
            if trial.samples.is_empty() {
                trial.samples.clone_from(&samples);
            }
        }
        let verdict = judge(&run);
        assert_eq!(verdict.tests[0].cells[0].standing, CellStanding::Missing("it is gone".into()));
        let ranked: Vec<usize> = verdict.rankings[0].ranks.iter().map(|rank| rank.contender).collect();
        assert!(
            !ranked.contains(&0) && verdict.rankings[0].tests > 0,
            "it keeps nobody from being ranked: {ranked:?}"
        );
    }

    #[test]
    fn of_whom_something_is_not_known_is_nobodys_equal() {
        let mut run = run();
        assert!(run.are_equals(0, 1));
        run.contenders[0].safety = None;
        run.contenders[1].safety = None;
        assert!(!run.are_equals(0, 1) && run.are_equals(0, 0));
        let verdict = judge(&run);
        assert!(verdict.summaries.iter().all(|summary| summary.contender == 0 || !summary.same_level));
    }

    #[test]
    fn a_hole_and_what_a_crash_leaves_set_contenders_apart() {
        let mut run = run();
        let change = |run: &mut Run, contender: usize, level, consistent, hole| {
            let safety = run.contenders[contender].safety.as_mut().unwrap();
            (safety.level, safety.consistent, safety.hole) = (level, consistent, hole);
        };
        change(&mut run, 0, Level::PowerLoss, true, Some(Hole::LastCommit));
        change(&mut run, 1, Level::PowerLoss, true, None);
        change(&mut run, 2, Level::PowerLoss, true, None);
        let holes =
            |run: &Run| judge(run).rankings.iter().map(|ranking| ranking.class.hole).collect::<Vec<_>>();
        assert_eq!(holes(&run), [None, Some(Hole::LastCommit)]);
        assert!(judge(&run).tests.iter().all(|test| !test.cells[0].fastest));
        change(&mut run, 0, Level::None, true, None);
        change(&mut run, 1, Level::None, false, None);
        change(&mut run, 2, Level::None, true, None);
        let kept = judge(&run).rankings.iter().map(|ranking| ranking.class.consistent).collect::<Vec<_>>();
        assert_eq!(kept, [Some(true), Some(false)]);
        // So it is at the level of a crash of the process.
        change(&mut run, 0, Level::ProcessCrash, true, None);
        change(&mut run, 1, Level::ProcessCrash, false, None);
        change(&mut run, 2, Level::ProcessCrash, true, None);
        let kept = judge(&run)
            .rankings
            .iter()
            .map(|found| (found.class.consistent, found.ranks.len()))
            .collect::<Vec<_>>();
        assert_eq!(kept, [(Some(true), 2), (Some(false), 1)]);
    }

    #[test]
    fn isolation_sets_contenders_apart_where_many_clients_work() {
        let mut run = run();
        let isolated = |level| {
            let why = "a test says so".into();
            Some(Isolated { level, standing: Standing::ReadBack, why, link: None })
        };
        run.contenders[0].isolation = isolated(Isolation::ReadCommitted);
        run.contenders[1].isolation = isolated(Isolation::Serializable);
        run.contenders[2].isolation = isolated(Isolation::Serializable);
        let levels = |run: &Run| {
            let rankings = judge(run).rankings;
            rankings.iter().map(|found| (found.class.isolation, found.ranks.len())).collect::<Vec<_>>()
        };
        assert_eq!(levels(&run), [(None, 3)], "one client at a time sees nothing of others");
        run.tests[0].model = Model::Mix.name().into();
        let apart = [(Some(Isolation::Serializable), 2), (Some(Isolation::ReadCommitted), 1)];
        assert_eq!(levels(&run), apart);
    }
}
