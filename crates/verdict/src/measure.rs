//! What the figures of a test are shown as: how long it took or, in a suite of rates, how much of it was done in a
//! second. Samples and statistics are nanoseconds everywhere; only what people see is turned over here.

use dyno_record::{AmountRecord, Figure};

use crate::statistics::Interval;

/// How a test's figures are shown.
#[derive(Debug, Clone, Copy)]
pub enum Measure<'a> {
    /// As durations: less is better.
    Time,
    /// As rows or operations in a second: more is better.
    Rate(&'a AmountRecord),
}

impl<'a> Measure<'a> {
    /// How those of a test of this amount are shown, in a suite of such figures.
    pub fn new(figure: Figure, amount: Option<&'a AmountRecord>) -> Measure<'a> {
        match amount {
            Some(amount) if figure == Figure::Rate => Measure::Rate(amount),
            _ => Measure::Time,
        }
    }

    /// How much is done, where figures are rates.
    pub fn count(self) -> Option<u64> {
        match self {
            Measure::Time => None,
            Measure::Rate(amount) => Some(amount.count),
        }
    }

    /// What is counted, where figures are rates: `rows` or `operations`.
    pub fn unit(self) -> Option<&'a str> {
        match self {
            Measure::Time => None,
            Measure::Rate(amount) => Some(&amount.unit),
        }
    }

    /// The figure that a duration stands for: nanoseconds, or so many in a second.
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
