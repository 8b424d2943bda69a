//! The limits of a gate, as they are typed.

use std::str::FromStr;

/// The most by which a quantity may exceed the one that it is compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct GateLimit {
    /// `time`, or the name of an event such as `instructions`.
    pub quantity: String,
    /// As a share: 0.03 is 3 %.
    pub share: f64,
}

/// The quantities that can be limited: the time, the response time of classes of operations, and the events that `--counts`
/// counts (docs/ci.md).
const QUANTITIES: [&str; 19] = [
    "time",
    "response",
    "instructions",
    "processor_instructions",
    "allocations",
    "system_calls",
    "flushes",
    "bytes_read",
    "bytes_written",
    "page_faults",
    "context_switches",
    "peak_heap_bytes",
    "server_system_calls",
    "server_flushes",
    "server_bytes_read",
    "server_bytes_written",
    "server_cpu_nanoseconds",
    "server_page_faults",
    "server_context_switches",
];

/// The error of a limit as it was typed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidGateLimit {
    /// It is not written as a limit.
    #[error(
        "'{0}' is no limit: write time<=+3% or instructions<=+0.1%, and several with commas between them"
    )]
    Form(String),
    /// It names what dyno does not measure.
    #[error("{}", dyno_nearest::unknown("there is no quantity", .0, "a limit holds", QUANTITIES))]
    Quantity(String),
}

impl GateLimit {
    /// The limit of a test's time.
    pub fn of_time(share: f64) -> GateLimit {
        GateLimit { quantity: "time".to_owned(), share }
    }

    /// The name of the quantity in words.
    pub(super) fn words(&self) -> String {
        self.quantity.replace('_', " ")
    }

    /// The share in percent, without the noise of its last digits.
    pub(super) fn percent(&self) -> f64 {
        (self.share * 1e10).round() / 1e8
    }
}

impl FromStr for GateLimit {
    type Err = InvalidGateLimit;

    fn from_str(text: &str) -> Result<GateLimit, InvalidGateLimit> {
        let wrong = || InvalidGateLimit::Form(text.to_owned());
        let (quantity, most) = text.trim().split_once("<=").ok_or_else(wrong)?;
        let most = most.trim();
        let percent = most.strip_prefix('+').unwrap_or(most).strip_suffix('%').ok_or_else(wrong)?;
        let share: f64 = percent.trim().parse().map_err(|_| wrong())?;
        let quantity = quantity.trim();
        let is_name = !quantity.is_empty() && quantity.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        if !is_name || !share.is_finite() || share < 0.0 {
            return Err(wrong());
        }
        if !QUANTITIES.contains(&quantity) {
            return Err(InvalidGateLimit::Quantity(quantity.to_owned()));
        }
        Ok(GateLimit { quantity: quantity.to_owned(), share: share / 100.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_people_write_them() {
        let limit = |text: &str| text.parse::<GateLimit>();
        assert_eq!(limit("time<=+3%"), Ok(GateLimit::of_time(0.03)));
        assert_eq!(limit(" instructions <= 0.1% ").unwrap().share, 0.001);
        assert_eq!(limit("time<=+0.1%").unwrap().percent(), 0.1);
        for wrong in ["", "time", "time<=3", "<=3%", "time<=-3%", "time<=x%", "time<=inf%", "ti me<=1%"] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
        let unknown = limit("instruction<=+1%").unwrap_err().to_string();
        assert_eq!(unknown, "there is no quantity 'instruction'; did you mean instructions?");
    }
}
