//! How many samples waited for a processor, and which figures rest on them all the same.

use crate::judge::TestVerdict;

/// The disturbances of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disturbances {
    /// One for each contender shown, in order.
    pub contenders: Vec<Disturbed>,
    /// How many figures rest on disturbed samples, because too few are undisturbed.
    pub resting: usize,
    /// How many figures there are.
    pub figures: usize,
}

/// The disturbances of a contender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disturbed {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// Its samples, warm-up left out.
    pub samples: usize,
    /// How many of them were disturbed.
    pub disturbed: usize,
    /// The tests, by id, in which its figure rests on disturbed samples.
    pub resting: Vec<String>,
}

/// Counts what was disturbed; `shown` are the contenders shown, by position, as in each test's cells.
pub(crate) fn disturbances(shown: &[usize], tests: &[TestVerdict]) -> Disturbances {
    let of = |(place, &contender): (usize, &usize)| {
        let figures = || tests.iter().map(move |test| (&test.id, &test.cells[place].figures));
        let samples: usize = figures().map(|(_, figures)| figures.samples).sum();
        let undisturbed: usize = figures().map(|(_, figures)| figures.undisturbed).sum();
        let resting = figures().filter(|(_, figures)| figures.rests_on_disturbed);
        let resting = resting.map(|(id, _)| id.clone()).collect();
        Disturbed { contender, samples, disturbed: samples - undisturbed, resting }
    };
    let contenders: Vec<Disturbed> = shown.iter().enumerate().map(of).collect();
    let cells = tests.iter().flat_map(|test| &test.cells);
    Disturbances {
        resting: contenders.iter().map(|contender| contender.resting.len()).sum(),
        figures: cells.filter(|cell| cell.figures.samples > 0).count(),
        contenders,
    }
}
