//! The judgement on a test: of each contender, by the test's own quantity, by the response times of its
//! classes, and by the events that were counted.

use std::collections::BTreeMap;

use dyno_protocol::Model;
use dyno_record::{AmountRecord, Quantity};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answers::Reference;
use crate::cell::Cell;

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
    /// The quantity of its own figures.
    #[serde(skip)]
    pub quantity: Quantity,
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
    pub responses: Vec<QuantityVerdict>,
    /// The events that were counted, if some were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<QuantityVerdict>,
}

/// The judgement on one quantity of a test besides its own.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct QuantityVerdict {
    /// The quantity.
    #[serde(flatten)]
    pub quantity: Quantity,
    /// The cost of dyno itself, in the unit of the quantity: differences below it are none.
    #[serde(skip)]
    pub(crate) floor: Option<f64>,
    /// One for each contender shown, in order. A contender with too few operations beyond the share of a response, or
    /// without a count, has no figures.
    pub cells: Vec<Cell>,
}

impl TestVerdict {
    /// The judgements on its quantities besides its own.
    pub fn further(&self) -> impl Iterator<Item = &QuantityVerdict> {
        self.responses.iter().chain(&self.counts)
    }

    /// All that is judged of it, a line for each quantity: its own first.
    pub fn lines(&self) -> impl Iterator<Item = (&Quantity, &[Cell])> {
        let further = self.further().map(|measure| (&measure.quantity, &measure.cells[..]));
        std::iter::once((&self.quantity, &self.cells[..])).chain(further)
    }

    /// The cells of the same lines, each line with the cost of measuring.
    pub(crate) fn lines_mut(&mut self) -> impl Iterator<Item = (f64, &mut Vec<Cell>)> {
        let own = (self.floor_ns.unwrap_or(0.0), &mut self.cells);
        let further = self.responses.iter_mut().chain(&mut self.counts);
        std::iter::once(own).chain(further.map(|measure| (measure.floor.unwrap_or(0.0), &mut measure.cells)))
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

    /// The median of a contender's figures, in nanoseconds.
    pub(crate) fn median(&self, contender: usize) -> Option<f64> {
        self.cell(contender)?.figures.summary.map(|summary| summary.median)
    }

    /// Returns true if it is part of the geometric means and of the ranks. What prepares the other tests is not.
    /// Opening is not: it happens once, and deriving a key, slow on purpose, would drown the work. Settling is not: an
    /// engine that has put nothing off has no time to divide by.
    pub fn is_of_means(&self) -> bool {
        !self.prepares && ![Model::Reopen.name(), Model::KvSettle.name()].contains(&self.model.as_str())
    }
}
