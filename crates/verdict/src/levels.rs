//! Who is the fastest over all tests, within each class of contenders and never across: of one safety level, and with one
//! commit size where contenders choose it.
//!
//! A class's contenders are compared with its fastest by the geometric mean of their ratios, over the tests that all of
//! the class passed. A mean of unlike things: whoever prints it says so.

use dyno_record::{Class, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figures::failed_in;
use crate::judge::TestVerdict;
use crate::pairs::{mean_logs_by_block, mean_over};
use crate::statistics::{Best, Ratio, best};

/// The contenders of one class, the fastest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelRanking {
    /// What they have in common: safety level and commit size.
    #[serde(flatten)]
    pub class: Class,
    /// How many tests all of them passed; the means are over these.
    pub tests: usize,
    /// The contenders: the fastest, then the others by their ratio to it, those last of which a trial failed. Where no
    /// test was passed by all, they stand in the order of the run and nobody is ranked.
    pub ranks: Vec<Rank>,
}

/// A contender's place within its class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rank {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The geometric mean of its times over those of the fastest; absent for the fastest itself and where there
    /// is no test to rank by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// Whether it is shown to be slower than the best, with all comparisons of the ranking counted.
    pub slower: bool,
    /// Whether it is not shown slower than the best, and within the run's margin of it.
    pub fastest: bool,
    /// Whether a trial of it failed in one of the tests, so that it is not compared with the best: its figures are of the
    /// trials in which it did not fail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// The rankings, the safest first. Contenders whose level is unknown, those of which no figure counts, and the harness are
/// in none: one that fails everywhere keeps nobody from being ranked.
pub(crate) fn rank_levels(run: &Run, tests: &[TestVerdict]) -> Vec<LevelRanking> {
    let takes_part = |rival: &usize| tests.iter().any(|test| test.counts(*rival) || test.is_sought());
    let classes = run.classes().into_iter().map(|(class, mut rivals)| {
        rivals.retain(takes_part);
        (class, rivals)
    });
    let ranked = classes.filter(|(_, rivals)| !rivals.is_empty());
    ranked.map(|(class, rivals)| rank(run, tests, class, &rivals)).collect()
}

fn rank(run: &Run, tests: &[TestVerdict], class: Class, rivals: &[usize]) -> LevelRanking {
    let passed = |test: &&TestVerdict| rivals.iter().all(|&rival| test.counts(rival));
    let tests: Vec<&TestVerdict> = tests.iter().filter(passed).collect();
    // Of those who failed in a trial the figures are of the trials in which they did not.
    let failed = |rival: usize| tests.iter().any(|test| failed_in(run, rival, &test.id));
    let judged: Vec<usize> = rivals.iter().copied().filter(|&rival| !failed(rival)).collect();
    let logs: Vec<_> = judged.iter().map(|&rival| mean_logs_by_block(run, &tests, rival)).collect();
    let found = best(&logs, run.schedule.margin).filter(|_| judged.len() > 1);
    let best = match &found {
        Some(found) => Some(judged[found.best]),
        None if judged.is_empty() => least(run, &tests, rivals),
        None => least(run, &tests, &judged),
    };
    let is = |told: fn(&Best) -> &Vec<bool>, contender: usize| {
        let place = judged.iter().position(|&rival| rival == contender);
        found.as_ref().zip(place).is_some_and(|(found, place)| told(found)[place])
    };
    let rank = |&contender: &usize| Rank {
        contender,
        ratio: best
            .filter(|best| *best != contender)
            .and_then(|best| mean_over(run, &tests, contender, best)),
        // Where the samples are too few to tell anyone apart, nobody is called the fastest.
        slower: is(|found| &found.slower, contender),
        fastest: is(|found| &found.fastest, contender),
        failed: failed(contender),
    };
    let mut ranks: Vec<Rank> = rivals.iter().map(rank).collect();
    if let Some(best) = best {
        let key = |rank: &Rank| rank.ratio.map_or(f64::INFINITY, |ratio| ratio.ratio);
        ranks.sort_by(|a, b| {
            let apart = |rank: &Rank| (rank.contender != best, rank.failed);
            apart(a).cmp(&apart(b)).then(key(a).total_cmp(&key(b)))
        });
    }
    LevelRanking { class, tests: tests.len(), ranks }
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
    use dyno_record::{AmountRecord, Commits, Failure, Hole, Isolated, Isolation, Level, Standing};

    use super::*;
    use crate::judge;
    use crate::judge::CellStanding;

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

    fn told(run: &Run) -> Vec<(Option<Commits>, usize)> {
        judge(run).rankings.iter().map(|ranking| (ranking.class.commits, ranking.ranks.len())).collect()
    }

    #[test]
    fn only_commits_of_one_size_are_ranked_together() {
        let mut run = run();
        assert_eq!(told(&run), [(Some(Commits::Whole), 3)]);
        run.contenders[0].per_commit = Some(1);
        run.contenders[1].per_commit = Some(1000);
        run.contenders[2].per_commit = Some(100_000);
        let alone = [Commits::Each(1), Commits::Each(1000), Commits::Whole];
        assert_eq!(told(&run), alone.map(|commits| (Some(commits), 1)));
        let verdict = judge(&run);
        assert!(verdict.tests.iter().flat_map(|test| &test.cells).all(|cell| !cell.fastest));
        assert!(verdict.summaries.iter().all(|summary| summary.contender == 0 || !summary.same_level));
        run.contenders[0].per_commit = Some(1000);
        assert_eq!(told(&run), [(Some(Commits::Each(1000)), 2), (Some(Commits::Whole), 1)]);
        assert!(judge(&run).tests.iter().all(|test| test.cells.iter().any(|cell| cell.fastest)));
        // Where nothing is written as contenders say, the size is no part of it.
        run.tests.iter_mut().for_each(|test| test.model = Model::KvGet.name().into());
        assert_eq!(told(&run), [(None, 3)]);
    }

    /// Whether the first contender is called the fastest in a test, and among all.
    fn is_called_fastest(run: &Run) -> (bool, bool) {
        let verdict = judge(run);
        let mut ranks = verdict.rankings.iter().flat_map(|ranking| &ranking.ranks);
        let in_test = verdict.tests.iter().any(|test| test.cells[0].fastest);
        (in_test, ranks.any(|rank| rank.contender == 0 && rank.fastest))
    }

    #[test]
    fn who_failed_in_a_trial_is_not_called_the_fastest() {
        let mut run = run();
        for sample in
            run.trials.iter_mut().filter(|trial| trial.contender == 0).flat_map(|trial| &mut trial.samples)
        {
            sample.sample.section.nanoseconds /= 10;
        }
        assert_eq!(is_called_fastest(&run), (true, true));
        let mut its = run.trials.iter_mut().filter(|trial| trial.contender == 0 && trial.block > 0);
        let trial = its.next().unwrap();
        trial.failure = Some(Failure { test: None, message: "it is gone".into() });
        let samples = std::mem::take(&mut trial.samples);
        assert_eq!(is_called_fastest(&run), (false, false));
        let verdict = judge(&run);
        let ranks = &verdict.rankings[0].ranks;
        assert!(ranks[0].contender != 0 && ranks[0].fastest, "the others are ranked: {ranks:?}");
        let last = ranks.last().unwrap();
        assert!(last.contender == 0 && last.failed && last.ratio.unwrap().ratio < 0.5, "{ranks:?}");
        assert!(verdict.tests.iter().any(|test| test.cells[0].counts()));
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
        // At other levels what a power cut leaves is no part of it.
        change(&mut run, 0, Level::ProcessCrash, true, None);
        change(&mut run, 1, Level::ProcessCrash, false, None);
        change(&mut run, 2, Level::ProcessCrash, true, None);
        assert_eq!(told(&run), [(Some(Commits::Whole), 3)]);
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
