//! The functions in which a contender's instructions differ between two runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TestComparison;
use crate::judge::Verdict;
use crate::views::functions::{CountedFunctions, INSTRUCTIONS, compare_sides};
use crate::views::{ComparedFunctions, FunctionChange};

/// A contender in both runs by its functions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderFunctions {
    /// The contender, by its position among those of the comparison.
    pub contender: usize,
    /// The share of the instructions of its library and its runner that functions without a name executed in the old
    /// run; absent where they have names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_nameless: Option<f64>,
    /// The same in the new run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_nameless: Option<f64>,
    /// All tests together, if there are several, and then each test.
    pub tests: Vec<ComparedFunctions>,
}

impl ContenderFunctions {
    /// A test by its id.
    pub fn test(&self, id: &str) -> Option<&ComparedFunctions> {
        self.tests.iter().find(|compared| compared.test.as_deref() == Some(id))
    }
}

/// The functions of the contenders with these labels, of those with a function that differs.
pub(super) fn functions(
    old: &Verdict,
    new: &Verdict,
    contenders: &[String],
    tests: &[TestComparison],
) -> Vec<ContenderFunctions> {
    let labels = contenders.iter().enumerate();
    let found = labels.filter_map(|(place, label)| {
        let ids = tests.iter().filter(|test| counts(test, place)).map(|test| test.id.as_str());
        let (tests, nameless) = compare_sides(ids, side(old, label)?, side(new, label)?)?;
        let [old_nameless, new_nameless] = nameless;
        Some(ContenderFunctions { contender: place, old_nameless, new_nameless, tests })
    });
    let differs = |change: &FunctionChange| change.difference() != 0.0;
    found.filter(|found| found.tests.iter().flat_map(|compared| &compared.functions).any(differs)).collect()
}

/// The functions of a contender (by label) that were counted in a run.
fn side<'a>(run: &'a Verdict, label: &str) -> Option<&'a CountedFunctions> {
    let (place, _) = run.shown_contenders().find(|(_, contender)| contender.label == label)?;
    run.counted_functions.get(place)
}

/// True if a contender's instructions count in a test of both runs.
fn counts(test: &TestComparison, contender: usize) -> bool {
    let counted = test.counts.iter().find(|count| count.event == INSTRUCTIONS);
    let cell = counted.and_then(|count| count.cells.get(contender));
    cell.is_some_and(|cell| cell.old.is_some() && cell.new.is_some())
}
