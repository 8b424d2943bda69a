//! What is sustained, in words.

use dyno_record::Target;
use dyno_verdict::statistics::Interval;
use dyno_verdict::{Outcome, Sustained, SustainedLine, Verdict};

use crate::units;

/// `p99 ≤ 10.0 ms`.
pub fn target(target: &Target) -> String {
    // As typed: 99.9 and not 99.90000000000001.
    let percentile = (target.share * 1e7).round() / 1e5;
    format!("p{percentile} ≤ {}", units::duration(target.within_ns as f64))
}

/// A rate with three digits that count, as people say it: `3,400/s`.
pub fn rate(per_second: f64) -> String {
    if per_second < 100.0 {
        return format!("{}/s", units::significant(per_second));
    }
    let step = 10_f64.powf(per_second.log10().floor() - 2.0);
    format!("{}/s", units::whole(((per_second / step).round() * step).round() as u64))
}

/// `3,400/s`, or how far the search came.
pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Sustains { rate, .. } => self::rate(*rate),
        Outcome::AtLeast { rate } => format!("≥ {}", self::rate(*rate)),
        Outcome::NotSustained { .. } => "not sustained".to_owned(),
    }
}

/// `3,250/s–3,520/s`.
pub fn span(interval: &Interval) -> String {
    format!("{}–{}", rate(interval.low).trim_end_matches("/s"), rate(interval.high))
}

/// What all contenders sustain in a test, in one sentence.
pub fn sentence(verdict: &Verdict, sustained: &Sustained) -> String {
    let mut lines: Vec<&SustainedLine> = sustained.lines.iter().collect();
    let most = |line: &SustainedLine| match line.outcome {
        Outcome::Sustains { rate, .. } | Outcome::AtLeast { rate } => rate,
        Outcome::NotSustained { .. } => 0.0,
    };
    lines.sort_by(|a, b| most(b).total_cmp(&most(a)));
    let said: Vec<String> = lines.iter().map(|line| clause(verdict, line)).collect();
    format!("{}, with {}: {}.", sustained.test, target(&sustained.target), said.join("; "))
}

fn clause(verdict: &Verdict, line: &SustainedLine) -> String {
    let label = verdict.label(line.contender);
    match &line.outcome {
        Outcome::Sustains { rate, interval } => {
            let span = interval.as_ref().map(|interval| format!(" ({})", span(interval))).unwrap_or_default();
            format!("{label} sustains {}{span}", self::rate(*rate))
        }
        Outcome::AtLeast { rate } => format!("{label} sustains {} or more", self::rate(*rate)),
        Outcome::NotSustained { rate } => {
            format!("{label} does not sustain it, not even at {}", self::rate(*rate))
        }
    }
}

/// What else there is to say.
pub fn notes(verdict: &Verdict) -> Vec<String> {
    let sustained = &verdict.views.sustained;
    if sustained.is_empty() {
        return Vec::new();
    }
    let mut notes = vec![
        "In each trial operations arrived at a rate of their own, and each was timed from when it arrived. At the rate \
         sustained the target holds in half of the trials. It holds in a trial where no more operations were late than it \
         allows, those that were never done among them, and no backlog grew; the interval is where this rate is with a \
         probability of 95 %."
            .to_owned(),
    ];
    for test in sustained {
        let few: Vec<&str> = test
            .lines
            .iter()
            .filter(|line| line.too_few_due)
            .map(|line| verdict.label(line.contender))
            .collect();
        if !few.is_empty() {
            notes.push(format!(
                "{}: fewer than {} operations were due in a trial of {}, so that chance decides much: a longer --duration \
                 has more.",
                test.test,
                units::whole(test.target.fewest_due()),
                few.join(", ")
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_targets_are_said_as_people_write_them() {
        let said = [12.345, 99.94, 100.4, 3414.0, 12_345.0, 1_999_600.0].map(rate);
        assert_eq!(said, ["12.3/s", "99.9/s", "100/s", "3,410/s", "12,300/s", "2,000,000/s"]);
        assert_eq!(target(&Target { share: 0.99, within_ns: 10_000_000 }), "p99 ≤ 10.0 ms");
        assert_eq!(target(&Target { share: 0.999, within_ns: 1_500_000 }), "p99.9 ≤ 1.50 ms");
        assert_eq!(span(&Interval { low: 3254.0, high: 3518.0 }), "3,250–3,520/s");
    }
}
