//! Who may be ranked with whom: contenders whose commits survive the same and hold as much.
//!
//! A level says what an acknowledged commit survives. A hole that is known of it, such as the last commit that a power cut
//! may undo, sets a contender apart from those that have none: to leave it open saves work. Where even a crash of the
//! process takes commits, those whose other data stay whole are no equals of those whose data are gone or ruined.
//!
//! Where many clients work at once, it also matters what their transactions may see of one another: to keep them apart is
//! work. So contenders must have the same isolation there.
//!
//! What a commit is, differs too: a store that commits a thousand puts at
//! once waits for the device, or writes its log, a thousand times less often. So the commit size is part of what
//! contenders must have in common, in every run that has a test which contenders cut into commits as they are told. Where
//! statements say BEGIN and COMMIT themselves, all contenders commit alike.

use std::cmp::Reverse;

use dyno_protocol::Model;
use dyno_record::{ContenderRecord, Hole, Isolation, Level, Run, TestRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What contenders that are ranked together have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Class {
    /// What an acknowledged commit survives.
    pub level: Level,
    /// Where a crash of the process takes commits: whether the rest is whole after a power cut. Absent at other levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consistent: Option<bool>,
    /// A known hole in the level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hole: Option<Hole>,
    /// What transactions may see of one another; absent in runs without tests in which many clients work at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// How much a commit holds; absent where the statements of the suite say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<Commits>,
}

/// How much a commit holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Commits {
    /// So many operations.
    Each(u64),
    /// All operations of a test.
    Whole,
}

/// The class of a contender; none of the harness and of one whose level is not known.
pub(crate) fn class(run: &Run, contender: &ContenderRecord) -> Option<Class> {
    let safety = contender.safety.as_ref().filter(|_| !contender.harness)?;
    let consistent = (safety.level == Level::None).then_some(safety.consistent);
    Some(Class {
        level: safety.level,
        consistent,
        hole: safety.hole,
        isolation: contender.isolation.as_ref().filter(|_| has_clients(run)).map(|isolation| isolation.level),
        commits: commits(run, contender),
    })
}

/// The class of a contender by its position.
pub(crate) fn class_of(run: &Run, contender: usize) -> Option<Class> {
    class(run, &run.contenders[contender])
}

/// The classes of the contenders shown, the safest first and of these those with the smallest commits, each with its
/// contenders by position.
pub(crate) fn classes(run: &Run) -> Vec<(Class, Vec<usize>)> {
    let mut classes: Vec<(Class, Vec<usize>)> = Vec::new();
    for (index, contender) in run.shown_contenders() {
        let Some(own) = class(run, contender) else { continue };
        match classes.iter_mut().find(|(class, _)| *class == own) {
            Some((_, members)) => members.push(index),
            None => classes.push((own, vec![index])),
        }
    }
    classes.sort_by_key(|(class, _)| {
        (Reverse((class.level, class.consistent)), class.hole, Reverse(class.isolation), class.commits)
    });
    classes
}

/// Whether a run has a test in which many clients work at once: only then does it matter what they see of one another.
fn has_clients(run: &Run) -> bool {
    run.shown_tests().any(|test| test.model == Model::Mix.name())
}

/// How much a commit of a contender holds, in a run with a test that contenders cut into commits. As much as the largest
/// of these has, or more, is all.
fn commits(run: &Run, contender: &ContenderRecord) -> Option<Commits> {
    let count = |test: &TestRecord| test.amount.as_ref().map_or(u64::MAX, |amount| amount.count);
    let most = run.shown_tests().filter(|test| is_cut(&test.model)).map(count).max()?;
    Some(match contender.per_commit.filter(|&each| each < most) {
        Some(each) => Commits::Each(each),
        None => Commits::Whole,
    })
}

/// Whether contenders cut the work of a model into commits.
fn is_cut(model: &str) -> bool {
    let cut = [Model::InsertRows, Model::BulkLoad, Model::ImportFile, Model::KvPut, Model::KvDelete];
    cut.iter().any(|known| known.name() == model)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_record::{AmountRecord, Isolated, Standing};

    use super::*;
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
