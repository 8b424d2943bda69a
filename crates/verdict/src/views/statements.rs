//! The executions of single statements of a class, in runs that timed them.

use dyno_protocol::{Response, StatementTimes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::percentiles::{Percentiles, percentiles};

/// The executions of one statement of a class, in operations that succeeded or were rolled back as planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementLine {
    /// Its text, with `?` for each parameter; `BEGIN` and `COMMIT` are the beginning of the transaction and its end.
    pub text: String,
    /// Their mean, in nanoseconds, as exact as three digits of each.
    pub mean_ns: f64,
    /// Their percentiles.
    pub percentiles: Percentiles,
}

/// The statements of a class over several trials. One that was never executed is left out.
pub(super) fn lines(trials: &[&[StatementTimes]]) -> Vec<StatementLine> {
    let most = trials.iter().map(|statements| statements.len()).max().unwrap_or(0);
    let line = |place: usize| {
        let its: Vec<&StatementTimes> =
            trials.iter().filter_map(|statements| statements.get(place)).collect();
        let all = Response::merged(its.iter().map(|statement| &statement.response))?;
        let percentiles = percentiles(&all, 0)?;
        Some(StatementLine { text: its.first()?.text.clone(), mean_ns: all.mean(), percentiles })
    };
    (0..most).filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(text: &str, durations: &[u64]) -> StatementTimes {
        let mut histogram = dyno_protocol::empty_histogram(3);
        durations.iter().for_each(|&duration| histogram.record(duration).unwrap());
        StatementTimes { text: text.into(), response: Response::of(&histogram) }
    }

    #[test]
    fn executions_of_all_trials_are_one() {
        let one = [times("BEGIN", &[1]), times("SELECT ?", &[10, 30]), times("DELETE", &[])];
        let other = [times("BEGIN", &[3]), times("SELECT ?", &[20]), times("DELETE", &[])];
        let lines = lines(&[&one, &[], &other]);
        let reported: Vec<_> =
            lines.iter().map(|line| (line.text.as_str(), line.percentiles.count, line.mean_ns)).collect();
        assert_eq!(reported, [("BEGIN", 2, 2.0), ("SELECT ?", 3, 20.0)]);
        assert_eq!((lines[1].percentiles.p50, lines[1].percentiles.max), (20, 30));
    }
}
