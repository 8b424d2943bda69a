//! The judgement on a test: of each contender, by the test's own measure and by the response times of its classes.

use std::collections::BTreeMap;

use dyno_protocol::Model;
use dyno_record::{AmountRecord, Figure};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answers::Reference;
use crate::cell::Cell;
use crate::measure::Measure;

/// The judgement on a test.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TestVerdict {
    /// The test's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// A description of what the test measures.
    #[serde(skip)]
    pub shows: String,
    /// The kind of work.
    #[serde(skip)]
    pub model: String,
    /// True if it only prepares the tests after it, so that it is part of no mean and no rank.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prepares: bool,
    /// The number of its statements.
    #[serde(skip)]
    pub statements: u64,
    /// Its first statements.
    #[serde(skip)]
    pub first: Vec<String>,
    /// Its last ones, where they are not among the first.
    #[serde(skip)]
    pub last: Vec<String>,
    /// The kind of its figures: durations or rates.
    #[serde(skip)]
    pub figure: Figure,
    /// The amount of its work, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<AmountRecord>,
    /// Published figures in seconds, by system: other hardware, other versions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, f64>,
    /// The choice of the right answer; absent if there was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// The cost of dyno itself for the same work, the null runner's median, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor_ns: Option<f64>,
    /// True if the highest rate was sought at which a target holds.
    #[serde(skip)]
    pub(crate) sought: bool,
    /// One for each contender shown, in order.
    pub cells: Vec<Cell>,
    /// The response times of each class's slow operations, if operations were timed one by one in the measured trials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<ResponseVerdict>,
}

/// One measure of a test.
#[derive(Debug, Clone, Copy)]
pub struct MeasureLine<'a> {
    /// The class whose operations it is about; none where it is about the test.
    pub response: Option<&'a ResponseVerdict>,
    /// The unit in which the figures are shown.
    pub measure: Measure<'a>,
    /// One for each contender shown, in order.
    pub cells: &'a [Cell],
}

/// The judgement on the response times of one class of operations.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResponseVerdict {
    /// The class, by its name in the suite.
    pub class: String,
    /// The share of its operations that took no longer than the figure, as 0.99.
    pub share: f64,
    /// One for each contender shown, in order. Their figures are nanoseconds; a contender with too few operations
    /// beyond this share has none.
    pub cells: Vec<Cell>,
}

impl TestVerdict {
    /// The unit in which its figures are shown.
    pub fn measure(&self) -> Measure<'_> {
        Measure::new(self.figure, self.amount.as_ref())
    }

    /// Everything that is judged of it, a line for each measure: its own figures first.
    pub fn lines(&self) -> impl Iterator<Item = MeasureLine<'_>> {
        let own = MeasureLine { response: None, measure: self.measure(), cells: &self.cells };
        let responses = self.responses.iter().map(|response| MeasureLine {
            response: Some(response),
            measure: Measure::Time,
            cells: &response.cells,
        });
        std::iter::once(own).chain(responses)
    }

    /// The judgement on a contender, by its position in the run.
    pub fn cell(&self, contender: usize) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.contender == contender)
    }

    /// Returns true if its rate was sought, so that it has no figures: `sustained` has the rate.
    pub fn is_sought(&self) -> bool {
        self.sought
    }

    /// Returns true if nothing is wrong with what a contender did.
    pub(crate) fn is_answered(&self, contender: usize) -> bool {
        self.cell(contender).is_some_and(|cell| cell.standing.is_fine())
    }

    /// Returns true if a contender's figures count.
    pub(crate) fn counts(&self, contender: usize) -> bool {
        self.cell(contender).is_some_and(Cell::counts)
    }

    /// Returns true if a contender's figures may be compared with those of others.
    pub(crate) fn compares(&self, contender: usize) -> bool {
        self.cell(contender).is_some_and(Cell::is_comparable)
    }

    /// Returns true if it is part of the geometric means and of the ranks. What prepares the other tests is not.
    /// Opening is not: it happens once, and deriving a key, slow on purpose, would drown the work. Settling is not: an
    /// engine that has put nothing off has no time to divide by.
    pub fn is_of_means(&self) -> bool {
        !self.prepares && ![Model::Reopen.name(), Model::KvSettle.name()].contains(&self.model.as_str())
    }
}

impl ResponseVerdict {
    /// The title of the figures: `read: 99 % within`.
    pub fn title(&self) -> String {
        format!("{}: {:.0} % within", self.class, self.share * 100.0)
    }

    /// The same among those of several tests: `use, log-in: 90 % within`, or `transfer: 99 % within` where the class has the
    /// test's name.
    pub fn title_in(&self, test: &str) -> String {
        if self.class == test { self.title() } else { format!("{test}, {}", self.title()) }
    }
}
