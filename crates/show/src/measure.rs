//! The figures of a test as people read them: durations or, in a suite of rates, operations in a second.

use dyno_verdict::Measure;

use super::units::{self, Quantity};

/// A duration as people read its figure: `1.23 ms` or `1.23M/s`.
pub fn text(measure: Measure, nanoseconds: f64) -> String {
    quantity(measure, nanoseconds).to_string()
}

/// Two durations as people read their figures, the smaller first: `611 – 650 ms`, `1.20 – 1.31M/s`.
pub fn span(measure: Measure, shortest: f64, longest: f64) -> String {
    let (low, high) = match measure {
        Measure::Time => (shortest, longest),
        Measure::Rate(_) => (longest, shortest),
    };
    let (low, high) = (quantity(measure, low), quantity(measure, high));
    match low.unit == high.unit {
        true => format!("{} – {high}", low.digits),
        false => format!("{low} – {high}"),
    }
}

fn quantity(measure: Measure, nanoseconds: f64) -> Quantity {
    match measure {
        Measure::Rate(_) if nanoseconds > 0.0 => units::in_a_second(measure.value(nanoseconds)),
        _ => units::in_time(nanoseconds),
    }
}

#[cfg(test)]
mod tests {
    use dyno_record::AmountRecord;
    use dyno_verdict::statistics::Interval;

    use super::*;

    #[test]
    fn a_rate_turns_durations_over() {
        let amount = AmountRecord { count: 1000, bytes: 0, unit: "rows".into() };
        let rate = Measure::Rate(&amount);
        assert_eq!(text(rate, 1e6), "1.00M/s");
        assert_eq!(span(rate, 1e6, 2e6), "500k/s – 1.00M/s");
        assert_eq!(span(rate, 1e6, 1.25e6), "800k/s – 1.00M/s");
        assert_eq!(span(rate, 2e5, 4e5), "2.50 – 5.00M/s");
        assert_eq!(rate.interval(Interval { low: 1e6, high: 2e6 }), Interval { low: 5e5, high: 1e6 });
        assert_eq!(span(Measure::Time, 611e6, 650e6), "611 – 650 ms");
        assert_eq!(span(Measure::Time, 611e6, 1.2e9), "611 ms – 1.20 s");
    }
}
