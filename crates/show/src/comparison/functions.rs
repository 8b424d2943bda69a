//! The functions in which the instructions of contenders differ between two runs.

use dyno_verdict::{ComparedFunctions, Comparison, ContenderFunctions};

use crate::grid::Grid;
use crate::views::functions::table;

/// A table for each contender: all tests together, and those that differ the most.
pub(crate) fn grids(comparison: &Comparison) -> impl Iterator<Item = Grid> {
    comparison.functions.iter().map(|found| {
        let title = format!("functions of {}, by instructions", comparison.contenders[found.contender]);
        table::grid(title, ["old", "new"].map(str::to_owned), &table::shown(&found.tests))
    })
}

/// The meaning of their numbers.
pub(crate) fn notes(comparison: &Comparison) -> Vec<String> {
    let tests: Vec<&ComparedFunctions> = comparison.functions.iter().flat_map(|found| &found.tests).collect();
    let builds = comparison.functions.iter().flat_map(|found| nameless(comparison, found));
    table::notes_of(&tests, &builds.collect::<Vec<_>>())
}

/// The sides of a contender whose functions have no names, with the share of their instructions.
fn nameless<'a>(
    comparison: &'a Comparison,
    found: &ContenderFunctions,
) -> impl Iterator<Item = (String, f64)> + use<'a> {
    let label = &comparison.contenders[found.contender];
    let sides = [("old", found.old_nameless), ("new", found.new_nameless)].into_iter();
    sides.filter_map(move |(which, share)| Some((format!("{label} in the {which} run"), share?)))
}
