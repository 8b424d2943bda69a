//! The unit of a test's figures: its duration or, in a suite of rates, the work done per second. Samples and statistics
//! are nanoseconds everywhere; this module converts only what is shown.

use dyno_record::{AmountRecord, Figure};

use crate::statistics::Interval;

/// The unit in which a test's figures are shown.
#[derive(Debug, Clone, Copy)]
pub enum Measure<'a> {
    /// As durations: less is better.
    Time,
    /// As rows or operations in a second: more is better.
    Rate(&'a AmountRecord),
}

impl<'a> Measure<'a> {
    /// The unit for a test of this amount, in a suite of such figures.
    pub fn new(figure: Figure, amount: Option<&'a AmountRecord>) -> Measure<'a> {
        match amount {
            Some(amount) if figure == Figure::Rate => Measure::Rate(amount),
            _ => Measure::Time,
        }
    }

    /// The amount of work, if figures are rates.
    pub fn count(self) -> Option<u64> {
        match self {
            Measure::Time => None,
            Measure::Rate(amount) => Some(amount.count),
        }
    }

    /// The counted unit, if figures are rates: `rows` or `operations`.
    pub fn unit(self) -> Option<&'a str> {
        match self {
            Measure::Time => None,
            Measure::Rate(amount) => Some(&amount.unit),
        }
    }

    /// The figure that a duration stands for: nanoseconds, or a count per second.
    pub fn value(self, nanoseconds: f64) -> f64 {
        match self {
            Measure::Rate(amount) if nanoseconds > 0.0 => amount.count as f64 / nanoseconds * 1e9,
            _ => nanoseconds,
        }
    }

    /// The ends of an interval of durations as figures, the smaller first.
    pub fn interval(self, durations: Interval) -> Interval {
        let (a, b) = (self.value(durations.low), self.value(durations.high));
        Interval { low: a.min(b), high: a.max(b) }
    }
}
