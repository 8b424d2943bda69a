//! The delay of a network as users write it.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use jiff::SignedDuration;

/// A longer one is no network's, and a trial's requests would be silent for longer than `--timeout` allows.
const LONGEST: Duration = Duration::from_secs(10);

/// Reads `0`, `0.2ms`, `40ms`: what is added to a round trip, at most ten seconds.
///
/// # Errors
/// It has no unit, is no time, or is longer.
pub fn delay(text: &str) -> Result<Duration> {
    if text.parse() == Ok(0.0) {
        return Ok(Duration::ZERO);
    }
    ensure!(text.parse::<f64>().is_err(), "write a unit, as in {text}ms");
    let parsed = text.parse::<SignedDuration>().ok().and_then(|time| Duration::try_from(time).ok());
    match parsed.filter(|delay| !delay.is_zero()) {
        Some(delay) if delay <= LONGEST => Ok(delay),
        Some(_) => bail!("a delay is at most {} s", LONGEST.as_secs()),
        None => bail!("write a delay like 0, 0.2ms or 40ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_read() {
        let micros = |text: &str| delay(text).ok().map(|delay| delay.as_micros());
        assert_eq!(
            ["0", "0.2ms", "40ms", "50us", "0 ms"].map(micros),
            [Some(0), Some(200), Some(40_000), Some(50), None]
        );
        for wrong in ["5", "soon", "-1ms", "11s", ""] {
            assert!(delay(wrong).is_err(), "{wrong}");
        }
        assert_eq!(delay("5").unwrap_err().to_string(), "write a unit, as in 5ms");
    }
}
