//! Durations of operations of the contender that is called the fastest: most is not soonest, and the first sentence says both.

use dyno_verdict::{LatencyLine, Verdict};

use crate::units;

/// What follows the sentence that calls `one` the fastest and `next` the next: the durations of the operations that took longest
/// with `one`, and those of the same with `next`. These are what the run saw and no comparison: whether response times differ
/// is judged in the table. Empty where no test times its operations in the measured trials.
pub(super) fn waits(verdict: &Verdict, one: usize, next: usize) -> String {
    let Some(latency) = verdict.views.latency.as_ref().filter(|latency| !latency.apart) else {
        return String::new();
    };
    let counts = |id: &str| verdict.tests.iter().any(|test| test.id == id && !test.prepares);
    let tests = latency.tests.iter().filter(|test| counts(&test.test));
    let pairs = tests.flat_map(|test| {
        let of = |contender: usize| test.lines.iter().filter(move |line| line.contender == contender);
        of(one).filter_map(move |own| {
            let other = of(next).find(|other| other.class == own.class)?;
            Some((own.class.as_deref().unwrap_or(&test.test), own, other))
        })
    });
    let pair = pairs.max_by_key(|(_, own, _)| own.percentiles.max);
    let Some((name, own, other)) = pair else { return String::new() };
    let (one, next) = (verdict.label(one), verdict.label(next));
    let all = [own, other].map(|line| within(line, "max", line.percentiles.max));
    match (own.percentiles.p99, other.percentiles.p99) {
        (Some(first), Some(second)) => format!(
            "; in this run 99 % of {name} took {} with {one} and {} with {next}, and the longest {} and {}",
            within(own, "p99", first),
            within(other, "p99", second),
            all[0],
            all[1]
        ),
        _ => format!(
            "; in this run the longest of {name} took {} with {one} and {} with {next}",
            all[0], all[1]
        ),
    }
}

/// A duration; where operations without success are among those that it is of, the least that it can be.
fn within(line: &LatencyLine, name: &str, nanoseconds: u64) -> String {
    let never = name == "max" && line.failed > 0;
    let is_least = never || line.at_least.iter().any(|least| least == name);
    format!("{}{}", if is_least { "≥ " } else { "" }, units::duration(nanoseconds as f64))
}
