//! Tests of the classes in which contenders are ranked.

use std::path::Path;

use dyno_protocol::Model;
use dyno_record::{
    AmountRecord, CacheClass, Commits, Failure, Hole, Isolated, Isolation, Level, OwnCache, Standing, Tuning,
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
    // A size for all leaves those without a separate cache where they are.
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
        "it keeps no contender from being ranked: {ranked:?}"
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
    let holes = |run: &Run| judge(run).rankings.iter().map(|ranking| ranking.class.hole).collect::<Vec<_>>();
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
fn reads_that_may_be_old_set_contenders_apart() {
    let mut run = run();
    assert!(run.are_equals(0, 1));
    run.contenders[1].stale_reads = true;
    assert!(!run.are_equals(0, 1));
    run.contenders[0].stale_reads = true;
    assert!(run.are_equals(0, 1));
    let last = judge(&run).rankings.last().map(|ranking| ranking.class.stale_reads);
    assert_eq!(last, Some(true));
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
