//! Figures of a quantity as people read them. No other file here knows the unit of the numbers that are judged.

use dyno_record::{Better, Quantity};

use super::units::{self, Scaled};

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// The figure for a number that is judged: `1.23 ms`, `1.23M/s` or `1,234,567`.
pub fn text(quantity: &Quantity, judged: f64) -> String {
    scaled(quantity, judged).to_string()
}

/// The figures for two numbers that are judged, the smaller figure first: `611 – 650 ms`, `1.20 – 1.31M/s`.
pub fn span(quantity: &Quantity, least: f64, most: f64) -> String {
    let (low, high) = match quantity.better() {
        Better::Lower => (least, most),
        Better::Higher => (most, least),
    };
    let (low, high) = (scaled(quantity, low), scaled(quantity, high));
    match low.unit == high.unit {
        true => format!("{} – {high}", low.digits),
        false => format!("{low} – {high}"),
    }
}

fn scaled(quantity: &Quantity, judged: f64) -> Scaled {
    match quantity {
        Quantity::Rate(_) if judged > 0.0 => units::in_a_second(quantity.figure(judged)),
        Quantity::Time | Quantity::Rate(_) | Quantity::Response { .. } => units::in_time(judged),
        // Counts repeat to the last digit, so none is dropped.
        Quantity::Count { .. } => Scaled { digits: units::whole(judged.round() as u64), unit: String::new() },
    }
}

/// A duration in seconds, from the number that is judged.
pub fn seconds(judged: f64) -> f64 {
    judged / SECOND
}

/// The number that is judged of a duration in seconds.
pub fn from_seconds(seconds: f64) -> f64 {
    seconds * SECOND
}

/// The number of operations in a second if each takes this long; and the time that each takes at this number.
pub fn per_second(judged: f64) -> f64 {
    SECOND / judged
}

#[cfg(test)]
mod tests {
    use dyno_record::AmountRecord;

    use super::*;

    #[test]
    fn a_rate_turns_durations_over() {
        let rate = Quantity::Rate(AmountRecord { count: 1000, bytes: 0, unit: "rows".into() });
        assert_eq!(text(&rate, 1e6), "1.00M/s");
        assert_eq!(span(&rate, 1e6, 2e6), "500k/s – 1.00M/s");
        assert_eq!(span(&rate, 1e6, 1.25e6), "800k/s – 1.00M/s");
        assert_eq!(span(&rate, 2e5, 4e5), "2.50 – 5.00M/s");
        assert_eq!(span(&Quantity::Time, 611e6, 650e6), "611 – 650 ms");
        assert_eq!(span(&Quantity::Time, 611e6, 1.2e9), "611 ms – 1.20 s");
    }

    #[test]
    fn a_count_keeps_its_digits() {
        let count = Quantity::Count { event: "instructions".into() };
        assert_eq!(text(&count, 1_234_567.0), "1,234,567");
        assert_eq!(span(&count, 7.0, 1200.0), "7 – 1,200");
    }
}
