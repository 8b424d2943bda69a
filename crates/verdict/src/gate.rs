//! The gate of a run or of two: whether anything is worse by more than is allowed, and whether the samples can decide
//! that.

mod limit;

use std::fmt;

use dyno_record::Quantity;

use crate::cell::{Cell, CellStanding};
use crate::compare::{Comparison, FALSE_ALARMS, TestComparison};
use crate::judge::Verdict;
use crate::statistics::{Difference, MIN_BLOCKS, Ratio, fewest_for};
use crate::views::Outcome;

pub use limit::{GateLimit, InvalidGateLimit};

/// The result of the gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// The number of comparisons: a contender in a quantity of a test each.
    pub judged: usize,
    /// Those that exceed a limit, a sentence each.
    pub exceeded: Vec<String>,
    /// The number of those for which the samples leave open whether they exceed it.
    pub undecided: usize,
    /// The fewest trials in those that are undecided because they have no interval.
    pub fewest: Option<usize>,
    /// The number of trials that an interval needs.
    pub enough: usize,
    /// The limits, each with the number of comparisons that were held against it.
    limits: Vec<(GateLimit, usize)>,
}

/// A contender's figure of a quantity against the baseline's or that of an older run.
struct GatedFigure {
    /// As `sqlite:wal, test 3`.
    place: String,
    ratio: Option<Ratio>,
    difference: Option<Difference>,
    /// The fewest trials on which it rests.
    trials: usize,
    /// The reason that the figure does not count.
    missing: Option<String>,
}

impl Gate {
    /// Holds every test of a run against limits. A comparison passes only if its interval excludes what is not allowed;
    /// one that has no ratio, because an answer is wrong or a trial failed, exceeds every limit.
    pub fn of_run(verdict: &Verdict, limits: &[GateLimit]) -> Gate {
        let mut gate = Gate::new(limits, MIN_BLOCKS);
        for test in &verdict.tests {
            for (quantity, cells) in test.lines() {
                let Some(base) = cells.iter().find(|cell| cell.contender == verdict.baseline) else {
                    continue;
                };
                for cell in cells.iter().filter(|cell| cell.contender != verdict.baseline) {
                    let place = format!("{}, test {}", verdict.label(cell.contender), test.id);
                    gate.hold(name(quantity), in_run(quantity, cell, base, place));
                }
            }
        }
        gate
    }

    /// Holds every test of two runs against limits, likewise.
    pub fn of_runs(comparison: &Comparison, limits: &[GateLimit]) -> Gate {
        let cells = comparison.tests.iter().map(|test| test.cells.len()).sum::<usize>();
        let mut gate = Gate::new(limits, fewest_for(1.0 - FALSE_ALARMS / cells.max(1) as f64));
        for test in &comparison.tests {
            for (place, label) in comparison.contenders.iter().enumerate() {
                gate.hold_runs(test, place, &format!("{label}, test {}", test.id));
            }
        }
        // What is not measured any more may have become slower, or may not work.
        gate.judged += comparison.gone.len();
        let gone = comparison.gone.iter();
        gate.exceeded
            .extend(gone.map(|what| format!("{what}: only in the old run, so nothing holds it to a limit")));
        gate
    }

    fn new(limits: &[GateLimit], enough: usize) -> Gate {
        let limits = limits.iter().map(|limit| (limit.clone(), 0)).collect();
        Gate { judged: 0, exceeded: Vec::new(), undecided: 0, fewest: None, enough, limits }
    }

    /// The figures of a contender (by position) in a test of two runs.
    fn hold_runs(&mut self, test: &TestComparison, contender: usize, place: &str) {
        let cell = &test.cells[contender];
        let missing = cell.why_not.clone().filter(|_| cell.is_broken());
        // A figure of the old run is not left out where the new run has nothing to compare with it.
        let was_measured = cell.old_ns.is_some()
            || matches!(cell.old_sustained, Some(Outcome::Sustains { .. } | Outcome::AtLeast { .. }));
        if cell.ratio.is_some() || missing.is_some() || was_measured {
            let (ratio, difference) = (cell.ratio, cell.difference);
            let trials = cell.old_samples.min(cell.new_samples);
            self.hold(
                "time",
                Some(GatedFigure { place: place.to_owned(), ratio, difference, trials, missing }),
            );
        }
        for count in &test.counts {
            let cell = &count.cells[contender];
            let missing = match (cell.old, cell.new) {
                (None, _) => continue,
                (Some(_), None) => Some("the new run has no count".to_owned()),
                (Some(_), Some(_)) => None,
            };
            let (ratio, difference) = (cell.ratio, cell.difference);
            let counted =
                GatedFigure { place: place.to_owned(), ratio, difference, trials: usize::MAX, missing };
            self.hold(&count.event, Some(counted));
        }
    }

    /// Holds one comparison against the limits of its quantity.
    fn hold(&mut self, quantity: &str, compared: Option<GatedFigure>) {
        let Some(compared) = compared else { return };
        for place in 0..self.limits.len() {
            let (limit, held) = &mut self.limits[place];
            if limit.quantity == quantity {
                *held += 1;
                let limit = limit.clone();
                self.judge(&limit, &compared);
            }
        }
    }

    fn judge(&mut self, limit: &GateLimit, compared: &GatedFigure) {
        let GatedFigure { place, ratio, difference, trials, missing } = compared;
        let quantity = limit.words();
        self.judged += 1;
        if let Some(why) = missing {
            self.exceeded.push(format!("{place}: no {quantity} that counts: {why}"));
            return;
        }
        match Side::of(*ratio, *difference, limit.share) {
            Side::Passed => {}
            Side::Slower => {
                let more = ratio.map_or("more than no".to_owned(), |ratio| more(ratio.ratio));
                self.exceeded.push(format!("{place}: {more} {quantity}; {} % is allowed", limit.percent()));
            }
            Side::Undecided => {
                self.undecided += 1;
                if ratio.is_none_or(|ratio| ratio.interval.is_none()) && *trials < self.enough {
                    self.fewest = Some(self.fewest.map_or(*trials, |fewest| fewest.min(*trials)));
                }
            }
        }
    }

    /// True if there was something to decide for each limit, and all of it is decided.
    pub fn is_decided(&self) -> bool {
        self.undecided == 0 && self.judged > 0 && self.limits.iter().all(|(_, held)| *held > 0)
    }
}

/// A share above one as a percentage: `+0.310 %`.
fn more(ratio: f64) -> String {
    format!("+{:.3} %", (ratio - 1.0) * 100.0)
}

/// A cell of a run as the gate sees it; none where the contender does not do this kind of work.
fn in_run(quantity: &Quantity, cell: &Cell, base: &Cell, place: String) -> Option<GatedFigure> {
    if cell.standing == CellStanding::NotApplicable {
        return None;
    }
    let missing = (!cell.standing.is_fine() || cell.failed)
        .then(|| "an answer is wrong, or a trial failed or is missing".to_owned());
    // More trials do not make a count repeat.
    let trials = match quantity.scatters() {
        true => cell.points.used.len().min(base.points.used.len()),
        false => usize::MAX,
    };
    Some(GatedFigure { place, ratio: cell.ratio, difference: cell.difference, trials, missing })
}

/// The name of a quantity in limits.
fn name(quantity: &Quantity) -> &str {
    match quantity {
        Quantity::Time | Quantity::Rate(_) => "time",
        Quantity::Response { .. } => "response",
        Quantity::Count { event } => event,
    }
}

impl fmt::Display for Gate {
    /// The last line: `gate: 0 of 30 exceed time by more than 3 %, 30 undecided (2 trials; take 7)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gate { judged, exceeded, undecided, fewest, enough, limits } = self;
        let words =
            limits.iter().map(|(limit, _)| format!("{} by more than {} %", limit.words(), limit.percent()));
        let words = words.collect::<Vec<_>>().join(", or ");
        write!(f, "gate: {} of {judged} exceed {words}", exceeded.len())?;
        match fewest {
            _ if *undecided == 0 => {}
            Some(fewest) => {
                let trials = if *fewest == 1 { "trial" } else { "trials" };
                write!(f, ", {undecided} undecided ({fewest} {trials}; take {enough})")?;
            }
            None => write!(f, ", {undecided} undecided (more trials or a quieter machine decide them)")?,
        }
        let idle: Vec<String> =
            limits.iter().filter(|(_, held)| *held == 0).map(|(limit, _)| limit.words()).collect();
        if !idle.is_empty() {
            write!(f, "; undecided, because there was nothing to compare in {}", idle.join(" and in "))?;
        }
        Ok(())
    }
}

/// The gate's judgement on one comparison.
enum Side {
    Slower,
    Undecided,
    Passed,
}

impl Side {
    /// The judgement on a ratio that may be above one by this share.
    fn of(ratio: Option<Ratio>, difference: Option<Difference>, share: f64) -> Side {
        let limit = 1.0 + share;
        match (ratio, difference) {
            // More than none of an event, by how many times there is no saying.
            (None, Some(Difference::Slower)) => Side::Slower,
            (None, Some(Difference::Faster)) => Side::Passed,
            (Some(ratio), Some(Difference::Slower)) if ratio.ratio > limit => Side::Slower,
            (Some(ratio), _) if ratio.interval.is_some_and(|interval| interval.high <= limit) => Side::Passed,
            _ => Side::Undecided,
        }
    }
}
