//! The comparisons of a table that are differences, by what is compared and between whom.

use std::collections::BTreeMap;

use crate::test_verdict::TestVerdict;

/// Between which figures a comparison is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ComparedFigure {
    /// Those of a line, by its place among all lines of the run's tests.
    Line(usize),
    /// The means over tests, by their ids.
    Mean(Vec<String>),
}

/// A comparison: of what, and of which two contenders, by position, the lower first.
pub(crate) type Key = (ComparedFigure, usize, usize);

/// The comparisons of a table that are differences.
pub(crate) struct Differences(pub(crate) BTreeMap<Key, bool>);

impl ComparedFigure {
    /// The means over some tests.
    pub(crate) fn mean(tests: &[&TestVerdict]) -> ComparedFigure {
        ComparedFigure::Mean(tests.iter().map(|test| test.id.clone()).collect())
    }

    pub(crate) fn is_mean(&self) -> bool {
        matches!(self, ComparedFigure::Mean(_))
    }
}

impl Differences {
    /// Returns true if two contenders, by position, are shown to differ.
    pub(crate) fn is(&self, of: &ComparedFigure, one: usize, other: usize) -> bool {
        self.0.get(&key(of.clone(), one, other)).copied().unwrap_or(false)
    }
}

/// The key of a comparison, whichever of the two contenders comes first.
pub(crate) fn key(of: ComparedFigure, one: usize, other: usize) -> Key {
    (of, one.min(other), one.max(other))
}
