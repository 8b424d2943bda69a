//! The judgement of a ratio by an aim.

use dyno_verdict::statistics::Ratio;

/// The judgement of an aim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The figure is within the aim.
    Reached,
    /// The figure is not, but the aim lies within its interval.
    Open,
    /// The whole interval is beyond the aim.
    Missed,
}

impl Verdict {
    /// Compares a ratio with an aim.
    pub fn of(ratio: &Ratio, aim: f64) -> Verdict {
        match ratio.interval {
            _ if ratio.ratio <= aim => Verdict::Reached,
            Some(interval) if interval.low > aim => Verdict::Missed,
            _ => Verdict::Open,
        }
    }

    /// Returns true if an aim is certainly missed.
    pub fn is_missed(self) -> bool {
        self == Verdict::Missed
    }

    /// The words for it.
    pub fn text(self) -> &'static str {
        match self {
            Verdict::Reached => "reached",
            Verdict::Open => "above, within the uncertainty",
            Verdict::Missed => "missed",
        }
    }
}

/// The interval of a ratio.
pub fn interval(ratio: &Ratio, digits: usize) -> String {
    ratio
        .interval
        .map_or_else(String::new, |interval| format!("{:.digits$}–{:.digits$}", interval.low, interval.high))
}
