//! The quantities that are measured, with their units and directions.
//!
//! Statistics see one kind of number: it is positive, and less of it is better. So they need neither unit nor
//! direction, and a further quantity changes none of them. A rate is judged by the time that its work took, and turned
//! over where it is shown.

use std::fmt;

use dyno_protocol::SERVER_EVENTS;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{AmountRecord, Figure};

/// A quantity of a test, by which contenders are judged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "quantity", rename_all = "kebab-case")]
pub enum Quantity {
    /// The duration of a test or, if its operations arrive at a given rate, the response time of the slow ones.
    Time,
    /// The work of a test in a second, judged by its duration.
    Rate(AmountRecord),
    /// The response time that a share of a class's operations stayed within.
    Response {
        /// The class, by its name in the suite.
        class: String,
        /// The share of its operations that took no longer than the figure, as 0.99; 1 is the longest of them.
        share: f64,
    },
    /// The number of times that an event occurred in the timed section.
    Count {
        /// The event, such as `instructions`.
        event: String,
    },
}

/// The events that the kernel counts.
const BY_CHANCE: [&str; 2] = ["page_faults", "context_switches"];
/// The event that is no sum over operations, but the most at one time.
const PEAK: &str = "peak_heap_bytes";

/// The better one of two figures, as they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The lower one.
    Lower,
    /// The higher one.
    Higher,
}

impl Quantity {
    /// The quantity of a test's own figures, in a suite of such figures.
    pub fn of_test(figure: Figure, amount: Option<&AmountRecord>) -> Quantity {
        match amount {
            Some(amount) if figure == Figure::Rate => Quantity::Rate(amount.clone()),
            _ => Quantity::Time,
        }
    }

    /// The better one of two figures.
    pub fn better(&self) -> Better {
        match self {
            Quantity::Rate(_) => Better::Higher,
            Quantity::Time | Quantity::Response { .. } | Quantity::Count { .. } => Better::Lower,
        }
    }

    /// True if samples of equal work differ by chance, so that differences need statistics. Counts repeat to the digit.
    pub fn scatters(&self) -> bool {
        !matches!(self, Quantity::Count { .. })
    }

    /// True if it is a count that depends on what else the machine or a server does, so that equal ones of two trials
    /// prove nothing: a server also works by its own clock, and flushes and cleans up now and then.
    pub fn is_by_chance(&self) -> bool {
        let is_by_chance = |event: &str| BY_CHANCE.contains(&event) || event.starts_with(SERVER_EVENTS);
        matches!(self, Quantity::Count { event } if is_by_chance(event))
    }

    /// True if it is the most at one time and no sum over the operations of a test, so that none of them has a part of
    /// it.
    pub fn is_peak(&self) -> bool {
        matches!(self, Quantity::Count { event } if is_peak(event))
    }

    /// The unit of the numbers that are judged.
    pub fn unit(&self) -> &str {
        match self {
            Quantity::Time | Quantity::Rate(_) | Quantity::Response { .. } => "ns",
            Quantity::Count { event } => event,
        }
    }

    /// The work of which there is a rate.
    pub fn amount(&self) -> Option<&AmountRecord> {
        match self {
            Quantity::Rate(amount) => Some(amount),
            Quantity::Time | Quantity::Response { .. } | Quantity::Count { .. } => None,
        }
    }

    /// The figure for a number that is judged. Nothing was done in no time, so its figure is no rate.
    pub fn figure(&self, judged: f64) -> f64 {
        match self {
            Quantity::Rate(amount) if judged > 0.0 => amount.count as f64 / judged * 1e9,
            _ => judged,
        }
    }
}

/// True if the number of an event is the most at one time.
pub(crate) fn is_peak(event: &str) -> bool {
    event == PEAK
}

impl fmt::Display for Quantity {
    /// The name of the figures: `read: 99 % within`, `instructions`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Quantity::Time => f.write_str("time"),
            Quantity::Rate(amount) => write!(f, "{} a second", amount.unit),
            Quantity::Response { class, share } => write!(f, "{class}: {:.0} % within", share * 100.0),
            Quantity::Count { event } => f.write_str(&event.replace('_', " ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_turns_the_time_of_its_work_over() {
        let amount = AmountRecord { count: 1000, bytes: 0, unit: "rows".into() };
        let rate = Quantity::of_test(Figure::Rate, Some(&amount));
        assert_eq!((rate.figure(2e6), rate.better(), rate.unit()), (5e5, Better::Higher, "ns"));
        assert_eq!(Quantity::of_test(Figure::Rate, None), Quantity::Time);
        assert_eq!(Quantity::of_test(Figure::Time, Some(&amount)), Quantity::Time);
    }

    #[test]
    fn an_event_is_its_own_unit() {
        let calls = Quantity::Count { event: "system_calls".into() };
        assert_eq!((calls.figure(7.0), calls.better(), calls.unit()), (7.0, Better::Lower, "system_calls"));
        assert_eq!(calls.to_string(), "system calls");
        assert!(!calls.is_by_chance() && Quantity::Count { event: "page_faults".into() }.is_by_chance());
        assert!(Quantity::Count { event: "server_flushes".into() }.is_by_chance());
        let peak = Quantity::Count { event: "peak_heap_bytes".into() };
        assert!(peak.is_peak() && !peak.is_by_chance() && !calls.is_peak());
    }
}
