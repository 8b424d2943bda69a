//! What the figures of a test are shown as: how long it took or, in a suite of rates, how much of it was done in a
//! second. Samples and statistics are nanoseconds everywhere; only what people see is turned over here.

use dyno_record::{AmountRecord, Figure, Run};
use dyno_verdict::statistics::Interval;

use super::units;

/// How a test's figures are shown.
#[derive(Debug, Clone, Copy)]
pub enum Measure<'a> {
    /// As durations: less is better.
    Time,
    /// As rows or operations in a second: more is better.
    Rate(&'a AmountRecord),
}

impl<'a> Measure<'a> {
    /// How those of a test (by id) are shown.
    pub fn of(run: &'a Run, test: &str) -> Measure<'a> {
        let record = run.tests.iter().find(|known| known.id == test);
        match record.and_then(|record| record.amount.as_ref()) {
            Some(amount) if run.suite.figure == Figure::Rate => Measure::Rate(amount),
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

    /// A duration as people read its figure: `1.23 ms` or `1.23M/s`.
    pub fn text(self, nanoseconds: f64) -> String {
        match self {
            Measure::Rate(_) if nanoseconds > 0.0 => units::rate(self.value(nanoseconds)),
            _ => units::duration(nanoseconds),
        }
    }

    /// Two durations as people read their figures, the smaller first: `611 – 650 ms`, `1.20 – 1.31M/s`.
    pub fn span(self, shortest: f64, longest: f64) -> String {
        let (low, high) = match self {
            Measure::Time => (shortest, longest),
            Measure::Rate(_) => (longest, shortest),
        };
        let (low, high) = (self.text(low), self.text(high));
        let unit = |text: &str| text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
        match unit(&low) == unit(&high) {
            true => format!("{} – {high}", low.trim_end_matches(&unit(&low))),
            false => format!("{low} – {high}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_turns_durations_over() {
        let amount = AmountRecord { count: 1000, bytes: 0, unit: "rows".into() };
        let rate = Measure::Rate(&amount);
        assert_eq!(rate.text(1e6), "1.00M/s");
        assert_eq!(rate.span(1e6, 2e6), "500k/s – 1.00M/s");
        assert_eq!(rate.span(1e6, 1.25e6), "800k/s – 1.00M/s");
        assert_eq!(rate.span(2e5, 4e5), "2.50 – 5.00M/s");
        assert_eq!(rate.interval(Interval { low: 1e6, high: 2e6 }), Interval { low: 5e5, high: 1e6 });
        assert_eq!(Measure::Time.span(611e6, 650e6), "611 – 650 ms");
        assert_eq!(Measure::Time.span(611e6, 1.2e9), "611 ms – 1.20 s");
    }
}
