//! Decides whether a run has enough samples.

use dyno_record::{Quantity, Run};

use crate::disturbance::Disturbances;
use crate::figures::figures;
use crate::statistics::MIN_BLOCKS;
use crate::views::sustained::is_found;

/// Returns true if every figure that is shown rests on samples of enough undisturbed blocks and has an interval that is
/// narrow enough: a half width, relative to the figure, of `run.schedule.target` at most. `failed` holds for each
/// contender, by position, whether a trial of it failed; such a contender is not waited for.
///
/// A run whose contenders all failed has no figure and is not precise.
pub fn is_precise(run: &Run, failed: &[bool]) -> bool {
    let disturbances = Disturbances::new(run);
    let mut alive = run.shown_contenders().filter(|(index, _)| !failed[*index]).peekable();
    alive.peek().is_some()
        && alive.all(|(index, contender)| {
            run.shown_tests().filter(|test| !contender.lacks.contains(&test.id)).all(|test| {
                if run.target_of(&test.id).is_some() {
                    return is_found(run, &disturbances, index, &test.id);
                }
                let (figures, _) = figures(run, &disturbances, index, &test.id, &Quantity::Time);
                let width = figures.summary.and_then(|summary| summary.relative_half_width());
                figures.undisturbed >= MIN_BLOCKS && width.is_some_and(|width| width <= run.schedule.target)
            })
        })
}
