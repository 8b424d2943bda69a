//! The question, and the answer in a sentence for each safety level.

use dyno_verdict::statistics::{Difference, NoDifference, Ratio};
use dyno_verdict::{LevelRanking, Rank, Verdict};

use super::waits::waits;
use super::words::{bounds, class, counted, list, ratio_with_interval, that, uncapitalized};
use crate::views::sustained::words;
use crate::{ratio, units};

/// The question that the run was to answer.
pub(super) fn question(verdict: &Verdict) -> String {
    let labels: Vec<&str> =
        verdict.shown_contenders().map(|(_, contender)| contender.label.as_str()).collect();
    match labels.len() {
        0 | 1 => format!("How fast is {} at this work, on this machine?", list(&labels)),
        2..=5 => {
            format!("Which is fastest for this work, on this machine, at the same safety: {}?", or(&labels))
        }
        many => format!(
            "Which of {many} contenders is fastest for this work, on this machine, at the same safety?"
        ),
    }
}

/// The answers that the samples give, the safest level first. Never empty.
pub fn answers(verdict: &Verdict) -> Vec<String> {
    let sustained = &verdict.views.sustained;
    if !sustained.is_empty() {
        return sustained.iter().map(|sustained| words::sentence(verdict, sustained)).collect();
    }
    let rankings = &verdict.rankings;
    let mut sentences: Vec<String> = rankings
        .iter()
        .filter(|ranking| ranking.ranks.len() > 1)
        .map(|ranking| within(verdict, ranking))
        .collect();
    let alone: Vec<&LevelRanking> = rankings.iter().filter(|ranking| ranking.ranks.len() == 1).collect();
    sentences.extend(alone.iter().filter_map(|ranking| price(verdict, ranking)));
    if !verdict.views.debts.is_empty() && rankings.iter().any(|ranking| ranking.ranks.len() > 1) {
        sentences.push(crate::views::debt::LEFT_OUT.to_owned());
    }
    if sentences.is_empty() {
        sentences.push(match verdict.shown_contenders().count() {
            1 => "There is only one contender, so there is nothing to rank; its times are below.".into(),
            _ => "No two contenders are equally safe and passed the same tests, so dyno ranks none.".into(),
        });
    }
    sentences
}

/// The fastest contender of a class, or those between which no difference is shown.
fn within(verdict: &Verdict, ranking: &LevelRanking) -> String {
    let among = format!("Of the {} contenders that {}", ranking.ranks.len(), that(&ranking.class));
    let failed = of(verdict, ranking.ranks.iter().filter(|rank| rank.failed).map(|rank| rank.contender));
    let without = match failed.is_empty() {
        true => String::new(),
        false => format!(" Trials failed of {}, so dyno does not rank them.", list(&failed)),
    };
    let said = match (ranking.tests, ranking.ranks.len() - failed.len()) {
        (_, 0) => return format!("{among}, dyno ranks none: trials failed of each."),
        (_, 1) => return format!("{among}, dyno ranks none: trials failed of {}.", list(&failed)),
        (0, _) => "dyno ranks none: no test was passed by all of them".to_owned(),
        _ => order(verdict, ranking),
    };
    format!("{among}, {said}.{without}")
}

/// The order that the means of a class's contenders show.
fn order(verdict: &Verdict, ranking: &LevelRanking) -> String {
    let over = over(ranking.tests);
    let has_interval = |rank: &Rank| rank.ratio.is_some_and(|ratio| ratio.interval.is_some());
    if !ranking.ranks.iter().any(has_interval) {
        return "no order is shown: there are too few trials".to_owned();
    }
    let undecided = of(verdict, ranking.undecided());
    let next = ranking.ranks.iter().find(|rank| rank.behind);
    let next = next.and_then(|rank| Some((verdict.label(rank.contender), rank.ratio?, rank.slower)));
    match (undecided.as_slice(), next) {
        ([one], Some((next, times, _))) => format!(
            "{one} is fastest: {next}, the next, takes {} as long{}, {over}{}",
            ratio(times.ratio),
            interval(&times),
            waits(verdict, ranking)
        ),
        (several, next) => format!(
            "no difference of more than {} is shown between {}{}, {over}",
            units::percent(verdict.about.schedule.margin),
            list(several),
            match next {
                Some((next, times, true)) => format!(
                    "; of the others, {next} comes first: it takes {} as long as {}{}",
                    ratio(times.ratio),
                    several.first().unwrap_or(&"the first"),
                    interval(&times)
                ),
                Some((next, ..)) => {
                    format!("; of the others, {next} comes first: it is shown to be slower than one of these")
                }
                None => String::new(),
            }
        ),
    }
}

/// The labels of contenders, by position.
fn of(verdict: &Verdict, contenders: impl Iterator<Item = usize>) -> Vec<&str> {
    contenders.map(|contender| verdict.label(contender)).collect()
}

/// The time of the only contender of a class relative to the baseline: the price of its difference.
fn price(verdict: &Verdict, ranking: &LevelRanking) -> Option<String> {
    let contender = ranking.ranks.first()?.contender;
    let summary = verdict.summaries.iter().find(|summary| summary.contender == contender)?;
    let mean = summary.geometric_mean.filter(|_| !summary.same_level)?;
    let (label, baseline) = (verdict.label(contender), verdict.label(verdict.baseline));
    let over = over(summary.tests);
    let price = match summary.difference? {
        Difference::Faster | Difference::Slower => {
            format!("{label} takes {} the time of {baseline}, {over}", ratio_with_interval(&mean))
        }
        Difference::None(NoDifference::TooFewSamples) => {
            format!("The trials of {label} are too few to compare its time with that of {baseline}")
        }
        Difference::None(NoDifference::Close) => format!(
            "The time of {label} is within {} of that of {baseline}, {over}",
            units::percent(verdict.about.schedule.margin)
        ),
        Difference::None(_) => {
            format!("No difference between the time of {label} and that of {baseline} is shown {over}")
        }
    };
    Some(format!(
        "{price}. dyno does not rank it, since no other contender here is in its class ({}).",
        uncapitalized(&class(&ranking.class)),
    ))
}

/// The basis of a comparison of contenders: the mean over its tests, or its only one.
fn over(tests: usize) -> String {
    match tests {
        1 => "in the one test that counts".to_owned(),
        _ => format!("by the geometric mean over {}", counted(tests, "test")),
    }
}

fn interval(ratio: &Ratio) -> String {
    ratio.interval.map_or(String::new(), |interval| format!(" (95% interval {})", bounds(interval)))
}

fn or(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => names.concat(),
    }
}
