//! The fastest contender of each test, within each class of contenders and never across: of one safety level, and with
//! one commit size where contenders choose it.

use dyno_record::Run;

use crate::cell::Cell;
use crate::differences::{ComparedFigure, Differences};
use crate::pairs::logs_by_block;
use crate::statistics::{Best, Shown};
use crate::test_verdict::TestVerdict;

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
    pub(crate) fn new(of: ComparedFigure, contenders: Vec<usize>, logs: Vec<Vec<Option<f64>>>) -> Rivals {
        let best = Best::of(&logs).filter(|_| contenders.len() > 1);
        Rivals { of, contenders, logs, best }
    }

    /// The best, and what is shown of each contender; none where the samples are too few to show anything.
    pub(crate) fn judged(&self, margin: f64, apart: &Differences) -> Option<(usize, Vec<Shown>)> {
        let best = self.best.as_ref()?;
        let is_apart =
            |one: usize, other: usize| apart.is(&self.of, self.contenders[one], self.contenders[other]);
        Some((best.best, best.shown(margin, is_apart)))
    }
}

/// The rivals of every line, in the order of the lines: each class of which two or more contenders count.
pub(crate) fn rivals_in_tests(run: &Run, tests: &[TestVerdict]) -> Vec<Rivals> {
    let classes = run.classes();
    let lines = tests.iter().flat_map(TestVerdict::lines).enumerate();
    let lines = lines.filter(|(_, (quantity, _))| quantity.scatters());
    let rivals = lines.flat_map(|(place, (_, cells))| {
        classes.iter().map(move |(_, members)| {
            let members = cells.iter().filter(|cell| members.contains(&cell.contender));
            // A figure that hides what its clients waited, or what its engine would do with better clients, may be the smallest
            // of all.
            let hides_one = members.clone().any(|cell| cell.standing.hides());
            let cells: Vec<&Cell> = members.filter(|cell| cell.is_comparable()).collect();
            let logs = cells.iter().map(|cell| logs_by_block(run, &cell.points)).collect();
            let contenders = cells.iter().map(|cell| cell.contender).collect();
            let rivals = Rivals::new(ComparedFigure::Line(place), contenders, logs);
            if hides_one { Rivals { best: None, ..rivals } } else { rivals }
        })
    });
    rivals.filter(|rivals| rivals.contenders.len() > 1).collect()
}

/// Marks the fastest of each line, where one is: every rival is shown to be slower than another, and the medians are
/// further apart than what measuring costs.
pub(crate) fn mark_fastest(run: &Run, tests: &mut [TestVerdict], rivals: &[Rivals], apart: &Differences) {
    for rivals in rivals {
        let Some((best, shown)) = rivals.judged(run.schedule.margin, apart) else { continue };
        if (0..shown.len()).any(|place| place != best && !shown[place].behind) {
            continue;
        }
        let ComparedFigure::Line(line) = rivals.of else { continue };
        let mut lines = tests.iter_mut().flat_map(TestVerdict::lines_mut);
        let Some((floor, cells)) = lines.nth(line) else { continue };
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
