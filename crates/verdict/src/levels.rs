//! The fastest contender over all tests, within each class of contenders and never across: of
//! one safety level, and with one commit size where contenders choose it.
//!
//! A class's contenders are compared with its fastest by the geometric mean of their ratios, over the tests that all of
//! the class passed and that are part of means. A mean of unlike things: every text that prints it says so.

use dyno_record::{Class, Run};

use crate::differences::{ComparedFigure, Differences};
use crate::pairs::{mean_logs_by_block, mean_over};
use crate::ranking::{LevelRanking, Rank};
use crate::rivals::Rivals;
use crate::test_verdict::TestVerdict;

/// A class before it is ranked.
pub(crate) struct Unranked<'a> {
    class: Class,
    /// All of its contenders, by position.
    members: Vec<usize>,
    tests: Vec<&'a TestVerdict>,
    /// Those of the members of which no trial failed.
    pub(crate) rivals: Rivals,
}

/// The classes, the safest first. Contenders whose level is unknown, those of which no figure counts, and the harness
/// are in none: one that fails everywhere keeps no other from being ranked.
pub(crate) fn unranked<'a>(run: &Run, tests: &'a [TestVerdict]) -> Vec<Unranked<'a>> {
    let hides = |test: &TestVerdict, rival| test.cell(rival).is_some_and(|cell| cell.standing.hides());
    let takes_part = |rival: &usize| {
        tests.iter().any(|test| test.counts(*rival) || test.is_sought() || hides(test, *rival))
    };
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
    let others_are_behind = judged
        .as_ref()
        .is_some_and(|(best, shown)| (0..shown.len()).all(|place| place == *best || shown[place].behind));
    let rank = |&contender: &usize| {
        let place = rivals.contenders.iter().position(|&rival| rival == contender);
        let shown = judged.as_ref().zip(place).map(|((_, shown), place)| shown[place]).unwrap_or_default();
        let over = first.filter(|first| *first != contender && place.is_some());
        Rank {
            contender,
            ratio: over.and_then(|first| mean_over(run, tests, contender, first)),
            slower: shown.slower,
            behind: shown.behind,
            fastest: others_are_behind && first == Some(contender),
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
    LevelRanking { class: *class, tests: tests.len(), ranks, waits: None }
}

/// The contender with the smallest geometric mean, however few its samples; none where there is no test to rank by.
fn least(run: &Run, tests: &[&TestVerdict], rivals: &[usize]) -> Option<usize> {
    let first = *rivals.first()?;
    let means = rivals.iter().filter_map(|&rival| Some((rival, mean_over(run, tests, rival, first)?.ratio)));
    means.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(rival, _)| rival)
}

#[cfg(test)]
mod tests;
