//! Runs of several sizes, in words.

use dyno_verdict::{Scaling, ScalingPoint, ScalingTest};

use crate::views::sustained::words::{number, target};
use crate::{measure, units};

/// The name of a test: its id, with the target if its rates are sustained, or with the class whose slow operations are
/// shown.
pub fn name(test: &ScalingTest) -> String {
    match (&test.target, &test.response) {
        (Some(held), _) => format!("{}, {}", test.id, target(held)),
        (None, Some(response)) => response.clone(),
        (None, None) => test.id.clone(),
    }
}

/// A figure, as a rate if it has one and that is wanted, with a mark where it is only a bound.
pub fn figure(point: &ScalingPoint, as_rate: bool) -> String {
    let bound = if point.at_least { "≥ " } else { "" };
    let rate = point.per_second.filter(|_| as_rate);
    format!("{bound}{}", rate.map_or_else(|| units::duration(point.time.median), units::rate))
}

/// The highest rate that each contender sustains, and the size at which it does, a sentence for each target: `transfer:
/// postgres sustains 3,400 transactions/s with p99 ≤ 10 ms (3,250–3,520) at clients=8; sqlite:wal 1,900 (1,780–1,990)
/// at clients=1.`
pub fn sentences(scaling: &Scaling) -> Vec<String> {
    scaling.tests.iter().filter_map(|test| sentence(scaling, test)).collect()
}

/// Notes on missing figures, and on differences between the runs besides the size.
pub fn notes(scaling: &Scaling) -> impl Iterator<Item = String> {
    let responses = scaling.tests.iter().filter(|test| test.response.is_some());
    let is_missing = responses.flat_map(|test| &test.lines).any(|line| line.points.contains(&None));
    let missing = is_missing.then(|| {
        "– in a line of slow operations: too few operations lie beyond the percentile, or the figure hides how long \
         clients wait. dyno show of that run says which."
            .to_owned()
    });
    let lines = || scaling.tests.iter().flat_map(|test| &test.lines);
    let is_bound = lines().any(|line| line.points.iter().flatten().any(|point| point.at_least));
    let bound = is_bound.then(|| {
        "≥ at least this: the target held in every trial, so the rate that is sustained may be higher."
            .to_owned()
    });
    let is_predicted = lines().any(|line| !line.predicted.is_empty());
    let predicted = is_predicted.then(|| {
        "Predicted: the time at delay 0, and the delay for each round trip that was counted; in brackets, by how much the time \
         measured is longer than that. What disturbed either of the two times, and what dyno's proxy takes, is in the difference."
            .to_owned()
    });
    let changes = scaling.changes.iter().map(|change| format!("Not alike from size to size: {change}"));
    missing.into_iter().chain(bound).chain(predicted).chain(changes)
}

fn sentence(scaling: &Scaling, test: &ScalingTest) -> Option<String> {
    let held = target(test.target.as_ref()?);
    let unit = test.unit.as_deref().unwrap_or("operations");
    let most = test.lines.iter().filter_map(|line| {
        let (place, point) = line.most()?;
        Some((&line.contender, place, point.per_second?, point))
    });
    // In the order of the runs: a contender that is safer, or isolates more, is not a slower version of the same.
    let most: Vec<_> = most.collect();
    let clause = |(nth, (label, place, rate, point)): (usize, &(&String, usize, f64, ScalingPoint))| {
        let rate = match nth {
            0 => format!("{label} sustains {} {unit}/s with {held}", number(*rate)),
            _ => format!("{label} {}", number(*rate)),
        };
        // The times between two operations.
        let ends = point.time.interval.map(|ends| {
            format!(" ({}–{})", number(measure::per_second(ends.high)), number(measure::per_second(ends.low)))
        });
        let more = if point.at_least { " or more" } else { "" };
        format!("{rate}{more}{} at {}={}", ends.unwrap_or_default(), scaling.parameter, scaling.sizes[*place])
    };
    let said: Vec<String> = most.iter().enumerate().map(clause).collect();
    (!said.is_empty()).then(|| format!("{}: {}.", test.id, said.join("; ")))
}
