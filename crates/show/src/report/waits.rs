//! Durations of operations of the contender that is called the fastest: most is not soonest, and the first sentence
//! says both.

use dyno_verdict::{LevelRanking, Verdict};

use crate::units;

/// The words after the sentence that names the fastest of a ranking: durations that are shown to differ between it and
/// the next. Empty where none are.
pub(super) fn waits(verdict: &Verdict, ranking: &LevelRanking) -> String {
    let fastest = ranking.ranks.iter().find(|rank| rank.fastest);
    let next = ranking.ranks.iter().find(|rank| rank.behind);
    let (Some(waits), Some(fastest), Some(next)) = (&ranking.waits, fastest, next) else {
        return String::new();
    };
    let share = (waits.share < 1.0).then_some(waits.share);
    let [one, other] =
        [(fastest.contender, waits.fastest_ns), (next.contender, waits.next_ns)].map(|(contender, ns)| {
            let least =
                if is_least(verdict, contender, &waits.test, &waits.class, share) { "≥ " } else { "" };
            format!("{least}{} with {}", units::duration(ns), verdict.label(contender))
        });
    match share {
        Some(share) => format!("; {:.0} % of {} took at most {one} and {other}", share * 100.0, waits.class),
        None => format!("; the longest {} of a trial took {one} and {other}", waits.class),
    }
}

/// Returns true if operations that failed or were not done are among those that a duration is of, so that it is a
/// bound.
fn is_least(verdict: &Verdict, contender: usize, test: &str, class: &str, share: Option<f64>) -> bool {
    let tests =
        verdict.views.latency.iter().flat_map(|latency| &latency.tests).filter(|one| one.test == test);
    let mut lines = tests
        .flat_map(|test| &test.lines)
        .filter(|line| line.contender == contender && line.class.as_deref().is_none_or(|name| name == class));
    let name = if share.is_some() { "p99" } else { "max" };
    lines.any(|line| (share.is_none() && line.failed > 0) || line.at_least.iter().any(|least| least == name))
}
