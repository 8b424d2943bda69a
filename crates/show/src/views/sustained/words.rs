//! Sustained rates, in words.

use dyno_record::Target;
use dyno_verdict::statistics::Interval;
use dyno_verdict::{CellStanding, Outcome, Sustained, SustainedLine, Verdict};

use crate::units;

/// `p99 ≤ 10 ms`.
pub fn target(target: &Target) -> String {
    // As typed: 99.9 and not 99.90000000000001, and 10 ms, not 10.0 ms.
    let percentile = (target.share * 1e7).round() / 1e5;
    let within = units::in_time(target.within_ns as f64);
    let digits = match within.digits.contains('.') {
        true => within.digits.trim_end_matches('0').trim_end_matches('.'),
        false => &within.digits,
    };
    format!("p{percentile} ≤ {digits}{}", within.unit)
}

/// A rate with three digits that count, as people say it: `3,400/s`.
pub fn rate(per_second: f64) -> String {
    format!("{}/s", number(per_second))
}

/// The same without its unit.
pub fn number(per_second: f64) -> String {
    if per_second < 100.0 {
        return units::significant(per_second);
    }
    let step = 10_f64.powf(per_second.log10().floor() - 2.0);
    units::whole(((per_second / step).round() * step).round() as u64)
}

/// `3,400/s`, or how far the search came.
pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Sustains { rate, .. } => self::rate(*rate),
        Outcome::AtLeast { rate } => format!("≥ {}", self::rate(*rate)),
        Outcome::NotSustained { .. } => "in no trial".to_owned(),
    }
}

/// `3,250/s–3,520/s`.
pub fn span(interval: &Interval) -> String {
    format!("{}–{}", rate(interval.low).trim_end_matches("/s"), rate(interval.high))
}

/// The rates that all contenders sustain in a test, in one sentence, by rate if all are of one class: `transfer:
/// postgres sustains 3,400 transactions/s with p99 ≤ 10 ms (3,250–3,520); sqlite:wal 1,900 (1,780–1,990).`
pub fn sentence(verdict: &Verdict, sustained: &Sustained) -> String {
    let mut lines: Vec<&SustainedLine> = sustained.lines.iter().collect();
    let most = |line: &SustainedLine| line.outcome.per_second().unwrap_or(0.0);
    // Only contenders of one class are ordered by rate; others keep the order of the run.
    let equals = lines.first().and_then(|first| verdict.classes[first.contender]);
    let are_equals = lines.iter().all(|line| equals.is_some() && verdict.classes[line.contender] == equals);
    if are_equals {
        lines.sort_by(|a, b| most(b).total_cmp(&most(a)));
    }
    // A contender with wrong answers sustains nothing; the notes name it.
    let test = verdict.test(&sustained.test);
    lines.retain(|line| {
        let cell = test.and_then(|test| test.cell(line.contender));
        cell.is_none_or(|cell| cell.standing == CellStanding::Sought)
    });
    if lines.is_empty() {
        return format!(
            "{}: no contender counts of which a rate with {} was sought.",
            sustained.test,
            target(&sustained.target)
        );
    }
    let amount = test.and_then(|test| test.amount.as_ref());
    let unit = amount.map_or("operations", |amount| amount.unit.as_str());
    // Of the contenders that sustain a rate the first one names the unit: none stands there where the first of all fails.
    let does = |line: &SustainedLine| line.outcome.per_second().is_some();
    let first = [lines.iter().position(|line| does(line)), lines.iter().position(|line| !does(line))];
    let clauses = lines.iter().enumerate();
    let clauses = clauses
        .map(|(place, line)| clause(verdict, line, first.contains(&Some(place)), unit, &sustained.target));
    let said: Vec<String> = clauses.collect();
    let unequal = if are_equals {
        ""
    } else {
        " Not all of them are ranked together: they differ in safety, isolation or what else decides a rank."
    };
    format!("{}: {}.{unequal}", sustained.test, said.join("; "))
}

/// The rate that one contender sustains. The first clause of its kind also names the unit and the target.
fn clause(verdict: &Verdict, line: &SustainedLine, is_first: bool, unit: &str, target: &Target) -> String {
    let label = verdict.label(line.contender);
    let target = self::target(target);
    let sustains = |rate: f64| match is_first {
        true => format!("{label} sustains {} {unit}/s with {target}", number(rate)),
        false => format!("{label} {}", number(rate)),
    };
    match &line.outcome {
        Outcome::Sustains { rate, interval } => {
            let ends = |interval: &Interval| format!(" ({}–{})", number(interval.low), number(interval.high));
            let few = || " (too few trials for an interval)".to_owned();
            format!("{}{}", sustains(*rate), interval.as_ref().map_or_else(few, ends))
        }
        Outcome::AtLeast { rate } => format!("{} or more", sustains(*rate)),
        Outcome::NotSustained { rate } => {
            let (target, unit) = match is_first {
                true => (target, format!(" {unit}/s")),
                false => ("it".to_owned(), String::new()),
            };
            match line.tries.len() {
                1 => format!("{label} did not hold {target} in its only trial, at {}{unit}", number(*rate)),
                trials => format!(
                    "{label} held {target} in none of {trials} trials, the lowest at {}{unit}",
                    number(*rate)
                ),
            }
        }
    }
}

/// Further notes.
pub fn notes(verdict: &Verdict) -> Vec<String> {
    let sustained = &verdict.views.sustained;
    if sustained.is_empty() {
        return Vec::new();
    }
    let mut notes = vec![
        "In each trial operations arrived at a rate of their own, and each was timed from when it arrived. At the rate \
         sustained the target holds in half of the trials. It holds in a trial where no more operations were late than it \
         allows, those that were never done among them, and no backlog grew; the interval is where this rate is with a \
         probability of 95%."
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
        assert_eq!(target(&Target { share: 0.99, within_ns: 10_000_000 }), "p99 ≤ 10 ms");
        assert_eq!(target(&Target { share: 0.999, within_ns: 1_500_000 }), "p99.9 ≤ 1.5 ms");
        assert_eq!(span(&Interval { low: 3254.0, high: 3518.0 }), "3,250–3,520/s");
    }
}
