//! The differences that a table shows, once all of its comparisons are counted: those of every test and class of
//! operations with the baseline, those between contenders that are ranked together, and those of the means. Half of the
//! chance of error is for the means, because they are what most readers take away.

use std::collections::BTreeMap;

use dyno_record::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::differences::{ComparedFigure, Differences, Key, key};
use crate::pairs::{log_ratios, mean_log_ratios};
use crate::rivals::Rivals;
use crate::statistics::{Compared, detectable, differences, median, significant};
use crate::summary::SummaryVerdict;
use crate::test_verdict::TestVerdict;

/// The smallest differences that a run would have shown in four of five runs like it, from its own scatter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Detectable {
    /// Of a mean over the tests, as a factor above one; absent where there is no mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// In a test: the middle one of all comparisons with the baseline. Absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<f64>,
}

/// The comparisons of a table.
#[derive(Default)]
pub(crate) struct Table {
    entries: BTreeMap<Key, Entry>,
}

struct Entry {
    logs: Vec<f64>,
    /// True if it is a comparison with the baseline, which the table shows.
    with_baseline: bool,
}

impl Table {
    /// All comparisons with the baseline.
    pub(crate) fn with_baseline(
        run: &Run,
        tests: &[TestVerdict],
        meant: &[usize],
        summaries: &[SummaryVerdict],
    ) -> Table {
        let baseline = run.baseline_index();
        let mut table = Table::default();
        let lines = tests.iter().flat_map(TestVerdict::lines).enumerate();
        for (place, (_, cells)) in lines.filter(|(_, (quantity, _))| quantity.scatters()) {
            let Some(base) = cells.iter().find(|cell| cell.contender == baseline) else { continue };
            for cell in cells.iter().filter(|cell| compares(cell)) {
                let logs = log_ratios(&cell.points, &base.points);
                table.add(key(ComparedFigure::Line(place), cell.contender, baseline), logs, true);
            }
        }
        let meant: Vec<&TestVerdict> = meant.iter().map(|&place| &tests[place]).collect();
        for summary in summaries.iter().filter(|summary| summary.difference.is_some()) {
            let logs = mean_log_ratios(run, &meant, summary.contender, baseline);
            table.add(key(ComparedFigure::mean(&meant), summary.contender, baseline), logs, true);
        }
        table
    }

    /// Adds those of each pair of contenders that are ranked together; one that is there already is counted once.
    pub(crate) fn add_rivals(&mut self, rivals: &Rivals) {
        for second in 0..rivals.contenders.len() {
            for first in 0..second {
                let logs = differences(&rivals.logs[second], &rivals.logs[first]);
                let (first, second) = (rivals.contenders[first], rivals.contenders[second]);
                self.add(key(rivals.of.clone(), first, second), logs, false);
            }
        }
    }

    fn add(&mut self, key: Key, logs: Vec<f64>, with_baseline: bool) {
        self.entries.entry(key).or_insert(Entry { logs, with_baseline });
    }

    /// Judges them all together.
    pub(crate) fn judge(&self) -> Differences {
        let weights = self.weights();
        let compared = self.entries.values().zip(weights);
        let compared: Vec<Compared> =
            compared.map(|(entry, weight)| Compared { logs: entry.logs.clone(), weight }).collect();
        Differences(self.entries.keys().cloned().zip(significant(&compared)).collect())
    }

    /// The smallest difference that the run could have shown.
    pub(crate) fn detectable(&self) -> Option<Detectable> {
        let weights = self.weights();
        let all: f64 = weights.iter().sum();
        let found = |is_mean: bool| {
            let entries = self.entries.iter().zip(&weights);
            let factors =
                entries.filter(|((key, entry), _)| entry.with_baseline && key.0.is_mean() == is_mean);
            let factors =
                factors.filter_map(|((_, entry), weight)| detectable(&entry.logs, 0.05 * weight / all));
            median(&factors.collect::<Vec<_>>())
        };
        let found = Detectable { mean: found(true), test: found(false) };
        (found.mean.is_some() || found.test.is_some()).then_some(found)
    }

    /// The share of each comparison in the chance of error, in their order. Those with the baseline have as much as all
    /// others, and the means as much as all lines.
    fn weights(&self) -> Vec<f64> {
        let count = |is_mean: bool, with_baseline: bool| {
            let is = |(key, entry): &(&Key, &Entry)| {
                key.0.is_mean() == is_mean && entry.with_baseline == with_baseline
            };
            self.entries.iter().filter(is).count() as f64
        };
        let pair = |is_mean: bool| match (count(is_mean, true), count(is_mean, false)) {
            (with_baseline, others) if with_baseline > 0.0 && others > 0.0 => {
                (with_baseline / others).min(1.0)
            }
            _ => 1.0,
        };
        let whole = |is_mean: bool| count(is_mean, true) + count(is_mean, false) * pair(is_mean);
        // With no line to share the error with, the means have all of it.
        let mean = if whole(false) > 0.0 { whole(false) / whole(true).max(1.0) } else { 1.0 };
        let weight = |(key, entry): (&Key, &Entry)| {
            let is_mean = key.0.is_mean();
            let own = if entry.with_baseline { 1.0 } else { pair(is_mean) };
            if is_mean { own * mean } else { own }
        };
        self.entries.iter().map(weight).collect()
    }
}

/// Takes back the differences that could be chance among all of the table's comparisons, and says which of the others are
/// close. `meant` are the tests of which the means are, by position.
pub(crate) fn hold(
    run: &Run,
    tests: &mut [TestVerdict],
    meant: &[usize],
    summaries: &mut [SummaryVerdict],
    apart: &Differences,
) {
    let (baseline, margin) = (run.baseline_index(), run.schedule.margin);
    let meant: Vec<&TestVerdict> = meant.iter().map(|&place| &tests[place]).collect();
    let mean = ComparedFigure::mean(&meant);
    for summary in summaries {
        let holds = apart.is(&mean, summary.contender, baseline);
        let ratio = summary.geometric_mean;
        summary.difference =
            summary.difference.zip(ratio).map(|(found, ratio)| found.held(holds, &ratio, margin));
    }
    let scatter: Vec<bool> =
        tests.iter().flat_map(TestVerdict::lines).map(|(quantity, _)| quantity.scatters()).collect();
    let lines = tests.iter_mut().flat_map(TestVerdict::lines_mut).enumerate();
    for (place, (_, cells)) in lines.filter(|(place, _)| scatter[*place]) {
        for cell in cells {
            let holds = apart.is(&ComparedFigure::Line(place), cell.contender, baseline);
            cell.difference =
                cell.difference.zip(cell.ratio).map(|(found, ratio)| found.held(holds, &ratio, margin));
        }
    }
}

/// Returns true if a cell is a comparison with the baseline that could show a difference.
fn compares(cell: &Cell) -> bool {
    cell.difference.is_some() && cell.ratio.is_some_and(|ratio| ratio.interval.is_some())
}
